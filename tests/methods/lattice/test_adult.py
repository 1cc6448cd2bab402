"""The optima that the literature's reference tool finds on Adult, and limits of scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.methods.calls import search
from tests.methods.lattice.tables import adult15_table, adult_table, perturbed, wide_table

from shoal.measures.utility import grouping_of, utility_of
from shoal.privacy import KAnonymity, LDiversity, TCloseness


@pytest.fixture(scope="module")
def table(adult):
    return adult_table(adult.hierarchies)


OPTIMA = [
    (5, 0.0, 0.5915850, 0, (0, 4, 0, 2, 3, 2, 2, 1)),
    (5, 0.05, 0.2518517, 1458, (0, 3, 0, 0, 1, 1, 1, 2)),
    (5, 1.0, 0.2200499, 3049, (0, 3, 0, 0, 2, 1, 0, 1)),
    (2, 0.05, 0.1670675, 1240, (0, 3, 0, 0, 2, 1, 0, 1)),
]


@pytest.mark.parametrize("method", ["flash", "dfs", "incognito", "best-first"])
@pytest.mark.parametrize(("k", "limit", "loss", "suppressed", "levels"), OPTIMA)
def test_known_optima_come_out(table, method, k, limit, loss, suppressed, levels):
    found = search(table, [KAnonymity(k)], method=method, suppression_limit=limit)
    assert found.facts["loss"] == pytest.approx(loss, abs=5e-8)
    assert found.suppressed == suppressed
    assert tuple(found.facts["levels"].values()) == levels
    assert found.facts["optimal"]
    assert found.facts["lattice"] == 6480
    assert found.facts["evaluated"] + found.facts["pruned"] == 6480
    assert found.sizes.min() >= k
    assert int(found.sizes.sum()) + found.suppressed == table.records


def test_reported_loss_is_the_minimized_one(table):
    found = search(table, [KAnonymity(5)], suppression_limit=0.05)
    assert utility_of(grouping_of(found))["loss"] == pytest.approx(found.facts["loss"], abs=1e-12)


def test_same_bytes_with_one_thread_and_two_and_with_little_memory(table):
    big = perturbed(table, 60_000)
    found = [
        search(
            big,
            [KAnonymity(5)],
            suppression_limit=0.02,
            method="bfs",
            threads=threads,
            memory=memory,
        )
        for threads, memory in ((1, 500_000_000), (2, 500_000_000), (2, 1_000_000))
    ]
    for other in found[1:]:
        assert other.facts == found[0].facts
        for name in ("low", "high", "label", "node"):
            np.testing.assert_array_equal(getattr(other, name), getattr(found[0], name))


def test_three_million_records_do_not_overflow_a_hierarchical_distance(adult):
    """A hundredfold table has the same shares: every class must be judged as before."""
    small = adult_table(adult.hierarchies, ("occupation",))
    large = replace(small, counts=small.counts * 100)
    promise = TCloseness(0.2, "hierarchical", column="occupation")
    few = search(small, [KAnonymity(5), promise], suppression_limit=0.05)
    many = search(large, [KAnonymity(500), promise], suppression_limit=0.05)
    assert large.records > 3_000_000
    assert many.facts["levels"] == few.facts["levels"]
    assert many.suppressed == 100 * few.suppressed
    assert many.facts["loss"] == pytest.approx(few.facts["loss"], abs=1e-9)


def test_promises_on_sensitive_columns_are_met_and_proven(adult):
    salary = adult_table(adult.hierarchies, ("salary-class",))
    for model in (LDiversity(2, column="salary-class"), TCloseness(0.2, column="salary-class")):
        found = search(salary, [KAnonymity(5), model], suppression_limit=0.05)
        assert found.facts["evaluated"] < 6480 / 4
        assert found.suppressed <= 1508
        kept = found.label >= 0
        counts = np.zeros((found.classes, 2), dtype=np.int64)
        np.add.at(
            counts, (found.label[kept], salary.sensitive[found.row[kept], 0]), found.count[kept]
        )
        shares = counts / counts.sum(axis=1, keepdims=True)
        if isinstance(model, LDiversity):
            assert (counts > 0).all()
        else:
            whole = counts.sum(axis=0) / counts.sum()
            assert (np.abs(shares - whole).sum(axis=1) / 2).max() <= 0.2 * (1 + 1e-12)


def test_fifteen_columns_without_suppression_are_proven(data):
    table = adult15_table(data)
    found = search(table, [KAnonymity(5)])
    assert found.facts["lattice"] == 97_200_000
    assert found.facts["optimal"]
    assert found.sizes.min() >= 5


@pytest.mark.slow
def test_fifteen_columns_with_suppression_answer_honestly(data):
    found = search(adult15_table(data), [KAnonymity(5)], suppression_limit=0.05)
    assert found.sizes.min() >= 5
    assert found.suppressed <= 1508
    assert found.facts["bound"] <= found.facts["loss"] < 0.45
    assert found.facts["optimal"] == (found.facts["bound"] == found.facts["loss"])


def test_thirty_columns_still_answer():
    table = wide_table(30, 2000)
    found = search(table, [KAnonymity(5)], suppression_limit=0.1, seconds=5)
    assert found.facts["lattice"] == 4**30
    assert found.facts["search"] == "best-first"
    assert found.sizes.min() >= 5
    assert found.suppressed <= 200
    if not found.facts["optimal"]:
        assert found.facts["pruned"] is None
        assert any("not proven" in line for line in found.facts["explanation"])
