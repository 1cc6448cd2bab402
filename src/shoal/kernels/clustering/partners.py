"""Which other cluster each one is best merged with: the least growth of the loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering.losses import cost
from shoal.kernels.helpers import lean_outer

Numbers = NDArray[np.int64]

SIZE, LOSS, NAME = range(3)
BEST, GROWTH = range(2)


class Line(NamedTuple):
    """Clusters in a line: who stands at each place, and the place of each of those who look."""

    order: Numbers
    place: Numbers


@lean_outer
def look_along(losses, boxes, numbers, places, side, found):
    """Let clusters look at those beside them in a line; the best so far is in `found`.

    boxes, numbers: as the clusters stand in the line, so that neighbours are near in memory, too.
    boxes: int32[clusters, 2 × columns], the lowest codes and, behind them, the highest ones.
    numbers: int64[clusters, SIZE, LOSS and NAME]. places: of those who look.
    found: int64[n, BEST and GROWTH], changed in place; of equals the first one stays.
    """
    columns = boxes.shape[1] // 2
    for n in range(len(places)):
        a = places[n]
        begin = a - side if a > side else np.int64(0)
        end = a + side + 1 if a + side < len(boxes) else np.int64(len(boxes))
        size = numbers[a, SIZE]
        best = found[n, BEST]
        least = found[n, GROWTH]
        for b in range(begin, end):
            if b == a:
                continue
            both = size + numbers[b, SIZE]
            own = size * numbers[a, LOSS] + numbers[b, SIZE] * numbers[b, LOSS]
            # A box around two loses no less than either, and each column only adds.
            floor = numbers[a, LOSS] if numbers[a, LOSS] > numbers[b, LOSS] else numbers[b, LOSS]
            if both * floor - own >= least:
                continue
            total = np.int64(0)
            for c in range(columns):
                low = boxes[a, c] if boxes[a, c] < boxes[b, c] else boxes[b, c]
                high = boxes[a, columns + c]
                if boxes[b, columns + c] > high:
                    high = boxes[b, columns + c]
                total += cost(losses, c, low, high)
                if both * total - own >= least:
                    break
            if both * total - own < least:
                best = numbers[b, NAME]
                least = both * total - own
        found[n, BEST] = best
        found[n, GROWTH] = least


def nearest(
    losses: NDArray[np.int32],
    boxes: NDArray[np.int32],
    numbers: Numbers,
    lines: list[Line],
    looking: Numbers,
    side: int,
) -> Numbers:
    """Return the best partner of each cluster that looks for one, and the growth of the loss.

    Args:
        losses: as `losses.packed` returns them.
        boxes: int32[clusters, 2 × columns], the lowest codes and, behind them, the highest ones.
        numbers: int64[clusters, 2], records and the loss of the box.
        lines: of all clusters, one after the other; of equal partners the first one met is taken.
        looking: the clusters.
        side: how many they look at to each side.
    """
    clusters = len(boxes)
    if boxes.dtype != np.int32 or numbers.shape != (clusters, 2):
        raise KernelInputError(problem="boxes must be int32, with two numbers each")
    found = np.full((len(looking), 2), -1, dtype=np.int64)
    found[:, GROWTH] = np.iinfo(np.int64).max
    for order, place in lines:
        if order.shape != (clusters,) or place.shape != looking.shape:
            raise KernelInputError(problem="a line has a place for every cluster")
        if clusters and (order.min() < 0 or order.max() >= clusters or place.max() >= clusters):
            raise KernelInputError(problem="a line names clusters that there are not")
        named = np.concatenate((numbers[order], order[:, None]), axis=1)
        look_along(losses, boxes[order], named, np.ascontiguousarray(place), side, found)
    return found
