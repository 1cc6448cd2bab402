"""Looking at a table: block by block, sorted and filtered, without handing all of it out.

The first records are read at once; the rest is coded beside, a number a cell. A sort or a filter
looks at the distinct values of a column and then at those numbers, never at texts.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import polars as pl

from shoal.core.documents import Document, Json
from shoal.core.errors import InputError
from shoal.engines.coding import with_codes
from shoal.engines.local.source import Source, open_source
from shoal.formats.csv_file import CsvFile
from shoal.formats.proposed import proposed_reading
from shoal.formats.types import texts_of

MOST_ROWS = 500
"""Records of one block, whatever is asked."""
MOST_BYTES = 2 * 2**30
"""Of a larger table the first records are shown, so many that they take about this much."""
HEAD = 1_000
"""Records that are there at once."""
_KEPT = 4  # indices of sorts and filters that are kept
_LONG = 2_000  # letters of a cell that are handed out
KINDS = (
    "contains", "notContains", "equals", "notEqual", "startsWith", "endsWith", "blank",
    "notBlank", "lessThan", "lessThanOrEqual", "greaterThan", "greaterThanOrEqual", "inRange",
)  # fmt: skip
"""How a filter compares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What a cell must be like.

    Attributes:
        kind: one of `KINDS`.
        value: a text or a number, as it was typed; case does not count.
        to: the upper end of a range.
    """

    kind: str
    value: str = field(default="", repr=False)
    to: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(where="filter", problem=f"no such comparison; {', '.join(KINDS)}")

    def holds(self, texts: pl.Series) -> pl.Series:
        """Say of each text whether it fits; a missing one fits `blank` alone."""
        if self.kind in ("blank", "notBlank"):
            is_blank = texts.is_null() | (texts.str.strip_chars() == "").fill_null(True)
            return is_blank if self.kind == "blank" else ~is_blank
        return self._compared(texts).fill_null(False)

    def _compared(self, texts: pl.Series) -> pl.Series:
        low, value = texts.str.to_lowercase(), self.value.lower()
        compare: dict[str, Callable[[], pl.Series]] = {
            "contains": lambda: low.str.contains(value, literal=True),
            "notContains": lambda: ~low.str.contains(value, literal=True),
            "equals": lambda: (low == value) | self._numbers(texts, "equals"),
            "notEqual": lambda: ~((low == value) | self._numbers(texts, "equals")),
            "startsWith": lambda: low.str.starts_with(value),
            "endsWith": lambda: low.str.ends_with(value),
        }
        return compare[self.kind]() if self.kind in compare else self._numbers(texts, self.kind)

    def _numbers(self, texts: pl.Series, kind: str) -> pl.Series:
        """Compare as numbers; what is none does not fit."""
        numbers, low = _floats(texts), _float(self.value)
        if low is None:
            return pl.Series([False]).new_from_index(0, len(texts))
        if kind == "inRange":
            high = _float(self.to)
            top = numbers <= (high if high is not None else float("inf"))
            found = (numbers >= low) & top
        else:
            found = {
                "equals": numbers == low,
                "lessThan": numbers < low,
                "lessThanOrEqual": numbers <= low,
                "greaterThan": numbers > low,
                "greaterThanOrEqual": numbers >= low,
            }[kind]
        return found.fill_null(False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What the cells of a column must be like: all conditions, or any of them."""

    column: int
    conditions: tuple[Condition, ...]
    is_any: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """An order, and what is left out: columns by their number, and whether they descend."""

    sort: tuple[tuple[int, bool], ...] = ()
    filters: tuple[Filter, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Block:
    """Some records of a view.

    Attributes:
        rows: the number of each record in the table, and its cells; None: missing.
        records: how many records the view has.
    """

    rows: tuple[tuple[int, tuple[str | None, ...]], ...]
    records: int

    def to_document(self) -> Document:
        """Return it as plain data."""
        rows: list[Json] = [[number, *cells] for number, cells in self.rows]
        return {"rows": rows, "records": self.records}


class Browsed:
    """A table that is looked at.

    Guarantee:
        A block has at most `MOST_ROWS` records. Equal cells keep the order of the table.
    """

    def __init__(self, table: object, *, separator: str | None = None) -> None:
        """Open a table and read its first records.

        Raises:
            InputError: it cannot be read as a table.
        """
        read = proposed_reading(table)
        self.source = open_source(read, separator=separator)
        self._read, self._stamp = read, _stamp(read)
        self._head = self.source.collect(self.source.scan(self.source.columns).head(HEAD))
        self._head = self._head.select(texts_of(each).alias(each.name) for each in self._head)
        self._whole: _Whole | None = None
        self._problem: InputError | None = None
        self._loaded = threading.Event()
        self._started = threading.Lock()
        self._is_started = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return self.source.columns

    @property
    def records(self) -> int | None:
        """Return how many records can be looked at; None where nobody has counted them yet."""
        if self._whole is not None:
            return self._whole.frame.height
        return self._head.height if self._head.height < HEAD else None

    @cached_property
    def numeric(self) -> tuple[bool, ...]:
        """Say of each column whether its first records are numbers."""
        found = []
        for each in self._head:
            present = each.filter(each.is_not_null() & (each.str.strip_chars() != ""))
            known = _floats(present).is_not_null().sum()
            found.append(len(present) > 0 and known >= 0.9 * len(present))
        return tuple(found)

    def facts(self) -> Document:
        """Return how the table is read: what was found, and not declared."""
        read, source = self._read, self.source
        facts: Document = {"format": source.format, "columns": len(self.columns)}
        if source.shape is not None:
            facts |= {"separator": source.separator, "records": source.shape.records}
            facts["encoding"] = (read.encoding if isinstance(read, CsvFile) else None) or "utf-8"
            facts["skip_lines"] = read.skip_lines if isinstance(read, CsvFile) else 0
        if isinstance(source.path, Path) and not source.keeper:
            with suppress(OSError):
                facts["bytes"] = source.path.stat().st_size
        whole = self._whole
        if whole is not None:
            facts |= {"shown": whole.frame.height, "is_whole": whole.is_whole}
        if self._problem is not None:
            facts["problem"] = str(self._problem)
        return facts

    def is_same(self, table: object) -> bool:
        """Say whether that is this very table, unchanged, and read in the same way."""
        return proposed_reading(table) == self._read and _stamp(self._read) == self._stamp

    def is_read(self) -> bool:
        """Say whether all of it is there, or it is known that it cannot be read."""
        return self._loaded.is_set()

    def start(self) -> None:
        """Have the rest of the table read beside."""
        with self._started:
            if not self._is_started:
                self._is_started = True
                threading.Thread(target=self._load, name="browse", daemon=True).start()

    def wait(self) -> None:
        """Wait until all of it is there.

        Raises:
            InputError: it cannot be read to its end.
        """
        self.start()
        self._loaded.wait()
        if self._problem is not None:
            raise self._problem

    def block(self, view: View, first: int, number: int) -> Block:
        """Return some records of a view, from the first-th on; at most `MOST_ROWS`.

        Raises:
            InputError: the table cannot be read to its end, or the view names no column of it.
        """
        first, number = max(first, 0), min(max(number, 0), MOST_ROWS)
        columns = [at for at, _ in view.sort] + [each.column for each in view.filters]
        if not all(0 <= at < len(self.columns) for at in columns):
            raise InputError(where="view", problem="names a column that the table does not have")
        self.start()
        if view == View() and first + number <= self._head.height and self._whole is None:
            shape = self.source.shape
            records = shape.records if shape is not None else self._head.height + 1
            return _block(self._head.slice(first, number), range(first, first + number), records)
        self.wait()
        assert self._whole is not None
        return self._whole.block(view, first, number)

    def _load(self) -> None:
        try:
            self._whole = _Whole.read(self.source)
        except InputError as error:
            self._problem = error
        except Exception as error:  # what it says may quote the data
            problem = f"cannot be read to its end ({type(error).__name__})"
            self._problem = InputError(where=self.source.where, problem=problem)
        finally:
            self._loaded.set()


class _Whole:
    """All records, a code a cell."""

    def __init__(self, frame: pl.DataFrame, *, is_whole: bool) -> None:
        self.frame, self.is_whole = frame, is_whole
        self._codes = [each.to_physical() for each in frame]
        self._distinct: dict[int, pl.DataFrame] = {}
        self._indices: OrderedDict[View, pl.Series | None] = OrderedDict()
        self._turn = threading.Lock()

    @classmethod
    def read(cls, source: Source) -> _Whole:
        scan = source.scan(source.columns, coded=source.columns)
        size = source.size if source.path is not None else 0
        is_whole = size <= MOST_BYTES
        if not is_whole:
            records = source.shape.records if source.shape is not None else 3_000_000
            scan = scan.head(max(records * MOST_BYTES // size, HEAD))
        frame = source.collect(with_codes(scan, []))
        plain = [
            each if isinstance(each.dtype, pl.Categorical) else texts_of(each).cast(pl.Categorical)
            for each in frame.iter_columns()
        ]
        return cls(pl.DataFrame(plain), is_whole=is_whole)

    def block(self, view: View, first: int, number: int) -> Block:
        index = self._index(view)
        if index is None:
            rows = self.frame.slice(first, number)
            found = _block(rows, range(first, first + number), self.frame.height)
        else:
            chosen = index.slice(first, number)
            found = _block(self.frame[chosen], chosen, len(index))
        return found

    def _index(self, view: View) -> pl.Series | None:
        """Return the numbers of the records of a view; None: all of them as they are."""
        if view == View():
            return None
        with self._turn:
            if view in self._indices:
                self._indices.move_to_end(view)
                return self._indices[view]
            ordered = View(sort=view.sort)
            if ordered not in self._indices:
                self._keep(ordered, self._sorted(view.sort))
            index = self._indices[ordered]
            for each in view.filters:
                fits = self._fits(each)
                index = fits.arg_true() if index is None else index.filter(fits.gather(index))
            self._keep(view, index)
            return index

    def _keep(self, view: View, index: pl.Series | None) -> None:
        self._indices[view] = index
        while len(self._indices) > _KEPT:
            self._indices.popitem(last=False)

    def _values(self, column: int) -> pl.DataFrame:
        """Return the distinct values of a column: their codes, texts, and places in the order.

        Numbers come first, by size; other texts by alphabet; a missing value is none of them.
        """
        found = self._distinct.get(column)
        if found is None:
            values = self.frame[self.frame.columns[column]].unique().drop_nulls()
            texts = values.cast(pl.String)
            known = pl.DataFrame(
                {"code": values.to_physical(), "text": texts, "number": _floats(texts)}
            )
            is_number = pl.col("number").is_not_null()
            parts = known.filter(is_number).sort("number"), known.filter(~is_number).sort("text")
            found = self._distinct[column] = pl.concat(parts).with_row_index("place")
        return found

    def _sorted(self, sort: Sequence[tuple[int, bool]]) -> pl.Series | None:
        """Return the numbers of the records in an order; missing cells come last either way.

        Places of several columns become one number, and the record's own number its last
        digits: plain integers are sorted several times faster than pairs, and ties stay in order.
        """
        if not sort:
            return None
        records = max(self.frame.height, 1)
        key, size = pl.Series([0], dtype=pl.UInt64).new_from_index(0, self.frame.height), 1
        for column, descends in sort:
            values = self._values(column)
            places, own = values["place"].cast(pl.UInt64), values.height + 1
            if descends and values.height:
                places = values.height - 1 - places
            if size * own * records >= 2**63:
                key = key.rank("dense").cast(pl.UInt64) - 1
                size = records
            key = key * own + self._spread(column, places, 0).fill_null(values.height)
            size *= own
        row = pl.int_range(self.frame.height, dtype=pl.UInt64, eager=True)
        if size * records >= 2**64:
            key = key.rank("dense").cast(pl.UInt64) - 1
        return ((key * records + row).sort() % records).cast(pl.UInt32)

    def _fits(self, asked: Filter) -> pl.Series:
        """Say of each record whether a column's cell is as asked."""
        values = self._values(asked.column)
        fits, missing = not asked.is_any, not asked.is_any
        found = pl.Series([fits]).new_from_index(0, values.height)
        for each in asked.conditions:
            holds, blank = each.holds(values["text"]), each.kind == "blank"
            found = found | holds if asked.is_any else found & holds
            missing = missing or blank if asked.is_any else missing and blank
        return self._spread(asked.column, found, False).fill_null(missing)

    def _spread(self, column: int, values: pl.Series, rest: bool | int) -> pl.Series:
        """Return what each record has, from what each distinct value has."""
        codes, known = self._codes[column], self._values(column)["code"]
        top = codes.max()
        size = int(top) + 1 if isinstance(top, int) else 0
        table = pl.Series([rest], dtype=values.dtype).new_from_index(0, size)
        return table.scatter(known, values).gather(codes)


def _stamp(table: object) -> tuple[int, int] | None:
    """Return what tells a file from the same file written anew; None: it is no file."""
    if not isinstance(table, (str, Path, CsvFile)):
        return None
    with suppress(OSError):
        found = Path(table).stat()
        return found.st_mtime_ns, found.st_size
    return None


def _block(frame: pl.DataFrame, numbers: Sequence[int] | pl.Series, records: int) -> Block:
    texts = frame.select(pl.all().cast(pl.String).str.slice(0, _LONG))
    rows = zip(numbers, texts.iter_rows(), strict=False)
    return Block(rows=tuple((int(n) + 1, cells) for n, cells in rows), records=records)


def _floats(texts: pl.Series) -> pl.Series:
    """Return texts as numbers; a comma may stand for the point."""
    plain = texts.str.strip_chars()
    return plain.cast(pl.Float64, strict=False).fill_null(
        plain.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    )


def _float(text: str) -> float | None:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None
