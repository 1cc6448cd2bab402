"""The loss of a box, column by column, as whole numbers that compiled code looks up.

A column's loss is counted in units of 1/SCALE and rounded once, when the tables are
made. Sums of these whole numbers are exact, whatever order they are added in, so that no
result depends on threads or on the compiler. Losses that differ by less than a unit
may be rounded to the same one.

Only the array group stands here. The function that reads it is written out in each
kernel module, because a cached caller does not notice that a callee in another
module has changed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SCALE = 1 << 20
"""Units of one whole column lost."""

TABLE, LINE, TREE = range(3)


class Space(NamedTuple):
    """The columns as tables of losses, one after another in `flat`.

    `column` has one row a column: KIND, SIZE, START in `flat`, MISSING (1: code 0 of a line
    is the missing value), FULL (the loss of the whole column) and BRANCHES (1: a tree). A
    short column (TABLE) owns size × size entries, entry (low, high) being the loss of that
    run of codes. A long LINE owns its scaled positions, a long TREE a sparse table of the
    heights at which neighbours meet (first row: the values' own heights), so that any run
    costs two look-ups.
    Three arrays, not seven: every array of an argument makes each caller slower to compile.
    """

    column: NDArray[np.int64]
    flat: NDArray[np.int32]
    log: NDArray[np.int64]  # floor of the binary logarithm, for 0 … longest column


KIND, SIZE, START, MISSING, FULL, BRANCHES = range(6)


def places_of(space: Space, j: int) -> NDArray[np.int64]:
    """Return where each code of a line stands, in units; a missing value the whole below 0.

    Guarantee:
        The loss of a run is the smaller of the whole column and of its last minus its first
        place, whether or not the missing value is in it.
    """
    kind, size, start, missing, full, _ = (int(fact) for fact in space.column[j])
    places = space.flat[start : start + size].astype(np.int64)
    if kind == TABLE:  # the loss of a run that begins at the first value
        first = 1 if missing and size > 1 else 0
        places = space.flat[start + first * size :][:size].astype(np.int64)
    # So far below that a run with the missing value and any other loses the whole column.
    if missing:
        places[0] = -full
    return places


def tree_steps(space: Space, j: int) -> NDArray[np.int32]:
    """Return two rows: what each code of a tree loses alone, and what it loses with the next."""
    kind, size, start = (int(fact) for fact in space.column[j, :3])
    if kind != TABLE:
        return space.flat[start : start + 2 * size].reshape(2, size)
    table = space.flat[start : start + size * size].reshape(size, size)
    steps = np.zeros((2, size), dtype=np.int32)
    steps[0] = table.diagonal()
    steps[1, :-1] = table.diagonal(1)
    return steps
