"""Linkage: who knows a person's quasi-identifiers looks for the record that fits best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.measures.attacks.result import AttackQuestion, AttackResult

MOST_WORK = 4_000_000_000
"""Comparisons of one attack; with more classes, fewer targets are attacked."""

_CELLS = 250_000  # compared at a time: what a core's cache holds; more took longer
_SAME = 1e-6


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """What an attacker knows of the targets, ready to be compared with released classes.

    Attributes:
        fits: for each column float32[values, labels], see `match.label_distances`.
        values: int64[targets, columns], rows of `fits`.
    """

    fits: Sequence[NDArray[np.float32]]
    values: NDArray[np.int64]


def linkage(
    known: Knowledge,
    true: Knowledge,
    classes: NDArray[np.int64],
    *,
    sizes: NDArray[np.int64],
    errors: bool = False,
) -> AttackResult:
    """Attack every target: take the classes that fit, and point at one of their records.

    Args:
        known: what the attacker knows; it may be wrong or out of date.
        true: what the table held of the same targets, to tell who is right.
        classes: int64[classes, columns], columns of `fits`: the label of each class.
        sizes: int64[classes], records of each class.
        errors: allow for errors: take the nearest classes, whatever they differ in.
            Otherwise only classes that cover everything known are taken.

    Guarantee:
        A target counts as found with probability 1 / (records that fit equally well), if
        its own record is among them. A release never says which record came from whom, so
        the own record is taken to be in the classes nearest to the truth: the true success
        is at most what is reported.
    """
    if known.values.shape != true.values.shape or len(sizes) != len(classes):
        raise KernelInputError(problem="targets, truth and classes do not fit each other")
    targets = len(known.values)
    records = int(sizes.sum())
    right = certain = unmatched = wrong = 0.0
    best_hit = 0.0
    for rows, away, chosen in fitting_classes(known, classes, errors=errors):
        truth = away if true is known else _distances(true, classes, rows)
        own = chosen & (truth <= truth.min(axis=1, keepdims=True) + _SAME)
        fitting = chosen @ sizes
        hit = np.divide(own.any(axis=1), fitting, out=np.zeros(len(away)), where=fitting > 0)
        right += float(hit.sum())
        certain += float((hit == 1).sum())
        wrong += float(((fitting == 1) & (hit == 0)).sum())
        unmatched += float((fitting == 0).sum())
        best_hit = max(best_hit, float(hit.max(initial=0.0)))
    return AttackResult(
        attack="linkage with errors" if errors else "linkage",
        question=AttackQuestion.LINKABILITY,
        targets=targets,
        success=right / targets if targets else 0.0,
        baseline=1 / records if records else 0.0,
        detail={
            "found_for_certain": int(certain),
            "wrong_for_certain": int(wrong),
            "without_a_match": int(unmatched),
            "highest": best_hit,
        },
    )


def fitting_classes(
    known: Knowledge, classes: NDArray[np.int64], *, errors: bool
) -> Iterator[tuple[slice, NDArray[np.float32], NDArray[np.bool_]]]:
    """Yield some targets at a time: how far away each class is, and those that fit equally well.

    errors: the nearest ones; otherwise only those that cover everything known.
    """
    step = max(_CELLS // max(len(classes), 1), 1)
    for at in range(0, len(known.values), step):
        rows = slice(at, at + step)
        away = _distances(known, classes, rows)
        chosen = away <= away.min(axis=1, keepdims=True) + _SAME
        if not errors:
            chosen &= away <= _SAME
        yield rows, away, chosen


def fitting_class(
    known: Knowledge, classes: NDArray[np.int64], *, nearest: bool = False
) -> NDArray[np.int64]:
    """Return for each target the first class that covers everything known, -1 where none does.

    Args:
        known: what is known of the targets.
        classes: int64[classes, columns], columns of `fits`: the label of each class.
        nearest: take the class that fits best, whatever it differs in.
    """
    found = np.full(len(known.values), -1, dtype=np.int64)
    step = max(_CELLS // max(len(classes), 1), 1)
    for at in range(0, len(found), step):
        away = _distances(known, classes, slice(at, at + step))
        fits = away <= away.min(axis=1, keepdims=True) if nearest else away == 0
        is_found = fits.any(axis=1)
        found[at : at + step][is_found] = fits.argmax(axis=1)[is_found]
    return found


def affordable(targets: int, classes: int, columns: int) -> int:
    """Return how many targets may be attacked within `MOST_WORK` comparisons."""
    return max(min(targets, MOST_WORK // max(classes * columns * 2, 1)), 1)


def _distances(
    knowledge: Knowledge, classes: NDArray[np.int64], rows: slice
) -> NDArray[np.float32]:
    """Return float32[targets, classes]: the distances of all columns added up."""
    values = knowledge.values[rows]
    total = np.zeros((len(values), len(classes)), dtype=np.float32)
    for j, fit in enumerate(knowledge.fits):
        total += fit[values[:, j]][:, classes[:, j]]
    return total
