"""Inference on a Polars scan: facts of each column, quasi-identifier sets, presets applied."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError
from shoal.engines.local.csv_file import CsvFile
from shoal.engines.local.source import Source
from shoal.methods.infer.column import MARKS, SAMPLE, ColumnFacts
from shoal.methods.infer.patterns import EMBEDDED
from shoal.methods.infer.presets import OLDEST, SMALL_ZIPS, Preset, Rule, Step, apply_preset
from shoal.methods.infer.propose import schema_document, schema_text
from shoal.methods.infer.roles import Verdict, decide, hipaa_text
from shoal.methods.infer.sets import ColumnSet, SetSearch, find_sets, with_single_columns
from shoal.schema.schema import Role

MAX_SIZE = 5
THRESHOLD = 1.0
SECONDS = 60.0

_ROWS = "\x00rows"
_NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$"
_INTEGER = r"^\s*[+-]?\d+\s*$"
_LEADING_ZERO = r"^\s*0\d"
_ISO = r"^\s*\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?\s*$"


@dataclass(frozen=True, kw_only=True)
class Inference:
    """What a table seems to be: a verdict for each column, and the sets that identify.

    Guarantee:
        No text or number that leaves here is a value of the table; column names, counts,
        shares and round widths do.
    """

    where: str
    records: int
    columns: tuple[ColumnFacts, ...]
    verdicts: dict[str, Verdict]
    search: SetSearch
    max_size: int
    threshold: float
    seconds: float
    read_as: CsvFile | None = None  # how the file was read

    def to_document(self) -> dict[str, Any]:
        """Return the document of `infer`, with the evidence."""
        return {
            "records": self.records,
            "columns": {c.name: self._column(c) for c in self.columns},
            "sets": [
                {
                    "columns": self._names(found.columns),
                    "residual_entropy": found.residual_entropy,
                    "distinction": found.distinction,
                    "separation": found.separation,
                }
                for found in self.search.sets
            ],
            "search": {
                "max_size": self.max_size,
                "threshold": self.threshold,
                "complete": self.search.complete,
                "judged_up_to_size": self.max_size if self.search.complete else self.search.size,
                "counted": self.search.counted,
                "spared": self.search.spared,
            },
            "input": {
                "encoding": None if self.read_as is None else self.read_as.encoding,
                "skip_lines": 0 if self.read_as is None else self.read_as.skip_lines,
            },
            "notices": list(self.notices()),
            "seconds": round(self.seconds, 3),
        }

    def _column(self, column: ColumnFacts) -> dict[str, Any]:
        verdict = self.verdicts[column.name]
        return {
            "role": str(verdict.role),
            "kind": str(verdict.kind),
            "confidence": round(verdict.confidence, 2),
            "why": verdict.why,
            "hipaa": hipaa_text(verdict.hipaa),
            "free_text": verdict.free_text,
            "distinct": column.distinct,
            "missing": column.missing,
            "in_sets": sum(column.name in self._names(s.columns) for s in self.search.sets),
        }

    def _names(self, members: Sequence[int]) -> list[str]:
        return [self.columns[i].name for i in members]

    def named(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns with one role."""
        return tuple(c.name for c in self.columns if self.verdicts[c.name].role is role)

    def schema_document(self) -> dict[str, Any]:
        """Return an editable schema: roles, kinds, proposed hierarchies and a promise."""
        return schema_document(self.columns, self.verdicts)

    def schema_text(self) -> str:
        """Return the schema as YAML with the reasons as comments."""
        return schema_text(self.schema_document(), self.verdicts, notices=self.notices())

    def preset(self, name: str, *, as_of: date | None = None) -> Preset:
        """Return the steps and the schema of a preset such as `hipaa-safe-harbor`."""
        return apply_preset(name, self.columns, self.verdicts, as_of=as_of)

    def notices(self) -> tuple[str, ...]:
        """Say what a person must look at: free text, guesses, an unfinished search."""
        lines = []
        if self.read_as is not None and self.read_as.flags():
            lines.append(f"the file was read with {self.read_as.flags()}: say so to every command")
        texts = [c.name for c in self.columns if self.verdicts[c.name].free_text]
        if texts:
            lines.append(f"free text, never released unread: {_listed(texts)}")
        guesses = [c.name for c in self.columns if self.verdicts[c.name].confidence < 0.5]
        if guesses:
            lines.append(f"no sign says what these are, decide yourself: {_listed(guesses)}")
        alone = {s.columns[0] for s in self.search.sets if len(s.columns) == 1}
        fine = [
            c.name
            for i, c in enumerate(self.columns)
            if i in alone and self.verdicts[c.name].role in (Role.SENSITIVE, Role.NEUTRAL)
        ]
        if fine:
            lines.append(
                f"kept as they are, yet each nearly identifies alone, round them: {_listed(fine)}"
            )
        if not self.search.complete:
            lines.append(
                f"sets were judged up to {self.search.size} columns, then time or memory ran out"
            )
        return tuple(lines)


def infer(
    source: Source,
    *,
    max_size: int = MAX_SIZE,
    seconds: float | None = SECONDS,
    threshold: float = THRESHOLD,
    threads: int | None = None,
) -> Inference:
    """Judge every column of a table and find the sets of columns that identify people.

    Args:
        source: the table.
        max_size: largest number of columns in a set.
        seconds: time for the search of sets; None for no limit.
        threshold: residual entropy in bits under which a set identifies.
        threads: by default one a processor.

    Raises:
        InputError: the table has no record.
    """
    started = time.monotonic()
    lazy = source.scan(source.columns, coded=source.columns)
    if source.fits_memory():
        lazy = source.collect(lazy).lazy()
    columns = tuple(column_facts(source, lazy, name) for name in source.columns)
    if not columns or not columns[0].records:
        raise InputError(where=source.where, problem="the table has a header but no record")
    verdicts = {column.name: decide(column) for column in columns}
    # A column that identifies alone is a set already, and would make every row distinct.
    singles = [
        ColumnSet(columns=(i,), residual_entropy=left, distinction=share, separation=apart)
        for i, (left, share, apart) in enumerate(column.alone for column in columns)
        if left < threshold or left == 0
    ]
    rest = [i for i in range(len(columns)) if not any(s.columns == (i,) for s in singles)]
    codes, counts = _distinct_rows(source, lazy, [columns[i].name for i in rest])
    search = find_sets(
        codes, counts, max_size=max_size, threshold=threshold, seconds=seconds, threads=threads
    )
    search = with_single_columns(search, rest, singles)
    return Inference(
        where=source.where,
        records=columns[0].records,
        columns=columns,
        verdicts=verdicts,
        search=search,
        max_size=max_size,
        threshold=threshold,
        seconds=time.monotonic() - started,
    )


def column_facts(source: Source, lazy: pl.LazyFrame, name: str) -> ColumnFacts:
    """Count one column: one group-by, then a look at its distinct values."""
    counted = source.collect(lazy.group_by(name).agg(source.records.alias(_ROWS)))
    dtype = counted[name].dtype
    if isinstance(dtype, (pl.List, pl.Struct, pl.Array, pl.Object, pl.Binary)):
        raise InputError(
            where=f"column {name!r}", problem=f"holds {dtype.base_type()} values, not plain ones"
        )
    texts = counted.select(pl.col(name).cast(pl.String).alias("text"), pl.col(_ROWS))
    return facts_of(name, texts, dtype)


def facts_of(name: str, counted: pl.DataFrame, dtype: pl.DataType) -> ColumnFacts:
    """Look at a column whose values are counted: their texts, and how often each one occurs."""
    texts = counted.select(pl.first().alias("text"), pl.last().alias(_ROWS))
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
        length=float(lengths.mean() or 0.0),  # type: ignore[arg-type]
        words=float(words.mean() or 0.0),  # type: ignore[arg-type]
        most_words=_number(words.max()),
        widths=lengths.n_unique() if values.len() else 0,
        embedded=_embedded(values) if form == "text" else {},
        marks=tuple(sorted(marks)),
        alone=_alone(texts[_ROWS].to_numpy().astype(np.int64)),
    )


def _alone(sizes: NDArray[np.int64]) -> tuple[float, float, float]:
    """Return residual entropy, distinction and separation from the size of each class."""
    n = int(sizes.sum())
    if not n:
        return 0.0, 1.0, 1.0
    left = float((sizes * np.log2(sizes)).sum()) / n
    together = float((sizes.astype(np.float64) ** 2).sum()) - n
    return left, len(sizes) / n, 1 - together / (float(n) * (n - 1)) if n > 1 else 1.0


def _number(value: Any) -> int:
    return 0 if value is None else int(value)


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


def _distinct_rows(
    source: Source, lazy: pl.LazyFrame, columns: Sequence[str]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the distinct rows as codes, and how often each one occurs."""
    if not columns:
        return np.zeros((0, 0), dtype=np.int32), np.zeros(0, dtype=np.int64)
    grouped = source.collect(lazy.group_by(columns).agg(pl.len().alias(_ROWS)))
    codes = np.empty((grouped.height, len(columns)), dtype=np.int32)
    for i, name in enumerate(columns):
        codes[:, i] = dense_codes(grouped[name])
    return codes, grouped[_ROWS].to_numpy().astype(np.int64)


def dense_codes(series: pl.Series) -> NDArray[np.int32]:
    """Return 0, 1, … for the different values of a column; missing is a value of its own."""
    if isinstance(series.dtype, (pl.Categorical, pl.Enum)) or series.dtype.is_temporal():
        series = series.to_physical()
    ranks = series.rank("dense").to_numpy() if series.len() else np.zeros(0)
    return np.nan_to_num(ranks.astype(np.float64), nan=0.0).astype(np.int32)


def preset_frame(source: Source, preset: Preset) -> pl.LazyFrame:
    """Return the table after the steps of a preset; removed columns are gone.

    Values that a step cannot read become missing (dates, ages) or "000" (zip codes): what
    is not understood is not passed on.
    """
    names = [rule.column for rule in preset.rules if rule.step is not Step.REMOVE]
    lazy = source.scan(names)
    types = lazy.collect_schema()
    steps = [
        _step(rule, types[rule.column], preset.as_of)
        for rule in preset.rules
        if rule.step not in (Step.REMOVE, Step.KEEP)
    ]
    return lazy.with_columns(*steps)


def _step(rule: Rule, dtype: pl.DataType, as_of: date) -> pl.Expr:
    column = pl.col(rule.column)
    text = column.cast(pl.String).str.strip_chars()
    if rule.step is Step.TOP_AGE:
        age = text.cast(pl.Float64, strict=False).floor()
        valid = age.is_between(0, 150)
        return (
            pl.when(valid & (age > OLDEST)).then(pl.lit(f"{OLDEST + 1}+"))
            .when(valid).then(age.cast(pl.Int64, strict=False).cast(pl.String))
            .otherwise(None).alias(rule.column)
        )  # fmt: skip
    if rule.step is Step.ZIP3:
        padded = pl.when(dtype.is_integer()).then(text.str.zfill(5)).otherwise(text)
        area = padded.str.extract(r"^(\d{3})\d{2}(-?\d{4})?$", 1)
        small = area.is_in(list(SMALL_ZIPS))
        coarse = pl.when(small | area.is_null()).then(pl.lit("000")).otherwise(area)
        return (
            pl.when(text.is_null() | (text == "")).then(None).otherwise(coarse).alias(rule.column)
        )
    year = _year(rule, dtype, text)
    if rule.step is Step.YEAR:
        return year.alias(rule.column)
    last = as_of.year - OLDEST - 1
    return (
        pl.when(year <= last).then(pl.lit(f"<={last}"))
        .when(year <= as_of.year).then(year.cast(pl.String))
        .otherwise(None).alias(rule.column)
    )  # fmt: skip


def _year(rule: Rule, dtype: pl.DataType, text: pl.Expr) -> pl.Expr:
    if dtype.is_temporal():
        return pl.col(rule.column).dt.year().cast(pl.Int64)
    if rule.date_format is not None:
        return text.str.to_datetime(rule.date_format, strict=False).dt.year().cast(pl.Int64)
    return text.str.extract(r"^(\d{4})(\.0*)?(-|$)", 1).cast(pl.Int64, strict=False)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)
