"""Distortion of generalizations by weighted hierarchical distance (seed 000, definitions 5, 6)."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.core.errors import MethodError


def weighted_hierarchical_distance(
    start: int, end: int, levels: int, *, beta: float = 1.0, uniform: bool = False
) -> float:
    """Return the share of a value's information that going up from one level to another loses.

    Levels are numbered from the most specific one, 0, to the most general one, levels - 1.
    The step from level i to i + 1 weighs 1 / (i + 1)^beta, all steps the same if `uniform`,
    and the distance is the weight of the steps taken divided by the weight of all steps.

    The seed numbers levels the other way round, from the most general (1) to the most
    specific (h), with 1 / (i - 1)^beta for the step from i to i - 1. Its own example (Age one
    step up of three levels: 0.67) comes out only when levels are numbered from the most
    specific; the literal formula gives 1/3. We follow the example. The remark beside the
    formula, that steps near the root distort more, fits the literal numbering instead; a
    beta below 0 makes them weigh more here.

    Raises:
        MethodError: the levels are not 0 <= start <= end < levels.

    Example:
        >>> round(weighted_hierarchical_distance(0, 1, 3), 2)
        0.67
        >>> weighted_hierarchical_distance(0, 1, 3, uniform=True)
        0.5
    """
    if not 0 <= start <= end < levels:
        raise MethodError(problem=f"levels {start} and {end} are not levels of {levels}")
    steps = [1.0 if uniform else 1 / (i + 1) ** beta for i in range(levels - 1)]
    whole = sum(steps)
    return sum(steps[start:end]) / whole if whole else 0.0


def distortion(
    start: Sequence[int],
    end: Sequence[int],
    levels: Sequence[int],
    *,
    beta: float = 1.0,
    uniform: bool = False,
) -> float:
    """Return the distortion of one generalized record: the sum over its columns.

    Raises:
        MethodError: the columns do not fit each other, or a level is none of its column.

    Example:
        The first record of seed 000's Table 1.1 as Table 1.2 has it: Gender one of one steps
        up, Age one of two, Zip Code none of five.

        >>> round(distortion([0, 0, 0], [1, 1, 0], [2, 3, 6]), 2)
        1.67
    """
    if not len(start) == len(end) == len(levels):
        raise MethodError(problem="a level is needed for each column, before and after")
    return sum(
        weighted_hierarchical_distance(a, b, h, beta=beta, uniform=uniform)
        for a, b, h in zip(start, end, levels, strict=True)
    )
