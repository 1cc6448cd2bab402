"""Released cells as numbers: as averaged by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.measures.fidelity.made import BELOW, made, releases
from tests.naive import fidelity as naive_fidelity
from tests.naive import learning as naive

from shoal.measures.fidelity.columns import Column
from shoal.measures.learning.features import LEAVES, features_of


def cells(found, name):
    """Return the features of each label of a column."""
    column = found.columns[found.names.index(name)]
    every = Column(column.domain, column.held, column.texts, np.arange(len(column.texts)))
    return dict(zip(column.texts, features_of([every]).tolist(), strict=True)), column


@settings(max_examples=60, deadline=None)
@given(releases(columns=("n", "few")))
def test_an_interval_is_low_high_and_the_mean_of_what_it_covers(found):
    for name in found.names:
        before, _, _ = found.column(name)
        numbers = [float(value) for value in before if value is not None]
        for text, cell in cells(found, name)[0].items():
            if text is None or text == "*":
                usual = sum(numbers) / len(numbers)
                assert cell == pytest.approx([usual, usual, usual, 1.0])
            else:
                low, high = naive_fidelity.ends(text, before)
                assert cell == pytest.approx([*naive.line_cell(before, low, high), 0.0])


@settings(max_examples=60, deadline=None)
@given(releases(columns=("c", "few")))
def test_a_category_is_the_share_of_each_value_under_its_label(found):
    before, _, _ = found.column("c")
    measured, _ = cells(found, "c")
    for text, cell in measured.items():
        if text is None:
            assert max(cell) == 1.0
            continue
        below = sorted({v for v in before if v}) if text == "*" else BELOW.get(text, [text])
        expected = sorted(naive.shares_below(before, below).values(), reverse=True)
        assert sorted(cell, reverse=True)[: len(expected)] == pytest.approx(expected)
        assert sum(cell) == pytest.approx(1.0)


def test_rare_values_have_one_share_together():
    from shoal.hierarchies.tree import Hierarchy
    from shoal.schema.schema import Kind
    from shoal.table.domain import tree_domain

    values = [f"v{n:03d}" for n in range(LEAVES + 20)]
    tree = Hierarchy.flat("v", values)
    domain = tree_domain("v", Kind.CATEGORICAL, values, tree, missing=False, weight=1.0)
    column = Column(domain, np.ones(len(values)), ["*", values[0]], np.array([0, 1]))
    found = features_of([column])
    assert found.shape == (2, LEAVES + 1)
    assert found[0, LEAVES] == pytest.approx(20 / len(values))
    assert found[1].max() == 1.0


def test_what_is_not_known_says_nothing():
    found = made(("c", "n"), [("red", "1"), ("blue", "5")], [("violet", "?"), ("red", None)])
    colours, numbers = cells(found, "c")[0], cells(found, "n")[0]
    assert sum(colours["violet"]) == pytest.approx(1.0)
    assert numbers["?"] == pytest.approx([3.0, 3.0, 3.0, 1.0])
