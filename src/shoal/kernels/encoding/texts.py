"""Numbers of texts, found by hashing Arrow's string views where they lie.

A text of up to twelve bytes stands whole in its view: two words are compared, and no text
is touched. Of a longer one the view holds the length and the first four bytes; the eight
that follow and the last eight are compared too, which is all of a text of up to twenty.
On 3,000,000 records of Adult a look-up takes 4 to 10 ns; making a Polars Categorical of
the column, which also meets every text, took four times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.helpers import outer

Learn = Callable[[NDArray[np.int64]], Sequence[int]]

_ROW, _ENTRIES, _HEAP, _MISSED = range(4)  # what the kernel leaves in `state`
_NUMBER, _HASH = 3, 4  # words of an entry
_LOW = np.uint64(0xFFFFFFFF)


class Views(NamedTuple):
    """A stretch of a column of texts, as Arrow lays it out.

    `views` has two words a text. The first holds the length (lower half) and the first four
    bytes; the second the other eight bytes of a short text, or the buffer (lower half) of a
    text of more than twelve bytes and its place there. `words[p]` are the eight bytes from
    place p of the memory on, and buffer b begins at place `buffers[b]`. `valid` has one bit
    a text, from bit `skip` on; without any bits no text is missing.
    """

    views: NDArray[np.uint64]
    valid: NDArray[np.uint8]
    skip: int
    words: NDArray[np.uint64]
    buffers: NDArray[np.int64]


class TextNumbers:
    """A table from texts to numbers, open-addressed, at most half full.

    An entry is five words: the two of the view, or of a long text its first word and the
    eight bytes that follow; a long text's last eight bytes; in halves the place in `heap` of
    the words between, and the number + 2 (0: no entry, 1: not numbered yet); the hash.
    """

    def __init__(self, *, salt: int = 0, most: int = 1 << 19, room: int = 1 << 9) -> None:
        """Make an empty table.

        Args:
            salt: turns the hash, so that nobody can choose texts that all fall on one place.
            most: texts that are held, and four times as many words of long ones. When there
                are more, all are forgotten and asked for again: memory is bounded.
            room: entries of a new table, a power of two.
        """
        self._salt, self._most, self._room = np.uint64(salt | 1), most, room
        self._state = np.zeros(4, dtype=np.int64)
        self._missed = np.empty(1 << 10, dtype=np.int64)
        self._table: NDArray[np.uint64]
        self._heap: NDArray[np.uint64]
        self._forget()

    def find(self, texts: Views, found: NDArray[np.int32], *, missing: int, learn: Learn) -> None:
        """Write the number of each text into `found`, and `missing` where there is no text.

        `learn` is given the rows of texts that are not held, in order and each text once,
        and returns their numbers, which are not negative.
        """
        state = self._state
        state[_ROW] = 0
        while True:
            _find(*texts, self._table, self._heap, self._salt, missing, state, self._missed, found)
            if state[_MISSED]:
                self._enter(self._missed[: state[_MISSED]], found, learn)
            if state[_ROW] == len(found):
                return
            self._make_room(int(texts.views[2 * state[_ROW]] & _LOW))

    def _enter(self, rows: NDArray[np.int64], found: NDArray[np.int32], learn: Learn) -> None:
        """Number the new entries; the kernel left their places in `found`."""
        places = found[rows]
        first = np.sort(np.unique(places, return_index=True)[1])
        numbers = np.array(learn(rows[first]), dtype=np.uint64)
        self._table[places[first], _NUMBER] += numbers + np.uint64(1)
        found[rows] = (self._table[places, _NUMBER] & _LOW).astype(np.int32) - 2

    def _make_room(self, size: int) -> None:
        """Make room for one more text of so many bytes, and more."""
        if self._state[_ENTRIES] >= self._most or self._state[_HEAP] >= 4 * self._most:
            self._forget()
        elif 2 * self._state[_ENTRIES] >= len(self._table):
            self._grow()
        used = int(self._state[_HEAP])
        if used + size // 8 > len(self._heap):
            longer = np.empty(2 * (used + size // 8), dtype=np.uint64)
            longer[:used] = self._heap[:used]
            self._heap = longer

    def _forget(self) -> None:
        self._table = np.zeros((self._room, 5), dtype=np.uint64)
        self._heap = np.empty(self._room, dtype=np.uint64)
        self._state[[_ENTRIES, _HEAP]] = 0

    def _grow(self) -> None:
        """Make the table twice as long."""
        old = self._table[self._table[:, _NUMBER] > 0]
        size = 2 * len(self._table)
        shift = np.uint64(65 - size.bit_length())
        old = old[np.argsort(old[:, _HASH], kind="stable")]
        steps = np.arange(len(old))
        # In the order of the hash each goes to its own place, or behind the one before it.
        places = np.maximum.accumulate((old[:, _HASH] >> shift).astype(np.int64) - steps) + steps
        inside = places < size
        self._table = np.zeros((size, 5), dtype=np.uint64)
        self._table[places[inside]] = old[inside]
        for place, entry in enumerate(old[~inside]):  # those pushed over the end begin anew
            free = place + int(np.argmin(self._table[place:, _NUMBER] > 0))
            self._table[free] = entry


@outer
def _find(
    views, valid, skip, words, buffers, table, heap, salt, missing, state, missed, found
):  # fmt: skip
    """Look up text after text, and enter those never met, until something is full.

    Words, and places that they lead to, are unsigned: no index is then asked whether it
    counts from the end. A place is the upper bits of the hash, which hang on every bit.
    """
    none, one, half = np.uint64(0), np.uint64(1), np.uint64(32)
    low, odd = np.uint64(0xFFFFFFFF), np.uint64(0x9E3779B97F4A7C15)
    mask = np.uint64(table.shape[0] - 1)
    shift = np.uint64(64)
    while mask >> (np.uint64(64) - shift) != none:
        shift -= one
    i, entries, used, misses = state[0], state[1], state[2], np.int64(0)
    while i < found.size:
        if valid.size > 0 and (valid[(i + skip) >> 3] >> ((i + skip) & 7)) & 1 == 0:
            found[i] = missing
            i += 1
            continue
        first, second, last = views[np.uint64(2 * i)], views[np.uint64(2 * i + 1)], none
        size = first & low
        at = none
        if size > 12:
            at = np.uint64(buffers[second & low]) + (second >> half)
            second, last = words[at + np.uint64(4)], words[at + size - np.uint64(8)]
        # Multiplied by an odd salt, so that nobody can choose texts that collide.
        mixed = first * salt ^ second * odd
        mixed ^= mixed >> half
        mixed = (mixed ^ last) * salt
        between = np.int64(0)  # words of a text of more than twenty bytes, the first at byte 12
        if size > 20:
            between = np.int64(size - np.uint64(13)) >> 3
            for w in range(between):
                mixed ^= mixed >> half
                mixed = (mixed ^ words[at + np.uint64(12 + 8 * w)]) * odd
        # Linear probing; the table is at most half full.
        place = mixed >> shift
        while True:
            entry = table[place, 3]
            if entry == none:
                break
            if table[place, 0] == first and table[place, 1] == second and table[place, 2] == last:
                w, start = np.int64(0), np.int64(entry >> half)
                while w < between and heap[start + w] == words[at + np.uint64(12 + 8 * w)]:
                    w += 1
                if w == between:
                    break
            place = (place + one) & mask
        number = np.int64(entry & low)
        if number < 2:
            # Python must number what is new before there is room for more.
            if misses == missed.size:
                break
            if number == 0:
                if 2 * entries >= table.shape[0] or used + between > heap.size:
                    break
                table[place, 0] = first
                table[place, 1] = second
                table[place, 2] = last
                table[place, 3] = (np.uint64(used) << half) | one
                table[place, 4] = mixed
                for w in range(between):
                    heap[used + w] = words[at + np.uint64(12 + 8 * w)]
                used += between
                entries += 1
            missed[misses] = i
            misses += 1
            number = np.int64(place) + 2
        found[i] = number - 2
        i += 1
    state[0] = i
    state[1] = entries
    state[2] = used
    state[3] = misses
