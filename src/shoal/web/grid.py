"""A table as a grid: the browser holds a few blocks of it, sorts and filters are asked for.

The grid's data source fetches blocks from a plain route, which runs in a thread: the page stays
quick meanwhile. What it asks for comes from a browser, so nothing of it is trusted.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from nicegui import app, ui

from shoal.core.documents import Document, Json
from shoal.core.errors import InputError, ShoalError
from shoal.web.project import Project
from shoal.web.texts import Texts

if TYPE_CHECKING:  # what reads tables is loaded when one is opened
    from shoal.jobs.browse import Browsed, Condition, Filter, View

ROUTE = "/table/{key}/rows"
BLOCK, LARGE_PAGE = 100, 500
_BLOCKS_KEPT = 20
_MOST_CONDITIONS = 10
_WIDTH, _NUMBER_WIDTH = 136, 92
_SOURCE = """({
  getRows: async (asked) => {
    const answer = await fetch(%(place)s, {
      method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        first: asked.startRow, number: asked.endRow - asked.startRow,
        sort: asked.sortModel, filter: asked.filterModel,
      }),
    }).catch(() => null);
    const found = answer?.ok ? await answer.json() : null;
    if (!found || !found.rows) return asked.failCallback();
    const rows = found.rows.map(([n, ...cells]) =>
      Object.fromEntries([["n", n], ...cells.map((cell, at) => ["c" + at, cell])]));
    asked.successCallback(rows, found.records);
  },
})"""
_SHOWN_NUMBER = "(cell) => cell.value === undefined ? '' : cell.value.toLocaleString(%s)"
_MISSING = "(cell) => cell.data !== undefined && cell.value === null"
_WORDS = (
    "page", "to", "of", "next", "last", "first", "previous", "loadingOoo", "noRowsToShow",
    "filterOoo", "equals", "notEqual", "lessThan", "greaterThan", "lessThanOrEqual",
    "greaterThanOrEqual", "inRange", "inRangeStart", "inRangeEnd", "contains", "notContains",
    "startsWith", "endsWith", "blank", "notBlank", "andCondition", "orCondition",
    "pageSizeSelectorLabel", "firstPage", "previousPage", "nextPage", "lastPage",
)  # fmt: skip


@dataclass(slots=True)
class Shelf:
    """The tables that are looked at, one a project, by keys that nobody guesses."""

    tables: dict[str, Browsed] = field(default_factory=dict, repr=False)
    opened: WeakKeyDictionary[Project, Browsed] = field(
        default_factory=WeakKeyDictionary, repr=False
    )

    async def open(self, project: Project) -> Browsed:
        """Return the table of a project, to be looked at by all tabs; it is opened once.

        Raises:
            ShoalError: it cannot be read as a table.
        """
        known = self.opened.get(project)
        found = await asyncio.to_thread(_opened, table_shown(project), known)
        if known is not None and known is not found:
            self.drop(known)
        self.opened[project] = found
        return found

    def put(self, table: Browsed) -> str:
        """Let grids ask for a table; return its key."""
        for key, known in self.tables.items():
            if known is table:
                return key
        key = secrets.token_urlsafe(12)
        self.tables[key] = table
        return key

    def drop(self, table: Browsed) -> None:
        """Let nobody ask for it any more."""
        self.tables = {key: known for key, known in self.tables.items() if known is not table}


SHELF = Shelf()


def table_shown(project: Project) -> Json:
    """Return the table that is open, or is being opened: its first records are there at once."""
    job = project.job
    if job is not None and job.is_running and job.name == "infer":
        return job.asked.get("table")
    return project.state.table


def _opened(table: Json, known: Browsed | None) -> Browsed:
    """Open a table, and have all of it read beside; runs in a thread.

    known: is kept where it is the same table, read in the same way.
    """
    from shoal.jobs.browse import Browsed
    from shoal.jobs.documents import request_from
    from shoal.jobs.requests import InferRequest

    request = request_from({"job": "infer", "table": table})
    assert isinstance(request, InferRequest)
    if known is not None and known.is_same(request.table):
        return known
    found = Browsed(request.table)
    found.start()
    return found


def serve_blocks() -> None:
    """Answer what grids ask for, unless that is done already."""
    if any(getattr(each, "path", None) == ROUTE for each in app.routes):
        return
    app.add_api_route(ROUTE, _answer, methods=["POST"], response_model=None)


def _answer(key: str, asked: dict[str, object]) -> Document:
    """Return a block; runs in a thread."""
    table = SHELF.tables.get(key)
    if table is None:
        return {"problem": "no such table"}
    try:
        view = view_of(asked, len(table.columns))
        return table.block(
            view, _whole(asked.get("first")), _whole(asked.get("number"))
        ).to_document()
    except ShoalError as error:
        return {"problem": str(error)}


def view_of(asked: Mapping[str, object], columns: int) -> View:
    """Return what a grid asks for as a view.

    Raises:
        InputError: it is nothing that the grid of a table with so many columns asks.
    """
    from shoal.jobs.browse import View

    sort, filters = asked.get("sort") or [], asked.get("filter") or {}
    if not isinstance(sort, list) or not isinstance(filters, dict) or len(sort) > columns:
        raise _refused()
    order = []
    for each in map(_mapping, sort):
        if each.get("sort") not in ("asc", "desc"):
            raise _refused()
        order.append((_column(each.get("colId"), columns), each["sort"] == "desc"))
    return View(
        sort=tuple(order),
        filters=tuple(
            _filter(_column(name, columns), _mapping(model)) for name, model in filters.items()
        ),
    )


def _filter(column: int, model: Mapping[str, object]) -> Filter:
    from shoal.jobs.browse import Filter

    several = model.get("conditions")
    models = several if isinstance(several, list) else [model]
    if len(models) > _MOST_CONDITIONS:
        raise _refused()
    conditions = tuple(_condition(_mapping(each)) for each in models)
    return Filter(column=column, conditions=conditions, is_any=model.get("operator") == "OR")


def _condition(model: Mapping[str, object]) -> Condition:
    from shoal.jobs.browse import Condition

    value, to = _text(model.get("filter")), _text(model.get("filterTo"))
    return Condition(kind=str(model.get("type")), value=value, to=to)


def _text(value: object) -> str:
    return "" if value is None else str(value)[:1000]


def _column(name: object, columns: int) -> int:
    text = str(name)
    if not (text.startswith("c") and text[1:].isascii() and text[1:].isdigit() and len(text) < 8):
        raise _refused()
    number = int(text[1:])
    if number >= columns:
        raise _refused()
    return number


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise _refused()
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _refused()
    return value


def _refused() -> InputError:
    return InputError(where="grid", problem="asked for what no grid of this table asks")


def table_grid(table: Browsed, texts: Texts) -> ui.aggrid:
    """Draw a table as a grid, into the element that is open."""
    serve_blocks()
    options = grid_options(table, texts, key=SHELF.put(table))
    grid = ui.aggrid(options, auto_size_columns=False, theme="quartz")
    return grid.classes("table-grid").props(f'aria-label="{texts("data.grid")}"')


def grid_options(table: Browsed, texts: Texts, *, key: str) -> Document:
    """Return the options of a grid; names of columns are shown, never run or looked up by."""
    language = json.dumps(texts.language)
    number: Document = {
        "headerName": "#", "field": "n", "colId": "n", "width": _NUMBER_WIDTH, "pinned": "left",
        "sortable": False, "filter": False, "resizable": False, "cellClass": "row-number",
        ":valueFormatter": _SHOWN_NUMBER % language, "suppressMovable": True,
    }  # fmt: skip
    columns: list[Json] = [
        {
            "headerName": name, "headerTooltip": name, "field": f"c{at}", "colId": f"c{at}",
            "filter": "agNumberColumnFilter" if is_number else "agTextColumnFilter",
            "cellClass": "number-cell" if is_number else "text-cell",
            "headerClass": "ag-right-aligned-header" if is_number else "",
        }
        for at, (name, is_number) in enumerate(zip(table.columns, table.numeric, strict=True))
    ]  # fmt: skip
    words: Document = {name: texts(f"grid.{name}") for name in _WORDS}
    words["thousandSeparator"] = texts.number(1000)[1]
    return {
        "columnDefs": [number, *columns],
        "defaultColDef": {
            "width": _WIDTH,
            "sortable": True,
            "resizable": True,
            "minWidth": 70,
            "filterParams": {"debounceMs": 300, "maxNumConditions": 2},
            "cellClassRules": {":missing-cell": _MISSING},
        },
        "rowModelType": "infinite",
        "cacheBlockSize": BLOCK,
        "maxBlocksInCache": _BLOCKS_KEPT,
        "infiniteInitialRowCount": BLOCK,
        "maxConcurrentDatasourceRequests": 2,
        "pagination": True,
        "paginationPageSize": BLOCK,
        "paginationPageSizeSelector": [BLOCK, LARGE_PAGE],
        "multiSortKey": "ctrl",
        "animateRows": False,
        "suppressCellFocus": False,
        "enableCellTextSelection": True,
        "localeText": words,
        ":datasource": _SOURCE % {"place": json.dumps(ROUTE.replace("{key}", key))},
    }
