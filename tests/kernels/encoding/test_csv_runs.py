from __future__ import annotations

from itertools import groupby

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.encoding.csv_runs import find_runs


@settings(max_examples=300, deadline=None)
@given(
    lines=st.lists(st.sampled_from([b"", b"a", b"ab", b"abc", b"b", b'"x"', b'a"b"c']), max_size=12)
)
def test_runs_are_what_groupby_finds(lines: list[bytes]) -> None:
    text = b"".join(line + b"\n" for line in lines)
    start, length, count = (np.zeros(len(lines), dtype=np.int64) for _ in range(3))
    runs = find_runs(np.frombuffer(text, dtype=np.uint8), start, length, count)
    found = [(text[start[i] : start[i] + length[i]], int(count[i])) for i in range(runs)]
    assert found == [(line, len(list(group))) for line, group in groupby(lines)]


def test_an_open_quote_is_left_to_a_real_reader() -> None:
    text = b'a,"x\nx\nx"\n'
    buffers = [np.zeros(9, dtype=np.int64) for _ in range(3)]
    assert find_runs(np.frombuffer(text, dtype=np.uint8), *buffers) == -1
