"""The page: a rail of steps, all of them one below the other, and beside them what holds now."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

from nicegui import app, ui
from nicegui.element import Element
from starlette.requests import Request

from shoal.core.documents import Document, parse_yaml, to_yaml
from shoal.core.errors import SchemaError, ShoalError
from shoal.web.command import anonymize_command
from shoal.web.live import follow, listen, told
from shoal.web.panels import STEPS, Panel
from shoal.web.project import Project
from shoal.web.risk_box import risk_box
from shoal.web.snippet import snippet
from shoal.web.state import State
from shoal.web.texts import Texts, preferred

STATIC = Path(__file__).with_name("static")
_OFTEN = 2.0
"""Seconds between two looks at whether another program wrote into the folder."""


def build(project: Project, table: str | None = None) -> Callable[[Request], Awaitable[None]]:
    """Return the function that draws the page of a project for a tab.

    table: opened when the page is first looked at, unless it is open already.
    """
    app.add_static_files("/static", str(STATIC))
    waiting = [table] if table is not None and project.state.table is None else []

    async def page(request: Request) -> None:
        texts = Texts(_language(request))
        _draw(project, texts)
        if waiting:
            await ui.context.client.connected()
            from shoal.web.panels.data import opened  # what reads tables loads when one is read

            place = waiting.pop() if waiting else None
            if place is not None:
                await opened(project, place, texts)

    return page


def _language(request: Request) -> str:
    accepted = request.headers.get("accept-language", "")
    return preferred(accepted, asked=request.query_params.get("lang", ""))


def _draw(project: Project, texts: Texts) -> None:
    ui.add_head_html(
        f'<link rel="stylesheet" href="/static/page.css"><meta name="shoal-language" '
        f'content="{texts.language}"><script src="/static/page.js" defer></script>'
    )
    ui.colors(primary="#005a94", negative="#a93c05", positive="#00694d")
    dark = ui.dark_mode(value=project.is_dark)

    def darken() -> None:
        dark.value = project.is_dark

    listen(project, darken)
    _keys(project)
    with Element("a").classes("skip").props('href="#steps"') as skip:
        skip._text = texts("shell.skip")
    _top(project, texts)
    _overtaken(project, texts)
    with Element("div").classes("frame"):
        with Element("nav").classes("rail").props(f'aria-label="{texts("shell.steps")}"'):
            follow(project, partial(_rail, project, texts), key=lambda: _standing(project))
        with Element("main").classes("steps").props("id=steps"):
            for step in STEPS:
                _step(step, project, texts)
        with Element("aside").classes("aside"):
            risk_box(project, texts)
            _documents(project, texts)


def _keys(project: Project) -> None:
    """Undo and redo by the keys that people know."""

    def pressed(event: object) -> None:
        key, mods = getattr(event, "key", None), getattr(event, "modifiers", None)
        action = getattr(event, "action", None)
        if mods is None or not (mods.ctrl or mods.meta) or not getattr(action, "keydown", False):
            return
        if key == "z":
            told(project.redo if mods.shift else project.undo)()
        elif key == "y":
            told(project.redo)()

    ui.keyboard(on_key=pressed, repeating=False, ignore=["input", "textarea"])


def _top(project: Project, texts: Texts) -> None:
    with Element("header").classes("top"):
        Element("h1").classes("brand")._text = "shoal"
        follow(project, partial(_name, project, texts), key=lambda: str(project.state.table))
        Element("div").classes("grow")
        _job(project, texts)
        follow(project, partial(_undo, project, texts),
               key=lambda: (project.history.last, project.history.next))  # fmt: skip
        other = "de" if texts.language == "en" else "en"
        _icon("translate", texts("shell.language"), lambda: ui.navigate.to(f"/?lang={other}"))
        _icon("contrast", texts("shell.dark"), partial(_darken, project))


def _overtaken(project: Project, texts: Texts) -> None:
    """Say that another program wrote into the project's folder, and offer to read it."""
    with Element("div").classes("note bad overtaken").props("role=alert") as place:
        Element("span")._text = texts("shell.overtaken")
        button = ui.button(texts("shell.reload"), icon="refresh").props("outline dense")

    def look() -> None:
        place.set_visibility(project.is_overtaken)

    def read() -> None:
        project.reload()
        look()

    button.on_click(told(read))
    look()
    ui.timer(_OFTEN, look)


def _icon(icon: str, label: str, act: Callable[[], object]) -> ui.button:
    button = ui.button(icon=icon, on_click=lambda: act()).props("flat round dense")
    button.props["aria-label"] = label
    return button.tooltip(label)


def _darken(project: Project) -> None:
    project.is_dark = not project.is_dark
    project.tell()


def _name(project: Project, texts: Texts) -> None:
    table = project.state.table
    place = table.get("file", table.get("database")) if isinstance(table, dict) else table
    name = str(place) if place else texts("shell.no_table")
    Element("span").classes("name")._text = name


def _undo(project: Project, texts: Texts) -> None:
    last, after = project.history.last, project.history.next
    undo = texts("shell.undo", what=last) if last else texts("shell.nothing_to_undo")
    redo = texts("shell.redo", what=after) if after else texts("shell.nothing_to_redo")
    _icon("undo", undo, told(project.undo)).set_enabled(last is not None)
    _icon("redo", redo, told(project.redo)).set_enabled(after is not None)


def _job(project: Project, texts: Texts) -> None:
    """Show how far the long job is, and a button that ends it."""
    with Element("div").classes("job").props("role=status aria-live=polite") as place:
        with Element("div").classes("track"):
            fill = Element("div").classes("fill")
        words = Element("span")
        button = ui.button(texts("shell.cancel"), on_click=project.cancel)
        button.props("outline dense size=sm")

    def show() -> None:
        job = project.job
        is_running = job is not None and job.is_running
        place.set_visibility(is_running)
        if job is None or not is_running:
            return
        key = f"shell.stage_{job.stage}"
        said = texts(key) if texts.has(key) else texts("shell.working")
        left = f" · {texts('shell.left', time=texts.seconds(job.left))}" if job.left else ""
        words._text = said + left
        words.update()
        if job.share is None:
            fill.classes(add="unknown").style(replace="")
        else:
            fill.classes(remove="unknown").style(f"width: {100 * min(job.share, 1):.0f}%")

    show()
    ui.timer(0.3, show)


def _standing(project: Project) -> tuple[bool, ...]:
    """Say which steps are done."""
    has = project.state.table is not None
    promised = bool(project.state.schema.get("privacy"))
    released = "release" in project.results
    return (has, has, has, promised, "compare" in project.results, released,
            bool(project.results.get("release", {}).get("files")))  # fmt: skip


def _rail(project: Project, texts: Texts) -> None:
    known = [each for each in zip(STEPS, _standing(project), strict=True) if _panel(each[0])]
    for number, (step, is_done) in enumerate(known, start=1):
        name = texts(f"shell.step_{step}")
        with Element("a").props(f'href="#{step}" aria-label="{number}. {name}"') as link:
            link.classes("done" if is_done else "")
            Element("span").classes("dot")._text = str(number)
            Element("span").classes("word")._text = name


@cache
def _panel(step: str) -> Panel | None:
    name = f"shoal.web.panels.{step}"
    found: Panel | None = importlib.import_module(name).build if find_spec(name) else None
    return found


def _step(step: str, project: Project, texts: Texts) -> None:
    panel = _panel(step)
    if panel is None:
        return
    with Element("section").classes("step").props(f'id="{step}" aria-labelledby="{step}-title"'):
        with Element("div").classes("head"):
            title = Element("h2").props(f'id="{step}-title"')
            title._text = texts(f"shell.step_{step}")
        panel(project, texts)


def _documents(project: Project, texts: Texts) -> None:
    """Show what every click becomes: a command, and two documents."""
    with Element("div").classes("box"):
        Element("h3")._text = texts("shell.command")
        follow(project, partial(_command, project, texts), key=lambda: project.version)
    for name in ("request", "schema"):
        with Element("div").classes("box"):
            follow(project, partial(_document, project, texts, name), key=lambda: project.version)


def _command(project: Project, texts: Texts) -> None:
    if project.state.table is None:
        Element("p").classes("muted small")._text = texts("shell.no_table")
        return
    snippet("shoal-command", anonymize_command(project.document, project.state.report), texts)
    Element("p").classes("muted small")._text = texts("shell.command_where")


def _document(project: Project, texts: Texts, name: str) -> None:
    document = project.document if name == "request" else project.state.schema
    if project.state.table is None:
        document = {}
    with Element("div").classes("spread"):
        Element("h3")._text = texts(f"shell.{name}")
        if name == "schema" and document:
            button = ui.button(texts("shell.edit"), icon="edit").props("flat dense size=sm")
            button.on_click(partial(_edit, project, texts))
    if document:
        Element("pre").classes("code").props("tabindex=0")._text = to_yaml(document)


def _edit(project: Project, texts: Texts) -> None:
    """Let the whole schema be written as text; another tab's change is not written over."""
    seen, client = project.version, ui.context.client
    # Beside what is drawn anew when another tab changes something: the text stays.
    with client.content, ui.dialog() as dialog, ui.card().style("width: 720px; max-width: 90vw"):
        area = ui.textarea(texts("shell.schema"), value=to_yaml(project.state.schema))
        area.props("outlined autogrow input-class=mono").classes("w-full")
        said = Element("div").classes("note bad").props("role=alert")
        said.set_visibility(False)

        def save() -> None:
            try:
                project.change("schema.yaml", partial(_with_text, area.value or ""), seen=seen)
            except ShoalError as error:
                said._text = str(error)
                said.update()
                said.set_visibility(True)
            else:
                dialog.close()

        with Element("div").classes("row-line"):
            ui.button(texts("shell.save"), on_click=save)
            ui.button(texts("shell.close"), on_click=dialog.close).props("flat")
    dialog.open()


def _with_text(text: str, state: State) -> State:
    found = parse_yaml(text, where="schema.yaml")
    if not isinstance(found, dict):
        raise SchemaError(where="schema.yaml", faults=["a schema is a mapping with `columns`"])
    document: Document = found
    return replace(state, schema=document)
