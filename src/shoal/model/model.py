"""RecodingModel: a learned recoding as data that can be handed on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, cast

from shoal.core.errors import ModelFormatError, ShoalError
from shoal.model.column import label_of
from shoal.model.document import (
    FORMAT,
    VERSION,
    checked_with_regions,
    fingerprint_of,
    is_sealed,
    read_model,
    refuse_untrusted,
)
from shoal.model.document_types import (
    Cell,
    ColumnDocument,
    DrawnColumn,
    MaskRule,
    ModelDocument,
    SchemaDocument,
    TreeOfCuts,
)
from shoal.model.trust import Trust
from shoal.privacy import Promise
from shoal.schema.schema import REMOVED, Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """Where the regions of a column begin.

    Attributes:
        at: the first value, text or node behind each cut, in ascending order.
        first, last: what a line begins and ends with; None: no end.
        missing: the missing value stands before all others, and may be cut off.
        variant: for each class, which of the cells between its cuts it releases, a digit of 36;
            None: there is one everywhere.
    """

    at: tuple[str | int, ...]
    first: str | None = None
    last: str | None = None
    missing: bool = False
    variant: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelColumn:
    """What a model knows of one quasi-identifier.

    Attributes:
        scale: how values are compared: number, date, rank (in an order) or text.
        root: the label that covers every value.
        cells: the distinct released cells; what each covers is described in
            `model.schema.json`.
        mask: for masked texts: char, length, direction, pad and fill.
        cuts: of a model that has a tree.
    """

    name: str
    scale: str
    root: str
    cells: tuple[Cell, ...]
    mask: MaskRule | None = None
    cuts: Cuts | None = None

    def to_document(self) -> ColumnDocument:
        """Return the column as plain data."""
        document: ColumnDocument = {
            "name": self.name,
            "scale": self.scale,
            "root": self.root,
            "cells": [cell.copy() for cell in self.cells],
        }
        if self.mask is not None:
            document["mask"] = self.mask.copy()
        if self.cuts is not None:
            document["cuts"] = list(self.cuts.at)
            if self.cuts.first is not None:
                document["first"], document["last"] = self.cuts.first, self.cuts.last
            if self.cuts.missing:
                document["missing"] = True
            if self.cuts.variant is not None:
                document["variant"] = self.cuts.variant
        return document


@dataclass(frozen=True, slots=True, kw_only=True)
class RecodingModel:
    """What a search learned: for each class, what it releases in each column.

    Attributes:
        columns: the quasi-identifiers and their released cells.
        regions: for each class, the number of its cell in each column; classes stand in
            the order of preference: a record goes to the first one that covers it.
        counts: the training records of each class; None in models of version 1.
        levels: the level of each column, for full-domain recoding.
        tree: the cuts that make the regions, where these divide the domain. Classes are then
            numbered from left to right.
        drawn: what cells are drawn from, where its release is drawn; None: it releases labels.
        on_unseen: what happens to a record that no class covers.
        sealed: it was learned here, or its document had a fingerprint that fits it.
        signature: who signed its fingerprint, and the signature.

    Guarantee:
        Every tuple in it is shared by as many training records as its promise asks for;
        beside these, it holds only what the schema says.
    """

    method: str
    schema: Schema
    records: int
    suppressed: int
    columns: tuple[ModelColumn, ...]
    regions: tuple[tuple[int, ...], ...]
    utility: Mapping[str, float | None]
    counts: tuple[int, ...] | None = None
    levels: Mapping[str, int] | None = None
    tree: TreeOfCuts | None = None
    drawn: tuple[DrawnColumn, ...] | None = None
    on_unseen: str = "suppress"
    sealed: bool = field(default=True, compare=False)
    signature: Mapping[str, str] | None = field(default=None, compare=False)

    @property
    def privacy(self) -> tuple[Promise, ...]:
        """Return the promise that the model was learned for."""
        return self.schema.privacy

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of the model's content."""
        return self.to_document()["fingerprint"]

    def tuples(self) -> list[tuple[str | None, ...]]:
        """Return what each class releases, in the order of the classes."""
        labels = []
        for column in self.columns:
            about = self.schema.attribute(column.name).hierarchy
            known = getattr(about, "labels", ())
            labels.append([label_of(cell, known) for cell in column.cells])
        return [
            tuple(names[cell] for names, cell in zip(labels, region, strict=True))
            for region in self.regions
        ]

    def to_document(self) -> ModelDocument:
        """Return the model as plain data, its fingerprint included."""
        document: ModelDocument = {
            "format": FORMAT,
            "version": VERSION,
            "method": self.method,
            "records": self.records,
            "suppressed": self.suppressed,
            "on_unseen": self.on_unseen,
            "utility": dict(self.utility),
            "schema": cast(SchemaDocument, self.schema.to_document()),  # `checked` holds it to that
            "released": list(self.schema.released),
            "removed": [a.name for a in self.schema.attributes if a.role in REMOVED],
            "columns": [column.to_document() for column in self.columns],
            "counts": None if self.counts is None else list(self.counts),
        }
        if self.tree is None:
            document["regions"] = [list(region) for region in self.regions]
        else:
            document["tree"] = {"cut": list(self.tree["cut"]), "left": list(self.tree["left"])}
        if self.levels is not None:
            document["levels"] = dict(self.levels)
        if self.drawn is not None:
            document["drawn"] = [column.copy() for column in self.drawn]
        document["fingerprint"] = fingerprint_of(document)
        if self.signature is not None:
            document["signature"] = dict(self.signature)
        return document

    def to_json(self) -> str:
        """Return the model as one line of JSON for each of its parts."""
        parts = (
            f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
            for key, value in self.to_document().items()
        )
        return "{" + ",\n ".join(parts) + "}\n"

    @classmethod
    def load(cls, path: str | Path, *, trust: Trust | None = None) -> Self:
        """Read a model file; trust: what it must show before it is used.

        Raises:
            ModelFormatError: it is newer, damaged, hostile, or no model at all.
        """
        try:
            document = read_model(str(path))
            model = cls.from_document(document)
            refuse_untrusted(document, trust)
        except ModelFormatError as error:
            problem = str(error.facts["problem"])
            if problem.startswith(str(path)):
                raise
            raise ModelFormatError(problem=f"{path}: {problem}") from None
        return model

    @classmethod
    def from_document(cls, document: object) -> Self:
        """Rebuild a model from plain data; older versions are upgraded, newer ones refused.

        Raises:
            ModelFormatError: it is newer, damaged, hostile, or no model at all.
        """
        found, regions = checked_with_regions(document)
        try:
            schema = Schema.from_document(found["schema"], where="model")
        except ShoalError as error:
            raise ModelFormatError(problem=f"its schema is damaged: {error}") from None
        if schema.replaced:
            raise ModelFormatError(problem="it replaces values, and a model holds no key")
        if found["released"] != list(schema.released):
            raise ModelFormatError(problem="its released columns are not the schema's")
        counts, levels, drawn = found.get("counts"), found.get("levels"), found.get("drawn")
        return cls(
            method=found["method"],
            schema=schema,
            records=found["records"],
            suppressed=found["suppressed"],
            columns=tuple(
                ModelColumn(
                    name=column["name"],
                    scale=column["scale"],
                    root=column["root"],
                    cells=tuple(cell.copy() for cell in column["cells"]),
                    mask=column.get("mask"),
                    cuts=_cuts(column),
                )
                for column in found["columns"]
            ),
            regions=tuple(tuple(region) for region in regions),
            tree=found.get("tree"),
            drawn=None if drawn is None else tuple(column.copy() for column in drawn),
            utility=dict(found["utility"]),
            counts=None if counts is None else tuple(counts),
            levels=None if levels is None else dict(levels),
            on_unseen=found["on_unseen"],
            sealed=is_sealed(document),
            signature=found.get("signature"),
        )


def _cuts(column: ColumnDocument) -> Cuts | None:
    if "cuts" not in column:
        return None
    return Cuts(
        at=tuple(column["cuts"]),
        first=column.get("first"),
        last=column.get("last"),
        missing=column.get("missing", False),
        variant=column.get("variant"),
    )
