"""Workbooks: sheets, rows above the header, and cells of every type."""

from __future__ import annotations

from datetime import date, datetime, time
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import InputError, OutputError
from shoal.formats import excel
from shoal.formats.csv_file import CsvFile
from shoal.formats.excel import ExcelFile, ExcelWriter, read_excel, rows_above
from shoal.formats.proposed import proposed_reading

xlsxwriter = pytest.importorskip("xlsxwriter", reason="needs the extra shoal[files]")
pytest.importorskip("fastexcel", reason="needs the extra shoal[files]")

EVERY = pl.DataFrame(
    {
        "whole": [1, None, 10**15 - 1],
        "number": [0.1, None, 1e300],
        "truth": [True, None, False],
        "text": ["007", None, "Grün \U0001f41f\n=1+1"],
        "day": [date(2024, 12, 24), None, date(1900, 3, 1)],
        "moment": [datetime(2024, 1, 1, 13, 4, 5, 250_000), None, datetime(1999, 9, 9)],
        "clock": [time(13, 4, 5), None, time(0, 0, 1)],
        "nothing": pl.Series([None] * 3, dtype=pl.String),
    }
)


def written(place: Path, *frames: pl.DataFrame) -> Path:
    writer = ExcelWriter(place)
    for frame in frames:
        writer.write(frame)
    writer.close()
    return place


def book(place: Path, rows: list[list[object]], *, sheet: str = "2024", first: str = "") -> Path:
    made = xlsxwriter.Workbook(place)
    if first:
        made.add_worksheet(first).write(0, 0, "a word about the table")
    page = made.add_worksheet(sheet)
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            if cell is not None:
                page.write(number, column, cell)
    made.close()
    return place


def test_every_type_comes_back(tmp_path):
    place = written(tmp_path / "t.xlsx", EVERY, EVERY)
    found = read_excel(CsvFile(place))
    assert found.equals(pl.concat([EVERY, EVERY]))
    assert found.schema == EVERY.schema


def test_what_a_cell_cannot_hold_exactly_is_text(tmp_path):
    frame = pl.DataFrame(
        {"long": [2**53 + 1], "endless": [float("inf")], "early": [date(1700, 1, 1)]}
    )
    found = read_excel(CsvFile(written(tmp_path / "t.xlsx", frame)))
    assert found.row(0) == ("9007199254740993", "inf", "1700-01-01")


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.one_of(st.none(), st.text(st.characters(exclude_categories=["C"]), max_size=8)),
        max_size=6,
    )
)
def test_texts_are_never_changed(tmp_path_factory, cells):
    frame = pl.DataFrame({"t": pl.Series(cells, dtype=pl.String), "n": range(len(cells))})
    place = written(tmp_path_factory.mktemp("x") / "t.xlsx", frame)
    found = read_excel(CsvFile(place))
    expected = [cell or None for cell in cells]  # an empty cell and an empty text are one
    assert found["t"].cast(pl.String).to_list() == expected


def test_a_record_without_any_value_is_there(tmp_path):
    frame = pl.DataFrame({"t": ["a", None, "", None], "u": [1, None, None, None]})
    found = read_excel(CsvFile(written(tmp_path / "t.xlsx", frame)))
    assert found["t"].to_list() == ["a", None, None, None]
    assert found["u"].to_list() == [1, None, None, None]


def test_the_same_table_gives_the_same_bytes(tmp_path):
    one, two = (written(tmp_path / name, EVERY).read_bytes() for name in ("a.xlsx", "b.xlsx"))
    assert one == two


def test_a_column_of_several_types_is_text(tmp_path):
    place = book(tmp_path / "t.xlsx", [["id", "n"], ["x1", 3], [7, "?"]])
    found = read_excel(CsvFile(place))
    assert found.dtypes == [pl.String, pl.String]
    assert found["n"].to_list() == ["3", "?"]


def test_rows_above_the_header_are_found_and_named(tmp_path):
    rows = [["Station 7"], [], [None, "Stand", "24.12.2024"], ["Alter", "PLZ", "Tag"],
            [34, "01067", "24.12.2023"], [35, None, "03.01.2024"]]  # fmt: skip
    place = book(tmp_path / "t.xlsx", rows)
    with pytest.raises(InputError, match=r"--skip-lines N \(shoal infer finds them\)"):
        read_excel(CsvFile(place))
    found = proposed_reading(place)
    assert found == ExcelFile(place, skip_lines=3)
    assert found.flags() == "--skip-lines 3"
    table = read_excel(found)
    assert table.columns == ["Alter", "PLZ", "Tag"]
    assert table["Alter"].to_list() == [34, 35]
    assert proposed_reading(ExcelFile(place, skip_lines=1)).skip_lines == 1  # as was said


def test_a_sheet_is_chosen_by_its_name(tmp_path):
    place = book(tmp_path / "t.xlsx", [["a"], [1]], sheet="Ward 7", first="Read me")
    assert read_excel(ExcelFile(place, sheet="Ward 7"))["a"].to_list() == [1]
    assert ExcelFile(place, sheet="Ward 7").flags() == '--sheet "Ward 7"'
    with pytest.raises(InputError, match=r"no such sheet; --sheet is one of 'Read me', 'Ward 7'"):
        read_excel(ExcelFile(place, sheet="Ward 8"))


@pytest.mark.parametrize(("rows", "problem"), [
    ([["a", "a"], [1, 2]], "names 'a' twice"),
    ([["a", None], [1, 2]], "1 columns have no name"),
    ([], "no header there"),
])  # fmt: skip
def test_a_sheet_without_a_header_is_refused(tmp_path, rows, problem):
    with pytest.raises(InputError, match=problem):
        read_excel(CsvFile(book(tmp_path / "t.xlsx", rows)))


def test_a_header_alone_is_an_empty_table(tmp_path):
    found = read_excel(CsvFile(written(tmp_path / "t.xlsx", EVERY.head(0))))
    assert found.columns == EVERY.columns
    assert found.height == 0


def test_more_lines_are_skipped_than_there_are(tmp_path):
    place = book(tmp_path / "t.xlsx", [["a", "b"], [1, 2]])
    with pytest.raises(InputError, match="see --skip-lines"):
        read_excel(ExcelFile(place, skip_lines=99))


def test_what_is_no_workbook_is_refused_without_its_text(tmp_path):
    place = tmp_path / "t.xlsx"
    place.write_text("name,ill\nAlice,flu\n")
    with pytest.raises(InputError, match="is no Excel workbook") as caught:
        read_excel(CsvFile(place))
    assert "Alice" not in str(caught.value)


@pytest.mark.parametrize(("limit", "problem"), [
    ("MOST_ROWS", "records"), ("MOST_COLUMNS", "columns"), ("MOST_TEXT", "letters"),
])  # fmt: skip
def test_a_sheet_has_its_limits(tmp_path, monkeypatch, limit, problem):
    monkeypatch.setattr(excel, limit, 2)
    with pytest.raises(OutputError, match=rf"no place for more than \d {problem}"):
        written(tmp_path / "t.xlsx", EVERY)


@pytest.mark.parametrize("given", [{"encoding": "cp1252"}, {"skip_lines": -1}])
def test_a_workbook_has_no_encoding(given):
    with pytest.raises(InputError):
        ExcelFile("t.xlsx", **given)


def test_no_header_is_found_where_names_are_missing():
    assert rows_above([["a", "a"], ["b", None], ["1", "1"]]) == 0
    assert rows_above([["only"], ["1"]]) == 0
    assert rows_above([]) == 0
