"""KACA's loop: the smallest class is merged with the nearest, or filled from its stub.

The words are the paper's: a class that can spare records is cut into a *stub*, which leaves, and
its *trunk*, which stays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering.losses import packed
from shoal.kernels.clustering.merging import (
    Boxes,
    measure,
    nearest_class,
    records_to_move,
    smallest,
    widen,
)
from shoal.kernels.clustering.space import Space
from shoal.kernels.helpers import lean, lean_outer


def merge_classes(
    codes: NDArray[np.int32], counts: NDArray[np.int64], *, space: Space, k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return pieces (row, label, count) of classes of at least k records.

    Every row begins as a class. The smallest class below k (the first of equals) is merged
    with the nearest one; of a class that can spare them, only the records that are missing
    are taken (its stub), the rest (its trunk) stays.
    """
    rows, columns = codes.shape
    if codes.dtype != np.int32 or counts.dtype != np.int64 or columns != len(space.column):
        raise KernelInputError(problem="codes must be int32, counts int64, and fit the columns")
    most = 2 * rows + 1  # a stub splits at most one piece, once for each class below k
    piece = np.empty((3, most), dtype=np.int64)  # row, records, next piece of the class
    piece[0, :rows] = np.arange(rows)
    piece[1, :rows] = counts
    piece[2, :rows] = -1
    head = np.arange(rows)
    low, high = codes.astype(np.int64), codes.astype(np.int64)
    boxes = Boxes(low, high, np.empty_like(low), counts.copy())
    pieces = merge_below_k(boxes, packed(space), k, piece, head, np.arange(rows), rows)
    label = np.full(pieces, -1)
    for number, at in enumerate(head):
        while at >= 0:
            label[at] = number
            at = piece[2, at]
    return piece[0, :pieces], label, piece[1, :pieces]


@lean
def move_stub(sizes, k, piece, head, a, b, pieces):
    """Move what class a takes of class b; return how many pieces there are then."""
    stub = records_to_move(k, sizes, a, b)
    sizes[a] += stub
    sizes[b] -= stub
    while stub > 0:
        moved = head[b]
        if piece[1, moved] <= stub:
            head[b] = piece[2, moved]
        else:
            # Only some records of this row leave: they become a piece of their own.
            trunk = moved
            moved = pieces
            pieces += 1
            piece[0, moved] = piece[0, trunk]
            piece[1, moved] = stub
            piece[1, trunk] -= stub
        stub -= piece[1, moved]
        piece[2, moved] = head[a]
        head[a] = moved
    return pieces


@lean_outer
def merge_below_k(boxes, losses, k, piece, head, live, pieces):
    """Merge until no class below k is left (or only one class); return the pieces."""
    sizes = boxes.sizes
    for a in range(sizes.size):
        measure(losses, boxes, a)
    number = live.size
    while number > 1:
        a = live[smallest(sizes, live, number)]
        if sizes[a] >= k:
            break
        at = nearest_class(losses, k, boxes, live, number, a)
        b = live[at]
        pieces = move_stub(sizes, k, piece, head, a, b, pieces)
        # A class keeps its generalization when a stub leaves it, as definition 10 has it.
        widen(losses, boxes, a, b)
        if sizes[b] == 0:
            number -= 1
            live[at] = live[number]
    return pieces
