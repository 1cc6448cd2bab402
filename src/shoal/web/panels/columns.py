"""The columns: a card each, in the lane of its role; drag it, or press the number of a lane."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

from nicegui import ui
from nicegui.element import Element
from nicegui.events import GenericEventArguments, ValueChangeEventArguments

from shoal.core.documents import Document, Json
from shoal.core.errors import ShoalError
from shoal.schema.schema import KEPT, REMOVED, Kind, Role
from shoal.web.live import follow, listen, mirror, refused
from shoal.web.panels.result import with_check
from shoal.web.plain import mapping
from shoal.web.project import Project
from shoal.web.published import published
from shoal.web.reasons import reason
from shoal.web.state import State
from shoal.web.texts import Texts

LANES = (Role.IDENTIFYING, Role.PERSON, Role.QUASI, Role.SENSITIVE, Role.NEUTRAL)
WAIVABLE = (*KEPT, Role.PERSON)
_KEYS = """(e) => {
  if (!/^([1-5]|Enter| )$/.test(e.key) || e.ctrlKey || e.metaKey || e.altKey) return;
  e.preventDefault();
  emit(e.key);
}"""


def build(project: Project, texts: Texts) -> None:
    """Draw the board of columns, and the details of the one that is chosen."""
    Element("p").classes("lead")._text = texts("columns.lead")
    chosen: list[str] = []

    def choose(name: str) -> None:
        chosen[:] = [] if chosen == [name] else [name]
        for other, card in cards.items():
            card.classes(add="chosen") if other in chosen else card.classes(remove="chosen")
        renew()  # this tab alone: nothing else depends on what is chosen

    # The board shows no risk: a card that is being dragged is not drawn anew when one arrives.
    cards: dict[str, Element] = {}
    follow(project, partial(_board, project, texts, chosen, choose, cards),
           key=lambda: (json.dumps(project.state.columns), _answers(project)[0]))  # fmt: skip
    renew = follow(
        project,
        partial(_detail, project, texts, chosen),
        key=lambda: (_drawn(project, chosen), tuple(chosen), _answers(project)),
    )
    listen(project, partial(look, project))
    look(project)


def _drawn(project: Project, chosen: list[str]) -> object:
    """Return what the details are drawn for: which controls there are, not what they show."""
    entry = _entry(project.state.columns.get(chosen[0])) if chosen else {}
    return entry.get("role"), json.dumps(entry.get("hierarchy"))


def look(project: Project) -> None:
    """Have the columns looked at, unless that was asked for already; why comes last.

    The evidence of a project that is opened again takes seconds: the risk does not wait for it.
    """
    table, columns = project.state.table, project.state.columns
    kinds = {name: entry.get("kind") for name, entry in columns.items() if isinstance(entry, dict)}
    asked: Document = {"table": table, "missing": project.state.schema.get("missing") or [],
                       "kinds": {**kinds}}  # fmt: skip
    if table is None or not columns:
        return
    if project.looked_at != asked:
        project.looked_at = asked
        project.ask("columns", asked)
        return
    is_known = "infer" in project.results or project.explained == table
    if "columns" in project.results and not is_known:
        project.explained = table
        project.ask("infer", {"table": table, "seconds": 2.0})


def _answers(project: Project) -> tuple[int, ...]:
    return tuple(id(project.results.get(task)) for task in ("columns", "infer", "risk"))


def _board(
    project: Project, texts: Texts, chosen: list[str], choose: Callable[[str], None],
    cards: dict[str, Element],
) -> None:  # fmt: skip
    cards.clear()
    if not project.state.columns:
        Element("p").classes("muted")._text = texts("shell.no_table")
        return
    with Element("div").classes("board"):
        for number, role in enumerate(LANES, start=1):
            names = [n for n, e in project.state.columns.items() if _entry(e).get("role") == role]
            with _lane(project, texts, role, number, len(names)):
                for name in names:
                    cards[name] = _card(project, texts, name, chosen, choose)


def _lane(project: Project, texts: Texts, role: Role, number: int, held: int) -> Element:
    lane = Element("div").classes("lane")
    lane.props["role"] = "group"
    lane.props["aria-label"] = texts(f"columns.role_{role}")
    lane.on("dragover", js_handler="(e) => {e.preventDefault(); "
            "e.currentTarget.classList.add('over')}")  # fmt: skip
    lane.on("dragleave", js_handler="(e) => e.currentTarget.classList.remove('over')")

    def dropped(event: GenericEventArguments) -> None:
        if isinstance(event.args, str):
            move(project, event.args, role, texts)

    lane.on("drop", dropped, js_handler="(e) => {e.preventDefault(); e.currentTarget.classList."
            "remove('over'); emit(e.dataTransfer.getData('text/plain'))}")  # fmt: skip
    with lane:
        with Element("div").classes("spread"):
            with Element("div").classes("title"):
                Element("span")._text = texts(f"columns.role_{role}")
                Element("span").classes("count")._text = f" {texts.number(held)}"
            key = Element("kbd")
            key._text = str(number)
            key.props["title"] = texts("columns.key", n=number)
        Element("div").classes("hint")._text = texts(f"columns.hint_{role}")
        return Element("div").classes("cards")


def move(project: Project, name: str, role: Role, texts: Texts) -> None:
    """Give a column another role; what goes with the old one alone is left out."""
    entry = _entry(project.state.columns.get(name))
    if not entry or entry.get("role") == role:
        return
    what = texts("columns.moved", column=name, role=texts(f"columns.role_{role}"))
    try:
        project.change(what, partial(with_role, name=name, role=role))
    except ShoalError as error:
        refused(error)


def with_role(state: State, *, name: str, role: Role) -> State:
    """Return the state in which a column has another role."""
    lost: dict[str, Json] = {}
    if role not in (Role.QUASI, Role.SENSITIVE):
        lost["hierarchy"] = None
    lost["release"] = None
    changed = state.with_column(name, role=str(role), **lost)
    waived = state.schema.get("waive")
    if isinstance(waived, list) and name in waived and role not in WAIVABLE:
        left: list[Json] = [each for each in waived if each != name]
        changed = changed.with_schema(waive=left or None)
    if role not in KEPT and mapping(state.release.get("checks")).get("learn") == name:
        changed = with_check(changed, name="learn", value=None)
    if role in REMOVED and state.schema.get("target") == name:
        changed = changed.with_schema(target=None)
    return changed


def _card(
    project: Project, texts: Texts, name: str, chosen: list[str], choose: Callable[[str], None]
) -> Element:
    card = Element("div").classes("card chosen" if chosen == [name] else "card")
    card.props("draggable=true tabindex=0 role=button")
    card.props["aria-label"] = name
    # A name is data, and no script. By its id the focus finds a card that is drawn anew elsewhere.
    card.props["id"] = f"card-{list(project.state.columns).index(name)}"
    card.on("dragstart", js_handler="(e) => e.dataTransfer.setData('text/plain', "
            f"{json.dumps(name)})")  # fmt: skip
    card.on("click", partial(choose, name))

    def pressed(event: GenericEventArguments) -> None:
        key = str(event.args)
        if key in ("Enter", " "):
            choose(name)
        elif key.isdigit() and 1 <= int(key) <= len(LANES):
            move(project, name, LANES[int(key) - 1], texts)

    card.props["aria-keyshortcuts"] = "1 2 3 4 5 Enter"
    card.on("keydown", pressed, js_handler=_KEYS)
    with card:
        Element("span").classes("title")._text = name
        picture = _answer(project, "columns", name)
        _bars(picture)
        with Element("div").classes("meta"):
            kind = str(_entry(project.state.columns[name]).get("kind") or "")
            distinct = picture.get("distinct")
            said = texts(f"columns.kind_{kind}") if kind else ""
            if isinstance(distinct, int):
                said = texts(f"columns.distinct_{kind or 'any'}", n=distinct)
            Element("span")._text = said
    return card


def _bars(picture: Document) -> None:
    """Draw a distribution: numbers alone, so that it can be one element."""
    counts = picture.get("counts")
    if not isinstance(counts, list) or not counts:
        return
    numbers = [int(each) for each in counts if isinstance(each, (int, float))]
    most = max([*numbers, 1])
    drawn = "".join(f'<i style="height:{max(100 * n / most, 1):.0f}%"></i>' for n in numbers)
    bars = Element("div").classes("bars").props("aria-hidden=true")
    bars.props["innerHTML"] = drawn


def _detail(project: Project, texts: Texts, chosen: list[str]) -> None:
    name = chosen[0] if chosen else ""
    entry = _entry(project.state.columns.get(name))
    if not entry:
        Element("p").classes("muted small").style("margin-top: 12px")._text = texts("columns.how")
        return
    with Element("div").classes("detail cols"):
        with Element("div").classes("stack"):
            Element("h3")._text = name
            _choices(project, texts, name, entry)
        with Element("div").classes("stack"):
            Element("h3")._text = texts("columns.evidence")
            _evidence(project, texts, name)
        with Element("div").classes("stack"):
            Element("h3")._text = texts("columns.published")
            for line in published(project, texts, name):
                Element("p").classes("small").style("margin: 0")._text = line


def _choices(project: Project, texts: Texts, name: str, entry: Document) -> None:
    roles = {str(role): texts(f"columns.role_{role}") for role in LANES}

    def other_role(event: ValueChangeEventArguments[str]) -> None:
        move(project, name, Role(event.value), texts)

    ui.select(roles, value=str(entry["role"]), label=texts("columns.role"),
              on_change=other_role).props("outlined dense")  # fmt: skip
    role = Role(str(entry["role"]))
    if role not in REMOVED:
        kinds = {str(kind): texts(f"columns.kind_{kind}") for kind in Kind}
        now = entry.get("kind")
        kind = ui.select(kinds, value=str(now) if now else None, label=texts("columns.kind"))
        kind.props("outlined dense")
        kind.on_value_change(lambda e: _set(project, texts, name, kind=e.value))
        mirror(project, kind, lambda: _column(project, name).get("kind"))
    if role is Role.QUASI:
        heavy = _float(entry.get("weight"), 1.0)
        weight = ui.number(texts("columns.weight"), value=heavy, min=0.01, step=0.5)
        weight.props("outlined dense debounce=400")
        weight.on_value_change(lambda e: _set(project, texts, name, weight=_float(e.value, 1.0)))
        mirror(project, weight, lambda: _float(_column(project, name).get("weight"), 1.0))
    if role in WAIVABLE:
        said = "columns.waive_person" if role is Role.PERSON else "columns.waive"
        box = ui.checkbox(texts(said), value=name in _waived(project))
        box.on_value_change(lambda e: _waive(project, texts, name, bool(e.value)))
        mirror(project, box, lambda: name in _waived(project))


def _column(project: Project, name: str) -> Document:
    return _entry(project.state.columns.get(name))


def _waived(project: Project) -> list[Json]:
    found = project.state.schema.get("waive")
    return found if isinstance(found, list) else []


def _set(project: Project, texts: Texts, name: str, **entries: Json) -> None:
    kept = {key: None if (key, value) == ("weight", 1.0) else value
            for key, value in entries.items()}  # fmt: skip
    what = texts("columns.changed", column=name)
    try:
        project.change(what, lambda state: state.with_column(name, **kept))
    except ShoalError as error:
        refused(error)


def _waive(project: Project, texts: Texts, name: str, is_waived: bool) -> None:
    def make(state: State) -> State:
        now = state.schema.get("waive")
        others: list[Json] = [each for each in now if each != name] if isinstance(now, list) else []
        return state.with_schema(waive=[*others, name] if is_waived else others or None)

    try:
        project.change(texts("columns.waived", column=name), make)
    except ShoalError as error:
        refused(error)


def _evidence(project: Project, texts: Texts, name: str) -> None:
    verdict, picture = (_answer(project, task, name) for task in ("infer", "columns"))
    risk = _answer(project, "risk", name)
    if verdict:
        sure = texts.percent(_float(verdict.get("confidence"), 0.0), digits=0)
        proposed = texts(f"columns.role_{verdict['role']}")
        Element("p").classes("small").style("margin: 0")._text = texts(
            "columns.proposed", role=proposed, sure=sure
        )
        why = Element("p").classes("small muted").style("margin: 0")
        why._text = reason(texts, str(verdict.get("why")))
    facts: list[tuple[str, str]] = []
    distinct, records = picture.get("distinct"), picture.get("records")
    if isinstance(distinct, int) and isinstance(records, int):
        facts.append((texts("columns.different"), texts.number(distinct)))
        facts.append((texts("columns.alone"), texts.percent(distinct / max(records, 1))))
        missing = picture.get("missing")
        facts.append(
            (texts("columns.missing"), texts.said(missing if isinstance(missing, int) else 0))
        )
    if risk:
        facts.append((texts("columns.because"), texts.said(int(_float(risk["unique_because"], 0)))))
        facts.append((texts("columns.adds"), texts.percent(_float(risk["contribution"], 0))))
    with Element("dl").classes("facts"):
        for label, text in facts:
            Element("dt")._text = label
            Element("dd")._text = text
    _bars(picture)


def _answer(project: Project, task: str, name: str) -> Document:
    """Return what a task said of a column."""
    columns = project.results.get(task, {}).get("columns")
    return _entry(columns.get(name)) if isinstance(columns, dict) else {}


def _entry(value: Json) -> Document:
    return value if isinstance(value, dict) else {"role": value} if value else {}


def _float(value: object, default: float) -> float:
    return float(value) if isinstance(value, (int, float)) else default
