"""MDAV, V-MDAV, paths and neighbours: searches for the furthest and the nearest records.

Points lie in blocks of neighbours with a box around each block. A search for the furthest
or the nearest record looks only into blocks whose box can hold it. The bound of a box adds
the same terms in the same order as a distance does, and rounding keeps an order, so no
record is missed: the groups are those of the plain text, whatever the blocks.

Coordinates are multiples of a power of two, small enough that sums of records are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.helpers import lean, lean_outer


class Blocks(NamedTuple):
    """Points in blocks of neighbours.

    Attributes:
        at: float64[columns, rows], the points, block after block.
        row: int64[rows], the row that stands at each place.
        start: int64[blocks + 1], where the blocks begin.
    """

    at: NDArray[np.float64]
    row: NDArray[np.int64]
    start: NDArray[np.int64]


class Groups(NamedTuple):
    """Pieces: `records` of `row` are in group `label`; -1: in none."""

    row: NDArray[np.int64]
    label: NDArray[np.int64]
    records: NDArray[np.int64]


def mdav(blocks: Blocks, counts: NDArray[np.int64], *, k: int) -> Groups:
    """Return MDAV's groups of the points; `counts` are the records of each row.

    Guarantee:
        Of equally distant records the one of the lowest row is taken. Every group has k to
        2k - 1 records, if there are k at all; otherwise all are in one group.
    """
    return Groups(*_found(_mdav, blocks, counts, k))


def vmdav(blocks: Blocks, counts: NDArray[np.int64], *, k: int, gamma: float) -> Groups:
    """Return V-MDAV's groups; fewer than k records that are left have label -1.

    Guarantee:
        Of equally distant records the one of the lowest row is taken. Every group has k to
        2k - 1 records.
    """
    return Groups(*_found(_vmdav, blocks, counts, k, gamma))


def path(blocks: Blocks) -> NDArray[np.int64]:
    """Return the rows along a path: from the outermost one always to the nearest that is left."""
    return _found(_path, blocks, np.ones(len(blocks.row), dtype=np.int64), 1)[0]


def neighbours(blocks: Blocks, *, number: int, rows: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return int32[rows, number], the nearest other rows of each of some rows, nearest first.

    A row without so many others stands for itself at the end of its line.
    """
    size = len(blocks.row)
    counts = np.ones(size, dtype=np.int64)
    _check(blocks, counts, number)
    if rows.size and (rows.min() < 0 or rows.max() >= size):
        raise KernelInputError(problem="every row must stand at exactly one place")
    out = np.empty((len(rows), number), dtype=np.int64)
    if size:
        _neighbours(*_search_arrays(blocks, counts), np.empty((2 * number + 1, 3)), rows, out)
    return out.astype(np.int32)


def _check(blocks: Blocks, counts: NDArray[np.int64], k: int) -> None:
    """Refuse what compiled code must not see."""
    columns, size = blocks.at.shape
    if blocks.at.dtype != np.float64 or counts.dtype != np.int64 or blocks.row.dtype != np.int64:
        raise KernelInputError(problem="points must be float64, rows and counts int64")
    if blocks.row.shape != (size,) or counts.shape != (size,) or not columns:
        raise KernelInputError(problem="points, rows and counts do not fit each other")
    if k < 1 or (size and counts.min() < 1):
        raise KernelInputError(problem="k and the counts must be at least 1")
    if blocks.start[0] != 0 or blocks.start[-1] != size or (np.diff(blocks.start) < 1).any():
        raise KernelInputError(problem="blocks must lie behind each other and not be empty")
    if (np.sort(blocks.row) != np.arange(size)).any():
        raise KernelInputError(problem="every row must stand at exactly one place")


SearchArrays = tuple[
    NDArray[np.float64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
]
"""What searches read and change:

at: float64[columns, rows], the points, block after block.
where: int64[4, rows], each row's place, block and records that are left; each place's row.
edge: int64[2, blocks], the first place of each block, and the first empty one.
box: float64[2, blocks, columns], around the points that are left of each block.
room: float64[2, …], bounds of the blocks, and distances.
vectors: the sum of all records, their mean, and room for a point.
"""


def _search_arrays(blocks: Blocks, counts: NDArray[np.int64]) -> SearchArrays:
    columns, size = blocks.at.shape
    place = np.empty(size, dtype=np.int64)
    place[blocks.row] = np.arange(size)
    lengths = np.diff(blocks.start)
    block = np.repeat(np.arange(len(lengths)), lengths)[place]
    box = [
        edge.reduceat(blocks.at, blocks.start[:-1], axis=1).T for edge in (np.minimum, np.maximum)
    ]
    vectors = np.zeros((3, columns))
    vectors[0] = blocks.at @ counts[blocks.row].astype(np.float64)
    vectors[1] = vectors[0] / counts.sum()
    return (
        blocks.at.copy(), np.stack((place, block, counts, blocks.row)),
        np.stack((blocks.start[:-1], blocks.start[1:])), np.ascontiguousarray(np.stack(box)),
        np.empty((2, max(len(lengths), int(lengths.max())))), vectors,
    )  # fmt: skip


def _found(
    loop: Callable[..., int], blocks: Blocks, counts: NDArray[np.int64], k: int, *more: float
) -> NDArray[np.int64]:
    """Guard and call a loop; return its pieces, int64[3, …]: row, group, records."""
    _check(blocks, counts, k)
    if not counts.size:
        return np.zeros((3, 0), dtype=np.int64)
    pieces = np.empty((3, counts.size + int(counts.sum()) // k + 1), dtype=np.int64)
    number = loop(
        *_search_arrays(blocks, counts),
        np.empty((2 * k + 1, 3)),
        pieces,
        k,
        int(counts.sum()),
        *more,
    )
    return pieces[:, :number]


@lean
def distances(at, point, first, last, room):
    """Write the squared distances of places first … last - 1 from a point into room[1]."""
    for i in range(last - first):
        room[1, i] = 0.0
    for c in range(at.shape[0]):
        here = point[c]
        for i in range(last - first):
            gap = at[c, first + i] - here
            room[1, i] += gap * gap


@lean
def seek(at, where, edge, box, room, point, near, sign, need, barred):
    """List the nearest rows of a point until they hold `need` records; return how many.

    near: float64[…, 3], one line a row: distance, row, records; by distance, then by row.
    One record of the row `barred` does not count. With sign -1 distances count as negative:
    the furthest rows come first. (One function for both spares the compiler half a second.)
    """
    # The bound of a box adds the same terms in the same order as a distance does.
    first = -1
    for b in range(edge.shape[1]):
        total = np.inf
        if edge[1, b] > edge[0, b]:
            total = 0.0
            for c in range(at.shape[0]):
                below = box[0, b, c] - point[c]
                above = point[c] - box[1, b, c]
                gap = 0.0
                if sign < 0.0:
                    gap = below if below < above else above
                elif below > 0.0:
                    gap = below
                elif above > 0.0:
                    gap = above
                total += gap * gap
            total *= sign
        room[0, b] = total
        if first < 0 or total < room[0, first]:
            first = b
    listed = 0
    held = 0.0
    limit = np.inf
    for turn in range(-1, edge.shape[1]):  # the most promising block first
        b = first if turn < 0 else turn
        if room[0, b] > limit or turn == first or edge[1, b] == edge[0, b]:
            continue
        distances(at, point, edge[0, b], edge[1, b], room)
        for i in range(edge[1, b] - edge[0, b]):
            gap = sign * room[1, i]
            if gap > limit:
                continue
            here = where[3, edge[0, b] + i]
            records = where[2, here] - (1 if here == barred else 0)
            if records == 0 or (held >= need and gap == limit and here > near[listed - 1, 1]):
                continue
            j = listed
            while j > 0 and (
                near[j - 1, 0] > gap or (near[j - 1, 0] == gap and near[j - 1, 1] > here)
            ):
                for f in range(3):
                    near[j, f] = near[j - 1, f]
                j -= 1
            near[j, 0] = gap
            near[j, 1] = here
            near[j, 2] = records
            listed += 1
            held += records
            # Those at the end that are not needed any more go.
            while held - near[listed - 1, 2] >= need:
                listed -= 1
                held -= near[listed, 2]
            if held >= need:
                limit = near[listed - 1, 0]
    return listed


@lean
def take(at, where, edge, box, total, wanted, records):
    """Take records of a row away; a row without records leaves its block, the box shrinks."""
    place = where[0, wanted]
    where[2, wanted] -= records
    for c in range(at.shape[0]):
        total[c] -= records * at[c, place]
    if where[2, wanted] > 0:
        return
    b = where[1, wanted]
    edge[1, b] -= 1
    last = edge[1, b]
    where[3, place] = where[3, last]
    where[3, last] = wanted
    where[0, where[3, place]] = place
    where[0, wanted] = last
    for c in range(at.shape[0]):
        away = at[c, place]
        at[c, place] = at[c, last]
        at[c, last] = away
        # Only a point on the rim can make the box smaller.
        if away == box[0, b, c] or away == box[1, b, c]:
            low = np.inf
            high = -np.inf
            for i in range(edge[0, b], last):
                low = min(low, at[c, i])
                high = max(high, at[c, i])
            box[0, b, c] = low
            box[1, b, c] = high


# A literal argument would compile a helper once more: variables have one type.


@lean
def go_to(at, where, row, point):
    """Make a point of where a row lies."""
    for c in range(at.shape[0]):
        point[c] = at[c, where[0, row]]


@lean
def group_around(at, where, edge, box, room, vectors, near, pieces, found, label, k):
    """Make a group of a point and its k nearest records; return how many pieces there are then."""
    listed = seek(at, where, edge, box, room, vectors[2], near, 1.0, k, np.int64(-1))
    missing = k
    for j in range(listed):
        pieces[0, found] = np.int64(near[j, 1])
        pieces[1, found] = label
        pieces[2, found] = min(missing, np.int64(near[j, 2]))
        missing -= pieces[2, found]
        take(at, where, edge, box, vectors[0], pieces[0, found], pieces[2, found])
        found += 1
    return found


@lean
def rest_into(where, pieces, found, label):
    """Put what is left into a group; return how many pieces there are then."""
    for i in range(where.shape[1]):
        if where[2, i] > 0:
            pieces[0, found] = i
            pieces[1, found] = label
            pieces[2, found] = where[2, i]
            found += 1
    return found


@lean_outer
def _mdav(at, where, edge, box, room, vectors, near, pieces, k, left):
    """MDAV ([domingo2005]); return the number of pieces.

    The record furthest from the mean begins a group, the one furthest from it the next; then the
    mean of what is left is taken anew.
    """
    total, middle, point = vectors[0], vectors[1], vectors[2]
    found = np.int64(0)
    label = np.int64(0)
    while left >= 2 * k:
        seek(at, where, edge, box, room, middle, near, -1.0, np.int64(1), np.int64(-1))
        go_to(at, where, np.int64(near[0, 1]), point)
        found = group_around(at, where, edge, box, room, vectors, near, pieces, found, label, k)
        left -= k
        label += 1
        for c in range(at.shape[0]):  # what the next outermost record is furthest from
            middle[c] = point[c] if label % 2 == 1 else total[c] / left
    return rest_into(where, pieces, found, label)


@lean
def nearest_outside(at, where, edge, box, room, vectors, near, row, barred):
    """Find the record nearest to a row among those that are left; return the squared distance."""
    go_to(at, where, row, vectors[2])
    near[0, 0] = np.inf  # where there is no other record
    seek(at, where, edge, box, room, vectors[2], near, 1.0, np.int64(1), barred)
    return near[0, 0]


@lean_outer
def _vmdav(at, where, edge, box, room, vectors, near, pieces, k, left, gamma):
    """V-MDAV ([solanas2006]); return the number of pieces.

    A group of k goes on to take the nearest record outside, up to 2k - 1, while that is nearer
    to the group than gamma times its distance from the nearest other record outside.
    """
    nobody = np.int64(-1)
    one = np.int64(1)
    found = np.int64(0)
    label = np.int64(0)
    while left >= k:
        seek(at, where, edge, box, room, vectors[1], near, -1.0, one, nobody)
        go_to(at, where, np.int64(near[0, 1]), vectors[2])
        own = found
        found = group_around(at, where, edge, box, room, vectors, near, pieces, found, label, k)
        left -= k
        size = k
        while size < 2 * k - 1 and left > 0:
            inward = np.inf
            chosen = nobody
            for piece in range(own, found):
                gap = nearest_outside(
                    at, where, edge, box, room, vectors, near, pieces[0, piece], nobody
                )
                if gap < inward or (gap == inward and near[0, 1] < chosen):
                    inward = gap
                    chosen = np.int64(near[0, 1])
            outward = nearest_outside(at, where, edge, box, room, vectors, near, chosen, chosen)
            if not np.sqrt(inward) < gamma * np.sqrt(outward):
                break
            pieces[0, found] = chosen
            pieces[1, found] = label
            pieces[2, found] = 1
            take(at, where, edge, box, vectors[0], chosen, one)
            found += 1
            left -= 1
            size += 1
        label += 1
    return rest_into(where, pieces, found, nobody)


@lean_outer
def _path(at, where, edge, box, room, vectors, near, pieces, k, left):
    """Go from the outermost point always to the nearest that is left; return how many there are."""
    found = np.int64(0)
    if left > 0:
        seek(at, where, edge, box, room, vectors[1], near, -1.0, np.int64(1), np.int64(-1))
        pieces[0, 0] = np.int64(near[0, 1])
    while left > 0:
        go_to(at, where, pieces[0, found], vectors[2])
        found = group_around(at, where, edge, box, room, vectors, near, pieces, found, found, k)
        pieces[0, found] = pieces[0, found - 1]  # the path goes on from here
        left -= k
    return found


@lean_outer
def _neighbours(at, where, edge, box, room, vectors, near, rows, out):
    """Write the nearest other rows of each row of `rows`; nothing is taken away."""
    for i in range(rows.size):
        go_to(at, where, rows[i], vectors[2])
        listed = seek(at, where, edge, box, room, vectors[2], near, 1.0, out.shape[1], rows[i])
        for j in range(out.shape[1]):
            out[i, j] = np.int64(near[j, 1]) if j < listed else rows[i]
