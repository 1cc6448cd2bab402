"""Merging classes below k: which is next, and with which other it loses least (KACA, WFCM)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.clustering.losses import cost
from shoal.kernels.helpers import lean


class Boxes(NamedTuple):
    """The classes: their boxes of codes, what each column loses in them, and their records."""

    low: NDArray[np.int64]  # int64[classes, columns]
    high: NDArray[np.int64]
    loss: NDArray[np.int64]
    sizes: NDArray[np.int64]  # int64[classes]


@lean
def measure(losses, boxes, a):
    """Look up what each column loses in the box of class a."""
    for c in range(boxes.loss.shape[1]):
        boxes.loss[a, c] = cost(losses, c, boxes.low[a, c], boxes.high[a, c])


@lean
def smallest(sizes, live, number):
    """Return where the smallest class stands among the first `number` live ones.

    Of equals it is the first class, wherever it stands: classes that end let the list change
    its order.
    """
    at = 0
    for n in range(number):
        a = live[n]
        b = live[at]
        if sizes[a] < sizes[b] or (sizes[a] == sizes[b] and a < b):
            at = n
    return at


@lean
def records_to_move(k, sizes, a, b):
    """Return how many records of class b class a takes: what it needs, if b can spare it."""
    return k - sizes[a] if sizes[a] + sizes[b] >= 2 * k else sizes[b]


@lean
def nearest_class(losses, k, boxes, live, number, a):
    """Return where the class that is distorted least with class a stands, the first of equals.

    Two classes are distorted by what the records of the one, and those of the other that move,
    lose more in the box of both.
    """
    low, high, loss, sizes = boxes
    best = 0
    least = np.iinfo(np.int64).max
    for n in range(number):
        b = live[n]
        if b == a:
            continue
        moved = records_to_move(k, sizes, a, b)
        total = np.int64(0)
        for c in range(low.shape[1]):
            both = cost(losses, c, min(low[a, c], low[b, c]), max(high[a, c], high[b, c]))
            total += sizes[a] * (both - loss[a, c]) + moved * (both - loss[b, c])
            # Each column only adds: what is above the best so far cannot come back.
            if total > least:
                break
        if total < least or (total == least and b < live[best]):
            best = n
            least = total
    return best


@lean
def widen(losses, boxes, a, b):
    """Let the box of class a cover that of class b."""
    for c in range(boxes.low.shape[1]):
        boxes.low[a, c] = min(boxes.low[a, c], boxes.low[b, c])
        boxes.high[a, c] = max(boxes.high[a, c], boxes.high[b, c])
    measure(losses, boxes, a)
