"""Linkage on small classes."""

import numpy as np
import pytest

from shoal.core.errors import KernelInputError
from shoal.measures.attacks.linkage import Knowledge, affordable, fitting_class, linkage
from shoal.measures.attacks.match import label_distances
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain

AGE = line_domain("age", Kind.NUMERIC, [None, "20", "30", "40"], [np.nan, 20, 30, 40])


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


def test_fewer_targets_where_there_are_many_classes():
    assert affordable(2000, 10, 3) == 2000
    assert affordable(2000, 10_000_000, 8) < 2000


def test_nobody_is_attacked_without_a_target():
    known = Knowledge(fits=[np.zeros((1, 1), np.float32)], values=np.zeros((0, 1), np.int64))
    found = linkage(known, known, np.array([[0]]), sizes=np.array([3]))
    assert (found.targets, found.success, found.baseline) == (0, 0.0, 1 / 3)


def test_the_class_that_covers_a_target_is_found(monkeypatch):
    labels = ["20", "[30, 40]", "[20, 40]"]
    known, classes = knowledge(["20", "30", "50", None], labels), np.array([[0], [1], [2]])
    assert fitting_class(known, classes).tolist() == [0, 1, -1, -1]
    assert fitting_class(known, classes, nearest=True).tolist() == [0, 1, 1, 0]
    monkeypatch.setattr("shoal.measures.attacks.linkage._CELLS", 1)
    assert fitting_class(known, classes).tolist() == [0, 1, -1, -1]
