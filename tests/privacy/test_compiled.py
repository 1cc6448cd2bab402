"""The compiled form of a promise: its measure and its limits as numbers."""

from __future__ import annotations

import pytest
from tests.privacy.classes import EVERY

from shoal.privacy import (
    PROMISES,
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    LDiversity,
    NTCloseness,
    TCloseness,
)
from shoal.privacy.compiled import Compiled, Distance, Measure
from shoal.privacy.distances import DISTANCES


@pytest.mark.parametrize(
    ("promise", "row"),
    [
        (LDiversity(3), Compiled(Measure.DISTINCT, 3.0)),
        (LDiversity(2.5, "entropy"), Compiled(Measure.ENTROPY, 2.5)),
        (LDiversity(3, "recursive", c=2), Compiled(Measure.RECURSIVE, 3.0, 2.0)),
        (TCloseness(0.2, "ordered"), Compiled(Measure.CLOSENESS, 0.2, distance=Distance.ORDERED)),
        (NTCloseness(9, 0.2), Compiled(Measure.NT_CLOSENESS, 0.2, 9.0)),
        (AlphaKAnonymity(0.5, 4), Compiled(Measure.LARGEST_SHARE, 0.5)),
        (
            AlphaKAnonymity(0.5, 4, values=["b", "a"]),
            Compiled(Measure.LARGEST_SHARE, 0.5, values=("b", "a")),
        ),
        (BetaLikeness(1), None),
        (DeltaDisclosure(1), None),
    ],
)
def test_a_row_holds_the_limits_of_its_promise(promise, row):
    assert promise.compiled() == row


def test_every_distance_has_a_number():
    assert [Distance[name.upper()].name.lower() for name in DISTANCES] == list(DISTANCES)


def test_numbers_of_measures_do_not_change():
    # Compiled loops are kept on disk, and have these numbers in them.
    assert [measure.value for measure in Measure] == list(range(7))
    assert [distance.value for distance in Distance] == list(range(4))


def test_the_size_of_a_class_needs_no_compiled_form():
    assert KAnonymity(5).compiled() is None
    known = {type(promise).name for promise in EVERY}
    assert known < set(PROMISES)
