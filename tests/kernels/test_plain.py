"""Asking a promise itself: codes become places, and what cannot be judged does not hold."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from shoal.kernels.plain import PlainJudge
from shoal.privacy import BetaLikeness, EquivalenceClass, Reference

CODES, PLACES = np.array([0, 2]), np.array([1, 0])


class Broken(BetaLikeness):
    def measure(self, seen: EquivalenceClass) -> float:
        raise RuntimeError


def ask(judge, counts):
    array = (ctypes.c_double * len(counts))(*counts)
    function = ctypes.CFUNCTYPE(
        ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.c_int64, ctypes.c_double
    )(judge.address)
    return function(array, len(counts), float(sum(counts)))


def test_codes_are_counted_at_their_places():
    judge = PlainJudge(BetaLikeness(0.5), CODES, PLACES, Reference([9, 3]))
    for counts in ([1, 0, 3], [3, 0, 1], [0, 0, 4], [1, 0, 1]):
        histogram = [counts[2], counts[0]]
        seen = EquivalenceClass(sum(counts), histogram, reference=Reference([9, 3]))
        assert judge.breaks(sum(counts), counts) == (not BetaLikeness(0.5).holds(seen))
        assert ask(judge, counts) == float(not BetaLikeness(0.5).holds(seen))


def test_a_promise_that_raises_does_not_hold_and_raises_where_python_asks():
    judge = PlainJudge(Broken(0.5), CODES, PLACES, Reference([9, 3]))
    assert ask(judge, [1, 0, 3]) == 1.0
    with pytest.raises(RuntimeError):
        judge.breaks(4, [1, 0, 3])
