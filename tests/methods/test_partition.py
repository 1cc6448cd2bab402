"""Drawing parts for records: a draw is the record's own, and every part is as likely."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.methods import partition as module
from shoal.methods.partition import deal

ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 40)),
    min_size=1, max_size=30, unique_by=lambda row: row[:2],
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(rows=ROWS, parts=st.integers(1, 7), seed=st.integers(0, 2**63), data=st.data())
def test_a_row_is_dealt_out_alike_wherever_it_stands(rows, parts, seed, data):
    codes = np.array([row[:2] for row in rows], dtype=np.int32)
    counts = np.array([row[2] for row in rows], dtype=np.int64)
    whole = deal(codes, counts, parts, seed=seed)
    assert (whole.sum(axis=1) == counts).all()
    some = np.array(data.draw(st.permutations(range(len(rows)))))[: len(rows) // 2 + 1]
    assert (deal(codes[some], counts[some], parts, seed=seed) == whole[some]).all()
    block = module._RECORDS
    try:
        module._RECORDS = 7  # a row may be dealt out in several turns
        assert (deal(codes, counts, parts, seed=seed) == whole).all()
    finally:
        module._RECORDS = block


def test_every_part_gets_its_share_and_seeds_differ():
    codes = np.arange(4000, dtype=np.int32).reshape(-1, 1)
    counts = np.full(4000, 5, dtype=np.int64)
    drawn = [deal(codes, counts, 4, seed=seed) for seed in range(3)]
    for dealt in drawn:
        assert abs(dealt.sum(axis=0) - 5000).max() < 300  # five standard deviations
    assert (drawn[0] != drawn[1]).any(axis=1).mean() > 0.9
