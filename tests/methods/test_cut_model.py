"""Models of cuts: labels cover their regions, and cells say no more than labels."""

from __future__ import annotations

import pytest
from tests.golden.generate import schema
from tests.methods.test_cut_tree import made

from shoal.model.column import label_of


def test_cells_hold_labels_and_cuts_and_nothing_else():
    _, model = made()
    for column in model.columns:
        for cell in column.cells:
            assert set(cell) <= {
                "cut",
                "variant",
                "any",
                "label",
                "node",
                "value",
                "mask",
                "lost",
                "missing",
            }


def test_the_numbers_of_cuts_are_those_that_the_tree_uses():
    _, model = made()
    width = len(model.columns)
    for j, column in enumerate(model.columns):
        used = {cut // width for cut in model.tree["cut"] if cut % width == j}
        numbers = set(range(1, len(column.cuts.at) + 1)) | ({0} & used)
        assert used == numbers


def test_a_column_that_no_cut_divides_releases_its_root():
    _, model = made(150)
    whole = [c for c in model.columns if not c.cuts.at and c.scale != "text"]
    for column in whole:
        labels = {label_of(cell, ()) for cell in column.cells}
        assert column.root in labels


@pytest.mark.parametrize("k", [4, 40])
def test_labels_of_numbers_lie_between_their_cuts(k):
    _, model = made(k)
    age = model.columns[model.schema.quasi.index("age")]
    bounds = [None, *age.cuts.at, None]
    for cell in age.cells:
        if "label" not in cell or not cell["label"].startswith("["):
            continue
        low, high = (float(end) for end in cell["label"][1:-1].split(", "))
        begin, end = cell["cut"]
        assert begin < 1 or low == float(bounds[begin])
        assert end >= len(bounds) - 1 or high <= float(bounds[end])
    assert schema(levels=False, k=k).quasi == model.schema.quasi
