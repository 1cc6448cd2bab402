"""Faults that were seen in other tools of the field, each a test of ours."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from tests.naive import release as naive

import shoal
from shoal import api
from shoal.core.errors import NoSolutionError, ShoalError
from shoal.privacy import EquivalenceClass, Reference

METHODS = [method.name for method in api.methods() if method.family == "mondrian"]
every_method = pytest.mark.parametrize("method", METHODS)


def schema(document, **more):
    return shoal.Schema.from_document({"columns": document, **more})


def made(frame, columns, promise, method="auto", **options):
    chosen = dict(method=method, **options)
    return shoal.anonymize(frame, schema(columns), privacy=promise, **chosen)


# Null quasi-identifiers silently left out of the classes, so that k is overstated.


def test_verify_counts_records_whose_quasi_identifiers_are_null():
    frame = pl.DataFrame({"age": ["1", "1", "1", None], "zip": ["a", "a", "a", None]})
    found = shoal.verify(
        frame, schema({"age": "quasi", "zip": "quasi"}), privacy=[shoal.KAnonymity(3)]
    )
    assert not found.holds
    assert (found.records, found.classes, found.smallest_class) == (4, 2, 1)
    assert found.violating_records == 1


@every_method
def test_null_quasi_identifiers_are_protected_like_any_value(method):
    frame = pl.DataFrame(
        {"age": [None, 1, 1, 2, 2, None, 3], "zip": ["a", None, "a", "b", "b", "c", None]}
    )
    release = made(frame, {"age": "quasi", "zip": "quasi"}, [shoal.KAnonymity(3)], method).table
    assert release.height == 7
    sizes = release.group_by(["age", "zip"]).len()["len"]
    assert sizes.min() >= 3


@every_method
def test_a_null_never_hides_in_an_interval(method):
    frame = pl.DataFrame({"age": [None, *range(9)], "note": range(10)})
    columns = {"age": {"role": "quasi", "kind": "numeric"}, "note": "neutral"}
    release = made(frame, columns, [shoal.KAnonymity(2)], method).table
    for label, number in release.rows():
        assert naive.covers(
            label or "", "" if number == 0 else str(number - 1), {"kind": "numeric"}
        )


def test_a_missing_sensitive_value_is_a_value():
    frame = pl.DataFrame({"age": [1, 1, 1], "dx": ["flu", None, None]})
    found = shoal.verify(
        frame, schema({"age": "quasi", "dx": "sensitive"}), privacy=[shoal.LDiversity(2)]
    )
    assert found.holds
    assert not shoal.verify(
        frame, schema({"age": "quasi", "dx": "sensitive"}), privacy=[shoal.LDiversity(3)]
    ).holds


# A row number or index in the release.


def test_no_index_reaches_the_release(tmp_path, run):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [3, 1, 2, 4]}, index=[901, 902, 903, 904])
    release = made(frame, {"age": "quasi"}, [shoal.KAnonymity(2)]).table
    assert list(release.columns) == ["age"]
    assert list(release.index) == [0, 1, 2, 3]
    place, out = tmp_path / "t.csv", tmp_path / "o.csv"
    place.write_text("age\n3\n1\n2\n4\n")
    run("anonymize", place, "--qi", "age", "-k", 2, "--labels", "tight", "--out", out, "--quiet")
    assert out.read_text() == 'age\n"[1, 2]"\n"[1, 2]"\n"[3, 4]"\n"[3, 4]"\n'


# A label that does not contain its value.


LABELS = [
    ("numeric", [str(n) for n in range(15, 27)]),
    ("numeric", ["0.1", "0.2", "0.30000000000000004", "0.3", "1e-7", "1e22", "-0.0", "0"]),
    ("numeric", ["9007199254740992", "9007199254740993", "9007199254740994", "9007199254740995"]),
    ("numeric", ["0.12345678901234567891", "0.12345678901234567892", "1", "2"]),
    ("date", ["2024-02-28", "2024-02-29", "2024-03-01", "2023-12-31", "2024-01-01", "1899-12-31"]),
    ("date", ["2024-01-01 10:00:00", "2024-01-01 10:00:01", "2024-01-01 10:00:59",
              "2024-01-01 23:59:59"]),
    ("date", ["2024-01-01 10:00:00.7", "2024-01-01 10:00:00.2", "2024-01-01 23:59:59.9",
              "2024-01-01 00:00:00.4"]),
]  # fmt: skip


@every_method
@pytest.mark.parametrize(("kind", "values"), LABELS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_label_contains_its_value(tmp_path, method, kind, values, k):
    place, out = tmp_path / "t.csv", tmp_path / "o.csv"
    place.write_text("q,note\n" + "".join(f"{value},{value}x\n" for value in values))
    columns = {"q": {"role": "quasi", "kind": kind}, "note": "neutral"}
    api.anonymize(
        place, schema(columns), privacy=[shoal.KAnonymity(k)], out=out,
        method=method,
    )  # fmt: skip
    for row in naive.read(out):
        assert naive.covers(row["q"], row["note"][:-1], {"kind": kind}), row


def test_moments_in_different_time_zones_are_not_taken_for_equal(tmp_path):
    """10:00 in two zones are two moments, hours apart; the label must contain both."""
    place, out = tmp_path / "t.csv", tmp_path / "o.csv"
    values = ["2024-01-01T10:00:00+05:00", "2024-01-01T10:00:00-05:00"]
    place.write_text("q\n" + "\n".join(values) + "\n")
    columns = {"q": {"role": "quasi", "kind": "date"}}
    try:
        api.anonymize(place, schema(columns), privacy=[shoal.KAnonymity(2)], out=out)
    except ShoalError:
        return  # refusing mixed zones is fine as well
    assert naive.read(out)[0]["q"] != "2024-01-01 10:00:00"


def test_metrics_reads_labels_of_values_with_commas(tmp_path):
    place, out = tmp_path / "t.csv", tmp_path / "o.csv"
    order = ["a", "b, c", "d", "e, f"]
    place.write_text("q\n" + "".join(f'"{value}"\n' for value in order))
    columns = {"q": {"role": "quasi", "kind": "ordinal", "order": order}}
    report = api.anonymize(place, schema(columns), privacy=[shoal.KAnonymity(2)], out=out).report
    found = api.metrics(place, out, schema(columns))
    assert found["utility"]["ncp"] == pytest.approx(report.utility["ncp"])


# t accepted and ignored.


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical", "chi2"])
@every_method
def test_t_is_not_ignored(method, distance):
    rng = random.Random(5)
    frame = pl.DataFrame({"age": [rng.randrange(40) for _ in range(200)]}).with_columns(
        dx=pl.when(pl.col("age") < 20).then(pl.lit("a")).otherwise(pl.lit("b"))
    )
    tree = {"tree": {"*": {"x": ["a"], "y": ["b"]}}}
    columns = {
        "age": {"role": "quasi", "kind": "numeric"},
        "dx": {"role": "sensitive", "hierarchy": tree},
    }
    loose = made(frame, columns, [shoal.KAnonymity(2)], method).report.classes
    promise = [shoal.KAnonymity(2), shoal.TCloseness(0.1, distance)]
    release = made(frame, columns, promise, method)
    assert release.report.classes < loose
    rows = release.table.with_columns(pl.all().cast(pl.String)).to_dicts()
    document = [{"model": "t-closeness", "t": 0.1, "distance": distance, "column": "dx"}]
    facts = {"dx": {"parents": {"a": "x", "x": "*", "b": "y", "y": "*", "*": None}}}
    assert naive.broken(rows, ["age"], document, columns=facts) == 0


def test_t_with_a_hierarchy_on_codes_that_look_like_numbers():
    """Diagnosis codes are digits; their hierarchy must still count."""
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "dx": ["101", "202", "101", "202"]})
    tree = {"tree": {"*": {"1xx": ["101", "102"], "2xx": ["201", "202"]}}}
    columns = {"age": "quasi", "dx": {"role": "sensitive", "hierarchy": tree}}
    found = made(frame, columns, [shoal.KAnonymity(2), shoal.TCloseness(0.2, "hierarchical")])
    assert found.report.classes == 2


def test_t_with_a_hierarchy_that_is_built():
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "dx": ["a01", "b02", "a01", "b02"]})
    columns = {"age": "quasi", "dx": {"role": "sensitive", "kind": "categorical",
                                      "hierarchy": {"mask": {}}}}  # fmt: skip
    found = made(frame, columns, [shoal.KAnonymity(2), shoal.TCloseness(0.2, "hierarchical")])
    assert found.report.classes == 2


@every_method
def test_search_and_verify_agree_on_an_order_with_values_that_never_occur(method):
    order = [f"s{number}" for number in range(12)]
    rng = random.Random(4)
    frame = pl.DataFrame(
        {
            "age": [rng.randrange(30) for _ in range(60)],
            "dx": [f"s{rng.randrange(3)}" for _ in range(60)],
        }
    )
    columns = {"age": "quasi", "dx": {"role": "sensitive", "kind": "ordinal", "order": order}}
    promise = [shoal.KAnonymity(3), shoal.TCloseness(0.1, "ordered")]
    assert made(frame, columns, promise, method).report.released == 60


@every_method
def test_search_and_verify_agree_on_the_order_of_numbers_with_a_hierarchy(method):
    rng = random.Random(4)
    frame = pl.DataFrame(
        {"age": [rng.randrange(30) for _ in range(80)], "dx": [rng.randrange(6) for _ in range(80)]}
    )
    tree = {"tree": {"*": {"odd": ["1", "3", "5"], "even": ["0", "2", "4"]}}}
    columns = {"age": "quasi", "dx": {"role": "sensitive", "kind": "numeric", "hierarchy": tree}}
    promise = [shoal.KAnonymity(3), shoal.TCloseness(0.2, "ordered")]
    assert made(frame, columns, promise, method).report.released == 80


def test_protected_values_that_never_occur_are_refused(tmp_path, run):
    """A misspelt value protects nobody; it must not look like a promise that holds."""
    place, spec = tmp_path / "t.csv", tmp_path / "s.json"
    place.write_text("age,dx\n1,flu\n1,flu\n2,hiv\n2,hiv\n")
    promise = {"model": "(alpha,k)-anonymity", "alpha": 0.1, "k": 2, "values": ["HIV"]}
    spec.write_text(
        json.dumps({"columns": {"age": "quasi", "dx": "sensitive"}, "privacy": [promise]})
    )
    answer = run("anonymize", place, "--schema", spec, "--out", tmp_path / "o.csv", "--quiet")
    assert answer.code == 2, answer
    assert not (tmp_path / "o.csv").exists()


# Recursive (c,l) sorted the wrong way; entropy l off by one for uniform values.


def test_recursive_diversity_compares_the_commonest_with_the_rarest():
    model = shoal.LDiversity(2, "recursive", c=1)
    assert not model.holds(EquivalenceClass(6, [1, 2, 3]))  # 3 < 1 · (2 + 1) is false
    assert model.holds(EquivalenceClass(7, [2, 2, 3]))
    assert not shoal.LDiversity(3, "recursive", c=2).holds(EquivalenceClass(10, [7, 2, 1]))


@pytest.mark.parametrize("values", [1, 2, 3, 5, 7, 10])
def test_uniform_values_have_exactly_their_number_as_entropy_l(values):
    for each in (1, 3, 10**6):
        summary = EquivalenceClass(values * each, [each] * values)
        assert shoal.LDiversity(values, "entropy").holds(summary)
        assert not shoal.LDiversity(values + 1, "entropy").holds(summary)


# Classes under k released; leftovers all thrown into the last class.


@every_method
@pytest.mark.parametrize("records", [7, 11, 101, 1009])
def test_no_class_under_k_and_no_class_of_leftovers(method, records):
    frame = pl.DataFrame({"age": list(range(records))})
    found = made(frame, {"age": "quasi"}, [shoal.KAnonymity(3)], method)
    sizes = found.table.group_by("age").len()["len"]
    assert sizes.min() >= 3
    assert sizes.max() < 2 * 3, "a class that could be cut in two was left whole"


# Results that change with the order or the index of the input.


@every_method
def test_the_index_and_order_of_a_frame_change_nothing(method):
    pandas = pytest.importorskip("pandas")
    rng = random.Random(8)
    frame = pandas.DataFrame(
        {"age": [rng.randrange(20) for _ in range(90)],
         "zip": [rng.choice("abc") for _ in range(90)],
         "note": [f"n{i}" for i in range(90)]}
    )  # fmt: skip
    columns = {"age": "quasi", "zip": "quasi", "note": "neutral"}
    first = made(frame, columns, [shoal.KAnonymity(4)], method).table
    mixed = frame.sample(frac=1, random_state=1)
    second = made(mixed, columns, [shoal.KAnonymity(4)], method).table
    named = made(
        mixed.set_index(pandas.Index(range(500, 590))), columns, [shoal.KAnonymity(4)], method
    )
    assert first.equals(second)
    assert first.equals(named.table)


# The caller's table or hierarchies altered.


def test_the_callers_hierarchies_stay_as_they_are():
    tree = shoal.Hierarchy.from_tree("zip", {"*": {"x": ["a", "b"], "y": ["c"]}})
    before = (tree.to_document(), hash(tree))
    frame = pl.DataFrame({"zip": ["a", "b", "c", "c", None]})
    columns = (
        shoal.Attribute(
            name="zip", role=shoal.Role.QUASI, kind=shoal.Kind.CATEGORICAL, hierarchy=tree
        ),
    )
    whole = shoal.Schema(attributes=columns)
    kept = replace(whole)
    shoal.anonymize(frame, whole, privacy=[shoal.KAnonymity(2)])
    shoal.learn(frame, whole, privacy=[shoal.KAnonymity(2)])
    assert (tree.to_document(), hash(tree)) == before
    assert whole == kept
    assert frame.equals(pl.DataFrame({"zip": ["a", "b", "c", "c", None]}))


# The sensitive column used for a cut.


@every_method
def test_the_sensitive_column_never_decides_where_a_cut_falls(method):
    rng = random.Random(9)
    frame = pl.DataFrame(
        {"age": [rng.randrange(50) for _ in range(150)],
         "zip": [rng.choice("abcdef") for _ in range(150)],
         "dx": [rng.choice("xyz") for _ in range(150)]}
    )  # fmt: skip
    columns = {"age": "quasi", "zip": "quasi", "dx": "sensitive"}
    shuffled = frame.with_columns(dx=pl.Series([rng.choice("pq") for _ in range(150)]))
    regions = [
        shoal.learn(table, schema(columns), privacy=[shoal.KAnonymity(4)], method=method)
        for table in (frame, shuffled)
    ]
    assert regions[0].columns == regions[1].columns
    assert regions[0].regions == regions[1].regions


# 32-bit overflow in a distance at three million rows.


@pytest.mark.parametrize("kind", ["equal", "ordered", "hierarchical", "chi2"])
def test_distances_at_three_million_records_do_not_overflow(kind):
    reference = Reference(
        np.array([3_000_000, 3_000_000, 1_000_000], dtype=np.int32),
        parents=[3, 3, 4, 4, -1], heights=[0, 0, 0, 1, 2], node_of_value=[0, 1, 2],
    )  # fmt: skip
    value = reference.distance(kind, np.array([2_900_000, 100_000, 0], dtype=np.int32))
    small = Reference(
        [30, 30, 10], parents=[3, 3, 4, 4, -1], heights=[0, 0, 0, 1, 2], node_of_value=[0, 1, 2]
    ).distance(kind, [29, 1, 0])
    assert value == pytest.approx(small)
    assert 0 <= value <= 1


@pytest.mark.slow
@every_method
@pytest.mark.parametrize("distance", ["equal", "ordered", "chi2"])
def test_a_search_over_three_million_records_does_not_overflow(method, distance):
    """The same shares at 3,000,000 records and at 3,000: the same classes."""
    ages = [age for age in range(10) for _ in range(3)]
    values = ["a", "b", "b"] * 5 + ["a", "a", "b"] * 5
    columns = {"age": {"role": "quasi", "kind": "numeric"}, "dx": "sensitive"}
    found = []
    for times in (100, 100_000):
        frame = pl.DataFrame({"age": ages * times, "dx": values * times})
        promise = [shoal.KAnonymity(2), shoal.TCloseness(0.17, distance)]
        found.append(shoal.learn(frame, schema(columns), privacy=promise, method=method))
    assert found[0].columns == found[1].columns


# A failure reported as an empty table.


def test_a_failure_is_never_an_empty_table(tmp_path, run):
    place, out = tmp_path / "t.csv", tmp_path / "o.csv"
    place.write_text("age,dx\n1,flu\n2,flu\n3,flu\n")
    answer = run(
        "anonymize", place, "--qi", "age", "--sensitive", "dx", "-k", 2, "--l", 2, "--out", out
    )
    assert answer.code == 1
    assert answer.out == ""
    assert not out.exists()
    frame = pl.read_csv(place)
    with pytest.raises(NoSolutionError):
        made(frame, {"age": "quasi", "dx": "sensitive"}, [shoal.LDiversity(2)])
    with pytest.raises(ShoalError):
        made(frame.clear(), {"age": "quasi", "dx": "sensitive"}, [shoal.KAnonymity(1)])
    with pytest.raises(ShoalError):
        shoal.verify(
            frame.clear(),
            schema({"age": "quasi", "dx": "sensitive"}),
            privacy=[shoal.KAnonymity(2)],
        )


def test_risk_and_measures_are_fractions_of_what_is_there():
    frame = pl.DataFrame({"age": [1, 1, 2, 2, 3, 3]})
    report = made(frame, {"age": "quasi"}, [shoal.KAnonymity(2)]).report
    assert report.risk_before.global_risk == pytest.approx(float(Fraction(3, 6)))
    assert report.utility["ncp"] == 0
