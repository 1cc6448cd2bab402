"""Bins of columns, and how a label is shared out over them: as by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.measures.fidelity.made import BELOW, made, releases
from tests.naive import fidelity as naive

from shoal.measures.fidelity.columns import BINS, CATEGORIES


@settings(max_examples=80, deadline=None)
@given(releases())
def test_shares_add_up_and_a_plain_value_is_in_its_own_bin(found):
    for name, column in zip(found.names, found.columns, strict=True):
        assert column.spread.sum(axis=1) == pytest.approx(1.0)
        assert column.spread.min() >= 0
        code = {text: i for i, text in enumerate(column.domain.labels)}
        for i, text in enumerate(column.texts):
            if text in code:
                assert column.spread[i, column.of_code[code[text]]] == pytest.approx(1.0), name


@settings(max_examples=80, deadline=None)
@given(releases(columns=("n", "r"), most=60))
def test_bins_of_many_numbers_are_those_of_sdnist(found):
    for name, column in zip(found.names, found.columns, strict=True):
        before, _, _ = found.column(name)
        edges = naive.sdnist_edges(before)
        codes = {text: i for i, text in enumerate(column.domain.labels)}
        values = [value for value in before if value is not None]
        if edges is None:
            assert len({int(column.of_code[codes[v]]) for v in values}) == len(set(values))
            continue
        assert column.size <= BINS + 1
        groups = {}
        for value in values:
            groups.setdefault(naive.bin_of(float(value), edges), set()).add(
                int(column.of_code[codes[value]])
            )
        assert all(len(bins) == 1 for bins in groups.values())
        assert len(set.union(*groups.values())) == len(groups)


def test_percentiles_of_skewed_numbers_by_hand():
    before = [("0",)] * 50 + [(str(n),) for n in range(1, 51)]
    column = made(("n",), before, before).columns[0]
    # Every 5th percentile up to the 45th is 0; then each five numbers are a bin.
    assert column.of_code[:5].tolist() == [0] * 5 or column.of_code[0] == 0
    assert (column.cuts + column.half)[:1] != 0
    assert column.before.sum() == pytest.approx(1.0)


def test_a_node_covers_the_values_below_it_and_the_root_all_but_the_missing_one():
    before = [("red",), ("orange",), ("blue",), (None,)]
    column = made(("c",), before, [("warm",), ("*",), (None,), ("cold",)]).columns[0]
    names = dict(zip(column.texts, column.spread.tolist(), strict=True))
    known = {text: int(column.of_code[i]) for i, text in enumerate(column.domain.labels)}
    assert names["warm"][known["red"]] == names["warm"][known["orange"]] == 0.5
    assert names["cold"][known["blue"]] == 1.0  # green and teal do not occur
    assert names["*"][known[None]] == 0.0
    assert names[None][known[None]] == 1.0


def test_what_nothing_explains_is_spread_over_everything():
    before = [("red",), ("blue",)]
    column = made(("c",), before, [("violet",), ("red",)]).columns[0]
    assert dict(zip(column.texts, column.spread.tolist(), strict=True))["violet"] == [0.5, 0.5]
    numbers = made(("n",), [("1",), ("3",)], [("?",), (None,)]).columns[0]
    assert numbers.spread.sum(axis=1) == pytest.approx(1.0)


def test_round_labels_and_centroids_are_read():
    before = [(str(n),) for n in range(100)]
    column = made(("n",), before, [("20–39",), ("33.5",), ("90–119",)]).columns[0]
    ends = dict(zip(column.texts, column.ends.tolist(), strict=True))
    assert ends["20–39"] == [20.0, 39.0]
    assert ends["33.5"] == [33.5, 33.5]
    assert ends["90–119"] == [90.0, 99.0]  # cut off where the column ends


def test_rare_categories_have_one_bin():
    before = [(f"c{n}",) for n in range(CATEGORIES + 50)] + [("c7",)] * 3
    column = made(("c",), [("red",)] * 2, [("red",)] * 2).columns[0]
    assert column.size == 1
    assert BELOW["warm"] == ["red", "orange"]
    from shoal.hierarchies.tree import Hierarchy
    from shoal.measures.fidelity.columns import Column
    from shoal.schema.schema import Kind
    from shoal.table.domain import tree_domain

    values = sorted({row[0] for row in before})
    tree = Hierarchy.flat("c", values)
    domain = tree_domain("c", Kind.CATEGORICAL, values, tree, missing=False, weight=1.0)
    held = np.array([sum(row[0] == text for row in before) for text in domain.labels], float)
    wide = Column(domain, held, ["*", "c7"], np.zeros(1, dtype=np.int64))
    assert wide.size == CATEGORIES
    rare = wide.spread[0, CATEGORIES - 1]
    assert rare == pytest.approx(51 / (CATEGORIES + 50))
    assert wide.spread[1].max() == 1.0
    assert wide.spread[1, CATEGORIES - 1] == 0.0


def test_shares_in_a_run_are_overlaps():
    before = [(str(n),) for n in range(10)] + [(None,)]
    column = made(("n",), before, [("[2, 5]",), ("*",), (None,), ("3",)]).columns[0]
    code = {text: i for i, text in enumerate(column.domain.labels)}
    found = dict(zip(column.texts, column.shares_in(code["4"], code["8"]), strict=True))
    assert found["[2, 5]"] == pytest.approx(2 / 4)
    assert found["*"] == pytest.approx(5 / 10)
    assert found["3"] == 0.0
    assert found[None] == 0.0
    assert dict(zip(column.texts, column.shares_in(0, 0), strict=True))[None] == 1.0


def test_a_value_that_is_a_group_as_well_is_not_one_value_alone():
    column = made(("c",), [("warm",), ("red",)], [("warm",), ("red",)]).columns[0]
    codes = dict(zip(column.texts, column.codes().tolist(), strict=True))
    assert codes["warm"] == -1
    assert codes["red"] >= 0
