"""A table as a grid: what its browser may ask for, and what the grid is told."""

from __future__ import annotations

import asyncio
import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import InputError
from shoal.jobs.browse import Browsed, Condition, Filter, View
from shoal.web import grid
from shoal.web.folder import Folder
from shoal.web.grid import SHELF, Shelf, grid_options, view_of
from shoal.web.project import Project
from shoal.web.texts import Texts

FRAME = pl.DataFrame({"age": ["31", "32", None], "na.me": ["Ann", ":x", "<b>"]})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
    | st.sampled_from(["c0", "c1", "asc", "desc", "contains", "AND", "OR"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["sort", "filter", "first", "number", "colId", "type", "conditions", "c0"]),
        inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def test_what_a_grid_asks_is_a_view():
    asked = {
        "sort": [{"colId": "c1", "sort": "desc"}, {"colId": "c0", "sort": "asc"}],
        "filter": {
            "c0": {"filterType": "number", "type": "inRange", "filter": 3, "filterTo": 4.5},
            "c1": {
                "filterType": "text", "operator": "OR",
                "conditions": [{"type": "contains", "filter": "A"}, {"type": "blank"}],
            },
        },
    }  # fmt: skip
    found = view_of(asked, 2)
    assert found == View(
        sort=((1, True), (0, False)),
        filters=(
            Filter(column=0, conditions=(Condition(kind="inRange", value="3", to="4.5"),)),
            Filter(
                column=1,
                conditions=(Condition(kind="contains", value="A"), Condition(kind="blank")),
                is_any=True,
            ),
        ),
    )


@pytest.mark.parametrize(
    "asked",
    [
        {"sort": [{"colId": "c2", "sort": "asc"}]},
        {"sort": [{"colId": "c-1", "sort": "asc"}]},
        {"sort": [{"colId": "n", "sort": "asc"}]},
        {"sort": [{"colId": "c0", "sort": "up"}]},
        {"sort": "c0"},
        {"sort": [{"colId": "c0", "sort": "asc"}] * 3},
        {"filter": {"__proto__": {"type": "equals"}}},
        {"filter": {"c0": {"type": "eval", "filter": "x"}}},
        {"filter": {"c0": "x"}},
        {"filter": {"c0": {"conditions": [{"type": "blank"}] * 11}}},
        {"filter": {"c٣": {"type": "blank"}}},
    ],
    ids=str,
)
def test_what_no_grid_asks_is_refused(asked):
    with pytest.raises(InputError, match=r"grid|comparison"):
        view_of(asked, 2)


@given(JSON)
def test_the_route_answers_whatever_it_is_sent(asked):
    key = SHELF.put(Browsed(FRAME))
    try:
        found = grid._answer(key, asked if isinstance(asked, dict) else {"filter": asked})
    finally:
        SHELF.tables.pop(key)
    assert set(found) in ({"rows", "records"}, {"problem"})


def test_blocks_are_handed_out_by_a_key_that_nobody_guesses():
    shelf, table = Shelf(), Browsed(FRAME)
    key = shelf.put(table)
    assert shelf.put(table) == key
    assert len(key) >= 16
    shelf.drop(table)
    assert not shelf.tables
    assert grid._answer("guessed", {"first": 0, "number": 5}) == {"problem": "no such table"}


def test_a_block_has_the_number_of_each_record_and_its_cells():
    key = SHELF.put(Browsed(FRAME))
    asked = {"first": 0, "number": 10, "sort": [{"colId": "c0", "sort": "desc"}]}
    found = grid._answer(key, asked)
    SHELF.tables.pop(key)
    assert found == {"rows": [[2, "32", ":x"], [1, "31", "Ann"], [3, None, "<b>"]], "records": 3}


def test_names_of_columns_are_words_and_no_script():
    frame = FRAME.rename({"na.me": ":onGridReady"})
    options = grid_options(Browsed(frame), Texts("de"), key="k")
    assert [each["field"] for each in options["columnDefs"]] == ["n", "c0", "c1"]
    assert options["columnDefs"][2]["headerName"] == ":onGridReady"
    scripts = [text for path, text in walk(options) if path.rpartition("/")[2].startswith(":")]
    assert len(scripts) == 3  # the numbers of records, missing cells, and the source of blocks
    assert not any("Ann" in text or "onGridReady" in text for text in scripts)
    assert json.dumps(options)
    assert options["localeText"]["contains"] == "Enthält"
    assert options["localeText"]["thousandSeparator"] == "."


def walk(value, path=""):
    if isinstance(value, dict):
        for key, each in value.items():
            yield from walk(each, f"{path}/{key}")
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from walk(each, f"{path}/{at}")
    else:
        yield path, value


def test_a_table_is_opened_once_for_all_tabs_and_anew_when_another_is_named(tmp_path):
    FRAME.write_csv(tmp_path / "a.csv")
    FRAME.head(1).write_csv(tmp_path / "b.csv")
    project = Project(Folder.at(tmp_path), "p")
    shelf = Shelf()

    async def go():
        project.state = type(project.state)(table="a.csv")
        first = await shelf.open(project)
        key = shelf.put(first)
        assert await shelf.open(project) is first
        FRAME.head(2).write_csv(tmp_path / "a.csv")  # written anew
        again = await shelf.open(project)
        assert again is not first
        assert again.records == 2
        project.state = type(project.state)(table="b.csv")
        second = await shelf.open(project)
        assert second is not first
        assert key not in shelf.tables
        return second

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        assert asyncio.run(go()).records == 1
