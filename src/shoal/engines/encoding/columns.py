"""Look-up tables of columnar encoding: from texts to numbers of what covers them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from secrets import randbits
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engines.encoding.views import views_of
from shoal.formats.types import texts_of
from shoal.kernels.encoding.texts import TextNumbers, Views
from shoal.model.sets import SetEncoder

Value: TypeAlias = str | float | None
"""A value as the encoder reads it: a text, a number that never was a text, or missing."""

_NEW = np.int32(-1)


@dataclass
class ColumnCoder:
    """One quasi-identifier: from texts or their physical indices to numbers of what covers them.

    Attributes:
        place: of the column among the quasi-identifiers.
        table: from the physical index of a text to its number.
        values: a value that stands for each number.
        sets: the sets of regions that cover the values of each number, block by block.
    """

    place: int
    encoder: SetEncoder
    table: NDArray[np.int32] = field(default_factory=lambda: np.full(1, _NEW, dtype=np.int32))
    numbers: dict[tuple[int, ...], int] = field(default_factory=dict)
    values: list[Value] = field(default_factory=list)
    sets: list[tuple[int, ...]] = field(default_factory=list)
    # Polars forgets which text an index stands for once no column uses it.
    keepers: list[pl.Series] = field(default_factory=list)
    texts: TextNumbers = field(default_factory=lambda: TextNumbers(salt=randbits(64)))

    def codes(self, series: pl.Series) -> NDArray[np.int32]:
        """Return, for each record, the number of the set of classes that cover its value."""
        is_float = series.dtype.is_float()
        if not isinstance(series.dtype, (pl.Categorical, pl.Enum)):
            plain = texts_of(series)
            chunks = views_of(plain)
            if chunks is not None:
                return self._codes_of_texts(plain, chunks, is_float=is_float)
            series = plain.cast(pl.Categorical)
        physical = series.to_physical()
        nulls = physical.is_null().to_numpy() if physical.null_count() else None
        filled = physical if nulls is None else physical.fill_null(0)
        raw = filled.to_numpy().astype(np.intp)  # once: each look-up by uint32 would convert it
        most = int(raw.max()) + 1 if len(raw) else 1
        if most > len(self.table):
            grown = np.full(most, _NEW, dtype=np.int32)
            grown[: len(self.table)] = self.table
            self.table = grown
        used = np.zeros(most, dtype=np.bool_)
        used[raw if nulls is None else raw[~nulls]] = True
        fresh = np.flatnonzero(used & (self.table[:most] < 0))
        if len(fresh):
            self._learn(series.drop_nulls(), fresh, is_float=is_float)
        codes = np.take(self.table, raw, mode="clip")  # in range, and not checked again
        if nulls is not None:
            codes[nulls] = self._number(None)
        return codes

    def _codes_of_texts(
        self, series: pl.Series, chunks: Iterator[Views], *, is_float: bool
    ) -> NDArray[np.int32]:
        codes = np.empty(len(series), dtype=np.int32)
        missing = self._number(None) if series.null_count() else -1
        begin = 0
        for views in chunks:

            def learn(rows: NDArray[np.int64], begin: int = begin) -> list[int]:
                new = series.gather(rows + begin).to_list()
                return [self._number(float(text) if is_float else text) for text in new]

            end = begin + len(views.views) // 2
            self.texts.find(views, codes[begin:end], missing=missing, learn=learn)
            begin = end
        return codes

    def _learn(self, present: pl.Series, fresh: NDArray[np.int64], *, is_float: bool) -> None:
        """Number the texts that are new."""
        raw = present.to_physical().to_numpy()
        somewhere = np.full(len(self.table), -1, dtype=np.int64)
        for end in (2**16, len(raw)):  # nearly all values stand among the first records
            somewhere[raw[:end]] = np.arange(min(end, len(raw)))
            if (somewhere[fresh] >= 0).all():
                break
        distinct = present.gather(somewhere[fresh])
        self.keepers.append(distinct)
        texts = distinct.cast(pl.String).to_list()
        for index, text in zip(fresh.tolist(), texts, strict=True):
            self.table[index] = self._number(float(text) if is_float else text)

    def _number(self, value: Value) -> int:
        covers = tuple(block[self.place].cover(value) for block in self.encoder.blocks)
        if self.encoder.on_unseen == "nearest" and isinstance(value, str):
            # How far a cell is widened depends on where the value stands in its tree.
            covers = (*covers, self.encoder.first[self.place].node(value))
        number = self.numbers.setdefault(covers, len(self.numbers))
        if number == len(self.values):
            self.values.append(value)
            self.sets.append(covers)
        return number
