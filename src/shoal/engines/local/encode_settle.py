"""Settling a batch of any size: the tuples as arrays, the classes as the judge wants them.

The same rounds as `core.model_judge.settle`, which devices run: a tuple always is in the
first open class that covers it; while classes fail, the finest of them are closed. Only
the classes are Python objects here; the tuples, which may be millions, are integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engines.local.encode_keys import Column
from shoal.kernels.encode import first_common
from shoal.model.batch import Home, Judge, close_failing
from shoal.model.runtime import Encoder

_COUNT = "\x00records"
_HELD = 4_000_000  # rows that are gathered before equal ones are joined


@dataclass
class Cover:
    """Finds the class of coded tuples; knows which classes are closed."""

    encoder: Encoder
    coded: Sequence[Column]
    closed: set[int] = field(default_factory=set)
    _known: list[int] = field(default_factory=list)
    _parts: list[NDArray[np.uint64]] = field(default_factory=list)
    _all: NDArray[np.uint64] | None = None

    @property
    def words(self) -> int:
        """Return how many 64-bit words a set of classes takes."""
        return max(-(-len(self.encoder.regions) // 64), 1)

    @property
    def sizes(self) -> list[int]:
        """Return how many codes each column has."""
        return [max(len(column.values), 1) for column in self.coded]

    def regions(self, codes: NDArray[np.int32], *, closed: bool = True) -> NDArray[np.int64]:
        """Return the first class that covers each tuple, -1 if none; `closed` ones are left out."""
        allowed = np.full(self.words, ~np.uint64(0))
        if closed:
            for region in self.closed:
                allowed[region // 64] &= ~(np.uint64(1) << np.uint64(region % 64))
        self._grow()
        assert self._all is not None
        start = np.concatenate(([0], np.cumsum(self._known)[:-1])).astype(np.int64)
        return first_common(codes, self._all, start, allowed)

    def _grow(self) -> None:
        """Take in the sets that columns have met since the last time."""
        if not self._known:
            self._known = [0] * len(self.coded)
            self._parts = [np.zeros((0, self.words), dtype=np.uint64) for _ in self.coded]
        grown = False
        for j, column in enumerate(self.coded):
            sets = column.sets[self._known[j] :]
            if sets:
                rows = np.stack([self._bits(covers) for covers in sets])
                self._parts[j] = np.concatenate((self._parts[j], rows))
                self._known[j] += len(sets)
                grown = True
        if grown or self._all is None:
            self._all = np.concatenate(self._parts)

    def _bits(self, covers: Sequence[Any]) -> NDArray[np.uint64]:
        size = self.encoder.block // 8
        blocks = range(len(self.encoder.blocks))
        raw = b"".join(int(covers[b]).to_bytes(size, "little") for b in blocks)
        return np.frombuffer(raw.ljust(8 * self.words, b"\0"), dtype=np.uint64)[: self.words]

    def values(self, key: Iterable[int]) -> list[Any]:
        """Return a value of each column that stands for a coded tuple."""
        return [column.values[code] for column, code in zip(self.coded, key, strict=True)]


@dataclass
class Tuples:
    """The distinct tuples of a table and, beside them, its sensitive values: as integers."""

    columns: int  # quasi-identifiers
    secrets: int
    texts: list[dict[str | None, int]] = field(default_factory=list)
    held: list[pl.DataFrame] = field(default_factory=list)
    rows: int = 0

    def __post_init__(self) -> None:
        self.texts = [{} for _ in range(self.secrets)]

    def add(self, codes: NDArray[np.int32], local: NDArray[np.int32], secrets: Any) -> None:
        """Count the records of a batch.

        codes: its distinct tuples; local: the tuple of each record; secrets: the sensitive
        columns, already numbered.
        """
        frame = pl.DataFrame(
            [pl.Series("t", local), *(pl.Series(f"s{i}", part) for i, part in enumerate(secrets))]
        )
        counted = frame.group_by(pl.all()).agg(pl.len().cast(pl.Int64).alias(_COUNT))
        at = counted["t"].to_numpy()
        wide = [pl.Series(f"q{j}", codes[at, j]) for j in range(self.columns)]
        self.held.append(counted.drop("t").with_columns(wide).select(*self._keys(), _COUNT))
        self.rows += counted.height
        if self.rows > _HELD:
            self._join()
            self.rows = 0

    def _keys(self) -> list[str]:
        quasi = [f"q{j}" for j in range(self.columns)]
        return quasi + [f"s{i}" for i in range(self.secrets)]

    def _join(self) -> pl.DataFrame:
        joined = pl.concat(self.held).group_by(self._keys()).agg(pl.col(_COUNT).sum())
        self.held = [joined]
        return joined

    def number(self, place: int, texts: Sequence[str | None]) -> list[int]:
        """Return the numbers of the texts of one sensitive column."""
        known = self.texts[place]
        return [known.setdefault(text, len(known)) for text in texts]

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """Return the tuples, the number of each one's sensitive values, and its records."""
        names = self._keys()
        quasi, secret = names[: self.columns], names[self.columns :]
        frame = self._join().sort(names)
        codes = np.stack([frame[name].to_numpy() for name in quasi], axis=1)
        key: NDArray[np.int64] = np.zeros(frame.height, dtype=np.int64)
        for name, known in zip(secret, self.texts, strict=True):
            key = key * max(len(known), 1) + frame[name].to_numpy()
        return codes.astype(np.int32), key, frame[_COUNT].to_numpy()

    def spread(self, keys: Sequence[int], records: Sequence[int]) -> Counter[tuple[Any, ...]]:
        """Return records by their sensitive texts."""
        names = [list(known) for known in self.texts]
        found: Counter[tuple[Any, ...]] = Counter()
        for key, count in zip(keys, records, strict=True):
            parts: list[Any] = []
            rest = key
            for each in reversed(names):
                rest, place = divmod(rest, max(len(each), 1))
                parts.append(each[place])
            found[tuple(parts[::-1])] += count
        return found


@dataclass
class Settled:
    """How a batch was settled: closed classes, and what happened to tuples never seen."""

    closed_homes: set[Home]
    suppressed: int
    released: int
    stars: Counter[tuple[Any, ...]]
    classes: dict[Home, Counter[tuple[Any, ...]]]


def settle_tuples(tuples: Tuples, cover: Cover, judge: Judge) -> Settled:
    """Close classes until those left keep the promise; `cover` knows them afterwards.

    Raises:
        Rejected: `on_unseen` is error, and no class covers a tuple.
    """
    board = _Board(tuples, cover)
    close_failing(board, judge)
    gone = board.home < 0
    return Settled(
        closed_homes=board.closed,
        suppressed=int(board.records[gone].sum()),
        released=int(board.records[~gone].sum()),
        stars=board.spread_of(np.flatnonzero(gone)),
        classes=board.classes,
    )


class _Board:
    """Who is where while a batch settles: each row of the arrays has the number of its home."""

    def __init__(self, tuples: Tuples, cover: Cover) -> None:
        self.tuples, self.cover = tuples, cover
        self.codes, self.key, self.records = tuples.arrays()
        self.names: list[Home] = []
        self.number: dict[Home, int] = {}
        self.rank: dict[Home, int] = {}
        self.classes: dict[Home, Counter[tuple[Any, ...]]] = {}
        self.closed: set[Home] = set()
        encoder = cover.encoder
        self.most = len(encoder.regions)
        self.home_of_region: NDArray[np.int64] = np.full(self.most + 1, -1, dtype=np.int64)
        region = cover.regions(self.codes)
        self.home: NDArray[np.int64] = self._homes(region)
        strange = np.flatnonzero(region < 0)
        if len(strange) and encoder.on_unseen != "suppress":
            for row, home in zip(strange, near_homes(cover, self.codes[strange]), strict=True):
                if home is not None:
                    self.home[row] = self._number(home, self.most)
        self._count(range(len(self.names)))

    def _number(self, home: Home, rank: int) -> int:
        self.rank[home] = min(self.rank.get(home, rank), rank)
        number = self.number.setdefault(home, len(self.names))
        if number == len(self.names):
            self.names.append(home)
        return number

    def _homes(self, region: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the homes of classes; the last place stands for none."""
        for each in np.unique(region[region >= 0]).tolist():
            self.home_of_region[each] = self._number(home_of(self.cover.encoder, each), each)
        self.home_of_region[-1] = -1
        return self.home_of_region[region]

    def _count(self, numbers: Iterable[int]) -> None:
        """Count the records of some homes anew."""
        wanted = np.zeros(len(self.names) + 1, dtype=np.bool_)
        wanted[list(numbers)] = True
        rows = np.flatnonzero(wanted[self.home])
        if not len(rows):
            return
        order = np.lexsort((self.key[rows], self.home[rows]))
        home, key, records = (
            self.home[rows][order],
            self.key[rows][order],
            self.records[rows][order],
        )
        fresh = np.flatnonzero(np.r_[True, (home[1:] != home[:-1]) | (key[1:] != key[:-1])])
        sums = np.add.reduceat(records, fresh)
        home, key = home[fresh], key[fresh]
        starts = np.flatnonzero(np.r_[True, home[1:] != home[:-1]])
        for begin, end in zip(starts, [*starts[1:], len(home)], strict=True):
            spread = self.tuples.spread(key[begin:end].tolist(), sums[begin:end].tolist())
            self.classes[self.names[home[begin]]] = spread

    def spread_of(self, rows: NDArray[np.int64]) -> Counter[tuple[Any, ...]]:
        """Return the sensitive values of some rows."""
        keys, place = np.unique(self.key[rows], return_inverse=True)
        sums = np.bincount(place, weights=self.records[rows]).astype(np.int64)
        return self.tuples.spread(keys.tolist(), sums.tolist())

    def close(self, homes: Sequence[Home], _: Sequence[Home]) -> set[Home]:
        """Close classes; return the classes that their tuples moved to."""
        gone = np.zeros(len(self.names) + 1, dtype=np.bool_)
        covered = np.zeros(len(self.names) + 1, dtype=np.bool_)
        for home in homes:
            rank = self.rank.pop(home)
            number = self.number.pop(home)  # its tuples may come back under another class
            del self.classes[home]
            self.closed.add(home)
            gone[number] = True
            if rank < self.most:
                self.cover.closed.add(rank)
                covered[number] = True
        rows = np.flatnonzero(gone[self.home])
        before = covered[self.home[rows]]
        region = np.full(len(rows), -1, dtype=np.int64)
        region[before] = self.cover.regions(self.codes[rows[before]])
        self.home[rows] = self._homes(region)
        touched = np.unique(self.home[rows])
        self._count(touched[touched >= 0].tolist())
        return {self.names[number] for number in touched.tolist() if number >= 0}


def home_of(encoder: Encoder, region: int) -> Home:
    """Return what a class releases."""
    cells = zip(encoder.labels, encoder.regions[region], strict=True)
    return tuple(names[cell] for names, cell in cells)


Known = dict[tuple[int, ...], Home | None]


def near_homes(
    cover: Cover, codes: NDArray[np.int32], known: Known | None = None
) -> list[Home | None]:
    """Return what tuples that no class covers are released as; None: suppressed.

    known: what was found before, and is found now.

    Raises:
        Rejected: they are to be refused.
    """
    known = {} if known is None else known
    found = []
    for key in map(tuple, codes.tolist()):
        if key not in known:
            labels, _ = cover.encoder.tuple_of(cover.values(key))
            known[key] = None if labels is None else tuple(labels)
        found.append(known[key])
    return found
