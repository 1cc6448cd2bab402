"""Clusters with too few persons: what they borrow from others, or how they are shared out.

The arrays are those of `refine`: clusters stand in a line, and each one deals only with those
around it. Both changes are made at once; `carry` undoes them, or makes them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering.cluster_boxes import (
    BEST,
    COMES,
    GOES,
    HEAD,
    LABEL,
    LOSS,
    MORE,
    NEXT,
    RECORDS,
    REST,
    SIZE,
    SPREAD,
    box_loss,
    draw,
    nearest,
    persons_after,
    renew,
    shift,
    sums_fit,
)
from shoal.kernels.clustering.refine import linked, stamped
from shoal.kernels.helpers import lean, lean_outer

BORROW, SHARE_OUT = 0, 1
NEVER = np.int64(1) << 60  # what a change costs that cannot be made

LEND = 3
"""Pieces of persons who stand in a cluster more than once that it tries to give for another."""


class Moves(NamedTuple):
    """Pieces, and the clusters that they go to."""

    piece: NDArray[np.int64]
    to: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Line:
    """Clusters in a line, as `refine` has them, and who each piece is about.

    Attributes:
        k: persons that a cluster needs.
        window: clusters to each side that one deals with.
        lend: pieces that a cluster tries to give for one that comes.
    """

    cells: NDArray[np.int32]
    links: NDArray[np.int64]
    losses: NDArray[np.int32]
    state: NDArray[np.int32]
    numbers: NDArray[np.int64]
    room: NDArray[np.int64]
    people: NDArray[np.int64]
    k: int
    window: int
    lend: int = LEND

    @classmethod
    def of(
        cls,
        codes: NDArray[np.int32],
        records: NDArray[np.int64],
        label: NDArray[np.int64],
        persons: NDArray[np.int32],
        *,
        losses: NDArray[np.int32],
        k: int,
        window: int,
    ) -> Line:
        """Put pieces into clusters 0 … c-1, as they stand in the line, none of them empty."""
        if codes.dtype != np.int32 or persons.dtype != np.int32:
            raise KernelInputError(problem="codes and persons must be int32")
        if records.dtype != np.int64 or label.dtype != np.int64:
            raise KernelInputError(problem="records and labels must be int64")
        if {len(codes), len(records), len(persons)} != {len(label)} or label.min(initial=0) < 0:
            raise KernelInputError(problem="pieces and labels do not fit each other")
        if not sums_fit(losses, codes.shape[1]):
            raise KernelInputError(problem="clusters borrow in up to 2,047 columns of equal weight")
        number = int(label.max(initial=-1)) + 1
        links = np.empty((len(label), 4), dtype=np.int64)
        links[:, RECORDS], links[:, LABEL] = records, label
        numbers = np.zeros((number, SPREAD), dtype=np.int64)
        numbers[:, HEAD] = linked(links, number)
        state = np.empty((5 * codes.shape[1] + 1, number + 2), dtype=np.int32)
        room = np.empty((4, 2 * len(label) + BEST), dtype=np.int64)
        measure_all(codes, links, losses, state, numbers)
        return cls(codes, links, losses, state, numbers, room, stamped(persons), k, window)

    @property
    def label(self) -> NDArray[np.int64]:
        """Return the cluster of each piece."""
        return self.links[:, LABEL]

    @property
    def records(self) -> NDArray[np.int64]:
        """Return the records of each piece."""
        return self.links[:, RECORDS]

    def change(self, a: int, how: int) -> tuple[int, Moves]:
        """Let a cluster borrow, or share it out; return what that loses, and the moves made."""
        change, done = mend(
            self.cells, self.links, self.losses, self.state, self.numbers, self.room, self.people,
            a, self.k, self.window, self.lend, how,
        )  # fmt: skip
        piece = self.room[2, :done].copy()
        return int(change), Moves(piece, self.links[piece, LABEL])

    def take_back(self, moves: Moves) -> None:
        """Undo the moves that were made last."""
        self._carry(len(moves.piece), is_back=True)

    def make(self, moves: Moves) -> None:
        """Make moves that were taken back once more."""
        done = len(moves.piece)
        self.room[2, :done], self.room[3, :done] = moves
        self._carry(done, is_back=False)

    def _carry(self, done: int, *, is_back: bool) -> None:
        carry(
            self.cells, self.links, self.losses, self.state, self.numbers, self.room, done, is_back
        )

    def touched(self, a: int, moves: Moves) -> NDArray[np.int64]:
        """Return cluster a and those that the last moves changed, where they have a record."""
        came_from = self.room[3, : len(moves.piece)]
        found = np.unique(np.concatenate((np.array([a]), moves.to, came_from)))
        return found[self.numbers[found, SIZE] > 0]

    def members(self, some: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pieces of some clusters, and which of them (0, 1, …) each one is in."""
        found: list[int] = []
        label: list[int] = []
        for i, a in enumerate(some.tolist()):
            piece = int(self.numbers[a, HEAD])
            while piece >= 0:
                found.append(piece)
                label.append(i)
                piece = int(self.links[piece, NEXT])
        return np.array(found, dtype=np.int64), np.array(label, dtype=np.int64)


@lean_outer
def measure_all(cells, pieces, losses, state, numbers):
    """Find the box of every cluster."""
    for a in range(len(numbers)):
        renew(cells, pieces, losses, state, numbers, a)


@lean
def offers(cells, pieces, losses, state, numbers, room, people, a, y, has, k, window):
    """Look for the cheapest piece that brings cluster a another person, if piece y goes for it.

    y: -1: nothing goes. room[0, 0]: the least change of the loss so far; room[1]: the pieces that
    come and go by it.
    """
    size = numbers[a, SIZE]
    box = a
    left = size
    if y >= 0:
        box = np.int64(state.shape[1] - 2 + REST)
        left = size - pieces[y, RECORDS]
        draw(cells, losses, state, box, a, y, GOES)
    for b in range(max(a - window, 0), min(a + window + 1, len(numbers))):
        # Who has k records and gets none for one cannot spare any.
        if b == a or numbers[b, SIZE] < k or (y < 0 and numbers[b, SIZE] == k):
            continue
        before = size * numbers[a, LOSS] + numbers[b, SIZE] * numbers[b, LOSS]
        other = b
        more = numbers[b, SIZE]
        if y >= 0:
            other = np.int64(state.shape[1] - 2 + MORE)
            more += pieces[y, RECORDS]
            draw(cells, losses, state, other, b, y, COMES)
        q = numbers[b, HEAD]
        while q >= 0:
            count = pieces[q, RECORDS]
            loss = NEVER
            if people[0, q] != -2 and more > count:  # there is no box around nothing
                most = (room[0, 0] + before) // (left + count)
                loss = box_loss(cells, losses, state, box, q, COMES, most) * (left + count) - before
            if loss < room[0, 0]:
                loss += box_loss(cells, losses, state, other, q, GOES, NEVER) * (more - count)
            if loss < room[0, 0] and persons_after(pieces, numbers, people, a, y, q) > has:
                if persons_after(pieces, numbers, people, b, q, y) >= k:
                    room[0, 0] = loss
                    room[1, 0] = q
                    room[1, 1] = y
            q = pieces[q, NEXT]


@lean
def borrow(cells, pieces, losses, state, numbers, room, people, a, k, window, lend):
    """Let a cluster take pieces of persons whom it lacks until it has k, the cheapest first.

    A cluster gives what it can spare, or what it gets another piece for: one of a person of
    whom more is there, so that nobody is lost by it; `lend` such pieces are tried. Returns: the
    change of the loss, and how many moves were made.
    """
    none = np.int64(-1)
    change = np.int64(0)
    done = np.int64(0)
    has = persons_after(pieces, numbers, people, a, none, none)
    while has < k:
        room[0, 0] = NEVER
        y = none
        after = numbers[a, HEAD]
        tried = np.int64(0)
        while tried <= lend:
            can = y < 0
            if y >= 0 and numbers[a, SIZE] > pieces[y, RECORDS]:
                can = persons_after(pieces, numbers, people, a, y, none) == has
            if can:
                tried += 1
                offers(cells, pieces, losses, state, numbers, room, people, a, y, has, k, window)
            y = after
            if y < 0:
                break
            after = pieces[y, NEXT]
        if room[0, 0] == NEVER:
            return NEVER, done
        change += room[0, 0]
        first = done
        room[2, done] = room[1, 0]
        room[3, done] = a
        done += 1
        if room[1, 1] >= 0:
            room[2, done] = room[1, 1]
            room[3, done] = pieces[room[1, 0], LABEL]
            done += 1
        shift(cells, pieces, losses, state, numbers, room, None, first, done)
        has = persons_after(pieces, numbers, people, a, none, none)
    return change, done


@lean
def share_out(cells, pieces, losses, state, numbers, room, a, window):
    """Give every piece of a cluster to the neighbour that grows least.

    Returns: the change of the loss, and how many moves were made.
    """
    change = -numbers[a, SIZE] * numbers[a, LOSS]
    done = np.int64(0)
    piece = numbers[a, HEAD]
    while piece >= 0:
        after = pieces[piece, NEXT]
        if nearest(cells, pieces, losses, state, numbers, piece, window, room) == 0:
            return NEVER, done
        change += room[0, 0]
        room[2, done] = piece
        room[3, done] = room[1, 0]
        done += 1
        shift(cells, pieces, losses, state, numbers, room, None, done - 1, done)
        piece = after
    return change, done


@lean_outer
def mend(cells, pieces, losses, state, numbers, room, people, a, k, window, lend, how):
    """Let cluster a borrow, or share it out; return the change of the loss and the moves made.

    room[2] lists the pieces that moved and room[3] where they came from.
    """
    if how == BORROW:
        return borrow(cells, pieces, losses, state, numbers, room, people, a, k, window, lend)
    return share_out(cells, pieces, losses, state, numbers, room, a, window)


@lean_outer
def carry(cells, pieces, losses, state, numbers, room, done, is_back):
    """Make the moves in room[2] and room[3], or undo those that were made, the last one first."""
    for n in range(done):
        i = done - 1 - n if is_back else n
        shift(cells, pieces, losses, state, numbers, room, None, i, i + 1)
