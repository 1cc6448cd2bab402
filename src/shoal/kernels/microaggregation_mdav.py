"""MDAV, V-MDAV, paths and neighbours: searches for the furthest and the nearest records.

Points lie in blocks of neighbours with a box around each block. A search for the furthest
or the nearest record looks only into blocks whose box can hold it. The bound of a box adds
the same terms in the same order as a distance does, and rounding keeps an order, so no
record is missed: the groups are those of the plain text, whatever the blocks.

Coordinates are multiples of a power of two, small enough that sums of records are exact.
"""

from __future__ import annotations

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


MDAV, VMDAV, PATH, NEAR = range(4)


def mdav(blocks: Blocks, counts: NDArray[np.int64], *, k: int) -> Groups:
    """Return MDAV's groups of the points; `counts` are the records of each row.

    Guarantee:
        Of equally distant records the one of the lowest row is taken. Every group has k to
        2k - 1 records, if there are k at all; otherwise all are in one group.
    """
    return Groups(*_found(MDAV, blocks, counts, k))


def vmdav(blocks: Blocks, counts: NDArray[np.int64], *, k: int, gamma: float) -> Groups:
    """Return V-MDAV's groups; fewer than k records that are left have label -1.

    Guarantee:
        Of equally distant records the one of the lowest row is taken. Every group has k to
        2k - 1 records.
    """
    return Groups(*_found(VMDAV, blocks, counts, k, gamma=gamma))


def path(blocks: Blocks) -> NDArray[np.int64]:
    """Return the rows along a path: from the outermost one always to the nearest that is left."""
    return _found(PATH, blocks, np.ones(len(blocks.row), dtype=np.int64), 1)[0]


def neighbours(blocks: Blocks, *, number: int, rows: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return int32[rows, number], the nearest other rows of each of some rows, nearest first.

    A row without so many others stands for itself at the end of its line.
    """
    ones = np.ones(len(blocks.row), dtype=np.int64)
    pieces = _found(NEAR, blocks, ones, number, rows=rows)
    return pieces[0].reshape(len(rows), number).astype(np.int32)


def _found(
    mode: int,
    blocks: Blocks,
    counts: NDArray[np.int64],
    k: int,
    *,
    gamma: float = 0.0,
    rows: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Guard and call the loop; return its pieces, int64[3, …]."""
    columns, size = blocks.at.shape
    if blocks.at.dtype != np.float64 or counts.dtype != np.int64 or blocks.row.dtype != np.int64:
        raise KernelInputError(problem="points must be float64, rows and counts int64")
    if blocks.row.shape != (size,) or counts.shape != (size,) or not columns:
        raise KernelInputError(problem="points, rows and counts do not fit each other")
    if k < 1 or (size and counts.min() < 1):
        raise KernelInputError(problem="k and the counts must be at least 1")
    if blocks.start[0] != 0 or blocks.start[-1] != size or (np.diff(blocks.start) < 1).any():
        raise KernelInputError(problem="blocks must lie behind each other and not be empty")
    home = np.full(size, -1)
    home[blocks.row] = np.arange(size)
    if rows is None:
        rows = np.zeros(0, dtype=np.int64)
    if (home < 0).any() or (rows.size and (rows.min() < 0 or rows.max() >= size)):
        raise KernelInputError(problem="every row must stand at exactly one place")
    if not size:
        return np.zeros((3, 0), dtype=np.int64)
    lengths = np.diff(blocks.start)
    where = np.stack((home, np.repeat(np.arange(len(lengths)), lengths)[home], counts, blocks.row))
    box = np.stack(
        [edge.reduceat(blocks.at, blocks.start[:-1], axis=1).T for edge in (np.minimum, np.maximum)]
    )
    vectors = np.zeros((3, columns))
    vectors[0] = blocks.at @ counts[blocks.row].astype(np.float64)
    vectors[1] = vectors[0] / counts.sum()
    room = rows.size * k if mode == NEAR else size + int(counts.sum()) // k + 1
    pieces = np.empty((3, room), dtype=np.int64)
    turns = room if mode == NEAR else int(counts.sum())
    plan = np.concatenate((np.array([mode, k, turns]), rows))
    number = run(
        blocks.at.copy(), where, np.stack((blocks.start[:-1], blocks.start[1:])),
        np.ascontiguousarray(box), np.empty((2, max(len(lengths), int(lengths.max())))),
        np.empty((2 * k + 1, 3)), vectors, plan, gamma, pieces,
    )  # fmt: skip
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
        if away == box[0, b, c] or away == box[1, b, c]:
            low = np.inf
            high = -np.inf
            for i in range(edge[0, b], last):
                low = min(low, at[c, i])
                high = max(high, at[c, i])
            box[0, b, c] = low
            box[1, b, c] = high


@lean_outer
def run(at, where, edge, box, room, near, vectors, plan, gamma, pieces):
    """Group, order or look up the points, as `plan` says; return the number of pieces.

    where: int64[4, rows], each row's place, block, records that are left; each place's row.
    edge: int64[2, blocks], the first place of each block, and the first empty one.
    room: float64[2, …], bounds of the blocks, and distances.
    vectors: the sum of all records, their mean, and room for a point.
    plan: mode, k (or the number of neighbours), records (or neighbours of all rows), and the
        rows whose neighbours are sought.
    """
    # A literal argument would compile a helper once more, and so costs each place that calls
    # one: variables have one type, and the modes share their calls.
    columns = at.shape[0]
    mode, k, left = plan[0], plan[1], plan[2]
    total = vectors[0]
    middle = vectors[1]
    point = vectors[2]
    nobody = np.int64(-1)
    one = np.int64(1)
    found = np.int64(0)
    label = np.int64(0)
    least = 2 * k if mode == MDAV else k
    chosen = nobody
    barred = nobody
    while left >= least:
        if mode == NEAR:
            chosen = plan[3 + label]
            barred = chosen
        elif mode != PATH or label == 0:
            seek(at, where, edge, box, room, middle, near, -1.0, one, nobody)
            chosen = np.int64(near[0, 1])
        for c in range(columns):
            point[c] = at[c, where[0, chosen]]
        listed = seek(at, where, edge, box, room, point, near, 1.0, k, barred)
        own = found
        left -= k
        if mode == NEAR:
            for j in range(k):
                pieces[0, found] = np.int64(near[j, 1]) if j < listed else chosen
                found += 1
            label += 1
            continue
        missing = k
        for j in range(listed):
            pieces[0, found] = np.int64(near[j, 1])
            pieces[1, found] = label
            pieces[2, found] = min(missing, np.int64(near[j, 2]))
            missing -= pieces[2, found]
            take(at, where, edge, box, total, pieces[0, found], pieces[2, found])
            found += 1
        chosen = pieces[0, own]  # a path goes on from here
        size = k
        while mode == VMDAV and size < 2 * k - 1 and left > 0:
            inward = np.inf
            chosen = nobody
            for piece in range(own, found + 1):
                barred = nobody if piece < found else chosen
                here = pieces[0, piece] if piece < found else chosen
                for c in range(columns):
                    point[c] = at[c, where[0, here]]
                near[0, 0] = np.inf  # where there is no other record
                seek(at, where, edge, box, room, point, near, 1.0, one, barred)
                gap = near[0, 0]
                if piece < found and (gap < inward or (gap == inward and near[0, 1] < chosen)):
                    inward = gap
                    chosen = np.int64(near[0, 1])
            barred = nobody
            if not np.sqrt(inward) < gamma * np.sqrt(near[0, 0]):
                break
            pieces[0, found] = chosen
            pieces[1, found] = label
            pieces[2, found] = 1
            take(at, where, edge, box, total, chosen, one)
            found += 1
            left -= 1
            size += 1
        label += 1
        for c in range(columns):  # what the next outermost record is furthest from
            if mode == MDAV and label % 2 == 1:
                middle[c] = point[c]
            elif mode == MDAV:
                middle[c] = total[c] / left
    for i in range(where.shape[1]):
        if where[2, i] > 0 and mode != NEAR:
            pieces[0, found] = i
            pieces[1, found] = label if mode == MDAV else nobody
            pieces[2, found] = where[2, i]
            found += 1
    return found
