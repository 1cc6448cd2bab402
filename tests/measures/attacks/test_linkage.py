"""Linkage on small classes."""

import numpy as np
import pytest

from shoal.core.errors import KernelInputError
from shoal.hierarchies.tree import Hierarchy
from shoal.measures.attacks.linkage import Knowledge, affordable, linkage
from shoal.measures.attacks.match import label_distances
from shoal.measures.attacks.order import order
from shoal.methods.domain import line_domain, tree_domain
from shoal.schema.schema import Kind

AGE = line_domain("age", Kind.NUMERIC, [None, "20", "30", "40"], [np.nan, 20, 30, 40])
PLACE = tree_domain(
    "place", Kind.CATEGORICAL, ["Rome", "Bari", "Nice"],
    Hierarchy.from_tree("place", {"*": {"Italy": ["Rome", "Bari"], "France": ["Nice", "Lyon"]}}),
    missing=True, weight=1.0,
)  # fmt: skip


def test_labels_on_a_line_cover_what_they_say():
    found = label_distances(
        AGE, ["20", "25", "40", None], ["20", "[20, 30]", "*", None, "37.5", "nonsense"]
    )
    expected = [
        [0, 0, 0, 1, 0.875, 1],
        [0.25, 0, 0, 1, 0.625, 1],
        [1, 0.5, 0, 1, 0.125, 1],
        [1, 1, 0, 0, 1, 1],
    ]
    assert found == pytest.approx(np.array(expected))


def test_labels_of_a_tree_cover_their_leaves():
    found = label_distances(
        PLACE, ["Rome", "Nice", "Lyon", "Oslo", None], ["Rome", "Italy", "France", "*", None]
    )
    assert found.tolist() == [
        [0, 0, 1, 0, 1],
        [1, 1, 0, 0, 1],
        [1, 1, 0, 0, 1],
        [1, 1, 1, 0, 1],
        [1, 1, 1, 0, 0],
    ]


def test_labels_of_a_ladder_cover_their_range():
    ladder = Hierarchy.from_rows(
        "age", [("20", "[20, 40)", "*"), ("30", "[20, 40)", "*"), ("40", "[40, 60)", "*")]
    )
    domain = line_domain("age", Kind.NUMERIC, ["20", "30", "40"], [20, 30, 40], ladder=ladder)
    found = label_distances(domain, ["20", "25", "40"], ["[20, 40)", "[40, 60)"])
    assert (found == 0).tolist() == [[True, False], [True, False], [False, True]]


def knowledge(values, labels):
    return Knowledge(
        fits=[label_distances(AGE, values, labels)], values=np.arange(len(values))[:, None]
    )


def test_success_is_one_over_the_records_that_fit():
    labels = ["20", "[30, 40]"]
    known = knowledge(["20", "30"], labels)
    found = linkage(known, known, np.array([[0], [1]]), sizes=np.array([1, 4]))
    assert found.success == pytest.approx((1 + 1 / 4) / 2)
    assert found.detail["found_for_certain"] == 1
    assert found.baseline == pytest.approx(1 / 5)


def test_a_wrong_register_is_no_match_exactly_and_a_near_one_with_errors():
    labels = ["20", "[30, 40]"]
    known, true = knowledge(["23", "23"], labels), knowledge(["20", "30"], labels)
    sizes, classes = np.array([1, 4]), np.array([[0], [1]])
    exact = linkage(known, true, classes, sizes=sizes)
    assert exact.success == 0
    assert exact.detail["without_a_match"] == 2
    near = linkage(known, true, classes, sizes=sizes, errors=True)
    assert near.success == pytest.approx(1 / 2)
    assert near.detail["wrong_for_certain"] == 1


def test_arrays_that_do_not_fit_are_refused():
    known = knowledge(["20"], ["20"])
    with pytest.raises(KernelInputError):
        linkage(known, known, np.array([[0]]), sizes=np.array([1, 2]))
    with pytest.raises(KernelInputError):
        order(np.zeros((2, 2), np.int64), np.zeros((2, 1), np.int64), [np.ones((1, 1), bool)])


def test_fewer_targets_where_there_are_many_classes():
    assert affordable(2000, 10, 3) == 2000
    assert affordable(2000, 10_000_000, 8) < 2000


def rows(*numbers):
    return np.array(numbers, dtype=np.int64)[:, None]


def test_a_kept_order_is_walked_through_and_a_sorted_release_is_not():
    random = np.random.default_rng(3)
    original = random.integers(0, 20, (300, 1))
    same = [np.eye(20, dtype=bool)]
    kept = order(original, original[::2], same)
    assert kept.success == 1.0
    assert kept.advantage == pytest.approx(1)
    by_value = np.sort(original, axis=0)
    assert order(original, by_value, same).success < 0.2


def test_a_release_of_one_label_fits_anywhere_so_order_says_nothing():
    everything = [np.ones((20, 1), dtype=bool)]
    found = order(rows(*range(20)), np.zeros((20, 1), np.int64), everything)
    assert found.advantage == 0
