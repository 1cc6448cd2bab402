"""Steps from older model documents to the present one; one function a version."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shoal.core.errors import ModelFormatError
from shoal.core.keys import date_key, number_key
from shoal.model.document_types import Cell


def _from_1(document: dict[str, object]) -> dict[str, object]:
    """Version 1 had (lowest value, highest value, label) for a cell, and no counts."""
    schema = document.get("schema")
    about = schema.get("columns") if isinstance(schema, Mapping) else None
    columns = document.get("columns")
    if (
        not isinstance(schema, Mapping)
        or not isinstance(about, Mapping)
        or not isinstance(columns, list)
    ):
        raise ModelFormatError(problem="its schema or its columns are missing")
    new = [_column(column, about) for column in columns]
    # `role` alone was allowed to stand for the whole entry of a column.
    whole = {name: e if isinstance(e, Mapping) else {"role": e} for name, e in about.items()}
    removed = [name for name, entry in whole.items() if entry.get("role") == "identifying"]
    return {
        **document,
        "version": 2,
        "schema": {"others": "fault", **schema, "columns": whole},
        "on_unseen": "suppress",
        "released": [name for name in whole if name not in removed],
        "removed": removed,
        "columns": new,
        "counts": None,
    }


def _column(column: object, about: Mapping[str, object]) -> dict[str, object]:
    cells = column.get("cells") if isinstance(column, Mapping) else None
    if not isinstance(column, Mapping) or not isinstance(cells, list):
        raise ModelFormatError(problem="a column in it is damaged")
    if not all(isinstance(c, list) and len(c) == 3 and all(map(_is_end, c)) for c in cells):
        raise ModelFormatError(problem="a column's cells are damaged")
    known = about.get(str(column.get("name")))
    entry: Mapping[str, object] = known if isinstance(known, Mapping) else {}
    tree = entry.get("hierarchy")
    labels = tree.get("labels", []) if isinstance(tree, Mapping) else []
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise ModelFormatError(problem="a hierarchy in it is damaged")
    scale = _scale(entry, cells)
    index = {label: node for node, label in enumerate(labels)}
    root = labels[-1] if labels else "*"
    return {
        "name": column.get("name"),
        "scale": scale,
        "root": root,
        "cells": [_cell(*cell, scale=scale, index=index, root=root) for cell in cells],
    }


def _is_end(value: object) -> bool:
    return value is None or isinstance(value, str)


def _scale(entry: Mapping[str, object], cells: list[list[str | None]]) -> str:
    known = {"numeric": "number", "date": "date", "ordinal": "rank", "categorical": "text"}
    kind = entry.get("kind")
    if isinstance(kind, str) and kind in known:
        return known[kind]
    ends = [end for low, high, _ in cells for end in (low, high) if end not in (None, "*")]
    if ends and all(number_key(str(end)) for end in ends):
        return "number"
    return "date" if ends and all(date_key(str(end)) for end in ends) else "text"


def _cell(
    low: str | None, high: str | None, label: str | None, *, scale: str, index: dict[str, int],
    root: str,
) -> Cell:  # fmt: skip
    if label is None:
        return {"missing": True}
    if label == root:
        return {"any": label}
    if low == label and high == label and label in index:
        return {"node": index[label]}
    if scale == "text" or low is None or high is None:
        return {"value": label}
    return {"low": low, "high": high, "label": label}


def _from_2(document: dict[str, object]) -> dict[str, object]:
    """Version 2 wrote down the cells of every class; that is still one of two ways to do it."""
    return {**document, "version": 3}


UPGRADES: Mapping[int, Callable[[dict[str, object]], dict[str, object]]] = {
    1: _from_1,
    2: _from_2,
}
