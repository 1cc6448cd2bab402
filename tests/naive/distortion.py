"""Distortion by weighted hierarchical distance, line by line from [netshiunda2020], definition 5.

Levels count from the root, which is level 1; a step from level i to i - 1 weighs 1 / (i - 1)^beta.
The worked example weighs the steps the other way round (`example`). The paper divides by the steps
above the start only, which is the same for a value of the most specific level; for others it would
count twice what is lost already, so all steps divide here.
"""

from __future__ import annotations

from fractions import Fraction


def weighted_hierarchical_distance(start, end, levels, *, beta=1, example=False):
    """Return the share of a value's information that going from one step up to another loses."""

    def weight(steps_up):
        level = steps_up + 2 if example else levels - steps_up
        return Fraction(1, (level - 1) ** int(beta))

    taken = sum((weight(step) for step in range(start, end)), Fraction(0))
    every = sum((weight(step) for step in range(levels - 1)), Fraction(0))
    return float(taken / every) if every else 0.0


def distortion(start, end, levels, *, example=False):
    """Return what one generalized record loses: the sum over its columns."""
    columns = zip(start, end, levels, strict=True)
    return sum(weighted_hierarchical_distance(a, b, h, example=example) for a, b, h in columns)
