"""What the judge of chunks does not see of clusters is checked where they are read."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.core.errors import UnsafeReleaseError
from shoal.engines.local.disassociated import check_rest, query_error
from shoal.methods.transactions.disassociation import disassociated
from shoal.table.baskets import Baskets

LINES = {"cluster": [0] * 6, "chunk": [0, 0, 0, 1, 1, 1], "items": [["a"]] * 3 + [["b"]] * 3}


@pytest.mark.parametrize("change", [
    {"rest": [["a"]] * 6},  # an item in two parts
    {"rest": [[]] * 6, "items": [["a"]] * 3 + [["b"], [], []]},  # too few sub-records
    {"rest": [["x"]] * 5 + [["y"]]},  # a rest that tells lines apart
    {"rest": [["x"]] * 6, "chunk": [0, 0, 1, 1, 1, 1]},  # a chunk with lines of its own
])  # fmt: skip
def test_what_the_judge_of_chunks_does_not_see_is_checked(change):
    right = pl.DataFrame({**LINES, "rest": [["x"]] * 6})
    check_rest(right, "items", k=3, m=2)
    with pytest.raises(UnsafeReleaseError):
        check_rest(pl.DataFrame({**LINES, **change}), "items", k=3, m=2)


def test_items_that_stand_together_answer_exactly_and_others_nearly():
    rows = [["a", "b"]] * 40
    found = Baskets.of(rows)
    assert query_error(found, disassociated(found, k=3, m=2, most=100)) == 0
    apart = Baskets.of([["a", "b"]] * 2 + [["a"]] * 4 + [["b"]] * 4)
    assert query_error(apart, disassociated(apart, k=3, m=2, most=100)) > 0
    assert query_error(Baskets.of([["a"]] * 9), []) is None
