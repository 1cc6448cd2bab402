"""Excel workbooks: one sheet in, one sheet out; fastexcel reads, XlsxWriter writes.

A cell of a workbook is a number, a text, a truth or a moment, and each cell of a column may be
another. So a column is what all its cells are: whole numbers, numbers, days, times of day,
moments or truths; where they differ, texts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import polars as pl

from shoal.core.errors import InputError, OutputError
from shoal.formats.csv_file import CsvFile
from shoal.formats.csv_header import LINES_ABOVE
from shoal.formats.endings import check_extra

if TYPE_CHECKING:
    from fastexcel import ExcelReader

MOST_ROWS, MOST_COLUMNS, MOST_TEXT = 1_048_576, 16_384, 32_767  # what a sheet takes
EXACT = 10**15  # whole numbers up to here have the 15 digits that a cell keeps
_FIRST_DAY = date(1900, 3, 1)  # Excel takes 1900 for a leap year: earlier days are not the same
_DAY_0 = (date(1899, 12, 31), date(1899, 12, 30))  # of a cell that has a time of day alone
_LOOKED_AT = 150  # rows that a header is looked for in
_SHEET = "release"


@dataclass(frozen=True, slots=True)
class ExcelFile(CsvFile):
    """An Excel workbook, and where the table in it is.

    Attributes:
        sheet: the name of the sheet; None: the first.
        skip_lines: rows above the header, as Excel numbers them.

    Example:
        >>> ExcelFile("ward.xlsx", sheet="2024", skip_lines=3).flags()
        '--sheet 2024 --skip-lines 3'
    """

    sheet: str | None = None

    def __post_init__(self) -> None:
        if self.encoding is not None:
            raise InputError(where="--encoding", problem="goes with a CSV file; a workbook has one")
        if self.skip_lines < 0:
            raise InputError(where="--skip-lines", problem="must be 0 or more")

    def flags(self) -> str:
        """Return the options by which a command reads the file so."""
        name = f'"{self.sheet}"' if self.sheet and " " in self.sheet else self.sheet
        sheet = [] if name is None else [f"--sheet {name}"]
        skip = [f"--skip-lines {self.skip_lines}"] if self.skip_lines else []
        return " ".join([*sheet, *skip])


def read_excel(file: CsvFile) -> pl.DataFrame:
    """Return the table of a sheet, with the types that its cells have.

    Raises:
        MissingExtraError: fastexcel is not installed.
        InputError: no workbook, no such sheet, or no header where it should be.
    """
    reader = _open(file)
    name, where = _sheet(file, reader.sheet_names), str(file)
    columns = _header(reader, name, file.skip_lines, where=where)
    try:
        with _quiet():
            sheet = reader.load_sheet(name, header_row=file.skip_lines, schema_sample_rows=None)
            frame = sheet.to_polars()
    except Exception as error:  # its text quotes cells
        problem = f"the sheet cannot be read ({type(error).__name__}); save the workbook again"
        raise InputError(where=where, problem=problem) from None
    frame = frame.select(frame.columns[: len(columns)])
    frame.columns = list(columns)
    return frame.select(_typed(series) for series in frame)


def proposed_excel(file: CsvFile) -> CsvFile:
    """Return how a workbook seems to be meant: rows above the header, where nobody said so."""
    if file.skip_lines:
        return file
    reader = _open(file)
    name = _sheet(file, reader.sheet_names)
    skip = rows_above(_texts(reader, name, _LOOKED_AT))
    return ExcelFile(file.path, skip_lines=skip, sheet=getattr(file, "sheet", None))


def rows_above(rows: Sequence[Sequence[str | None]]) -> int:
    """Return how many rows stand above the header; 0 where that is unknown.

    The header is the first row in which every column that is used below has a name of its own.

    Example:
        >>> rows_above([["Ward 7", None], [None, None], ["age", "sex"], ["34", "f"]])
        2
    """
    for place, row in enumerate(rows[:-1]):
        below = rows[place + 1 :]
        used = [at for at in range(len(row)) if any(each[at] for each in (row, *below))]
        names = [str(row[at] or "").strip() for at in used]
        if len(names) > 1 and all(names) and len(set(names)) == len(names):
            return place
    return 0


def _open(file: CsvFile) -> ExcelReader:
    check_extra("xlsx")
    import fastexcel

    try:
        return fastexcel.read_excel(fspath(file))
    except Exception as error:
        problem = f"is no Excel workbook ({type(error).__name__}); save it as .xlsx again"
        raise InputError(where=str(file), problem=problem) from None


def _sheet(file: CsvFile, names: Sequence[str]) -> str:
    wanted = getattr(file, "sheet", None)
    if wanted is None and names:
        return names[0]
    if wanted not in names:
        named = ", ".join(repr(name) for name in names)
        raise InputError(where=str(file), problem=f"has no such sheet; --sheet is one of {named}")
    return str(wanted)


def _texts(reader: ExcelReader, name: str, rows: int, skip: int = 0) -> list[list[str | None]]:
    with _quiet():
        sheet = reader.load_sheet(
            name, header_row=None, skip_rows=skip, n_rows=rows, dtypes="string"
        )
        return [list(row) for row in sheet.to_polars().rows()]


def _header(reader: ExcelReader, name: str, skip: int, *, where: str) -> tuple[str, ...]:
    """Return the names of the columns.

    Raises:
        InputError: the sheet is empty, or a column has no name, or two have one.
    """
    try:
        rows = _texts(reader, name, 1, skip)
    except Exception:  # fewer rows than are to be skipped
        rows = []
    if not rows:
        raise InputError(where=where, problem="the sheet has no header there; see --skip-lines")
    names = [str(cell or "").strip() for cell in rows[0]]
    unnamed = names.count("")
    if unnamed:
        raise InputError(
            where=where, problem=f"{unnamed} columns have no name in the header{LINES_ABOVE}"
        )
    twice = sorted({each for each in names if names.count(each) > 1})
    if twice:
        named = ", ".join(map(repr, twice))
        raise InputError(where=where, problem=f"the header names {named} twice; rename one of them")
    return tuple(names)


def _typed(series: pl.Series) -> pl.Series:
    """Return a column as what all its cells are."""
    if series.dtype.is_float():
        found = series.drop_nulls()
        is_whole = found.len() and ((found == found.round()) & (found.abs() < EXACT)).all()
        return series.cast(pl.Int64) if is_whole else series
    if isinstance(series.dtype, pl.Datetime):
        return _moments(series)
    if series.dtype in (pl.Null, pl.String):  # an empty cell and an empty text are one
        return series.cast(pl.String).replace("", None)
    return series


def _moments(series: pl.Series) -> pl.Series:
    days = series.dt.date().drop_nulls()
    if days.len() and days.is_in(list(_DAY_0)).all():
        return series.dt.time()
    clock = series.dt.time().drop_nulls()
    if (clock == time(0)).all():
        return series.dt.date()
    return series.cast(pl.Datetime("us"))


class _Sheet(Protocol):
    def write_string(self, row: int, column: int, text: str) -> object: ...

    def _write_string(self, row: int, column: int, text: str) -> object: ...

    def write_number(self, row: int, column: int, number: float) -> object: ...

    def write_boolean(self, row: int, column: int, truth: bool) -> object: ...

    def write_datetime(self, row: int, column: int, at: object, form: object) -> object: ...


class ExcelWriter:
    """Writes frames behind each other into the one sheet of a workbook, row by row."""

    def __init__(self, path: Path) -> None:
        from xlsxwriter import Workbook

        self.where = str(path)
        self.book = Workbook(str(path), {
            "constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False,
            "strings_to_numbers": False, "default_date_format": "yyyy-mm-dd",
        })  # fmt: skip
        self.book.set_properties({"created": datetime(2000, 1, 1)})  # the same bytes every time
        self.sheet: _Sheet = self.book.add_worksheet(_SHEET)
        self.forms = {
            pl.Date: self.book.add_format({"num_format": "yyyy-mm-dd"}),
            pl.Datetime: self.book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss.000"}),
            pl.Time: self.book.add_format({"num_format": "hh:mm:ss.000"}),
        }
        self.row = 0

    def write(self, frame: pl.DataFrame) -> None:
        """Write the next records; the first ones bring the header.

        Raises:
            OutputError: a sheet has no place for them.
        """
        if not self.row:
            if frame.width > MOST_COLUMNS:
                raise self._too_much(f"{MOST_COLUMNS:,} columns")
            for place, name in enumerate(frame.columns):
                self.sheet.write_string(0, place, name)
            self.row = 1
        if self.row + frame.height > MOST_ROWS:
            raise self._too_much(f"{MOST_ROWS - 1:,} records")
        plain = frame.select(_for_cells(series) for series in frame)
        longest = plain.select(pl.col(pl.String).str.len_chars().max()).row(0) or (0,)
        if max((length or 0 for length in longest), default=0) > MOST_TEXT:
            raise self._too_much(f"{MOST_TEXT:,} letters in a cell")
        kinds = [dtype.base_type() for dtype in plain.dtypes]
        for record in plain.iter_rows():
            is_empty = True
            for place, (kind, value) in enumerate(zip(kinds, record, strict=True)):
                if value is not None and value != "":
                    self._cell(place, kind, value)
                    is_empty = False
            if is_empty:  # without a cell, a row at the end would not be there
                self.sheet._write_string(self.row, 0, "")
            self.row += 1

    def _cell(self, place: int, kind: object, value: str | float | bool | date | time) -> None:
        sheet, row = self.sheet, self.row
        if isinstance(value, str):
            sheet.write_string(row, place, value)
        elif isinstance(value, bool):
            sheet.write_boolean(row, place, value)
        elif isinstance(value, (int, float)):
            sheet.write_number(row, place, value)
        else:
            sheet.write_datetime(row, place, value, self.forms[kind])  # type: ignore[index]

    def _too_much(self, limit: str) -> OutputError:
        problem = f"a sheet has no place for more than {limit}; name the release .csv or .parquet"
        return OutputError(where=self.where, problem=problem)

    def close(self) -> None:
        """Finish the workbook."""
        self.book.close()


def _for_cells(series: pl.Series) -> pl.Series:
    """Return what cells can hold exactly; texts of the rest."""
    dtype = series.dtype
    if dtype.is_float():
        finite = series.fill_nan(None)
        return finite.cast(pl.String) if finite.is_infinite().any() else finite.cast(pl.Float64)
    if dtype.is_integer():
        wide = series.cast(pl.Int128).abs().max() if series.len() else 0
        too_wide = isinstance(wide, int) and wide >= EXACT
        return series.cast(pl.String) if too_wide else series
    if isinstance(dtype, pl.Datetime):
        local = series.dt.replace_time_zone(None)
        return _texts_if_early(local, local.dt.date())
    if dtype == pl.Date:
        return _texts_if_early(series, series)
    return series if dtype in (pl.Boolean, pl.Time) else series.cast(pl.String)


def _texts_if_early(series: pl.Series, days: pl.Series) -> pl.Series:
    return series.cast(pl.String) if (days < _FIRST_DAY).any() else series


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what fastexcel says of columns out of the log."""
    log = logging.getLogger("fastexcel")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)
