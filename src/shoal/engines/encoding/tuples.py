"""Assigning the tuples of a batch of any size to classes, with the tuples as arrays.

The same rounds as `model.batch.assign_classes`, which devices run: a tuple always is in the
first open region that covers it; while classes fail, the finest of them are closed. Only
the classes are Python objects here; the tuples, which may be millions, are integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engines.encoding.columns import ColumnCoder, Value
from shoal.kernels.encoding.class_sets import first_common
from shoal.model.batch import Judge, ReleasedTuple, Texts, close_failing
from shoal.model.sets import SetEncoder

COUNT = "\x00records"
_MOST_ROWS = 4_000_000  # rows that are gathered before equal ones are joined


@dataclass
class Cover:
    """Finds the class of coded tuples; knows which classes are closed."""

    encoder: SetEncoder
    coded: Sequence[ColumnCoder]
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

    def _bits(self, covers: Sequence[int]) -> NDArray[np.uint64]:
        size = self.encoder.block // 8
        blocks = range(len(self.encoder.blocks))
        raw = b"".join(covers[b].to_bytes(size, "little") for b in blocks)
        return np.frombuffer(raw.ljust(8 * self.words, b"\0"), dtype=np.uint64)[: self.words]

    def values(self, key: Iterable[int]) -> list[Value]:
        """Return a value of each column that stands for a coded tuple."""
        return [column.values[code] for column, code in zip(self.coded, key, strict=True)]


@dataclass
class TupleCounts:
    """The distinct tuples of a table and, beside them, its sensitive values: as integers.

    Attributes:
        columns: how many quasi-identifiers there are.
        sensitive: how many sensitive columns.
        texts: of each sensitive column, the number of each text.
        held: counted rows that may repeat each other; `rows` of them since the last join.
    """

    columns: int
    sensitive: int
    texts: list[dict[str | None, int]] = field(default_factory=list)
    held: list[pl.DataFrame] = field(default_factory=list)
    rows: int = 0

    def __post_init__(self) -> None:
        self.texts = [{} for _ in range(self.sensitive)]

    def add(
        self,
        tuples: NDArray[np.int32],
        which: NDArray[np.int32],
        sensitive: Sequence[NDArray[np.int32]],
    ) -> None:
        """Count the records of a chunk.

        Args:
            tuples: its distinct tuples.
            which: the tuple of each record.
            sensitive: the sensitive columns, already numbered.
        """
        values = [pl.Series(f"s{i}", numbers) for i, numbers in enumerate(sensitive)]
        frame = pl.DataFrame([pl.Series("t", which), *values])
        counted = frame.group_by(pl.all()).agg(pl.len().cast(pl.Int64).alias(COUNT))
        at = counted["t"].to_numpy()
        quasi = [pl.Series(f"q{j}", tuples[at, j]) for j in range(self.columns)]
        self.held.append(counted.drop("t").with_columns(quasi).select(*self._keys(), COUNT))
        self.rows += counted.height
        if self.rows > _MOST_ROWS:
            self._join()
            self.rows = 0

    def _keys(self) -> list[str]:
        quasi = [f"q{j}" for j in range(self.columns)]
        return quasi + [f"s{i}" for i in range(self.sensitive)]

    def _join(self) -> pl.DataFrame:
        joined = pl.concat(self.held).group_by(self._keys()).agg(pl.col(COUNT).sum())
        self.held = [joined]
        return joined

    def number(self, place: int, texts: Sequence[str | None]) -> list[int]:
        """Return the numbers of the texts of one sensitive column."""
        known = self.texts[place]
        return [known.setdefault(text, len(known)) for text in texts]

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """Return the tuples, the number of each one's sensitive values, and its records."""
        names = self._keys()
        frame = self._join().sort(names)
        codes = np.stack([frame[name].to_numpy() for name in names[: self.columns]], axis=1)
        key: NDArray[np.int64] = np.zeros(frame.height, dtype=np.int64)
        for name, known in zip(names[self.columns :], self.texts, strict=True):
            key = key * max(len(known), 1) + frame[name].to_numpy()
        return codes.astype(np.int32), key, frame[COUNT].to_numpy()

    def histogram(self, keys: Sequence[int], records: Sequence[int]) -> Counter[Texts]:
        """Return records by their sensitive texts."""
        names = [list(known) for known in self.texts]
        found: Counter[Texts] = Counter()
        for key, count in zip(keys, records, strict=True):
            texts: list[str | None] = []
            rest = key
            for each in reversed(names):
                rest, place = divmod(rest, max(len(each), 1))
                texts.append(each[place])
            found[tuple(texts[::-1])] += count
        return found


class CodedAssignment:
    """The class of every tuple of a batch; each row of the arrays has the number of its class.

    Attributes:
        classes: the histogram of every open class.
        rank: the region of every open class; behind all regions where it has none.
        closed: the classes that were closed.
        class_of: for each row, the number of its class in `names`; -1: suppressed.
    """

    def __init__(self, counts: TupleCounts, cover: Cover) -> None:
        """Put every tuple into the first region that covers it.

        Raises:
            Rejected: `on_unseen` is error, and no region covers a tuple.
        """
        self.counts, self.cover = counts, cover
        self.codes, self.key, self.records = counts.arrays()
        self.names: list[ReleasedTuple] = []
        self.number: dict[ReleasedTuple, int] = {}
        self.rank: dict[ReleasedTuple, int] = {}
        self.classes: dict[ReleasedTuple, Counter[Texts]] = {}
        self.closed: set[ReleasedTuple] = set()
        encoder = cover.encoder
        self.most = len(encoder.regions)
        self.class_of_region: NDArray[np.int64] = np.full(self.most + 1, -1, dtype=np.int64)
        region = cover.regions(self.codes)
        self.class_of: NDArray[np.int64] = self._classes_of(region)
        unseen = np.flatnonzero(region < 0)
        if len(unseen) and encoder.on_unseen != "suppress":
            for row, label in zip(unseen, release_unseen(cover, self.codes[unseen]), strict=True):
                if label is not None:
                    self.class_of[row] = self._number(label, self.most)
        self._count(range(len(self.names)))

    @property
    def lost(self) -> Counter[Texts]:
        """Return the sensitive values of the suppressed records."""
        rows = np.flatnonzero(self.class_of < 0)
        keys, place = np.unique(self.key[rows], return_inverse=True)
        sums = np.bincount(place, weights=self.records[rows]).astype(np.int64)
        return self.counts.histogram(keys.tolist(), sums.tolist())

    def _number(self, label: ReleasedTuple, rank: int) -> int:
        self.rank[label] = min(self.rank.get(label, rank), rank)
        number = self.number.setdefault(label, len(self.names))
        if number == len(self.names):
            self.names.append(label)
        return number

    def _classes_of(self, region: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the classes of regions; the last place stands for none."""
        for each in np.unique(region[region >= 0]).tolist():
            label = released_tuple(self.cover.encoder, each)
            self.class_of_region[each] = self._number(label, each)
        self.class_of_region[-1] = -1
        return self.class_of_region[region]

    def _count(self, numbers: Iterable[int]) -> None:
        """Count the records of some classes anew."""
        wanted = np.zeros(len(self.names) + 1, dtype=np.bool_)
        wanted[list(numbers)] = True
        rows = np.flatnonzero(wanted[self.class_of])
        if not len(rows):
            return
        rows = rows[np.lexsort((self.key[rows], self.class_of[rows]))]
        number, key = self.class_of[rows], self.key[rows]
        fresh = np.flatnonzero(np.r_[True, (number[1:] != number[:-1]) | (key[1:] != key[:-1])])
        sums = np.add.reduceat(self.records[rows], fresh)
        number, key = number[fresh], key[fresh]
        starts = np.flatnonzero(np.r_[True, number[1:] != number[:-1]])
        for begin, end in zip(starts, [*starts[1:], len(number)], strict=True):
            found = self.counts.histogram(key[begin:end].tolist(), sums[begin:end].tolist())
            self.classes[self.names[number[begin]]] = found

    def close(
        self, closing: Sequence[ReleasedTuple], _: Sequence[ReleasedTuple]
    ) -> set[ReleasedTuple]:
        """Close classes; return the classes that their tuples moved to."""
        gone = np.zeros(len(self.names) + 1, dtype=np.bool_)
        covered = np.zeros(len(self.names) + 1, dtype=np.bool_)
        for label in closing:
            rank = self.rank.pop(label)
            number = self.number.pop(label)  # its tuples may come back under another class
            del self.classes[label]
            self.closed.add(label)
            gone[number] = True
            if rank < self.most:
                self.cover.closed.add(rank)
                covered[number] = True
        rows = np.flatnonzero(gone[self.class_of])
        before = covered[self.class_of[rows]]
        region = np.full(len(rows), -1, dtype=np.int64)
        region[before] = self.cover.regions(self.codes[rows[before]])
        self.class_of[rows] = self._classes_of(region)
        touched = np.unique(self.class_of[rows])
        self._count(touched[touched >= 0].tolist())
        return {self.names[number] for number in touched.tolist() if number >= 0}


def assign_tuples(counts: TupleCounts, cover: Cover, judge: Judge) -> CodedAssignment:
    """Close classes until those left keep the promise; `cover` knows them afterwards.

    Raises:
        Rejected: `on_unseen` is error, and no region covers a tuple.
    """
    assignment = CodedAssignment(counts, cover)
    close_failing(assignment, judge)
    return assignment


def released_tuple(encoder: SetEncoder, region: int) -> ReleasedTuple:
    """Return what a region releases."""
    return tuple(encoder.labels_of(region))


UnseenMemo = dict[tuple[int, ...], ReleasedTuple | None]


def release_unseen(
    cover: Cover, codes: NDArray[np.int32], memo: UnseenMemo | None = None
) -> list[ReleasedTuple | None]:
    """Return what tuples that no region covers are released as; None: suppressed.

    memo: what was found before, and is found now.

    Raises:
        Rejected: they are to be refused.
    """
    memo = {} if memo is None else memo
    found = []
    for key in map(tuple, codes.tolist()):
        if key not in memo:
            labels, _ = cover.encoder.tuple_of(cover.values(key))
            memo[key] = None if labels is None else tuple(labels)
        found.append(memo[key])
    return found
