"""RecodingModel: a learned recoding as data that can be handed on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from shoal.core.documents import parse_json, read_text
from shoal.core.errors import ModelFormatError, ShoalError
from shoal.core.schema import Schema

FORMAT = "shoal-model"
VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecodingModel:
    """What a search learned: for each class, what it releases in each column.

    Only released labels, their bounds and totals are kept: every tuple in it stands
    for a whole class, so it says no more than the release itself.

    Attributes:
        cells: for each quasi-identifier, the distinct released cells as
            (lowest value, highest value, label); on a tree both ends are the label.
        regions: for each class, the number of its cell in each column.
        levels: the level of each column, for full-domain recoding.
    """

    method: str
    schema: Schema
    records: int
    suppressed: int
    cells: Mapping[str, tuple[tuple[str | None, str | None, str | None], ...]]
    regions: tuple[tuple[int, ...], ...]
    utility: Mapping[str, float | None]
    levels: Mapping[str, int] | None = None

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain data."""
        document: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "method": self.method,
            "records": self.records,
            "suppressed": self.suppressed,
            "utility": dict(self.utility),
            "schema": self.schema.to_document(),
            "columns": [
                {"name": name, "cells": [list(cell) for cell in cells]}
                for name, cells in self.cells.items()
            ],
            "regions": [list(region) for region in self.regions],
        }
        if self.levels is not None:
            document["levels"] = dict(self.levels)
        return document

    def to_json(self) -> str:
        """Return the model as one line of JSON for each of its parts."""
        parts = (
            f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
            for key, value in self.to_document().items()
        )
        return "{" + ",\n ".join(parts) + "}\n"

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model file."""
        return cls.from_document(parse_json(read_text(path), where=str(path)))

    @classmethod
    def from_document(cls, document: object) -> Self:
        """Rebuild a model from plain data; a newer, damaged or foreign one is refused."""
        if not isinstance(document, Mapping) or document.get("format") != FORMAT:
            raise ModelFormatError(problem=f"not a model file: no format {FORMAT!r} in it")
        version = document.get("version")
        if isinstance(version, bool) or not isinstance(version, int) or version != VERSION:
            raise ModelFormatError(problem=f"its version is not {VERSION}; update shoal to read it")
        try:
            schema = Schema.from_document(document.get("schema"), where="model")
        except ShoalError as error:
            raise ModelFormatError(problem=f"its schema is damaged: {error}") from None
        cells = _cells(document.get("columns"))
        if tuple(cells) != schema.quasi:
            raise ModelFormatError(problem="its columns are not the schema's quasi-identifiers")
        return cls(
            method=_text(document.get("method")),
            schema=schema,
            records=_count(document.get("records")),
            suppressed=_count(document.get("suppressed")),
            cells=cells,
            regions=_regions(document.get("regions"), [len(found) for found in cells.values()]),
            utility=_utility(document.get("utility")),
            levels=_levels(document.get("levels"), schema),
        )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ModelFormatError(problem="its method is not a name")
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise ModelFormatError(problem="a count in it is not a whole number")
    return value


def _cells(value: object) -> dict[str, tuple[tuple[str | None, str | None, str | None], ...]]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ModelFormatError(problem="its columns are missing")
    found = {}
    for column in value:
        if not isinstance(column, Mapping) or not isinstance(column.get("name"), str):
            raise ModelFormatError(problem="a column in it has no name")
        cells = column.get("cells")
        if not isinstance(cells, list) or not all(_is_cell(cell) for cell in cells):
            raise ModelFormatError(problem="a column's cells are damaged")
        found[column["name"]] = tuple((cell[0], cell[1], cell[2]) for cell in cells)
    return found


def _is_cell(cell: object) -> bool:
    return (
        isinstance(cell, list)
        and len(cell) == 3
        and all(part is None or isinstance(part, str) for part in cell)
    )


def _regions(value: object, sizes: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    if not isinstance(value, list):
        raise ModelFormatError(problem="its regions are missing")
    for region in value:
        fits = isinstance(region, list) and len(region) == len(sizes)
        if not fits or not all(
            isinstance(cell, int) and not isinstance(cell, bool) and 0 <= cell < size
            for cell, size in zip(region, sizes, strict=True)
        ):
            raise ModelFormatError(problem="a region in it names a cell that is not there")
    return tuple(tuple(region) for region in value)


def _utility(value: object) -> dict[str, float | None]:
    if not isinstance(value, Mapping) or not all(
        number is None or (isinstance(number, (int, float)) and not isinstance(number, bool))
        for number in value.values()
    ):
        raise ModelFormatError(problem="its measures are damaged")
    return {str(name): number for name, number in value.items()}


def _levels(value: object, schema: Schema) -> dict[str, int] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or set(value) != set(schema.quasi):
        raise ModelFormatError(problem="its levels do not fit its columns")
    return {str(name): _count(level) for name, level in value.items()}
