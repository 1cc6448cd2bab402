"""A promise as compiled loops see it: numbers only.

`kernels.judge` has a loop for each `Measure`. A promise that names none of them is judged there
by its own lines of Python, class by class.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Measure(IntEnum):
    """What compiled code works out of a class."""

    DISTINCT = 0
    ENTROPY = 1
    RECURSIVE = 2
    CLOSENESS = 3
    NT_CLOSENESS = 4
    LARGEST_SHARE = 5
    PLAIN = 6  # no compiled form: the promise itself is asked


class Distance(IntEnum):
    """How far the spread of a class is from that of the whole table."""

    EQUAL = 0
    ORDERED = 1
    HIERARCHICAL = 2
    CHI2 = 3


class Compiled(NamedTuple):
    """One row of a promise for compiled code.

    first, second: the limits of the measure: l and c, t and n, alpha.
    values: the values that are bounded; None: all.
    """

    measure: Measure
    first: float = 0.0
    second: float = 0.0
    distance: Distance = Distance.EQUAL
    values: tuple[str, ...] | None = None
