"""The data: open a file, one that is dropped here, or a table of a database; and look at it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from nicegui import ui
from nicegui.element import Element
from nicegui.events import UploadEventArguments, ValueChangeEventArguments

from shoal.core.documents import Document, Json, reason
from shoal.core.errors import InputError, ShoalError
from shoal.core.temporary import beside, flush, publish
from shoal.web.folder import ENDINGS
from shoal.web.grid import SHELF, table_grid, table_shown
from shoal.web.live import follow
from shoal.web.opening import open_table
from shoal.web.project import Project
from shoal.web.texts import Texts

MOST_UPLOAD = 2 * 2**30
_STYLES = '<link rel="stylesheet" href="/static/panels.css">'
_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_DATES = {"%Y": "YYYY", "%m": "MM", "%d": "DD", "%y": "YY", "%H": "hh", "%M": "mm", "%S": "ss",
          "%B": "Month", "%b": "Mon"}  # fmt: skip
_OFTEN = 0.5  # seconds between two looks at how far the table is read


def build(project: Project, texts: Texts) -> None:
    """Draw how a table is opened, what was found of it, and the table itself."""
    ui.add_head_html(_STYLES)
    Element("p").classes("lead")._text = texts("data.lead")
    _ways_in(project, texts)
    follow(
        project, partial(_table, project, texts), key=lambda: json.dumps(table_shown(project))
    )  # fmt: skip


def _ways_in(project: Project, texts: Texts) -> None:
    """Draw the ways to open a table: a file of the folder, an upload, a database."""
    with Element("div").classes("ways"):
        files = ui.select(project.folder.tables(), label=texts("data.file"), with_input=True)
        files.classes("way").props("outlined dense behavior=menu")

        async def chosen(event: ValueChangeEventArguments[object]) -> None:
            if event.value:
                await opened(project, str(event.value), texts)

        files.on_value_change(chosen)
        files.on("focus", lambda: files.set_options(project.folder.tables()))
        drop = ui.upload(
            label=texts("data.drop"), auto_upload=True, max_file_size=MOST_UPLOAD,
            on_upload=partial(_uploaded, project, texts),
            on_rejected=lambda: ui.notify(texts("data.rejected"), type="negative"),
        )  # fmt: skip
        drop.classes("way drop").props(f'flat bordered accept="{",".join(ENDINGS)}"')
        droppable(drop, texts("data.drop"))
        ask = ui.button(texts("data.database"), icon="storage").props("outline")
        ask.on_click(partial(_ask_database, project, texts))


def droppable(drop: ui.upload, label: str) -> None:
    """Give the button of an upload a name: Quasar's own has none that a screen reader says."""
    drop.props["aria-label"] = label
    text = html.escape(label)
    drop.add_slot(
        "header",
        f"""<div class="q-uploader__header-content row no-wrap items-center">
        <div class="col q-uploader__title">{text}</div>
        <q-btn flat dense icon="add_box" aria-label="{text}" @click="props.pickFiles">
        <q-uploader-add-trigger /></q-btn></div>""",
    )


async def opened(project: Project, table: Json, texts: Texts) -> bool:
    """Open a table, and say why where it cannot be."""
    try:
        job = await open_table(project, table)
        problem = job.error
    except ShoalError as error:
        problem = str(error)
    if problem is not None:
        said = texts("data.not_opened", problem=problem)
        ui.notify(said, type="negative", multi_line=True, timeout=10_000)
    return problem is None


async def _uploaded(project: Project, texts: Texts, event: UploadEventArguments) -> None:
    """Keep a file that was dropped here, beside the others, and open it."""
    try:
        name = await kept(project.folder.root, event.file.name, event.file.iterate())
    except ShoalError as error:
        ui.notify(str(error), type="negative", multi_line=True)
        return
    finally:
        if isinstance(event.sender, ui.upload):
            event.sender.reset()
    await opened(project, name, texts)


async def kept(folder: Path, name: str, chunks: AsyncIterator[bytes]) -> str:
    """Write a file into the folder, all or nothing, readable by its owner only; return its name.

    A file that is there already stays: the new one gets a number.

    Raises:
        InputError: the name is not that of a table, or the folder cannot be written.
    """
    goal = free_place(folder, name)
    size = 0
    try:
        with beside(goal, ending=goal.suffix) as temporary:
            with temporary.open("wb") as file:
                async for chunk in chunks:
                    size += len(chunk)
                    if size > MOST_UPLOAD:
                        raise InputError(where="upload", problem="is larger than 2 GiB")
                    file.write(chunk)
            flush(temporary)
            publish(temporary, goal, private=True)
    except OSError as error:
        raise InputError(where="upload", problem=reason(error)) from None
    return goal.name


def free_place(folder: Path, name: str) -> Path:
    """Return where an uploaded file goes: its plain name, with a number where that is taken.

    Raises:
        InputError: the name is not that of a table.
    """
    plain = re.sub(r"[^\w.\- ]", "_", name.replace("\\", "/").rpartition("/")[2]).strip(". ")
    ending = next((each for each in ENDINGS if plain.lower().endswith(each)), None)
    stem = plain[: -len(ending)][:100].strip(". ") if ending else ""
    if ending is None or not stem:
        raise InputError(
            where="upload", problem=f"is no table; its name ends in {', '.join(ENDINGS)}"
        )
    for number in range(1, 1000):
        place = folder / (f"{stem}{ending}" if number == 1 else f"{stem}-{number}{ending}")
        if not place.exists() and not place.is_symlink():
            return place
    raise InputError(where="upload", problem="there are a thousand files of this name; rename it")


def _ask_database(project: Project, texts: Texts) -> None:
    """Ask for a table of a database."""
    with ui.dialog() as dialog, ui.card().classes("dialog"):
        Element("h3")._text = texts("data.database")
        address = ui.input(texts("data.uri"), placeholder="sqlite:///ward.db").props("outlined")
        table = ui.input(texts("data.table")).props("outlined")
        query = ui.textarea(texts("data.query")).props("outlined autogrow input-class=mono")
        Element("p").classes("muted small")._text = texts("data.password")
        said = Element("div").classes("note bad").props("role=alert")
        said.set_visibility(False)

        async def read() -> None:
            try:
                asked = database(project, address.value, table.value, query.value)
            except InputError as error:
                said._text = str(error)
                said.update()
                said.set_visibility(True)
                return
            if await opened(project, asked, texts):
                dialog.close()

        with Element("div").classes("row-line"):
            ui.button(texts("data.open"), on_click=read)
            ui.button(texts("data.close"), on_click=dialog.close).props("flat")
    dialog.open()


def database(
    project: Project, address: str | None, table: str | None, query: str | None
) -> Document:
    """Return a table of a database as a request says it.

    Raises:
        InputError: the address has a password, which would be written down with the request, or
            is a file outside the folder; or there is not exactly one of table and query.
    """
    uri = (address or "").strip()
    scheme, mark, rest = uri.partition("://")
    if not mark or not scheme or not rest:
        raise InputError(where="database", problem="needs an address such as sqlite:///ward.db")
    try:
        has_password = bool(urlsplit(uri).password) or "password" in uri.lower()
    except ValueError:
        has_password = True
    if has_password:
        raise InputError(
            where="database",
            problem="the address is written down: leave the password out of it, and put it into "
            "PGPASSWORD or ~/.pgpass before the page is started",
        )
    if scheme.partition("+")[0].lower() in ("sqlite", "duckdb"):
        _check_database_file(project, rest.removeprefix("/"))
    named, asked = (table or "").strip(), (query or "").strip()
    if bool(named) == bool(asked):
        raise InputError(where="database", problem="name either a table or a query")
    if asked and asked.split(maxsplit=1)[0].upper() not in ("SELECT", "WITH"):
        raise InputError(
            where="database", problem="a query begins with SELECT or WITH: nothing is changed here"
        )
    return {"database": uri, **({"table": named} if named else {"query": asked})}


def _check_database_file(project: Project, place: str) -> None:
    """Refuse a file outside the folder, and names that a driver takes for more than a name."""
    file = project.folder.below(unquote(place.partition("?")[0]))
    if re.search(r"[?%#]|^file:", place, re.IGNORECASE):
        raise InputError(where="database", problem="name the file alone, without ?, % or file:")
    if not file.is_file():
        raise InputError(where="database", problem="there is no such file; check the address")


def _table(project: Project, texts: Texts) -> None:
    """Draw what was found of the table, and the table."""
    if table_shown(project) is None:
        with Element("div").classes("empty"):
            Element("p")._text = texts("data.empty")
        return
    place = Element("div").classes("stack")

    async def show() -> None:
        try:
            table = await SHELF.open(project)
        except ShoalError as error:
            with place:
                place.clear()
                Element("div").classes("note bad")._text = str(error)
            return
        with place:
            place.clear()
            facts = Element("div")

            def renew() -> None:
                with facts:
                    facts.clear()
                    found_facts(project, table.facts(), texts)

            renew()
            table_grid(table, texts)
            follow(project, renew, key=lambda: id(project.results.get("infer")))
            _when_read(table.is_read, renew)

    with place:
        Element("p").classes("muted")._text = texts("data.reading")
        ui.timer(0, show, once=True)


def _when_read(is_read: Callable[[], bool], renew: Callable[[], None]) -> None:
    """Say anew what was found once all of the table is read."""

    def look() -> None:
        if is_read():
            timer.deactivate()
            renew()

    timer = ui.timer(_OFTEN, look)


def found_facts(project: Project, facts: Document, texts: Texts) -> None:
    """Draw how the table is read, and what stands for a missing value in it."""
    with Element("div").classes("chips").props(f'role=group aria-label="{texts("data.found")}"'):
        for name, value in _found(project, facts, texts):
            with Element("div").classes("chip"):
                Element("span").classes("muted")._text = name
                Element("b")._text = value
    if facts.get("problem"):
        Element("div").classes("note bad")._text = str(facts["problem"])
    if facts.get("is_whole") is False:
        Element("p").classes("note")._text = texts("data.first_only", n=_whole(facts.get("shown")))


def _found(project: Project, facts: Document, texts: Texts) -> list[tuple[str, str]]:
    found = [(texts("data.format"), str(facts["format"]).upper())]
    records = facts.get("records") or facts.get("shown")
    found.append((texts("data.records"), texts.said(_whole(records))))
    found.append((texts("data.columns"), texts.said(_whole(facts["columns"]))))
    separator = facts.get("separator")
    if separator is not None:
        name = _SEPARATORS.get(str(separator))
        word = texts(f"data.separator_{name}") if name else str(separator)
        found.append((texts("data.separator"), word))
        found.append((texts("data.encoding"), str(facts.get("encoding", "")).upper()))
    if facts.get("skip_lines"):
        found.append((texts("data.skip_lines"), texts.said(_whole(facts["skip_lines"]))))
    missing = project.state.schema.get("missing")
    marks = " ".join(map(str, missing)) if isinstance(missing, list) else ""
    found.append((texts("data.missing"), marks or texts("data.missing_empty")))
    holes = _columns_with_holes(project)
    if holes:
        found.append((texts("data.holes"), texts.said(holes)))
    for form in _date_forms(project, texts):
        found.append((texts("data.dates"), form))
    return found


def _date_forms(project: Project, texts: Texts) -> list[str]:
    """Return how dates are written, as far as it is not the usual way."""
    entries = [each for each in project.state.columns.values() if isinstance(each, dict)]
    dates = [each for each in entries if each.get("kind") == "date"]
    return sorted({_readable(str(each.get("date_format") or "%Y-%m-%d"), texts) for each in dates})


def _readable(form: str, texts: Texts) -> str:
    """Return a form of dates as people write it: DD.MM.YYYY for %d.%m.%Y."""
    for mark, word in _DATES.items():
        form = form.replace(mark, word)
    return form.translate(str.maketrans("YMD", texts("data.date_letters")))


def _columns_with_holes(project: Project) -> int:
    """Return how many columns have missing values."""
    columns = project.results.get("infer", {}).get("columns")
    entries = columns.values() if isinstance(columns, dict) else ()
    return sum(isinstance(each, dict) and bool(each.get("missing")) for each in entries)


def _whole(value: Json) -> int | None:
    return value if isinstance(value, int) else None
