"""Drawn cells: each from its label, all together near the marginal."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.engines.coding import code_column
from shoal.engines.drawing.cells import Open, draw_column
from shoal.engines.drawing.check import lies_in
from shoal.engines.drawing.protected import Marginal
from shoal.engines.drawing.units import units_of
from shoal.schema.attribute import Attribute, Kind, Role

ATTRIBUTE = Attribute(name="x", role=Role.QUASI, kind=Kind.NUMERIC)


def column(values):
    return code_column(pl.Series("x", values), ATTRIBUTE, marks=()).domain


def marginal(records):
    texts = tuple(records)
    place = np.array([np.nan if t is None else float(t) for t in texts])
    held = np.array(list(records.values()), dtype=np.float64)
    return Marginal("x", texts, place, np.arange(len(texts)), held)


def drawn(labels, known, values, seed=0):
    domain = column(values)
    return draw_column(
        pl.Series("x", labels, dtype=pl.String), known, domain, units_of(domain, ATTRIBUTE),
        random=np.random.default_rng(seed),
    )  # fmt: skip


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30),
    st.integers(0, 9),
)
def test_every_cell_lies_in_its_label(pairs, seed):
    labels = [str(a) if a == b else f"[{min(a, b)}, {max(a, b)}]" for a, b in pairs]
    values = [str(i) for i in range(10)]
    found = drawn(labels, marginal(dict.fromkeys(values[::2], 3.0)), values, seed)
    domain = column(values)
    for cell, label in zip(found.cells.to_list(), labels, strict=True):
        assert lies_in(cell, label, domain=domain, form=None)


def test_rare_values_are_drawn_as_often_as_the_marginal_says():
    # 60 labels say 1, and 40 leave 1 … 4 open: in proportion, 1 would be drawn too often.
    labels = ["1"] * 60 + ["[1, 4]"] * 40
    found = drawn(labels, marginal({"1": 70.0, "2": 10.0, "3": 10.0, "4": 10.0}), list("1234"))
    counts = dict(found.cells.value_counts().iter_rows())
    assert counts == pytest.approx({"1": 70, "2": 10, "3": 10, "4": 10}, abs=1)
    assert found.misfit < 0.01


def test_the_same_seed_draws_the_same_and_another_one_other_cells():
    labels = ["[1, 4]"] * 50
    known = marginal({"1": 20.0, "2": 10.0, "3": 10.0, "4": 10.0})
    one, same, other = (drawn(labels, known, list("1234"), seed).cells for seed in (1, 1, 2))
    assert one.to_list() == same.to_list() != other.to_list()


def test_the_root_leaves_everything_open_the_missing_value_too():
    found = drawn(["*"] * 40, marginal({None: 10.0, "1": 20.0, "2": 10.0}), ["1", "2", None])
    assert dict(found.cells.value_counts().iter_rows()) == {None: 10, "1": 20, "2": 10}


def test_the_missing_value_is_drawn_for_itself_alone():
    found = drawn([None, "[1, 2]"] * 9, marginal({"1": 9.0, "2": 9.0}), ["1", "2", None])
    assert [cell is None for cell in found.cells.to_list()] == [True, False] * 9


def test_a_label_that_the_marginal_knows_nothing_of_brings_its_own_values():
    domain = column(["1", "50", "52", "60"])
    opened = Open.of(["[50, 60]"], marginal({"1": 5.0}), domain, units_of(domain, ATTRIBUTE))
    assert opened.texts[0] == "1"
    assert len(opened.texts) > 4
    assert all(50 <= float(text) <= 60 for text in opened.texts[1:])
    assert opened.runs.tolist() == [[1, len(opened.texts)]]


def test_which_values_occur_in_a_label_that_the_marginal_does_not_know_is_not_told():
    # Two tables that differ in what lies inside a round label alone: F is a function of G, M and s.
    labels, known = ["[50, 60]"] * 30 + ["1"] * 5, marginal({"1": 5.0})
    one = drawn(labels, known, ["1", "50", "51", "60"]).cells
    two = drawn(labels, known, ["1", "50", "57", "58", "60"]).cells
    assert one.to_list() == two.to_list()
    assert {float(cell) for cell in one[:30]} >= {50.0, 60.0}


def test_nothing_to_draw():
    assert drawn([], marginal({"1": 5.0}), ["1"]).cells.to_list() == []
