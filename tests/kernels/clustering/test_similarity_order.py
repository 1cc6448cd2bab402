"""An order of rows: nobody is lost, parts are nested, equal rows stay together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import domains, tables

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering.similarity_order import alike_tree
from shoal.methods.clustering.space import space_of

WIDTHS = (2, 6, 20)


@settings(max_examples=40, deadline=None)
@given(table=tables(missing=True), by_pairs=st.booleans())
def test_every_row_stands_once_and_parts_are_no_wider_than_they_may(table, by_pairs):
    order, rank = alike_tree(table.codes, space_of(table.domains), widths=WIDTHS, by_pairs=by_pairs)
    assert sorted(order.tolist()) == list(range(table.rows))
    assert rank[0] == len(WIDTHS)  # the first row begins a part of every width
    for level, width in enumerate(WIDTHS):
        begins = [*np.flatnonzero(rank > level).tolist(), table.rows]
        for begin, end in pairwise(begins):
            rows = table.codes[order[begin:end]]
            assert end - begin <= width or (rows == rows[0]).all()


def test_codes_that_do_not_fit_are_refused():
    space = space_of(domains())
    for codes in (np.zeros((2, 3), np.int64), np.zeros((2, 2), np.int32)):
        with pytest.raises(KernelInputError):
            alike_tree(codes, space, widths=WIDTHS)
