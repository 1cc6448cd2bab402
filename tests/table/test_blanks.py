"""Columns in which a cell is as it is, or blank."""

import numpy as np
from hypothesis import given, settings
from tests.methods.clustering.tables import tables

from shoal.measures.cells import EVERYTHING, cost_of_run
from shoal.measures.utility import grouping_of
from shoal.table.blanks import blank_table, blanked, flat_table
from shoal.table.recoding import recoding_of

LAW = settings(max_examples=40, deadline=None)


def one_class(table):
    every = np.arange(table.rows)
    low, high = (f(axis=0, keepdims=True) for f in (table.codes.min, table.codes.max))
    return recoding_of(table, low, high, (every, np.zeros_like(every), table.counts))


@LAW
@given(table=tables(missing=True))
def test_a_run_of_values_is_blank_and_one_value_is_itself(table):
    blank = blank_table(table)
    for before, domain in zip(table.domains, blank.domains, strict=True):
        for low in range(len(domain)):
            assert domain.label(low, low) == before.label(low, low)
            assert domain.cost(low, low) == before.cost(low, low)
            assert cost_of_run(domain, low, low) == cost_of_run(before, low, low)
            for high in range(low + 1, len(domain)):
                assert domain.label(low, high) == before.root
                assert domain.cost(low, high) == 1
                assert cost_of_run(domain, low, high) == EVERYTHING
                if domain.tree is not None:
                    assert domain.released_node(low, high) == domain.tree.root
        assert not domain.is_plain_line


@LAW
@given(table=tables(missing=True))
def test_a_flat_column_loses_everything_or_nothing(table):
    flat = flat_table(table)
    assert np.array_equal(flat.codes, table.codes)
    for before, domain in zip(table.domains, flat.domains, strict=True):
        assert domain.weight == before.weight
        assert not domain.has_missing
        assert len(domain) == len(before)
        for low in range(len(domain)):
            assert domain.tree.index(domain.labels[low]) == domain.position[low]
            for high in range(low, len(domain)):
                assert domain.cost(low, high) == (low != high)


@LAW
@given(table=tables(missing=True))
def test_blank_cells_are_counted(table):
    found = one_class(blank_table(table))
    cells = blanked(found)
    assert list(cells) == [domain.name for domain in table.domains]
    for j, name in enumerate(cells):
        differ = len(set(table.codes[:, j].tolist())) > 1
        assert cells[name] == (table.records if differ else 0)
    heights = grouping_of(found).height
    assert all(height == 1 for height, n in zip(heights[0], cells.values(), strict=True) if n)
