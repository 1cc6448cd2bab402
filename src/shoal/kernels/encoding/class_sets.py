"""Which class covers a tuple: the lowest bit that the sets of all its columns share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.helpers import outer


def first_common(
    codes: NDArray[np.int32],
    sets: NDArray[np.uint64],
    start: NDArray[np.int64],
    allowed: NDArray[np.uint64],
) -> NDArray[np.int64]:
    """Return, for each tuple, the first class that covers it; -1 if none does.

    Args:
        codes: int32[tuples, columns], the number of each value's set within its column.
        sets: uint64[sets of all columns, words], one bit a class.
        start: where the sets of each column begin.
        allowed: uint64[words], the classes that may be taken.
    """
    found = np.empty(len(codes), dtype=np.int64)
    _first_common(np.ascontiguousarray(codes), sets, start, allowed, found)
    return found


@outer
def _first_common(codes, sets, start, allowed, found):
    columns = codes.shape[1]
    words = allowed.shape[0]
    one = np.uint64(1)
    for i in range(codes.shape[0]):
        found[i] = -1
        for w in range(words):
            # Sixty-four classes at once, column by column until none of them is left.
            members = allowed[w]
            for j in range(columns):
                if members == 0:
                    break
                members &= sets[start[j] + codes[i, j], w]
            if members != 0:
                place = 0
                while members & one == 0:
                    members >>= one
                    place += 1
                found[i] = 64 * w + place
                break
