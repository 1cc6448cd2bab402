"""Sorting what does not fit memory: the table is read once for every stretch of the release.

A stretch is a run of classes in their written order and, where one class alone is too
large, of the texts of its other columns. Equal records are counted, not kept, so a
pass holds only the different ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

RANK, TEXT, COUNT = "\x00rank", "\x00text", "\x00count"
SAMPLE = 4000  # records looked at to find where a large class can be cut

Cut = tuple[int, str]
Ranked = Callable[[], Iterator[tuple[pl.DataFrame, NDArray[np.int64]]]]


@dataclass(frozen=True)
class Stretches:
    """Cuts a release into stretches and gathers them one after another.

    Attributes:
        ranked: reads the table anew; gives batches and the place of each record's class.
        others: the released columns that are not recoded.
        sizes: int64[classes], records of each class in the written order.
        most: records that one stretch should hold at most.
    """

    ranked: Ranked
    others: list[str]
    sizes: NDArray[np.int64]
    most: int

    def gather(self) -> Iterator[tuple[pl.DataFrame, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield each stretch: its different records, their classes' places, how many of each."""
        for low, high in pairwise([*self._cuts(), (len(self.sizes), "")]):
            held: list[pl.DataFrame] = []
            rows = 0
            for batch, rank in self.ranked():
                part = self._between(self._keyed(batch, rank), low, high)
                if part.height:
                    held.append(_counted(part.with_columns(pl.lit(1).alias(COUNT))))
                    rows += held[-1].height
                    if rows > self.most:
                        held = [_counted(pl.concat(held))]
                        rows = 0
            if held:
                found = _counted(pl.concat(held))
                rank_of = found[RANK].to_numpy()
                yield found.select(self.others), rank_of, found[COUNT].to_numpy()

    def _keyed(self, batch: pl.DataFrame, rank: NDArray[np.int64]) -> pl.DataFrame:
        return batch.select(*self.others, pl.Series(RANK, rank))

    def _text(self) -> pl.Expr:
        """One text that orders records as their columns do: no text holds a zero byte."""
        if not self.others:
            return pl.lit("")
        parts = [pl.col(name).cast(pl.String).fill_null("") for name in self.others]
        return pl.concat_str(parts, separator="\x00")

    def _between(self, frame: pl.DataFrame, low: Cut, high: Cut) -> pl.DataFrame:
        rank, text = pl.col(RANK), self._text()
        after = (
            rank >= low[0]
            if not low[1]
            else (rank > low[0]) | ((rank == low[0]) & (text >= low[1]))
        )
        before = (
            rank < high[0]
            if not high[1]
            else (rank < high[0]) | ((rank == high[0]) & (text < high[1]))
        )
        return frame.filter(after & before)

    def _cuts(self) -> list[Cut]:
        """Return where stretches begin: at classes, and inside classes that are too large."""
        large = np.flatnonzero(self.sizes > self.most)
        inner = self._inner_cuts(large) if len(large) and self.others else {}
        cuts: list[Cut] = [(0, "")]
        held = 0
        for rank, size in enumerate(self.sizes):
            if held and held + size > self.most:
                cuts.append((rank, ""))
                held = 0
            cuts += [(rank, text) for text in inner.get(rank, [])]
            held += int(size)
        return cuts

    def _inner_cuts(self, large: NDArray[np.int64]) -> dict[int, list[str]]:
        """Sample the texts of the large classes and cut them into about equal pieces."""
        seen: dict[int, list[str]] = {int(rank): [] for rank in large}
        step = max(int(self.sizes[large].sum()) // SAMPLE, 1)
        for batch, rank in self.ranked():
            keyed = self._keyed(batch, rank).filter(pl.col(RANK).is_in(large.tolist()))
            picked = keyed.gather_every(step).select(RANK, self._text().alias(TEXT))
            for place, text in picked.iter_rows():
                seen[place].append(text)
        cuts = {}
        for place, texts in seen.items():
            texts.sort()
            pieces = int(-(-self.sizes[place] // self.most))
            chosen = {texts[len(texts) * i // pieces] for i in range(1, pieces)} if texts else set()
            cuts[place] = sorted(chosen - {""})
        return cuts


def _counted(frame: pl.DataFrame) -> pl.DataFrame:
    keys = [name for name in frame.columns if name != COUNT]
    found = frame.group_by(keys).agg(pl.col(COUNT).sum())
    # Texts are copied: a few of them would keep the whole batch that they came from alive.
    copies = [pl.concat_str([pl.col(c), pl.lit("")]) for c in keys if found[c].dtype == pl.String]
    return found.with_columns(copies)
