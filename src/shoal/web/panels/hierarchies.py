"""The hierarchies: the tree of each column, drawn and edited, and what it is built from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from nicegui import ui
from nicegui.element import Element
from nicegui.events import UploadEventArguments

from shoal.core.documents import Document, Json
from shoal.core.errors import HierarchyError, ShoalError
from shoal.web import charts
from shoal.web.charts import Look
from shoal.web.live import follow, told
from shoal.web.panels.data import droppable
from shoal.web.project import Project
from shoal.web.texts import Texts
from shoal.web.tree.draft import MOST_BYTES, Draft, draft_of
from shoal.web.tree.element import HierarchyTree

BUILDERS: Mapping[str, tuple[str, ...]] = {
    "width": ("width",),
    "count": ("count",),
    "cuts": ("cuts",),
    "top_bottom": ("bottom", "top", "width"),
    "mask": ("direction",),
    "dates": (),
    "order": ("fanout",),
    "flat": (),
    "wordnet": ("mapping", "dict", "root"),
}
"""What a hierarchy is built by, and what each asks for."""
_USUAL = {"width": "5, 10", "count": "8, 4, 2", "cuts": "18, 30, 65", "fanout": "4",
          "direction": "right", "top": "90"}  # fmt: skip


def build(project: Project, texts: Texts) -> None:
    """Draw the columns, and the hierarchy of the one that is chosen."""
    Element("p").classes("lead")._text = texts("hierarchies.lead")
    chosen: list[str] = []

    def choose(name: str) -> None:
        chosen[:] = [name]
        project.tell()

    follow(project, partial(_columns, project, texts, chosen, choose),
           key=lambda: (tuple(_entries(project)), tuple(chosen)))  # fmt: skip
    follow(project, partial(_draft, project, texts, chosen), key=lambda: _drawn(project, chosen))


def columns_of(project: Project) -> list[str]:
    """Return the columns that a hierarchy recodes."""
    found = []
    for name, entry in project.state.columns.items():
        role = entry.get("role") if isinstance(entry, dict) else entry
        if role == "quasi":
            found.append(name)
    return found


def _entries(project: Project) -> list[tuple[str, str]]:
    return [(name, kind_of(project.hierarchy(name))) for name in columns_of(project)]


def kind_of(entry: Json) -> str:
    """Say what the schema says of a hierarchy: none, a file, a tree, or the builder's name."""
    if entry is None:
        return "none"
    if isinstance(entry, str):
        return "file"
    name = next(iter(entry), "tree") if isinstance(entry, dict) else "tree"
    return name if name in ("intervals", "top_bottom", "mask", "dates", "order") else "tree"


def _drawn(project: Project, chosen: list[str]) -> object:
    """Return what the drawing of the chosen column depends on: another tree, or none."""
    if not chosen or chosen[0] not in columns_of(project):
        return None
    draft = draft_of(project, chosen[0])
    return chosen[0], id(draft.editor), str(project.hierarchy(chosen[0]))


def _columns(
    project: Project, texts: Texts, chosen: list[str], choose: Callable[[str], None]
) -> None:
    names = _entries(project)
    if not names:
        Element("p").classes("muted")._text = texts("hierarchies.none")
        return
    if not chosen or chosen[0] not in dict(names):
        Element("p").classes("muted small")._text = texts("hierarchies.choose")
    with Element("div").classes("columns-row").props("role=group"):
        for name, kind in names:
            is_chosen = chosen == [name]
            said = f"{name} · {texts(f'hierarchies.kind_{kind}')}"
            button = ui.button(said, on_click=partial(choose, name))
            button.props(f"dense no-caps aria-pressed={str(is_chosen).lower()}")
            button.props("unelevated" if is_chosen else "outline")


def _draft(project: Project, texts: Texts, chosen: list[str]) -> None:
    if _drawn(project, chosen) is None:
        return
    draft = draft_of(project, chosen[0])
    draft.follow()
    with Element("div").classes("with-tree"):
        with Element("div").classes("stack"):
            if draft.editor is not None:
                HierarchyTree(draft.editor, texts)
            follow(project, partial(_standing, draft, texts), key=lambda: _state(draft))
        with Element("div").classes("stack"):
            follow(project, partial(_found, draft, texts),
                   key=lambda: (draft.version, project.is_dark))  # fmt: skip
            _builders(draft, texts)


def _state(draft: Draft) -> object:
    return draft.is_taken, draft.problem, draft.has_own_levels, draft.editor is None


def _standing(draft: Draft, texts: Texts) -> None:
    """Say how the draft stands, and let it be taken over, dropped, or taken along."""
    if draft.problem is not None:
        Element("div").classes("note bad").props("role=alert")._text = draft.problem
    elif draft.editor is None:
        Element("div").classes("empty")._text = texts("hierarchies.empty")
    if draft.has_own_levels:
        Element("p").classes("note")._text = texts("hierarchies.own_levels")
    with Element("div").classes("row-line"):
        said = texts("hierarchies.step", column=draft.column)
        take = ui.button(texts("hierarchies.take"), icon="check")
        take.on_click(told(partial(draft.take, said)))
        take.set_enabled(not draft.is_taken and draft.editor is not None)
        drop = ui.button(texts("hierarchies.drop"), on_click=told(draft.drop)).props("flat")
        drop.set_enabled(not draft.is_taken)
        Element("div").classes("grow")
        with Element("div").classes("row-line nowrap"):
            for ending, make in (("csv", draft.csv), ("yaml", draft.yaml)):
                export = ui.button(ending.upper(), icon="download").props("flat dense size=sm")
                export.on_click(told(partial(_export, draft, ending, make)))
                export.set_enabled(draft.editor is not None)
                export.props["aria-label"] = texts("hierarchies.export", ending=ending.upper())
    bring = ui.upload(
        label=texts("hierarchies.bring"), auto_upload=True, max_file_size=MOST_BYTES,
        on_upload=partial(_brought, draft),
        on_rejected=lambda: ui.notify(texts("hierarchies.rejected"), type="negative"),
    ).classes("drop w-full")  # fmt: skip
    droppable(bring, texts("hierarchies.bring"))
    bring.props('flat bordered accept=".csv,.yaml,.yml,.json,.txt"')


def _export(draft: Draft, ending: str, make: Callable[[], str]) -> None:
    safe = re.sub(r"[^\w.-]", "_", draft.column)[:80]
    ui.download.content(make(), f"hierarchy_{safe}.{ending}")


async def _brought(draft: Draft, event: UploadEventArguments) -> None:
    try:
        draft.bring(event.file.name, await event.file.read())
    except ShoalError as error:
        ui.notify(str(error), type="negative", multi_line=True)


def _found(draft: Draft, texts: Texts) -> None:
    """Draw the loss at each level, and the values without a place."""
    levels = draft.found.get("levels")
    rows = [each for each in levels if isinstance(each, dict)] if isinstance(levels, list) else []
    if rows:
        Element("h3")._text = texts("hierarchies.levels")
        losses = [_number(each.get("loss")) for each in rows]
        look = Look(texts, draft.project.is_dark)
        ui.echart(charts.steps(losses, look), renderer="svg").classes("chart")
        with Element("table").classes("plain"), Element("tbody"):
            for level, each in enumerate(rows):
                with Element("tr"):
                    Element("td")._text = texts("hierarchies.level", level=level)
                    Element("td").classes("num")._text = texts.percent(_number(each.get("loss")))
                    alone = texts.percent(_number(each.get("alone")))
                    said = texts("hierarchies.alone", share=alone)
                    Element("td").classes("num muted")._text = said
    count = draft.found.get("unplaced_count")
    if isinstance(count, int) and count:
        _unplaced(draft, texts, count)


def _unplaced(draft: Draft, texts: Texts, count: int) -> None:
    Element("h3")._text = texts("hierarchies.unplaced", n=count)
    values = draft.found.get("unplaced")
    with Element("div").classes("unplaced").props("tabindex=0"):
        for value in values if isinstance(values, list) else []:
            Element("div")._text = str(value)
    with Element("div").classes("row-line"):
        below = ui.input(texts("hierarchies.below"), value="*").props("outlined dense")
        add = ui.button(texts("hierarchies.add")).props("outline")
        add.on_click(told(lambda: draft.add_unplaced(str(below.value or ""))))


def _builders(draft: Draft, texts: Texts) -> None:
    """Draw what a hierarchy can be built by, with a preview that is not yet the project's."""
    Element("h3")._text = texts("hierarchies.build")
    names = {name: texts(f"hierarchies.builder_{name}") for name in BUILDERS}
    usual = usual_builder(draft.project, draft.column)
    kind = ui.select(names, value=usual, label=texts("hierarchies.builder"))
    kind.props("outlined dense behavior=menu")
    fields = Element("div").classes("fields")
    inputs: dict[str, ui.input | ui.select] = {}

    def draw() -> None:
        inputs.clear()
        fields.clear()
        with fields:
            for name in BUILDERS[str(kind.value)]:
                label = texts(f"hierarchies.field_{name}")
                if name == "direction":
                    sides = {side: texts(f"hierarchies.{side}") for side in ("right", "left")}
                    inputs[name] = ui.select(sides, value="right", label=label)
                else:
                    inputs[name] = ui.input(label, value=_USUAL.get(name, ""))
                inputs[name].props("outlined dense")

    def preview() -> None:
        given = {name: str(each.value or "") for name, each in inputs.items()}
        begin(draft, str(kind.value), given)

    kind.on_value_change(draw)
    draw()
    button = ui.button(texts("hierarchies.preview"), icon="visibility").props("outline")
    button.on_click(told(preview))


_KINDS = {"numeric": "width", "date": "dates", "ordinal": "order"}
_BUILT = {"intervals": "width", "top_bottom": "top_bottom", "mask": "mask", "dates": "dates",
          "order": "order"}  # fmt: skip


def usual_builder(project: Project, column: str) -> str:
    """Return what a hierarchy of a column is usually built by: what it is built by, or its kind."""
    built = _BUILT.get(kind_of(project.hierarchy(column)))
    entry = project.state.columns.get(column)
    kind = entry.get("kind") if isinstance(entry, dict) else None
    return built or _KINDS.get(str(kind), "flat")


def begin(draft: Draft, kind: str, given: Mapping[str, str]) -> None:
    """Have a tree built.

    Raises:
        ShoalError: a number is missing, or is none; a file lies outside the folder.
    """
    if kind == "flat":
        draft.build_flat()
    elif kind == "wordnet":
        draft.build_wordnet(dict(given))
    else:
        draft.build(entry_of(kind, given, column=draft.column))


def entry_of(kind: str, given: Mapping[str, str], *, column: str) -> Document:
    """Return a builder as a schema has it, from what was typed.

    Raises:
        HierarchyError: what was typed are no numbers.

    Example:
        >>> entry_of("width", {"width": "5, 10"}, column="age")
        {'intervals': {'width': [5, 10]}}
    """

    def numbers(name: str) -> list[Json]:
        return _numbers(given.get(name, ""), column=column)

    def number(name: str) -> Json:
        (found,) = numbers(name)[:1] or [None]
        return found

    if kind in ("width", "count"):
        return {"intervals": {kind: numbers(kind)}}
    if kind == "cuts":
        levels: list[Json] = [_numbers(part, column=column) for part in given["cuts"].split(";")]
        return {"intervals": {"cuts": levels}}
    if kind == "top_bottom":
        ends = {name: number(name) for name in ("bottom", "top") if given.get(name, "").strip()}
        widths = numbers("width")
        return {"top_bottom": {**ends, **({"intervals": {"width": widths}} if widths else {})}}
    if kind == "mask":
        side = given.get("direction", "right")
        return {"mask": {} if side == "right" else {"direction": side}}
    return {"order": {"fanout": number("fanout")}} if kind == "order" else {kind: {}}


def _numbers(text: str, *, column: str) -> list[Json]:
    try:
        found = [float(part) for part in re.split(r"[,\s]+", text.strip()) if part]
    except ValueError:
        problem = "widths, counts, cuts and ends are numbers, such as 5, 10"
        raise HierarchyError(hierarchy=column, problem=problem) from None
    return [int(each) if each.is_integer() else each for each in found]


def _number(value: Json) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
