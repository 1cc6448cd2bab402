"""Local suppression: every released tuple has k records, blanks being values, and few are blank."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.methods.calls import bestcut, kmember, local_suppression
from tests.methods.clustering.tables import tables
from tests.methods.sensitive_tables import PROMISES, counted
from tests.naive import blanks as naive

import shoal
from shoal import api
from shoal.core.errors import MethodError
from shoal.measures.utility import grouping_of, utility_of
from shoal.methods.judging import failing_classes, one_class
from shoal.methods.registry import method_named, resolve
from shoal.privacy import KAnonymity
from shoal.table.blanks import blanked, flat_table

LAW = settings(max_examples=25, deadline=None)


def records(table):
    """Return the records of a table as tuples of codes."""
    return [
        tuple(map(str, codes))
        for codes, count in zip(table.codes.tolist(), table.counts.tolist(), strict=True)
        for _ in range(count)
    ]


def written(recoding):
    """Return the released tuples, record by record, with the codes of each."""
    labels = list(zip(*(recoding.labels(j) for j in range(recoding.low.shape[1])), strict=True))
    found = []
    for row, label, count in zip(recoding.row, recoding.label, recoding.count, strict=True):
        found += [(tuple(recoding.table.codes[row].tolist()), labels[label])] * int(count)
    return found


@LAW
@given(table=tables(missing=True), k=st.integers(1, 5))
def test_a_cell_is_as_it_is_or_blank_and_every_tuple_has_k_records(table, k):
    assume(table.records >= k)
    release = local_suppression(table, [KAnonymity(k)])
    rows = written(release)
    assert len(rows) == table.records
    assert min(Counter(label for _, label in rows).values()) >= k
    for codes, label in rows:
        for domain, code, cell in zip(table.domains, codes, label, strict=True):
            assert cell in (domain.labels[code], domain.root)


@settings(max_examples=20, deadline=None)
@given(table=tables(most=4), k=st.integers(2, 3), weight=st.sampled_from([1.0, 3.0]))
def test_in_a_tiny_table_no_fewer_cells_can_be_blank(table, k, weight):
    rows = records(table)
    assume(k <= len(rows) <= 7)
    domains = tuple(
        replace(domain, weight=weight if j == 0 else 1.0) for j, domain in enumerate(table.domains)
    )
    table = replace(table, domains=domains)
    weights = [domain.weight for domain in domains]
    found = blanked(local_suppression(table, [KAnonymity(k)], effort="best"))
    lost = sum(n * weight for n, weight in zip(found.values(), weights, strict=True))
    assert lost == pytest.approx(naive.fewest(rows, k, weights))


@pytest.mark.parametrize("promise", PROMISES, ids=repr)
@settings(max_examples=6, deadline=None)
@given(table=counted())
def test_every_promise_holds_and_no_other_clustering_blanks_less(promise, table):
    models = [KAnonymity(2), promise]
    assume(not failing_classes(one_class(table), models).any())
    found = [local_suppression(table, models, effort=effort) for effort in ("fast", "normal")]
    lost = [sum(blanked(each).values()) for each in found]
    assert all(not failing_classes(each, models).any() for each in found)
    flat = flat_table(table)
    cut = utility_of(grouping_of(bestcut(flat, models)))["il"]
    assert lost[1] <= lost[0] <= cut + 1e-9
    assert lost[1] <= utility_of(grouping_of(kmember(flat, models)))["il"] + 1e-9


def test_a_blank_is_a_value_and_matches_nothing_else():
    """Where a blank matches everything, one blank protects two records; here each needs k alike."""
    rows = [("a", "x"), ("a", "y"), ("b", "y"), ("b", "y"), ("b", "y")]
    assert naive.alike([("a", "*"), ("a", "y"), *rows[2:]]) == [2, 2, 3, 3, 3]
    frame = {"c": [a for a, _ in rows], "d": [b for _, b in rows]}
    made = shoal.anonymize(
        shoal_frame(frame), qi=["c", "d"], k=2, method="local-suppression", infer=False
    )
    assert sorted(made.table.rows()) == [("a", "*")] * 2 + [("b", "y")] * 3
    assert made.report.facts["blanked"] == {"c": 0, "d": 2}


def shoal_frame(columns):
    import polars as pl

    return pl.DataFrame(columns)


def test_a_column_that_weighs_more_is_blanked_less():
    chance = np.random.default_rng(5)
    frame = shoal_frame({"a": chance.integers(0, 12, 200), "b": chance.integers(0, 12, 200)})
    found = {}
    for weight in (1, 4):
        schema = {
            "columns": {
                "a": {"role": "quasi", "kind": "categorical", "weight": weight},
                "b": {"role": "quasi", "kind": "categorical"},
            },
            "privacy": [{"model": "k-anonymity", "k": 3}],
        }
        made = shoal.anonymize(frame, schema, method=shoal.LocalSuppression())
        found[weight] = made.report.facts["blanked"]
    assert found[4]["a"] < found[1]["a"]
    assert found[4]["b"] > found[1]["b"]


def test_it_has_no_centroids():
    with pytest.raises(MethodError, match="releases values as they are, or blank"):
        resolve(method_named("local-suppression"), release="aggregate")


def test_what_was_learned_is_a_model_of_values_and_blanks(tmp_path):
    frame = shoal_frame({"n": [1, 1, 2, 2, 3, 40], "c": list("aabbbb")})
    model = api.learn(frame, qi=["n", "c"], k=2, method="local-suppression", infer=False)
    cells = [dict(cell) for column in model.columns for cell in column.cells]
    assert {"any": "*"} in cells
    encoded = model.encode_safe(frame).table
    assert min(Counter(encoded.rows()).values()) >= 2
    assert set(encoded["c"]) <= {"a", "b", "*"}
