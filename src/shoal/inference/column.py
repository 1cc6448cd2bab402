"""ColumnFacts: what is known of a column before anyone decides about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

MARKS = ("?", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "#N/A", "-", "--", ".", "(null)")
"""Texts that tables use for a missing value, beside the empty one."""

SAMPLE = 1000
"""Distinct values of a column that are looked at one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFacts:
    """One column, counted.

    Attributes:
        records: cells of the column.
        missing: empty cells, and cells that hold a mark for a missing value.
        distinct: different values among the others.
        commonest: cells with the commonest value.
        sample: some of the distinct values, evenly spread; never part of an output.
        form: "integer", "decimal", "date", "boolean" or "text": what *all* values are.
        leading_zeros: some number starts with a needless zero, so it is a code.
        lowest, highest: of numbers; used to choose interval widths, never shown.
        length, words: mean length and number of words of the distinct texts.
        most_words: words of the wordiest text.
        widths: number of different text lengths.
        embedded: how many distinct values hide an e-mail address, phone number … inside.
        marks: the marks for missing values that occur.
        alone: how well the column tells records apart by itself, a missing value being a
            value: residual entropy in bits, distinction and separation.
    """

    name: str
    records: int
    missing: int
    distinct: int
    commonest: int
    sample: tuple[str, ...] = field(repr=False)
    form: str = "text"
    leading_zeros: bool = False
    lowest: float | None = field(default=None, repr=False)
    highest: float | None = field(default=None, repr=False)
    length: float = 0.0
    words: float = 0.0
    most_words: int = 0
    widths: int = 0
    embedded: Mapping[str, int] = field(default_factory=dict)
    marks: tuple[str, ...] = ()
    alone: tuple[float, float, float] = (0.0, 1.0, 1.0)

    @property
    def present(self) -> int:
        """Return the number of cells that hold a value."""
        return self.records - self.missing

    @property
    def distinct_share(self) -> float:
        """Return the share of the values that are different: 1 means all are."""
        return self.distinct / self.present if self.present else 0.0

    @property
    def is_number(self) -> bool:
        """Say whether every value is a number that may be computed with."""
        return self.form in ("integer", "decimal") and not self.leading_zeros


def identifying_power(sizes: NDArray[np.int64]) -> tuple[float, float, float]:
    """Return residual entropy, distinction and separation from the size of each class."""
    n = int(sizes.sum())
    if not n:
        return 0.0, 1.0, 1.0
    left = float((sizes * np.log2(sizes)).sum()) / n
    together = float((sizes.astype(np.float64) ** 2).sum()) - n
    return left, len(sizes) / n, 1 - together / (float(n) * (n - 1)) if n > 1 else 1.0
