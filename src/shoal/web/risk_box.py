"""The risk of the table as it stands, measured anew whenever what it depends on changes."""

from __future__ import annotations

import json
from functools import partial

from nicegui.element import Element

from shoal.core.documents import Document
from shoal.web.child import Job, Standing
from shoal.web.live import follow, listen
from shoal.web.plain import listed
from shoal.web.project import SCHEMA, Project
from shoal.web.reasons import reason
from shoal.web.state import State
from shoal.web.texts import Texts


def risk_box(project: Project, texts: Texts) -> None:
    """Show the risk, and have it measured."""
    with Element("div").classes("box").props('id="risk" aria-live=polite'):
        Element("h3")._text = texts("shell.risk")
        follow(project, partial(_shown, project, texts), key=lambda: _seen(project))
    listen(project, partial(measure, project))
    measure(project)


def measure(project: Project) -> None:
    """Ask for the risk, unless it was asked for already."""
    key = _asked(project)
    if key is None or project.asked_risk == key:
        return
    project.asked_risk = key
    profile = _profile(project)
    asked: Document = {
        "table": project.state.table,
        "schema": project.folder.name(project.place / SCHEMA),
        **({"profile": profile} if profile else {}),
    }
    project.ask("risk", asked, partial(_failed, project))


def _failed(project: Project, job: Job) -> None:
    """Say why there is no risk; what was measured before belongs to another question."""
    if job.standing is Standing.FAILED:
        project.results["risk"] = {"problem": job.error}


def _asked(project: Project) -> str | None:
    """Return what the risk depends on; None: nothing can be measured yet."""
    columns = project.state.columns
    roles = {n: e.get("role") if isinstance(e, dict) else e for n, e in columns.items()}
    if project.state.table is None or "quasi" not in roles.values():
        return None
    missing, promise = project.state.schema.get("missing"), project.state.schema.get("privacy")
    return json.dumps([project.state.table, roles, missing, promise, _profile(project)])


def _profile(project: Project) -> str | None:
    checks = project.state.release.get("checks")
    found = checks.get("profile") if isinstance(checks, dict) else None
    return None if found is None else str(found)


def _seen(project: Project) -> object:
    return _asked(project) is None, id(project.results.get("risk")), size_of(project.state)


def _shown(project: Project, texts: Texts) -> None:
    found = project.results.get("risk")
    if _asked(project) is None or found is None:
        key = "risk_none" if _asked(project) is None else "risk_waiting"
        Element("p").classes("muted")._text = texts(f"shell.{key}")
        return
    if found.get("problem") is not None:
        note = Element("div").classes("note bad small").props("role=alert")
        note._text = str(found["problem"])
        return
    profile = found.get("held")
    limit = _limit(profile) if isinstance(profile, dict) else None
    average, highest = number(found, "average"), number(found, "maximum")
    is_over = (limit is not None and highest > limit) or (limit is None and highest > 0.2)
    unit = texts("shell.records_of" if found.get("persons") is None else "shell.persons_of")
    with Element("div").classes("figure-line"):
        figure = Element("span").classes(f"figure {'unsafe' if is_over else 'safe'}")
        figure._text = texts.percent(average)
        Element("span").classes("muted")._text = texts("shell.risk_found", unit=unit)
    meter(average, limit=limit, is_over=is_over)
    k = size_of(project.state)
    if k is not None:
        note = Element("p").classes("small promised")
        note._text = texts("shell.promised", k=k, share=texts.percent(1 / k))
    with Element("dl").classes("facts").style("margin-top: 10px"):
        count = found.get("persons") or found.get("records")
        for name, text in (
            (unit[:1].upper() + unit[1:], texts.said(count if isinstance(count, int) else None)),
            (texts("shell.classes"), texts.number(number(found, "classes"), digits=0)),
            (texts("shell.unique"), texts.number(number(found, "unique"), digits=0)),
            (texts("shell.smallest"), texts.number(number(found, "smallest_class"), digits=0)),
            (texts("shell.highest"), texts.percent(highest)),
        ):
            Element("dt")._text = name
            Element("dd")._text = text
    _notes(found, limit, texts)


def _notes(found: Document, limit: float | None, texts: Texts) -> None:
    """Say what the risk is held against, what it was measured on, and what is odd."""
    profile = found.get("held")
    if isinstance(profile, dict) and limit is not None:
        text = texts("shell.limit", name=str(profile.get("title")), limit=texts.percent(limit))
        Element("p").classes("muted small")._text = text
    if found.get("is_sample"):
        seen, of = (texts.number(number(found, name), digits=0) for name in ("seen", "of"))
        Element("div").classes("note small")._text = texts("shell.sample", seen=seen, of=of)
    warnings = found.get("warnings")
    for each in warnings if isinstance(warnings, list) else ():
        Element("div").classes("note bad small")._text = reason(texts, str(each))


def size_of(state: State) -> int | None:
    """Return the size of classes that is promised; None: nothing says how large they are."""
    promises = state.schema.get("privacy")
    sizes = [each.get("k") for each in listed(promises)]
    return max((k for k in sizes if isinstance(k, int) and k > 0), default=None)


def _limit(profile: Document) -> float | None:
    """Return the risk that a profile allows one of them."""
    smallest, most = profile.get("smallest_class"), profile.get("max_risk")
    found = [1 / smallest] if isinstance(smallest, int) and smallest else []
    found += [float(most)] if isinstance(most, (int, float)) else []
    return min(found, default=None)


def number(document: Document, name: str) -> float:
    """Return a number of a document; what is none counts as 0."""
    found = document.get(name)
    return float(found) if isinstance(found, (int, float)) else 0.0


def meter(share: float, *, limit: float | None = None, is_over: bool = False) -> None:
    """Draw a share as a bar, with the limit as a mark."""
    with Element("div").classes("meter over" if is_over else "meter").props("role=presentation"):
        Element("div").classes("fill").style(f"width: {100 * min(share, 1):.1f}%")
        if limit is not None:
            Element("div").classes("limit").style(f"left: {100 * min(limit, 1):.1f}%")
