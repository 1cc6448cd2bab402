"""The promise: every privacy model with its own words as controls, and what a rule asks for."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from nicegui import ui
from nicegui.element import Element

from shoal.core.documents import Document, Json
from shoal.core.errors import ShoalError
from shoal.methods.registry import METHODS
from shoal.privacy import Promise
from shoal.privacy.promise import PROMISES, Needs, Option
from shoal.reports.profile import Profile, load_profile, profile_names
from shoal.schema.attribute import USUAL_LABELS
from shoal.schema.schema import Labels
from shoal.web.live import follow, mirror, refused
from shoal.web.project import Project
from shoal.web.state import State
from shoal.web.texts import Texts

BEGIN: dict[str, Json] = {
    "k": 5, "l": 2, "m": 2, "t": 0.3, "n": 100, "alpha": 0.5, "beta": 1.0, "delta": 1.0, "c": 2.0,
}  # fmt: skip
"""Where a control stands when a model is asked for."""
MOST: dict[str, float] = {
    "k": 50, "l": 10, "m": 10, "n": 1000, "t": 1, "alpha": 1, "beta": 5, "delta": 5, "c": 10,
}  # fmt: skip
"""Where a slider ends; the number beside it takes more."""


def build(project: Project, texts: Texts) -> None:
    """Draw the controls of every model, the rule, and how the search goes."""
    Element("p").classes("lead")._text = texts("promise.lead")
    follow(project, partial(_draw, project, texts), key=lambda: _key(project))


def _key(project: Project) -> str:
    asked = [[each.get(name) for name in ("model", "column", "kind")]
             for each in _promises(project.state)]  # fmt: skip
    return json.dumps([bool(project.state.schema), asked, _sensitive(project)])


def _sensitive(project: Project) -> list[str]:
    """Return the columns that a promise may speak of."""
    return [name for name, entry in project.state.columns.items()
            if isinstance(entry, dict) and entry.get("role") == "sensitive"]  # fmt: skip


def _draw(project: Project, texts: Texts) -> None:
    if not project.state.schema:
        Element("p").classes("muted")._text = texts("shell.no_table")
        return
    sensitive = _sensitive(project)
    with Element("div").classes("promises"):
        for name, kind in PROMISES.items():
            asked = [each for each in _promises(project.state) if each.get("model") == name]
            for each in asked:
                _model(project, texts, Spoken(name, _column_of(each)), kind)
            if not asked and _is_offered(kind, sensitive):
                _model(project, texts, Spoken(name), kind)
    if not sensitive:
        Element("p").classes("muted small")._text = texts("promise.no_sensitive")
    with Element("div").classes("cols").style("margin-top: 16px"):
        with Element("div").classes("stack"):
            Element("h3")._text = texts("promise.rule")
            follow(project, partial(_rule, project, texts), key=lambda: _rule_key(project))
        with Element("div").classes("stack"):
            Element("h3")._text = texts("promise.search")
            _search(project, texts)


def _is_offered(kind: type[Promise], sensitive: list[str]) -> bool:
    """Say whether a switch asks for a promise; k and m are what asks for one about items."""
    if Needs.ITEMSETS in kind.needs:
        return False
    return bool(sensitive) or Needs.HISTOGRAM not in kind.needs


class Spoken(NamedTuple):
    """A promise among those of a schema: its model, and the sensitive column it speaks of.

    column: None stands for every sensitive column.
    """

    model: str
    column: str | None = None


def _asked(state: State, spoken: Spoken) -> Document | None:
    """Return what is promised; None: it is not asked for."""
    found = (each for each in _promises(state) if _is_it(each, spoken))
    return next(found, None)


def _is_it(entry: Document, spoken: Spoken) -> bool:
    return entry.get("model") == spoken.model and _column_of(entry) == spoken.column


def _column_of(entry: Document) -> str | None:
    found = entry.get("column")
    return None if found is None else str(found)


def _model(project: Project, texts: Texts, spoken: Spoken, kind: type[Promise]) -> None:
    now = _asked(project.state, spoken)
    with Element("div").classes("promise on" if now is not None else "promise"):
        with Element("div").classes("what"):
            switch = ui.switch(spoken.model, value=now is not None)
            switch.on_value_change(lambda e: _switch(project, texts, kind, spoken, bool(e.value)))
            follow(project, partial(_sentence, project, texts, spoken),
                   key=lambda: json.dumps(_asked(project.state, spoken)))  # fmt: skip
        if now is not None:
            with Element("div").classes("stack"):
                for option in _own(kind):
                    if option.parameter == "c" and now.get("kind") != "recursive":
                        continue
                    _control(project, texts, spoken, option, now)
                if Needs.HISTOGRAM in kind.needs:
                    _about(project, texts, spoken)


def _about(project: Project, texts: Texts, spoken: Spoken) -> None:
    """Let a promise speak of one sensitive column, or of each of them."""
    names = _sensitive(project)
    if spoken.column is not None and spoken.column not in names:
        names = [*names, spoken.column]
    if len(names) < 2:
        return
    taken = [_column_of(each) for each in _promises(project.state)
             if each.get("model") == spoken.model and not _is_it(each, spoken)]  # fmt: skip
    every = {} if taken else {"": texts("promise.every_column")}
    choices = {**every, **{name: name for name in names if name not in taken}}
    choice = ui.select(choices, value=spoken.column or "", label=texts("promise.about"))
    choice.props("outlined dense")
    choice.on_value_change(
        lambda e: _parameter(project, texts, spoken, "column", str(e.value or "") or None)
    )
    if spoken.column is not None and len(taken) + 1 < len(names):
        left = [name for name in names if name not in (spoken.column, *taken)]
        more = ui.button(texts("promise.another"), icon="add").props("flat dense size=sm")
        more.classes("self-start").on_click(partial(_another, project, texts, spoken, left[0]))


def _another(project: Project, texts: Texts, spoken: Spoken, column: str) -> None:
    """Promise the same of another sensitive column."""

    def make(state: State) -> State:
        same = _asked(state, spoken)
        more: list[Json] = [] if same is None else [{**same, "column": column}]
        return state.with_schema(privacy=[*_promises(state), *more])

    _try(lambda: project.change(texts("promise.changed", model=spoken.model), make))


def _sentence(project: Project, texts: Texts, spoken: Spoken) -> None:
    """Say in plain words what a model promises."""
    now = _asked(project.state, spoken)
    Element("div").classes("small muted")._text = sentence(texts, spoken.model, now)


def sentence(texts: Texts, model: str, asked: Document | None) -> str:
    """Return in plain words what a model promises."""
    key = f"promise.says_{_word(model)}"
    kind = PROMISES.get(model)
    about = "" if kind is None else (kind.__doc__ or "").partition("\n")[0]
    return texts(key, **_facts(asked)) if texts.has(key) else about


def _own(kind: type[Promise]) -> list[Option]:
    """Return the words of a model, those that it cannot do without first."""
    return sorted(kind.options, key=lambda option: option.default is not None)


def _word(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name)


def _facts(now: Document | None) -> dict[str, str | int | float | None]:
    found = {**BEGIN, **(now or {})}
    return {n: v for n, v in found.items() if isinstance(v, (str, int, float)) or v is None}


def _control(project: Project, texts: Texts, spoken: Spoken, option: Option, now: Document) -> None:
    """Draw the control of one parameter: a slider and its number, or a choice of words."""
    parameter = option.parameter
    change = partial(_parameter, project, texts, spoken, parameter)
    label = f"{parameter} ({option.flags[0]})"
    value = now.get(parameter)
    if option.choices:
        usual = option.default or option.choices[0]
        choice = ui.select(list(option.choices), value=str(value or usual), label=label)
        choice.props("outlined dense").on_value_change(lambda e: change(e.value))
        mirror(project, choice, lambda: str(_value(project, spoken, parameter) or usual))
        return
    is_whole = option.kind is int or parameter == "l"
    with Element("div").classes("dial"):
        if parameter not in MOST or (value is None and option.default is None and parameter == "c"):
            text = ui.input(label, value="" if value is None else str(value))
            text.props("outlined dense debounce=500")
            text.on_value_change(lambda e: change(_number(str(e.value or ""), is_whole)))
            mirror(project, text, lambda: str(_value(project, spoken, parameter) or ""))
            return
        start = float(value if isinstance(value, (int, float)) else str(BEGIN[parameter]))
        step = 1.0 if is_whole else 0.05
        most = max(MOST[parameter], start)
        slider = ui.slider(min=step if not is_whole else 1, max=most, step=step, value=start)
        # By the keyboard and for screen readers, the number beside it is set.
        slider.props(f'tabindex=-1 aria-hidden=true aria-label="{label}"')
        slider.on("change", lambda e: change(_number(str(e.args), is_whole)))
        field = ui.number(label, value=start, min=0, step=step, format="%g")
        field.props("outlined dense debounce=500").bind_value_from(slider, "value")
        field.on("update:model-value", lambda e: change(_number(str(e.args), is_whole)))
        mirror(project, slider, lambda: _value(project, spoken, parameter) or start)


def _value(project: Project, spoken: Spoken, parameter: str) -> Json:
    return (_asked(project.state, spoken) or {}).get(parameter)


def _number(text: str, is_whole: bool) -> Json:
    """Return a number as it was written; what is none is left to the promise to refuse."""
    try:
        found = float(text)
    except ValueError:
        return text or None
    return int(found) if is_whole and found.is_integer() else round(found, 6)


def _try(make: Callable[[], None]) -> None:
    try:
        make()
    except ShoalError as error:
        refused(error)


def _switch(
    project: Project, texts: Texts, kind: type[Promise], spoken: Spoken, is_on: bool
) -> None:
    name = kind.name

    def make(state: State) -> State:
        others = [each for each in _promises(state) if not _is_it(each, spoken)]
        if not is_on:
            return state.with_schema(privacy=[*others])
        needed = [option for option in kind.options if option.default is None]
        usual = {int: 2, float: 0.5}  # of a promise that this page has not heard of
        own: Document = {o.parameter: BEGIN.get(o.parameter, usual[o.kind]) for o in needed
                         if o.kind in usual and o.parameter != "c"}  # fmt: skip
        if "k" in own:
            own["k"] = next((each["k"] for each in others if each.get("k")), own["k"])
        return state.with_schema(privacy=[*others, {"model": name, **own}])

    _try(lambda: project.change(texts("promise.changed", model=name), make))


def _parameter(project: Project, texts: Texts, spoken: Spoken, parameter: str, value: Json) -> None:
    def make(state: State) -> State:
        found: list[Json] = []
        for each in _promises(state):
            if _is_it(each, spoken):
                whole = {**each, parameter: value}
                if parameter == "kind":  # its bound is asked for with it, and with nothing else
                    whole["c"] = BEGIN["c"] if value == "recursive" else None
                found.append({n: v for n, v in whole.items() if v is not None})
            else:
                found.append(each)
        return state.with_schema(privacy=found)

    now = _asked(project.state, spoken)
    if now is None or now.get(parameter) == value:
        return
    what = texts("promise.set", model=spoken.model, parameter=parameter, value=str(value))
    _try(lambda: project.change(what, make))


def _promises(state: State) -> list[Document]:
    found = state.schema.get("privacy")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _rule_key(project: Project) -> str:
    return json.dumps([project.state.release.get("checks"), project.state.schema.get("privacy")])


def _rule(project: Project, texts: Texts) -> None:
    checks = project.state.release.get("checks")
    now = checks.get("profile") if isinstance(checks, dict) else None
    titles = {name: load_profile(name).title for name in profile_names()}
    chosen = str(now) if now in titles else ""
    select = ui.select({"": texts("promise.no_rule"), **titles}, value=chosen,
                       label=texts("promise.rule_label"))  # fmt: skip
    select.props("outlined dense").classes("w-full")
    select.on_value_change(lambda e: _choose_rule(project, texts, str(e.value or "")))
    if chosen:
        _threshold(project, texts, load_profile(chosen))


def _choose_rule(project: Project, texts: Texts, name: str) -> None:
    def make(state: State) -> State:
        checks = state.release.get("checks")
        kept = (
            {n: v for n, v in checks.items() if n != "profile"} if isinstance(checks, dict) else {}
        )
        found: Document = {**kept, "profile": name} if name else kept
        return state.with_release(checks=found or None)

    _try(lambda: project.change(texts("promise.rule_changed"), make))


def _threshold(project: Project, texts: Texts, profile: Profile) -> None:
    """Say what the rule asks for, and whether k alone is enough."""
    Element("p").classes("small muted").style("margin: 0")._text = profile.says
    limit = profile.limit()
    if limit is None:
        return
    needed = profile.smallest_class or -(-1 // limit)
    k = max((int(str(each["k"])) for each in _promises(project.state)
             if isinstance(each.get("k"), int)), default=1)  # fmt: skip
    is_enough = 1 / k <= limit * (1 + 1e-12)
    key = "promise.enough" if is_enough else "promise.too_small"
    note = Element("div").classes("note small good" if is_enough else "note small bad")
    note._text = texts(key, k=k, needed=int(needed), limit=texts.percent(limit))


def _search(project: Project, texts: Texts) -> None:
    schema = project.state.schema
    share = ui.number(texts("promise.suppression"), value=_percent(project.state), min=0,
                      max=100, step=1, suffix="%").props("outlined dense debounce=500")  # fmt: skip
    share.on_value_change(lambda e: _entry(
        project, texts, suppression_limit=round(float(e.value or 0) / 100, 6)))  # fmt: skip
    mirror(project, share, lambda: _percent(project.state))
    labels = {str(each): texts(f"promise.labels_{each}") for each in Labels}
    now = str(schema.get("labels") or USUAL_LABELS)
    pick = ui.select(labels, value=now, label=texts("promise.labels")).props("outlined dense")
    pick.on_value_change(lambda e: _entry(project, texts, labels=str(e.value)))
    mirror(project, pick, lambda: str(project.state.schema.get("labels") or USUAL_LABELS))
    names = ["auto", *sorted(METHODS)]
    search = ui.select(names, value=_searched(project), label=texts("promise.method"))
    search.props("outlined dense")
    mirror(project, search, partial(_searched, project))
    search.on_value_change(lambda e: _method(project, texts, str(e.value)))


def _percent(state: State) -> float:
    return 100 * float(str(state.schema.get("suppression_limit") or 0))


def _searched(project: Project) -> str:
    method = project.state.release.get("method")
    return str((method.get("name") if isinstance(method, dict) else method) or "auto")


def _method(project: Project, texts: Texts, name: str) -> None:
    what, method = texts("promise.method_set", method=name), None if name == "auto" else name
    _try(lambda: project.change(what, lambda s: s.with_release(method=method and {"name": method})))


def _entry(project: Project, texts: Texts, **entries: Json) -> None:
    name = next(iter(entries))
    _try(lambda: project.change(texts(f"promise.{name}_set"), lambda s: s.with_schema(**entries)))
