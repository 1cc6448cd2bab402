"""Reconstruction by row order: does the place of a released record tell whose it is?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.measures.attacks.result import AttackQuestion, AttackResult

_SHUFFLES = 5


def order(
    original: NDArray[np.int64],
    release: NDArray[np.int64],
    fits: Sequence[NDArray[np.bool_]],
    *,
    seed: int = 0,
) -> AttackResult:
    """Walk through both tables in order and take each released record for the next that fits.

    An attacker who has the original order (a list of patients by admission, say) pairs the
    tables row by row; suppressed records are skipped by moving on to the next that fits.
    Success is the share of released records that find a partner before the original ends.
    The baseline does the same with the release shuffled.

    Args:
        original: int64[records, columns], rows of `fits`, in the original order.
        release: int64[released, columns], columns of `fits`, in the released order.
        fits: for each column bool[values, labels]: the label covers the value.
        seed: chooses the shuffles.
    """
    if original.shape[1] != len(fits) or release.shape[1] != len(fits):
        raise KernelInputError(problem="the tables do not fit their columns")
    success = _walk(original, release, fits)
    random = np.random.default_rng(seed)
    shuffled = [
        _walk(original, release[random.permutation(len(release))], fits) for _ in range(_SHUFFLES)
    ]
    baseline = float(np.mean(shuffled)) if len(release) else 0.0
    same_place = 0.0
    if len(original) == len(release) and len(release):
        same_place = float(_fit(original, release, fits).mean())
    return AttackResult(
        attack="row order",
        question=AttackQuestion.LINKABILITY,
        targets=len(release),
        success=success,
        baseline=baseline,
        detail={"same_place_fits": same_place},
    )


def _fit(
    original: NDArray[np.int64], release: NDArray[np.int64], fits: Sequence[NDArray[np.bool_]]
) -> NDArray[np.bool_]:
    good = np.ones(len(release), dtype=bool)
    for j, fit in enumerate(fits):
        good &= fit[original[:, j], release[:, j]]
    return good


def _walk(
    original: NDArray[np.int64], release: NDArray[np.int64], fits: Sequence[NDArray[np.bool_]]
) -> float:
    """Return the share of the release that is paired in order."""
    if not len(release):
        return 0.0
    paired = at = 0
    n = len(original)
    for row in release:
        step = 64
        while at < n:
            ahead = original[at : at + step]
            good = np.ones(len(ahead), dtype=bool)
            for j, fit in enumerate(fits):
                good &= fit[ahead[:, j], row[j]]
            first = int(good.argmax())
            if good[first]:
                at += first + 1
                paired += 1
                break
            at += len(ahead)
            step = min(step * 4, 65536)
        if at >= n:
            break
    return paired / len(release)
