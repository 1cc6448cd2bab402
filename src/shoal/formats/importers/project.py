"""What an importer makes of the files of another tool: a schema, hierarchies, and what is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The node of a lattice that another tool found best.

    Attributes:
        levels: by column, in the order of its lattice.
        loss: as it measured it.
        nodes: of the lattice that it wrote down; a part of the whole where it was large.
    """

    levels: Mapping[str, int]
    loss: float
    nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What was found.

    Attributes:
        schema: roles, kinds and promise; None where there were only hierarchies.
        hierarchies: by column.
        notices: what has no counterpart here, or was read in a certain way.
        chosen: the node that the tool chose.
        table: the raw table in the project, as CSV, and its separator.
    """

    schema: Schema | None
    hierarchies: Mapping[str, Hierarchy] = field(repr=False)
    notices: tuple[str, ...] = ()
    chosen: Chosen | None = None
    table: bytes | None = field(default=None, repr=False)
    separator: str = ";"
