from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.schema.schema import Kind
from shoal.table.domain import line_domain
from shoal.table.frequency import from_codes
from shoal.table.recoding import _label_numbers, recoding_of

AGE = line_domain("age", Kind.NUMERIC, ["1", "2", "3"], [1, 2, 3])
TABLE = from_codes(
    (AGE,), np.array([[0], [1], [2]], dtype=np.int32), np.array([4, 5, 6], dtype=np.int64)
)


def test_classes_with_the_same_labels_become_one() -> None:
    low = np.array([[0], [0], [2]], dtype=np.int32)
    high = np.array([[1], [1], [2]], dtype=np.int32)
    pieces = (np.array([0, 1, 1, 2]), np.array([0, 0, 1, 2]), np.array([4, 2, 3, 6]))
    recoding = recoding_of(TABLE, low, high, pieces)
    assert recoding.classes == 2
    assert recoding.sizes.tolist() == [9, 6]
    assert recoding.labels(0) == ["[1, 2]", "3"]
    assert recoding.row.tolist() == [0, 1, 2]
    assert recoding.count.tolist() == [4, 5, 6]


def test_the_order_in_which_a_search_finds_classes_does_not_matter() -> None:
    low = np.array([[2], [0]], dtype=np.int32)
    high = np.array([[2], [1]], dtype=np.int32)
    pieces = (np.array([2, 1, 0]), np.array([0, 1, 1]), np.array([6, 5, 4]))
    recoding = recoding_of(TABLE, low, high, pieces)
    assert recoding.labels(0) == ["[1, 2]", "3"]
    assert recoding.label.tolist() == [0, 0, 1]


def test_suppressed_pieces_stay_suppressed() -> None:
    low = high = np.array([[2]], dtype=np.int32)
    pieces = (np.array([0, 1, 2]), np.array([-1, -1, 0]), np.array([4, 5, 6]))
    recoding = recoding_of(TABLE, low, high, pieces)
    assert recoding.suppressed == 9
    assert recoding.sizes.tolist() == [6]
    assert recoding.label.tolist() == [-1, -1, 0]


NASTY = ["1", "2", "3", "[1, 2]", "2, 3", "*", "[1", "3]"]


@given(
    texts=st.lists(st.sampled_from(NASTY), min_size=1, max_size=6, unique=True),
    has_missing=st.booleans(),
    data=st.data(),
)
def test_runs_of_codes_share_a_number_where_they_share_a_label(texts, has_missing, data):
    labels = [None, *texts] if has_missing else texts
    places = [float("nan"), *range(len(texts))] if has_missing else list(range(len(texts)))
    domain = line_domain("age", Kind.NUMERIC, labels, places)
    code = st.integers(0, len(labels) - 1)
    runs = data.draw(st.lists(st.tuples(code, code), min_size=1, max_size=20))
    low, high = np.sort(np.array(runs, dtype=np.int32), axis=1).T
    numbers = _label_numbers(domain, low, high)
    shown = [domain.label(int(a), int(b)) for a, b in zip(low, high, strict=True)]
    for i, j in itertools.combinations(range(len(shown)), 2):
        assert (numbers[i] == numbers[j]) == (shown[i] == shown[j])
