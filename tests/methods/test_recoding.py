from __future__ import annotations

import numpy as np

from shoal.core.schema import Kind
from shoal.methods.domain import line_domain
from shoal.methods.frequency import from_codes
from shoal.methods.recoding import recoding_of

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
