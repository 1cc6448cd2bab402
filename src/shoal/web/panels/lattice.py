"""The lattice around a run of a lattice method: what each combination of levels would be like."""

from __future__ import annotations

import json
from functools import partial

from nicegui import ui
from nicegui.element import Element

from shoal.core.documents import Document, Json
from shoal.web import charts
from shoal.web.charts import LatticeNode, Look
from shoal.web.project import SCHEMA, Project

MOST_DRAWN = 240


def lattice_view(project: Project, row: Document, look: Look) -> None:
    """Draw the lattice around a run; a child counts it where that was not done yet."""
    texts = look.texts
    question = asked_of(project, row)
    Element("h3")._text = texts("lattice.title")
    Element("p").classes("muted small")._text = texts("lattice.lead")
    place = Element("div").classes("stack")
    found = project.results.get("lattice", {})
    if found.get("asked_for") == json.dumps(question):
        with place:
            draw(found, row, look)
        return
    with place:
        Element("p").classes("muted")._text = texts("lattice.counting")
    project.ask("lattice", question, partial(_remember, project, json.dumps(question)))


def _remember(project: Project, asked_for: str, job: object) -> None:
    found = project.results.get("lattice")
    if found is not None and getattr(job, "result", None) is not None:
        found["asked_for"] = asked_for


def asked_of(project: Project, row: Document) -> Document:
    """Return what the child is asked: the run's method, promise and limit, on the same table."""
    choice = row.get("choice")
    assert isinstance(choice, dict)
    request = {**project.document, "schema": project.folder.name(project.place / SCHEMA)}
    return {
        "request": {**request, "method": choice.get("method")},
        "privacy": choice.get("privacy"), "suppression_limit": choice.get("suppression_limit"),
        "levels": row.get("levels"),
    }  # fmt: skip


def draw(found: Document, row: Document, look: Look) -> None:
    """Draw the nodes, and say what is left out."""
    texts = look.texts
    columns, nodes = names_of(found), nodes_of(found)
    levels = row.get("levels")
    levels = levels if isinstance(levels, dict) else {}
    chosen = tuple(_whole(levels.get(name)) for name in columns)
    options = charts.lattice(nodes, columns, look, chosen=chosen)
    ui.echart(options, renderer="svg").classes("chart lattice")
    size = _whole(found.get("size"))
    if size > len(nodes):
        said = texts("lattice.part", n=len(nodes), of=size)
        Element("p").classes("muted small")._text = said


def names_of(found: Document) -> list[str]:
    """Return the columns of a lattice."""
    columns = found.get("columns")
    return [str(each) for each in columns] if isinstance(columns, list) else []


def nodes_of(found: Document) -> list[LatticeNode]:
    """Return the nodes of a lattice, as they are drawn."""
    nodes, records = found.get("nodes"), _whole(found.get("records")) or 1
    return [
        LatticeNode(
            tuple(map(_whole, levels)), _number(each.get("loss")),
            _whole(each.get("suppressed")) / records, bool(each.get("safe")),
        )
        for each in (nodes if isinstance(nodes, list) else [])[:MOST_DRAWN]
        if isinstance(each, dict) and isinstance(levels := each.get("levels"), list)
    ]  # fmt: skip


def _whole(value: Json) -> int:
    return value if isinstance(value, int) else 0


def _number(value: Json) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
