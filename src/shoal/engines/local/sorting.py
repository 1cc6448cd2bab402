"""Sorting what does not fit memory: runs of bounded size on disk, merged block by block.

The table is read once. Equal records are counted, not kept, so a table of few different
records never touches the disk. What remains is sorted in runs of about `RUN_BYTES`, which
lie in a folder that only this user can read and that is removed at the end.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.documents import reason
from shoal.core.errors import OutputError
from shoal.core.temporary import beside

RANK, COUNT = "\x00rank", "\x00count"
RUN_BYTES = 96 * 2**20  # of records that are sorted at once
BLOCKS = 32  # that a run is cut into
MOST_RUNS = 16  # that are merged at once

Ranked = Iterable[tuple[pl.DataFrame, NDArray[np.int64]]]


class Sorted(NamedTuple):
    """Different records in their order: the columns, the places of the classes, the counts."""

    frame: pl.DataFrame
    rank: NDArray[np.int64]
    counts: NDArray[np.int64]


def sort_records(
    ranked: Ranked, others: Sequence[str], *, near: Path | None = None
) -> Iterator[Sorted]:
    """Yield records by the place of their class, then by the texts of their other columns.

    Args:
        ranked: batches of records, and the place of each one's class.
        others: the columns beside the class.
        near: what the records become; runs are kept beside it, or in the system's folder for
            temporary files.

    Guarantee:
        Memory follows `RUN_BYTES`, the width of a record and the different records that occur
        often, not the number of records.

    Raises:
        OutputError: runs cannot be written there.
    """
    sorter = _Sorter(tuple(others))
    place = near or Path(tempfile.gettempdir()) / "shoal-runs"
    try:
        full = sorter.fill(source := iter(ranked))
        if full is None:
            yield from _blocks(sorter.rest(), sorter)
            return
        with beside(place.absolute(), is_folder=True) as folder:
            runs = _Runs(folder, sorter)
            while full is not None:
                runs.write([full])
                full = sorter.fill(source)
            runs.write([sorter.rest()])
            for block in runs.merged():
                yield from _blocks(block, sorter)
    except OSError as error:
        problem = f"runs to sort cannot be written: {reason(error)}"
        raise OutputError(where=str(place.absolute().parent), problem=problem) from None


def _blocks(block: pl.DataFrame, sorter: _Sorter) -> Iterator[Sorted]:
    """Yield a block in parts of bounded size: what writes them makes text of them."""
    rows = max(sorter.rows_in(block, RUN_BYTES // BLOCKS), 1)
    for start in range(0, block.height, rows):
        part = block.slice(start, rows)
        yield Sorted(part.select(sorter.others), part[RANK].to_numpy(), part[COUNT].to_numpy())


@dataclass
class _Sorter:
    """Gathers records until they are too many; sorts them and counts equal ones."""

    others: tuple[str, ...]
    held: list[pl.DataFrame] = field(default_factory=list)
    bytes: int = 0
    repeats: bool = True  # batches hold equal records often enough to look for them at once

    def fill(self, ranked: Ranked) -> pl.DataFrame | None:
        """Take batches until there is a run to write to disk; None: all of them are held."""
        for batch, rank in ranked:
            self._add(batch, rank)
            if self.bytes <= RUN_BYTES:
                continue
            before, whole = self.bytes, self.rest()
            if 2 * weight(whole) > min(before, RUN_BYTES):
                return whole
            self._hold(whole)
        return None

    def _add(self, batch: pl.DataFrame, rank: NDArray[np.int64]) -> None:
        frame = batch.select(
            *self.others, pl.Series(RANK, rank), pl.lit(1, dtype=pl.Int64).alias(COUNT)
        )
        coded = pl.col(pl.Categorical, pl.Enum)
        frame = frame.with_columns(coded.cast(pl.String))  # each batch has its own dictionary
        # 0.0 and -0.0 are equal numbers and different texts: left to the sorting by texts.
        if self.repeats and frame.height and not any(t.is_float() for t in frame.dtypes):
            counted = _counted(frame)
            self.repeats = 10 * counted.height < 9 * frame.height
            frame = counted if self.repeats else frame
        self._hold(frame)

    def _hold(self, frame: pl.DataFrame) -> None:
        if frame.height:
            self.held.append(frame)
            self.bytes += weight(frame)

    def rest(self) -> pl.DataFrame:
        """Return what is held, sorted, equal records as one; nothing is held afterwards."""
        if not self.held:
            return pl.DataFrame()
        whole = pl.concat(self.held)
        self.held, self.bytes = [], 0
        return self.sorted(whole)

    def sorted(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Sort records by class and texts; join equal ones."""
        frame = frame.sort(self.keys(), nulls_last=False)
        is_new = pl.any_horizontal(key.ne_missing(key.shift(1)) for key in self.keys())
        fresh = frame.select(is_new).to_series().to_numpy(writable=True)
        fresh[:1] = True
        starts = np.flatnonzero(fresh)
        if len(starts) == frame.height:
            return frame
        counts = np.add.reduceat(frame[COUNT].to_numpy(), starts)
        return frame[starts].with_columns(pl.Series(COUNT, counts))

    def keys(self) -> list[pl.Expr]:
        """Return what records are sorted by: texts, whatever the type of a column."""
        return [pl.col(RANK), *(pl.col(name).cast(pl.String) for name in self.others)]

    @staticmethod
    def rows_in(frame: pl.DataFrame, most: int) -> int:
        """Return about how many rows of a frame take so many bytes."""
        return int(most * frame.height // max(weight(frame), 1))


class _Runs:
    """Sorted runs on disk, each a file of blocks behind each other."""

    def __init__(self, folder: Path, sorter: _Sorter) -> None:
        self.folder, self.sorter = folder, sorter
        self.runs: list[_Run] = []
        self.made = 0

    def write(self, frames: Iterable[pl.DataFrame]) -> None:
        """Write a run: sorted frames, one after another."""
        run = _Run(self.folder / f"{self.made}.run")
        self.made += 1
        with run.path.open("xb") as file:
            for frame in frames:
                rows = max(self.sorter.rows_in(frame, RUN_BYTES // BLOCKS), 1)
                for start in range(0, frame.height, rows):
                    blob = io.BytesIO()
                    frame.slice(start, rows).rechunk().write_ipc_stream(blob, compression="lz4")
                    run.sizes.append(file.write(blob.getbuffer()))
        if run.sizes:
            self.runs.append(run)

    def merged(self) -> Iterator[pl.DataFrame]:
        """Yield all records in their order, some at a time."""
        while len(self.runs) > MOST_RUNS:
            some, self.runs = self.runs[:MOST_RUNS], self.runs[MOST_RUNS:]
            self.write(self._merged(some))
            for run in some:
                run.path.unlink()
        yield from self._merged(self.runs)

    def _merged(self, runs: Sequence[_Run]) -> Iterator[pl.DataFrame]:
        readers = [_Reader(run, self.sorter) for run in runs]
        while readers:
            # Whatever comes later in a run is not before the last record of its block.
            bounds = [reader.last for reader in readers if reader.has_more]
            bound = min(bounds) if bounds else None
            yield self.sorter.sorted(pl.concat([reader.take(bound) for reader in readers]))
            readers = [reader for reader in readers if reader.fill()]


@dataclass
class _Run:
    path: Path
    sizes: list[int] = field(default_factory=list)  # bytes of each block


Key = tuple[int, tuple[tuple[bool, str], ...]]


class _Reader:
    """Reads a run block by block."""

    def __init__(self, run: _Run, sorter: _Sorter) -> None:
        self.run, self.sorter = run, sorter
        self.next = self.offset = 0
        self.block = pl.DataFrame()
        self.fill()

    @property
    def has_more(self) -> bool:
        return self.next < len(self.run.sizes)

    @property
    def last(self) -> Key:
        return self._key(self.block.height - 1)

    def fill(self) -> bool:
        """Read the next block if this one is used up; say whether there is anything."""
        if not self.block.height and self.has_more:
            with self.run.path.open("rb") as file:
                file.seek(self.offset)
                raw = file.read(self.run.sizes[self.next])
            self.block = pl.read_ipc_stream(raw)
            self.offset += len(raw)
            self.next += 1
        return self.block.height > 0

    def take(self, bound: Key | None) -> pl.DataFrame:
        """Give away the records up to a key; all of the block if None."""
        low, high = 0, self.block.height
        while bound is not None and low < high:
            middle = (low + high) // 2
            if self._key(middle) <= bound:
                low = middle + 1
            else:
                high = middle
        taken = self.block.head(high)
        self.block = self.block.slice(high)
        return taken

    def _key(self, row: int) -> Key:
        one = self.block.slice(row, 1).select(self.sorter.keys())
        rank, *texts = one.row(0)
        return rank, tuple((text is not None, text or "") for text in texts)


def weight(frame: pl.DataFrame) -> int:
    """Return about how many bytes the records of a frame take."""
    total = 0
    for series in frame:
        total += 16 * series.len()
        if series.dtype == pl.String:
            total += int(series.str.len_bytes().sum() or 0)
    return total


def _counted(frame: pl.DataFrame) -> pl.DataFrame:
    keys = [name for name in frame.columns if name != COUNT]
    found = frame.group_by(keys).agg(pl.col(COUNT).sum())
    # Texts are copied: a few of them would keep the whole batch that they came from alive.
    copies = [pl.concat_str([pl.col(c), pl.lit("")]) for c in keys if found[c].dtype == pl.String]
    return found.with_columns(copies)
