"""The parts of a model document, and of what an encoder makes of them, as types.

`model.schema.json` describes the same parts for other programs, and `document.checked` is the
only place that turns plain data into them. Nothing here is needed where an encoder runs:
exports leave the imports of this file out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired, TypedDict

Record = Mapping[str, object]  # a record by the names of its columns
Released = dict[str, object]
Labels = list[str | None]  # what a tuple of quasi-identifiers is released as
Key = tuple[int | str, ...]  # what a value is compared by; keys of one column sort as its values do
Range = tuple[Key | None, bool, Key | None, bool, int]  # low, is it open, high, is it open, of what


class MaskRule(TypedDict):
    """How texts of a column are masked."""

    char: str
    length: int
    direction: str
    pad: str
    fill: str


class Cell(TypedDict, total=False):
    """What is released in a column, and which values it covers; which keys say what kind it is."""

    any: str
    missing: bool
    node: int
    value: str
    values: list[str]
    mask: str
    lost: int
    low: str | None
    high: str | None
    open: str
    label: str
    cut: list[int]
    variant: int


class TreeOfCuts(TypedDict):
    """The cuts that divide the domain into regions; see `cut_tree`."""

    cut: list[int]
    left: list[int]


class ColumnDocument(TypedDict):
    """A quasi-identifier: its scale and its distinct cells."""

    name: str
    scale: str
    root: str
    cells: list[Cell]
    mask: NotRequired[MaskRule]
    cuts: NotRequired[list[str | int]]
    first: NotRequired[str | None]
    last: NotRequired[str | None]
    missing: NotRequired[bool]
    variant: NotRequired[str]


class TreeDocument(TypedDict, total=False):
    """A stored hierarchy; a rule has other keys, which no encoder reads."""

    labels: list[str]
    parents: list[int]


class AttributeDocument(TypedDict):
    """What an encoder reads of a column's entry in the schema."""

    role: str
    hierarchy: NotRequired[TreeDocument | None]
    order: NotRequired[list[str]]
    date_format: NotRequired[str | None]


class SchemaDocument(TypedDict):
    """What an encoder reads of the schema."""

    columns: dict[str, AttributeDocument]
    others: str
    missing: NotRequired[list[str]]


class DrawnColumn(TypedDict):
    """What the cells of a column are drawn from.

    Attributes:
        kind: of the column: numeric, date, ordinal or categorical.
        values: in the order of the line or of the hierarchy; null, the missing value, first.
        weights: how readily each is drawn, beside others that a label leaves open.
        runs: of each cell, the first of its values, and the one after its last.
    """

    name: str
    kind: str
    values: list[str | None]
    weights: list[float]
    runs: list[list[int]]


class ModelDocument(TypedDict):
    """A whole model of the present version."""

    format: str
    version: int
    method: str
    records: int
    suppressed: int
    on_unseen: str
    utility: dict[str, float | None]
    schema: SchemaDocument
    released: list[str]
    removed: list[str]
    columns: list[ColumnDocument]
    regions: NotRequired[list[list[int]]]
    tree: NotRequired[TreeOfCuts]
    counts: list[int] | None
    levels: NotRequired[dict[str, int]]
    drawn: NotRequired[list[DrawnColumn]]
    fingerprint: NotRequired[str]
    signature: NotRequired[dict[str, str]]


class Plan(TypedDict):
    """What all blocks of an encoder share of a column.

    `absent` has the marks of missing values as its keys, `index` the node or rank of each text;
    of a numeric hierarchy, that of each number too.
    """

    absent: dict[str, int]
    index: dict[str | Key, int]
    parents: list[int]
    labels: list[str]
    form: str | None
