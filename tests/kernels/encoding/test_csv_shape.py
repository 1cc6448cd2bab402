from __future__ import annotations

import csv
import io

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.encoding import csv_shape

CELL = st.text(st.sampled_from('ab,"\n \r;'), max_size=4)


def scan(text: bytes, fields: int, size: int) -> np.ndarray:
    state = csv_shape.fresh_state()
    for i in range(0, len(text), size):
        chunk = np.frombuffer(text[i : i + size], dtype=np.uint8)
        if not csv_shape.scan(chunk, ord(","), fields, state):
            break
    return state


@settings(max_examples=300, deadline=None)
@given(
    rows=st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=1, max_size=6),
    size=st.integers(1, 7),
)
def test_what_the_csv_module_writes_has_the_right_shape(rows: list[list[str]], size: int) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    state = scan(text.getvalue().encode(), 3, size)
    assert state[csv_shape.FAULT] == 0
    assert state[csv_shape.RECORDS] == len(rows)


@settings(max_examples=300, deadline=None)
@given(widths=st.lists(st.integers(1, 5), min_size=1, max_size=6), size=st.integers(1, 7))
def test_the_first_line_of_another_width_is_named(widths: list[int], size: int) -> None:
    text = "".join(",".join("x" * width) + "\n" for width in widths)
    state = scan(text.encode(), 3, size)
    wrong = [i for i, width in enumerate(widths, start=1) if width != 3]
    if not wrong:
        assert state[csv_shape.FAULT] == 0
    else:
        assert state[csv_shape.BAD_LINE] == wrong[0]
        expected = csv_shape.SHORT if widths[wrong[0] - 1] < 3 else csv_shape.LONG
        assert state[csv_shape.FAULT] == expected


def test_named_faults() -> None:
    cases = {
        b'a,b\n5" pipe,x\n': (csv_shape.STRAY_QUOTE, 2),
        b'a,b\n"x"y,z\n': (csv_shape.STRAY_QUOTE, 2),
        b"a,b\n\n1,2\n": (csv_shape.BLANK_INSIDE, 2),
        b"a,b\n1,\x00\n": (csv_shape.NUL, 2),
    }
    for text, (fault, line) in cases.items():
        state = scan(text, 2, 100)
        assert (state[csv_shape.FAULT], state[csv_shape.BAD_LINE]) == (fault, line), text


def test_blank_lines_at_the_end_are_counted_not_refused() -> None:
    state = scan(b"a,b\n1,2\n\n\n", 2, 100)
    assert state[csv_shape.FAULT] == 0
    assert state[csv_shape.BLANKS] == 2
    assert state[csv_shape.RECORDS] == 2
