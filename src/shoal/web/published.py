"""What would be published of a column, in words, by its role and its hierarchy."""

from __future__ import annotations

from contextlib import suppress

from shoal.core.documents import Document, Json
from shoal.core.errors import ShoalError
from shoal.hierarchies.build import Builder
from shoal.hierarchies.read import read_hierarchy
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Role
from shoal.web.project import Project
from shoal.web.texts import Texts


def published(project: Project, texts: Texts, name: str) -> list[str]:
    """Return what would be published of a column, a sentence a line."""
    entry = project.state.columns.get(name)
    role = str(entry.get("role")) if isinstance(entry, dict) else str(entry)
    if role == Role.IDENTIFYING and not (isinstance(entry, dict) and entry.get("release")):
        return [texts("columns.pub_removed")]
    if role == Role.PERSON:
        return [texts("columns.pub_person")]
    if role != Role.QUASI:
        return [texts("columns.pub_kept")]
    ladder = _ladder(project, name)
    kind = entry.get("kind") if isinstance(entry, dict) else None
    if ladder:
        lines = [texts("columns.pub_levels", value=ladder[0]), "  →  ".join(ladder[1:])]
    else:
        lines = [
            texts("columns.pub_numbers" if kind in ("numeric", "date") else "columns.pub_values")
        ]
    made = _technique(project, name)
    return [*lines, texts("columns.pub_released", text=made)] if made else lines


def _ladder(project: Project, name: str) -> tuple[str, ...]:
    """Return one value of the column and what it may become, level by level."""
    values = _examples(project, name)
    entry = project.hierarchy(name)
    if not values or entry is None:
        return ()
    with suppress(ShoalError, ValueError):
        project.folder.check({"columns": {name: {"hierarchy": entry}}}, beside=project.place)
        found = read_hierarchy(name, entry, folder=project.place)
        tree = found.build(name, values) if isinstance(found, Builder) else found
        if isinstance(tree, Hierarchy):
            rows = [row for row in tree.to_rows() if row[0] in values]
            path = rows[0] if rows else ()
            return tuple(dict.fromkeys(path)) if len(path) > 1 else ()
    return ()


def _examples(project: Project, name: str) -> list[str]:
    columns = project.results.get("columns", {}).get("columns")
    picture = columns.get(name) if isinstance(columns, dict) else None
    if not isinstance(picture, dict):
        return []
    if picture.get("form") == "histogram":
        ends = [picture.get("low"), picture.get("high")]
        return [f"{float(end):g}" for end in ends if isinstance(end, (int, float))]
    names: Json = picture.get("names")
    return [str(each) for each in names] if isinstance(names, list) else []


def _technique(project: Project, name: str) -> str | None:
    """Return what the last release did to the column."""
    report = project.results.get("release", {}).get("report")
    columns = report.get("columns") if isinstance(report, dict) else None
    for each in columns if isinstance(columns, list) else ():
        if isinstance(each, dict) and each.get("name") == name:
            found: Document = each
            return str(found.get("technique") or "") or None
    return None
