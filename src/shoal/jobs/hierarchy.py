"""Hierarchies from the values of a table, from WordNet and from files; drawn and checked.

What reads tables is loaded when one is read: a file is drawn without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.core.errors import InputError
from shoal.hierarchies import senses, wordnet
from shoal.hierarchies.draw import draw
from shoal.hierarchies.read import load_hierarchy, read_hierarchy, to_text
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Attribute, Kind, Role

if TYPE_CHECKING:
    import polars as pl

    from shoal.engines.local.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnValues:
    """A column of a table, and how its values are read.

    Attributes:
        missing: marks of missing values.
    """

    table: object
    column: str
    separator: str | None = None
    missing: Sequence[str] = ()

    def distinct(self) -> pl.Series:
        """Return its distinct values."""
        from shoal.engines.local.source import open_source
        from shoal.engines.refusals import check_columns

        source: Source = open_source(self.table, separator=self.separator)
        check_columns(source.where, source.columns, [self.column])
        scan = source.scan([self.column], coded=[self.column])
        return source.collect(scan.unique())[self.column]

    def texts(self) -> list[str]:
        """Return its distinct values as texts, without the missing one."""
        from shoal.engines.coding import code_column

        plain = Attribute(name=self.column, role=Role.QUASI, kind=Kind.CATEGORICAL)
        coder = code_column(self.distinct(), plain, marks=self.missing)
        return [label for label in coder.domain.labels if label is not None]

    def check(self, tree: Hierarchy) -> None:
        """Refuse a hierarchy that does not know every value."""
        from shoal.engines.coding import code_column

        attribute = Attribute(
            name=self.column, role=Role.QUASI, kind=Kind.CATEGORICAL, hierarchy=tree
        )
        code_column(self.distinct(), attribute, marks=self.missing)


def build_hierarchy(
    values: ColumnValues, entry: object, *, out: str | Path | None = None
) -> Hierarchy:
    """Build a hierarchy from the values of a column.

    Args:
        values: the column.
        entry: a builder as a schema has it, such as {"mask": {}}.
        out: where to write it: CSV, YAML or JSON, as its ending says.
    """
    builder = read_hierarchy(values.column, entry, folder=Path())
    if builder is None or isinstance(builder, Hierarchy):
        raise InputError(where="hierarchy", problem="needs a builder such as mask, dates, order")
    tree = builder.build(values.column, values.texts())
    if out is not None:
        from shoal.engines.local.records import inputs_of

        _write(out, tree, inputs_of(values.table))
    return tree


def wordnet_hierarchy(
    column: str,
    mapping: str | Path,
    folder: str | Path,
    *,
    root: str | None = None,
    through: Sequence[str] = (),
    out: str | Path | None = None,
) -> Hierarchy:
    """Build a hierarchy from WordNet's hypernyms.

    Args:
        column: the column.
        mapping: a CSV file: value; lemma; sense; under.
        folder: the dictionary, with `data.noun` and `index.noun`.
        root: the synset to cut at, such as country#2; None: the top.
        through: synsets that ways up lead through where they can, such as organism.
        out: where to write it: CSV, YAML or JSON, as its ending says.
    """
    places = wordnet.read_mapping(mapping)
    tree = wordnet.wordnet_hierarchy(column, places, folder, root=root, through=through)
    if out is not None:
        _write(out, tree, (mapping,))
    return tree


def propose_senses(
    values: ColumnValues, folder: str | Path, *, out: str | Path
) -> Mapping[str, Sequence[senses.Meaning]]:
    """Write the senses that WordNet has for a column's values, for a person to choose from.

    Args:
        values: the column.
        folder: the dictionary, with `data.noun` and `index.noun`.
        out: where to write the table, which `wordnet_hierarchy` reads as its mapping.

    Returns:
        The senses of each value; none where the dictionary has no such noun.
    """
    from shoal.engines.local.records import inputs_of
    from shoal.engines.local.write import write_text

    found = senses.proposed_senses(sorted(values.texts()), folder)
    write_text(out, senses.proposed_text(found), inputs=inputs_of(values.table))
    return found


def _write(out: str | Path, tree: Hierarchy, inputs: tuple[str | Path, ...]) -> None:
    from shoal.engines.local.write import write_text

    write_text(out, to_text(tree, out), inputs=inputs)


def draw_hierarchy(path: str | Path, *, max_lines: int = 200) -> str:
    """Draw a hierarchy file as a tree."""
    return draw(load_hierarchy(Path(path).stem, path), max_lines)


def check_hierarchy(path: str | Path, values: ColumnValues | None = None) -> Hierarchy:
    """Check a hierarchy file, and that it knows every value of a table's column.

    Raises:
        HierarchyError: it is not a tree with one root.
        UnknownValueError: the column holds values that it does not know.
    """
    tree = load_hierarchy(Path(path).stem if values is None else values.column, path)
    if values is not None:
        values.check(tree)
    return tree
