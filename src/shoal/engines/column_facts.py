"""Facts of a column from its counted values, which every engine has as a Polars frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError
from shoal.inference.column import MARKS, SAMPLE, ColumnFacts, identifying_power
from shoal.inference.patterns import EMBEDDED

_ROWS = "\x00rows"
_NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$"
_INTEGER = r"^\s*[+-]?\d+\s*$"
_LEADING_ZERO = r"^\s*0\d"
_ISO = r"^\s*\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?\s*$"


def column_facts(name: str, counted: pl.DataFrame, *, embedded: bool = True) -> ColumnFacts:
    """Return the facts of a column whose values are counted.

    Args:
        name: what it is called.
        counted: its distinct values, and how often each one occurs.
        embedded: look for identifiers inside longer texts.

    Raises:
        InputError: it holds lists and the like.
    """
    dtype = counted.dtypes[0]
    if isinstance(dtype, (pl.List, pl.Struct, pl.Array, pl.Object, pl.Binary)):
        raise InputError(
            where=f"column {name!r}", problem=f"holds {dtype.base_type()} values, not plain ones"
        )
    texts = counted.select(pl.first().cast(pl.String).alias("text"), pl.last().alias(_ROWS))
    records = int(texts[_ROWS].sum())
    stripped = pl.col("text").str.strip_chars()
    absent = stripped.is_null() | (stripped == "") | stripped.is_in(list(MARKS))
    marks = texts.filter(stripped.is_in(list(MARKS)))["text"].str.strip_chars().unique().to_list()
    present = texts.filter(~absent)
    values = present["text"]
    form, zeros = _form(values, dtype)
    low, high = _range(values) if form in ("integer", "decimal") else (None, None)
    lengths = values.str.len_chars()
    words = values.str.strip_chars().str.count_matches(r"\s\S") + 1
    return ColumnFacts(
        name=name,
        records=records,
        missing=records - int(present[_ROWS].sum()),
        distinct=present.height,
        commonest=_number(present[_ROWS].max()),
        sample=tuple(_spread(values)),
        form=form,
        leading_zeros=zeros,
        lowest=low,
        highest=high,
        length=_mean(lengths),
        words=_mean(words),
        most_words=_number(words.max()),
        widths=lengths.n_unique() if values.len() else 0,
        embedded=_embedded(values) if embedded and form == "text" else {},
        marks=tuple(sorted(marks)),
        alone=identifying_power(texts[_ROWS].to_numpy().astype(np.int64)),
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _mean(values: pl.Series) -> float:
    found = values.mean()
    return found if isinstance(found, float) else 0.0


def _form(values: pl.Series, dtype: pl.DataType) -> tuple[str, bool]:
    """Return what all values are, and whether some number starts with a needless zero."""
    if dtype.is_temporal():
        return "date", False
    if not values.len():
        return "text", False
    if dtype == pl.Boolean:
        return "boolean", False
    if dtype.is_integer() or values.str.contains(_INTEGER).all():
        return "integer", bool(values.str.contains(_LEADING_ZERO).any())
    if dtype.is_numeric() or values.str.contains(_NUMBER).all():
        return "decimal", bool(values.str.contains(_LEADING_ZERO).any())
    if values.str.contains(_ISO).all():
        return "date", False
    return "text", False


def _range(values: pl.Series) -> tuple[float | None, float | None]:
    numbers = values.str.strip_chars().cast(pl.Float64, strict=False)
    low, high = numbers.min(), numbers.max()
    return (
        float(low) if isinstance(low, (int, float)) else None,
        float(high) if isinstance(high, (int, float)) else None,
    )


def _spread(values: pl.Series) -> list[str]:
    """Return up to SAMPLE distinct values, evenly spread over their order."""
    ordered = values.sort()
    step = max(ordered.len() // SAMPLE, 1)
    return ordered.gather_every(step).head(SAMPLE).to_list()


def _embedded(values: pl.Series) -> dict[str, int]:
    found = {}
    for key, hidden in EMBEDDED.items():
        holds = values.str.contains(hidden.regex)
        if hidden.proves is not None and holds.any():
            inside = values.filter(holds).str.extract_all(hidden.regex).to_list()
            found[key] = sum(any(map(hidden.proves, texts)) for texts in inside)
        else:
            found[key] = int(holds.sum())
    return found


def row_codes(rows: pl.DataFrame, names: Sequence[str]) -> NDArray[np.int32]:
    """Return the rows of a table as codes, int32[rows, columns]; see `dense_codes`."""
    codes = np.empty((rows.height, len(names)), dtype=np.int32)
    for i, name in enumerate(names):
        codes[:, i] = dense_codes(rows[name])
    return codes


def dense_codes(series: pl.Series) -> NDArray[np.int32]:
    """Return 0, 1, … for the different values of a column; missing is a value of its own."""
    if isinstance(series.dtype, (pl.Categorical, pl.Enum)) or series.dtype.is_temporal():
        series = series.to_physical()
    ranks = series.rank("dense").to_numpy() if series.len() else np.zeros(0)
    return np.nan_to_num(ranks.astype(np.float64), nan=0.0).astype(np.int32)
