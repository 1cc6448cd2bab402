"""The result: a release that is tried, and what it would look like, before anything is written."""

from __future__ import annotations

import re
from functools import partial

from nicegui import ui
from nicegui.element import Element

from shoal.core.documents import Document, Json
from shoal.core.errors import ShoalError
from shoal.schema.schema import KEPT
from shoal.web.charts import Look, bars, heat, histograms, sizes
from shoal.web.child import Job
from shoal.web.live import follow, mirror, refused
from shoal.web.panels import account
from shoal.web.plain import listed, mapping, numbers_of, share
from shoal.web.project import Project
from shoal.web.reasons import reason
from shoal.web.state import State
from shoal.web.texts import Texts

_NO_VALUE = re.compile(r"\(missing\)|[\d,]+ others")
LEARNED = (2, 20)
"""Different values of a column that models can be trained to tell."""


def build(project: Project, texts: Texts) -> None:
    """Draw what was tried last, and the button that tries."""
    Element("p").classes("lead")._text = texts("result.lead")
    follow(project, partial(_checks, project, texts), key=lambda: _learnable(project))
    follow(project, partial(_button, project, texts), key=lambda: _standing(project))

    def shown() -> object:
        return id(project.results.get("release")), project.is_dark, _is_old(project)

    follow(project, partial(_draw, project, texts), key=shown)


def kept_columns(state: State) -> tuple[str, ...]:
    """Return the columns that are released as they are: models can be trained to tell them."""
    entries = {name: mapping(entry) for name, entry in state.columns.items()}
    return tuple(name for name, entry in entries.items()
                 if entry.get("role") in KEPT and not entry.get("release"))  # fmt: skip


def can_be_learned(project: Project, name: str) -> bool:
    """Say whether a column has few enough values to be told by models, as far as is known."""
    columns = mapping(project.results.get("columns", {}).get("columns"))
    distinct = mapping(columns.get(name)).get("distinct")
    return not isinstance(distinct, int) or LEARNED[0] <= distinct <= LEARNED[1]


def _learnable(project: Project) -> tuple[object, ...]:
    names = kept_columns(project.state)
    return names, [can_be_learned(project, name) for name in names]


def _checks(project: Project, texts: Texts) -> None:
    """Offer what takes longer: models trained on the release, and fidelity."""
    names = [name for name in kept_columns(project.state) if can_be_learned(project, name)]
    now = _check(project, "learn")
    if project.state.table is None:
        return
    with Element("div").classes("row-line checks"):
        named = [*names, *([str(now)] if now and now not in names else [])]
        choices = {"": texts("result.no_learning"), **{name: name for name in named}}
        learn = ui.select(choices, value=str(now or ""),
                          label=texts("result.learn")).props("outlined dense")  # fmt: skip
        learn.on_value_change(lambda e: _set(project, texts, "learn", str(e.value or "") or None))
        mirror(project, learn, lambda: _check(project, "learn") or "")
        near = ui.checkbox(texts("result.measure_fidelity"),
                           value=_check(project, "fidelity") is True)  # fmt: skip
        near.on_value_change(lambda e: _set(project, texts, "fidelity", bool(e.value) or None))
        mirror(project, near, lambda: _check(project, "fidelity") is True)


def _check(project: Project, name: str) -> Json:
    return mapping(project.state.release.get("checks")).get(name)


def _set(project: Project, texts: Texts, name: str, value: Json) -> None:
    try:
        project.change(texts(f"result.{name}_set"), partial(with_check, name=name, value=value))
    except ShoalError as error:
        refused(error)


def with_check(state: State, *, name: str, value: Json) -> State:
    """Return the state in which something else is measured of a release; None: it is not."""
    checks = {**mapping(state.release.get("checks")), name: value}
    kept: Document = {key: said for key, said in checks.items() if said is not None}
    return state.with_release(checks=kept or None)


def _standing(project: Project) -> tuple[object, ...]:
    job = project.job
    ended = None if job is None or job.is_running else (id(job), job.standing)
    return project.state.table is None, job is not None and job.is_running, ended


def _button(project: Project, texts: Texts) -> None:
    job = project.job
    button = ui.button(texts("result.try"), icon="play_arrow", on_click=partial(attempt, project))
    button.props('id="try"')
    button.set_enabled(project.state.table is not None and not (job and job.is_running))
    if job is None or job.is_running or job.name not in ("release", "infer"):
        return
    if job.error is not None:
        note = Element("div").classes("note bad").style("margin-top: 12px").props("role=alert")
        note._text = job.error
    elif job.result is None:
        note = Element("div").classes("note").style("margin-top: 12px").props("role=status")
        note._text = texts("shell.cancelled")


def attempt(project: Project) -> Job | None:
    """Try the release: nothing is written that stays."""
    document = dict(project.document)
    document.pop("output", None)
    try:
        project.request()
        return project.start("release", {"request": document})
    except ShoalError as error:
        refused(error)
        return None


def _is_old(project: Project) -> bool:
    """Say whether something has changed since the release was tried."""
    found = project.results.get("release", {})
    return found.get("asked") != project.fingerprint


def _draw(project: Project, texts: Texts) -> None:
    found = project.results.get("release")
    report = found.get("report") if found is not None else None
    if not isinstance(report, dict):
        return
    look = Look(texts, project.is_dark)
    if _is_old(project):
        Element("div").classes("note").style("margin-top: 14px")._text = texts("result.old")
    elif found is not None and found.get("is_kept"):
        Element("div").classes("note").style("margin-top: 14px")._text = texts("result.kept")
    run, risk, utility = (mapping(found.get("run") if found else None),
                          mapping(report.get("risk")), mapping(report.get("utility")))  # fmt: skip
    account.decision(report, run, texts)
    account.attackers(risk, texts)
    with Element("div").classes("charts"):
        _sizes(risk, look, texts)
        _losses(utility, look, texts)
        _associations(utility, look, texts)
        for column in listed(report.get("columns")):
            _column(column, look, texts)
    account.measures(utility, texts)
    account.not_protected(risk, texts)
    _rows(project, texts)


def _rows(project: Project, texts: Texts) -> None:
    """Show some records beside what would be released of them, when that is asked for."""
    Element("h3").style("margin: 20px 0 6px")._text = texts("result.rows")
    button = ui.button(texts("result.show_rows"), icon="visibility").props("outline dense")

    def ask() -> None:
        document = {name: value for name, value in project.document.items() if name != "output"}
        try:
            project.start("rows", {"request": document})
        except ShoalError as error:
            refused(error)

    button.on_click(ask)
    follow(project, partial(_sample, project), key=lambda: id(project.results.get("rows")))


def _sample(project: Project) -> None:
    found = project.results.get("rows", {})
    columns, rows = found.get("columns"), listed(found.get("rows"))
    if not isinstance(columns, list) or not rows:
        return
    with Element("div").classes("scroll"), Element("table").classes("plain"):
        with Element("thead"), Element("tr"):
            for name in columns:
                Element("th").props("scope=col")._text = str(name)
        with Element("tbody"):
            for row in rows:
                with Element("tr"):
                    _pair(mapping(row.get("before")), row.get("after"), columns)


def _pair(before: Document, after: Json, columns: list[Json]) -> None:
    """Draw one record: what stays, and what becomes of what does not."""
    for name in map(str, columns):
        was = str(before.get(name) if before.get(name) is not None else "")
        with Element("td"):
            if not isinstance(after, dict):
                Element("del")._text = was
                continue
            now = str(after.get(name) if after.get(name) is not None else "")
            if was == now:
                Element("span")._text = now
                continue
            Element("del")._text = was
            Element("br")
            Element("ins")._text = now


def _sizes(risk: Document, look: Look, texts: Texts) -> None:
    found = mapping(risk.get("sizes"))
    names, after = found.get("names"), numbers_of(found.get("after"))
    if isinstance(names, list) and after is not None:
        said = [reason(texts, str(each)) for each in names]
        drawn = sizes(said, numbers_of(found.get("before")), after, look)
        _chart(texts("result.sizes"), drawn)


def _losses(utility: Document, look: Look, texts: Texts) -> None:
    losses = mapping(utility.get("losses"))
    if losses:
        values = [share(each) or 0.0 for each in losses.values()]
        _chart(texts("result.losses"), bars(list(losses), values, look))


def _associations(utility: Document, look: Look, texts: Texts) -> None:
    found = mapping(utility.get("associations"))
    names = found.get("columns")
    if not isinstance(names, list) or len(names) < 2:
        return
    for when in ("before", "after"):
        values = found.get(when)
        if isinstance(values, list):
            shares = [numbers_of(row) or [] for row in values]
            _chart(
                texts(f"result.associations_{when}"), heat([str(e) for e in names], shares, look)
            )


def _column(column: Document, look: Look, texts: Texts) -> None:
    found = mapping(column.get("bars"))
    names = found.get("names")
    if isinstance(names, list) and names:
        before, after = (numbers_of(found.get(when)) for when in ("before", "after"))
        drawn = histograms(_bar_names(names, texts), before, after, look)
        _chart(texts("result.column", column=str(column.get("name"))), drawn)


def _bar_names(names: list[Json], texts: Texts) -> list[str]:
    """Return what bars are called: values as they are, and what is no value in the language."""
    return [reason(texts, name) if _NO_VALUE.fullmatch(name) else name for name in map(str, names)]


def _chart(title: str, options: Document) -> None:
    with Element("figure").classes("picture"):
        Element("figcaption")._text = title
        ui.echart(dict(options)).style("height: 240px; width: 100%")
