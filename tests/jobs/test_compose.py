"""Several releases of one table, judged together."""

from __future__ import annotations

import json
import stat
from collections import defaultdict
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import ADULT_QUASI
from tests.jobs.people import PEOPLE, files_in, plain_schema
from tests.naive.composition import meet_sizes

from shoal.core.errors import InputError, MethodError, OutputError, SchemaError
from shoal.engines.base import Output
from shoal.jobs.compose import compose, intersect
from shoal.jobs.learn import learn
from shoal.jobs.places import write_model
from shoal.jobs.release import release
from shoal.jobs.requests import ComposeRequest, LearnRequest, ReleaseRequest
from shoal.methods.registry import method_named
from shoal.privacy import KAnonymity, LDiversity, from_document
from shoal.samples import hospital
from shoal.schema.schema import Labels, Schema


def released(folder, table, schema, method, **words):
    """Release a table; return the released file and its class file."""
    out, classes = folder / f"{method}.csv", folder / f"{method}.classes.csv"
    request = ReleaseRequest(
        table=table, schema=schema, method=method_named(method), **words,
        output=Output(out=out, class_file=classes),
    )  # fmt: skip
    release(request)
    return out, classes


def classes_in(path):
    lines = path.read_text(encoding="ascii").split()
    assert lines[0] == "class"
    return [int(line) for line in lines[1:]]


SMALL = st.lists(
    st.tuples(
        st.integers(0, 20),
        st.sampled_from(["a", "b", "c", None]),
        st.sampled_from(["flu", "gout", "asthma"]),
    ),
    min_size=6,
    max_size=40,
)


@given(SMALL, st.sampled_from(["mondrian", "kmember", "oka"]), st.integers(2, 3))
@settings(max_examples=40, deadline=None)
def test_labels_tell_what_class_files_say_or_nothing(tmp_path_factory, rows, method, k):
    folder = tmp_path_factory.mktemp("compose")
    table = pl.DataFrame(rows, schema=["age", "job", "ill"], orient="row")
    schema = Schema.from_document(
        {
            "columns": {
                "age": {"role": "quasi", "kind": "numeric"},
                "job": "quasi",
                "ill": "sensitive",
            },
            "privacy": [{"model": "k-anonymity", "k": k}],
        }
    )
    made = [released(folder, table, schema, name) for name in ("bestcut", method)]
    truth = list(zip(*(classes_in(classes) for _, classes in made), strict=True))
    sizes = meet_sizes(truth)
    exact = compose(
        ComposeRequest(table=table, schema=schema, class_files=tuple(c for _, c in made))
    )
    assert exact.unknown == 0
    assert exact.published == table.height
    assert exact.alone == sum(size == 1 for size in sizes)
    assert exact.holds == (min(sizes) >= k)
    by_labels = compose(
        ComposeRequest(table=table, schema=schema, releases=tuple(o for o, _ in made))
    )
    if by_labels.unknown:
        assert not by_labels.holds
        assert any("several of its classes" in text for text in by_labels.warnings)
    else:
        assert by_labels.below == exact.below
        assert by_labels.holds == exact.holds
        assert by_labels.certain == exact.certain


@given(SMALL, st.integers(2, 4), st.integers(1, 2))
@settings(max_examples=40, deadline=None)
def test_labels_tell_what_class_files_say_of_persons(tmp_path_factory, rows, each, k):
    folder = tmp_path_factory.mktemp("compose")
    table = pl.DataFrame(
        [(*row, None if i % 7 == 6 else f"p{i // each}") for i, row in enumerate(rows)],
        schema=["age", "job", "ill", "who"], orient="row",
    )  # fmt: skip
    columns = {"age": {"role": "quasi", "kind": "numeric"}, "job": "quasi", "ill": "sensitive",
               "who": "person"}  # fmt: skip
    promise = [{"model": "k-anonymity", "k": k}]
    schema = Schema.from_document({"columns": columns, "privacy": promise, "waive": ["who", "ill"]})
    made = [released(folder, table, schema, name) for name in ("bestcut", "kmember")]
    exact, by_labels = (
        compose(ComposeRequest(table=table, schema=schema, **words))
        for words in (
            {"class_files": tuple(c for _, c in made)}, {"releases": tuple(o for o, _ in made)},
        )
    )  # fmt: skip
    meet = defaultdict(set)
    for who, *classes in zip(table["who"], *(classes_in(c) for _, c in made), strict=True):
        meet[tuple(classes)] |= {who} - {None}
    assert exact.smallest_class == min(map(len, meet.values()))
    assert exact.holds == (exact.smallest_class >= k)
    if by_labels.unknown:
        assert not by_labels.holds
    else:
        assert by_labels.below == exact.below
        assert by_labels.holds == exact.holds


@pytest.mark.parametrize("labels", ["round", "tight"])
def test_releases_whose_hierarchies_were_proposed_are_read_back(tmp_path, labels):
    days = [f"202{i % 3}-{i % 12 + 1:02}-{i % 28 + 1:02}" for i in range(200)]
    zips = [f"{75000 + 7 * (i % 40)}" for i in range(200)]
    table = pl.DataFrame({"day": days, "zip": zips, "ill": ["flu", "cold"] * 100})
    columns = {"day": "quasi", "zip": "quasi", "ill": "sensitive"}
    promise = [{"model": "k-anonymity", "k": 4}]
    schema = Schema.from_document({"columns": columns, "privacy": promise, "labels": labels})
    made = [released(tmp_path, table, schema, name) for name in ("bestcut", "flash")]
    files = tuple(out for out, _ in made)
    found = compose(ComposeRequest(table=table, schema=schema, releases=files))
    assert found.unknown < 50  # classes of bestcut overlap a little, those of a lattice do not
    by_class, by_labels = (
        compose(ComposeRequest(table=table, schema=schema, **words))
        for words in ({"class_files": (made[1][1],) * 2}, {"releases": (files[1],) * 2})
    )
    assert by_labels.unknown == 0
    assert (by_labels.classes, by_labels.below) == (by_class.classes, by_class.below)
    with pytest.raises(InputError, match="cannot be a release of this table"):
        compose(ComposeRequest(table=table, schema=schema, releases=files, infer=False))


def test_each_release_is_safe_and_both_together_are_not(tmp_path):
    schema = replace(plain_schema(), privacy=(KAnonymity(4), LDiversity(2)))
    made = [released(tmp_path, PEOPLE, schema, name)[0] for name in ("bestcut", "oka")]
    for out in made:
        table = pl.read_csv(out)
        assert table.group_by("age", "job").len()["len"].min() >= 4
    found = compose(ComposeRequest(table=PEOPLE, schema=schema, releases=tuple(made)))
    assert not found.holds
    document = found.to_document()
    assert document["below"]["4"] > 0
    assert json.dumps(document)
    assert not any(word in json.dumps(document) for word in ("welder", "rubella"))


def test_the_same_release_twice_is_as_safe_as_once(tmp_path):
    schema = plain_schema()
    out, classes = released(tmp_path, PEOPLE, schema, "bestcut")
    request = ComposeRequest(table=PEOPLE, schema=schema, releases=(out,), class_files=(classes,))
    found = compose(request)
    assert found.holds
    assert found.smallest_class >= 4
    assert found.alone == 0


def test_a_record_that_one_release_leaves_out_is_looked_for_among_those_left_out(tmp_path):
    files = files_in(tmp_path)
    for name, classes in (("a", [1] * 40), ("b", [-1, *[1] * 39])):
        text = "\n".join(map(str, classes))
        files.path(f"{name}.csv").write_text(f"class\n{text}\n", encoding="ascii")
    found = compose(
        ComposeRequest(
            table=files.table,
            schema=Schema.load(files.schema),
            class_files=(files.path("a.csv"), files.path("b.csv")),
        )
    )
    assert found.alone == 1
    assert not found.holds
    assert found.published == 40


def test_persons_are_counted_where_the_schema_names_them(tmp_path):
    table = PEOPLE.with_columns(who=pl.Series([i // 4 for i in range(40)]))
    path = tmp_path / "c.csv"
    numbers = "\n".join(str(i // 8) for i in range(40))  # classes of eight records of two persons
    path.write_text(f"class\n{numbers}\n", encoding="ascii")
    schema = replace(plain_schema(), privacy=(KAnonymity(3),))
    request = ComposeRequest(table=table.drop("who"), schema=schema, class_files=(path, path))
    assert compose(request).holds
    by_person = replace(request, table=table, schema=schema.with_person(["who"]))
    found = compose(by_person)
    assert not found.holds
    assert found.smallest_class == 2
    assert found.below[3] == 40
    assert found.privacy[0].value == 2


def test_a_pseudonym_that_links_records_is_not_judged_record_by_record(tmp_path):
    """Whoever links the records of a person knows more than the meet of single records says."""
    table = PEOPLE.with_columns(who=pl.Series([i // 4 for i in range(40)]))
    path = tmp_path / "c.csv"
    path.write_text("class\n" + "0\n" * 40, encoding="ascii")
    document = plain_schema().with_person(["who"]).to_document()
    document["columns"]["who"] = {"role": "person", "release": "pseudonym"}
    request = ComposeRequest(
        table=table, schema=Schema.from_document(document), class_files=(path, path)
    )
    with pytest.raises(MethodError, match="record by record"):
        compose(request)


def test_somebody_in_several_cells_counts_in_each_of_them_once(tmp_path):
    """Four persons with records in two cells each: four in both, and not eight in all."""
    table = PEOPLE.with_columns(who=pl.Series([i % 4 for i in range(40)]))
    path = tmp_path / "c.csv"
    path.write_text("class\n" + "\n".join(str(i // 20) for i in range(40)) + "\n", encoding="ascii")
    schema = replace(plain_schema(), privacy=(KAnonymity(4),)).with_person(["who"])
    found = compose(ComposeRequest(table=table, schema=schema, class_files=(path, path)))
    assert found.holds
    assert (found.classes, found.smallest_class) == (2, 4)
    stricter = replace(schema, privacy=(KAnonymity(5),))
    assert not compose(ComposeRequest(table=table, schema=stricter, class_files=(path, path))).holds


def test_models_stand_for_what_they_encode(tmp_path):
    schema, files = plain_schema(), []
    for number, name in enumerate(("mondrian", "bestcut")):
        found = learn(LearnRequest(table=PEOPLE, schema=schema, method=method_named(name)))
        files.append(tmp_path / f"{number}.json")
        write_model(found.model, files[-1])
    found = compose(ComposeRequest(table=PEOPLE, schema=schema, models=tuple(files)))
    assert found.releases == 2
    assert found.unknown == 0
    assert found.published == 40


def test_kept_columns_link_rows_one_to_one(tmp_path):
    table = PEOPLE.with_columns(cost=pl.Series(np.arange(40) * 1.25))
    schema = Schema.from_document(
        {
            "columns": {
                "age": {"role": "quasi", "kind": "numeric"}, "job": "quasi",
                "grade": "neutral", "cost": "neutral", "ill": "sensitive",
            },
            "privacy": [{"model": "k-anonymity", "k": 4}],
            "waive": ["cost"],
        }
    )  # fmt: skip
    made = [released(tmp_path, table, schema, name)[0] for name in ("bestcut", "oka")]
    found = compose(ComposeRequest(table=table, schema=schema, releases=tuple(made)))
    assert found.linked == 1.0
    assert found.unknown == 0  # so that every class is told, however labels overlap


def test_a_release_of_another_table_is_refused(tmp_path):
    schema = plain_schema()
    out, classes = released(tmp_path, PEOPLE, schema, "bestcut")
    other = PEOPLE.with_columns(age=pl.col("age") + 50)
    with pytest.raises(InputError, match="cannot be a release of this table"):
        compose(ComposeRequest(table=other, schema=schema, releases=(out, out)))
    fewer = PEOPLE.with_columns(ill=pl.lit("flu"))
    with pytest.raises(InputError, match="kept values that the table does not have") as caught:
        compose(ComposeRequest(table=fewer, schema=schema, releases=(out, out)))
    assert "rubella" not in str(caught.value)
    with pytest.raises(InputError, match="40 lines for 39 records"):
        compose(ComposeRequest(table=PEOPLE.head(39), schema=schema, class_files=(classes,) * 2))


@pytest.mark.parametrize("text", ["class\nx\n", "class\n-2\n", "class\n\n", "other\n1\n"])
def test_a_file_that_is_no_class_file_is_refused(tmp_path, text):
    path = tmp_path / "c.csv"
    path.write_text(text, encoding="ascii")
    with pytest.raises(InputError, match="class"):
        compose(
            ComposeRequest(table=PEOPLE.head(1), schema=plain_schema(), class_files=(path, path))
        )


def test_one_release_is_nothing_to_compose(tmp_path):
    with pytest.raises(SchemaError, match="at least two releases"):
        compose(ComposeRequest(table=PEOPLE, schema=plain_schema(), class_files=("a",)))


def test_a_class_file_is_private_and_never_written_over_the_release(tmp_path):
    out, classes = released(tmp_path, PEOPLE, plain_schema(), "bestcut")
    assert stat.S_IMODE(classes.stat().st_mode) == 0o600
    labels = pl.read_csv(out).group_by("age", "job").len()["len"].sort().to_list()
    counted = pl.Series(classes_in(classes)).value_counts()["count"].sort().to_list()
    assert counted == labels
    request = ReleaseRequest(
        table=PEOPLE, schema=plain_schema(), output=Output(out=out, class_file=out)
    )
    with pytest.raises(OutputError, match="also an input"):
        release(request)


def shares(table, schema, methods, folder):
    """Release a table by two methods; return the shares of records alone and below k = 5."""
    tight = replace(schema, labels=Labels.TIGHT)
    made = [
        released(folder, table, tight, name, **words)[1].rename(folder / f"{at}.csv")
        for at, (name, words) in enumerate(methods)
    ]
    found = compose(ComposeRequest(table=table, schema=schema, class_files=tuple(made)))
    return found, found.alone / found.published, found.below[5] / found.published


@pytest.mark.slow
@pytest.mark.local("class files keep the order of the input")
def test_two_releases_of_the_hospital_sample(tmp_path):
    files = hospital(tmp_path / "stays.csv", 10_000)
    schema = Schema.load(files.schema).with_promise([KAnonymity(5)], replace_promise=True)
    other = shares(files.table, schema, [("bestcut", {}), ("mondrian", {})], tmp_path)
    assert other[1:] == pytest.approx((0.610, 0.990), abs=0.001)
    assert other[0].certain["diagnosis"] == pytest.approx((0.005, 0.290), abs=0.001)


@pytest.mark.slow
@pytest.mark.local("class files keep the order of the input")
def test_two_releases_of_adult(adult, tmp_path):
    columns = {
        name: {"role": "quasi", "hierarchy": f"adult_hierarchy_{name}.csv"}
        for name in ADULT_QUASI.split(",")
    }
    columns["age"] = {"role": "quasi", "kind": "numeric"}  # at its own place
    document = {
        "columns": columns,
        "others": "drop",
        "privacy": [{"model": "k-anonymity", "k": 5}],
    }
    schema = Schema.from_document(document, folder=adult.hierarchies)
    found = shares(adult.table, schema, [("bestcut", {}), ("mondrian", {})], tmp_path)
    assert found[1:] == pytest.approx((0.136, 0.466), abs=0.001)


def test_persons_of_two_releases_are_judged_by_k_unless_values_are_promised_over_time(tmp_path):
    lines = [f"{i % 10},{'xyz'[i % 3]},p{i}" for i in range(20)]
    table = tmp_path / "t.csv"
    table.write_text("\n".join(["a,s,who", *lines, ""]), encoding="utf-8")
    files = []
    for number, of in enumerate((lambda i: i % 10 < 5, lambda i: i % 10 < 6)):
        out, people = tmp_path / f"{number}.csv", tmp_path / f"{number}.people.csv"
        rows = ["low" if of(i) else "high" for i in range(20)]
        text = [f"{label},{'xyz'[i % 3]}" for i, label in enumerate(rows)]
        out.write_text("\n".join(["a,s", *text, ""]), encoding="utf-8")
        people.write_text("\n".join(["person", *(f"p{i}" for i in range(20)), ""]))
        files.append((out, people))
    schema = Schema.from_document({"columns": {"a": "quasi", "s": "sensitive", "who": "person"}})
    releases, people = zip(*files, strict=True)
    found = {}
    for promise in ({"model": "k-anonymity", "k": 2}, {"model": "k-anonymity", "k": 3},
                    {"model": "m-uniqueness", "m": 2, "column": "s"}):  # fmt: skip
        asked = schema.with_promise([from_document(promise)], replace_promise=True)
        found[str(promise)] = intersect(
            ComposeRequest(table=table, schema=asked, releases=releases, person_files=people)
        )["s"]
    two, three, over_time = found.values()
    assert (two.alike, two.k, two.holds) == (2, 2, True)
    assert (three.alike, three.below, three.holds) == (2, {2: 0, 3: 2}, False)
    assert (over_time.k, over_time.holds) == (None, True)
