"""Distortion by weighted hierarchical distance ([netshiunda2020], definitions 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.core.errors import MethodError
from shoal.table.domain import weighted_heights


def weighted_hierarchical_distance(
    start: int, end: int, levels: int, *, beta: float = 1.0, example: bool = False
) -> float:
    """Return the share of a value's information that going up from one level to another loses.

    `start` and `end` count steps up from the most specific level, 0, to the most general one,
    levels - 1. The weight of the steps taken is divided by the weight of all steps; a beta of 0
    weighs all alike. The paper divides by the steps above `start` only, which is the same
    for a value of the most specific level; for others it would count twice what is lost already.

    The paper contradicts itself: by its formula, and its prose, steps near the root are the
    heavy ones; its worked example weighs those near the values more (`example`).

    Raises:
        MethodError: the levels are not 0 <= start <= end < levels.

    Example:
        >>> round(weighted_hierarchical_distance(0, 1, 3), 2)
        0.33
        >>> round(weighted_hierarchical_distance(0, 1, 3, example=True), 2)
        0.67
    """
    if not 0 <= start <= end < levels:
        raise MethodError(problem=f"levels {start} and {end} are not levels of {levels}")
    lost = weighted_heights(levels - 1, beta=beta, example=example)
    return float(lost[end] - lost[start])


def distortion(
    start: Sequence[int],
    end: Sequence[int],
    levels: Sequence[int],
    *,
    beta: float = 1.0,
    example: bool = False,
) -> float:
    """Return the distortion of one generalized record: the sum over its columns.

    Raises:
        MethodError: the columns do not fit each other, or a level is none of its column.

    Example:
        The first record of [netshiunda2020]'s Table 1.1 as Table 1.2 has it: Gender one of one
        steps up, Age one of two, Zip Code none of five. By the formula, and as the paper prints it:

        >>> round(distortion([0, 0, 0], [1, 1, 0], [2, 3, 6]), 2)
        1.33
        >>> round(distortion([0, 0, 0], [1, 1, 0], [2, 3, 6], example=True), 2)
        1.67
    """
    if not len(start) == len(end) == len(levels):
        raise MethodError(problem="a level is needed for each column, before and after")
    return sum(
        weighted_hierarchical_distance(a, b, h, beta=beta, example=example)
        for a, b, h in zip(start, end, levels, strict=True)
    )
