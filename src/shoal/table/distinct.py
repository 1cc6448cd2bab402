"""The distinct rows of coded columns, and the row of each record: a few passes over integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_ROOM = 2**22  # keys that are numbered through a table instead of a sort
_MOST = 2**62  # keys that 64 bits hold


def distinct_rows(
    codes: Sequence[NDArray[np.int32]], sizes: Sequence[int]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the distinct rows of coded columns, and the number of each record's row.

    Codes are packed into one key; whenever the keys would leave a small table, those in
    use are numbered anew. No sort as long as the distinct rows fit the table; one at the
    end where they do not.

    Guarantee:
        The rows are sorted by their columns from left to right.
    """
    records = len(codes[0])
    present = np.zeros((1, 0), dtype=np.int32)
    key: NDArray[np.int32 | np.int64] = np.zeros(records, dtype=np.int32)
    packed: list[int] = []  # sizes of the columns in a key since the last numbering
    room = 1
    for j, size in enumerate(sizes):
        fits = room <= 4 * _ROOM or room * size >= _MOST
        if packed and room * size > _ROOM and fits:
            present, key = _renumber(present, key, packed, room)
            packed, room = [], len(present)
        if room * size >= 2**31:
            key = key.astype(np.int64)
        packed.append(size)
        if size > 1:
            key = codes[j].astype(key.dtype, copy=False) if room == 1 else key * size + codes[j]
        room *= size
    present, key = _renumber(present, key, packed, room)
    return present, key.astype(np.int32, copy=False)


def _renumber(
    present: NDArray[np.int32],
    key: NDArray[np.int32 | np.int64],
    packed: list[int],
    room: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number the keys in use; packed: the sizes of the columns that are in a key."""
    if room <= 4 * _ROOM:
        used = np.zeros(room, dtype=np.bool_)
        used[key] = True
        found = np.flatnonzero(used)
        place = np.zeros(room, dtype=np.int32)
        place[found] = np.arange(len(found), dtype=np.int32)
        number: NDArray[np.int32] = place[key]
    else:
        found, number = _sorted(key, room)
    columns = []
    rest = found
    for size in reversed(packed):
        rest, code = np.divmod(rest, size)
        columns.append(code.astype(np.int32))
    new = np.stack(columns[::-1], axis=1) if columns else np.zeros((len(found), 0), np.int32)
    return np.concatenate((present[rest], new), axis=1), number


def _sorted(
    key: NDArray[np.int32 | np.int64], room: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the keys in use, sorted, and the place of each record's among them.

    A sort of keys that carry their record in their last bits costs half of one that looks
    for an order.
    """
    bits = len(key).bit_length()
    if room < 2 ** (62 - bits):
        both = (key.astype(np.int64) << bits) | np.arange(len(key))
        both.sort()
        order, ordered = both & (2**bits - 1), both >> bits
    else:
        order = np.argsort(key, kind="stable")
        ordered = key[order].astype(np.int64)
    fresh = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    number = np.empty(len(ordered), dtype=np.int32)
    number[order] = np.cumsum(fresh, dtype=np.int32) - np.int32(1)
    return ordered[fresh], number


@dataclass(frozen=True)
class RowPlaces:
    """Finds coded records among the sorted rows of a table, through small tables of their keys.

    Attributes:
        sizes: of the columns.
        dense: for the columns before which keys are numbered anew, the number of each key; a
            sorted list of keys where a table would be too large.
        known: the row of each key in the end.
    """

    sizes: Sequence[int]
    dense: dict[int, _Numbers]
    known: _Numbers

    @classmethod
    def of(cls, columns: Sequence[NDArray[np.int32]], sizes: Sequence[int]) -> RowPlaces:
        """Return what finds rows that are sorted by their columns, each of them once."""
        key = np.zeros(len(columns[0]), dtype=np.int64)
        room = 1
        dense = {}
        for j, (codes, size) in enumerate(zip(columns, sizes, strict=True)):
            if (room * size > _ROOM and 1 < room <= 4 * _ROOM) or room * size >= _MOST:
                dense[j] = _Numbers.of(key, room)
                key = dense[j].find(key)
                room = int(key[-1]) + 1
            key = key * size + codes
            room *= size
        return cls(tuple(sizes), dense, _Numbers.of(key, room))

    def find(self, columns: Sequence[NDArray[np.int32]]) -> NDArray[np.int64] | None:
        """Return the row of each record; None if one of them is no row."""
        key = np.zeros(len(columns[0]), dtype=np.int64)
        for j, (codes, size) in enumerate(zip(columns, self.sizes, strict=True)):
            if j in self.dense:
                key = self.dense[j].find(key)
                if key.min(initial=0) < 0:
                    return None
            key *= size
            key += codes
        rows = self.known.find(key)
        return None if rows.min(initial=0) < 0 else rows


@dataclass(frozen=True)
class _Numbers:
    """The number of each key in use: a table, or the keys themselves where it would be large."""

    table: NDArray[np.int32] | None
    keys: NDArray[np.int64]

    @classmethod
    def of(cls, ascending: NDArray[np.int64], room: int) -> _Numbers:
        """Return the numbers of keys; equal ones stand beside each other."""
        fresh = np.ones(len(ascending), dtype=np.bool_)
        np.not_equal(ascending[1:], ascending[:-1], out=fresh[1:])
        keys = ascending[fresh]
        if room > 4 * _ROOM:
            return cls(None, keys)
        table = np.full(room, -1, dtype=np.int32)
        table[keys] = np.arange(len(keys), dtype=np.int32)
        return cls(table, keys[:0])

    def find(self, asked: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of each key, -1 where it is not in use."""
        if self.table is not None:
            return self.table[asked].astype(np.int64)
        place = np.searchsorted(self.keys, asked).clip(0, len(self.keys) - 1)
        return np.where(self.keys[place] == asked, place, -1)
