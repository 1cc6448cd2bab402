"""Tables with a column of sets: read, recoded, written, read again and judged."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError
from shoal.engines.itemsets import CountedSets
from shoal.engines.local.source import Source, open_source
from shoal.engines.local.write import write_frame
from shoal.engines.refusals import check_columns
from shoal.formats.csv_file import CsvFile
from shoal.hierarchies.tree import Hierarchy
from shoal.privacy import EquivalenceClass, Promise, Verdict, judge_classes
from shoal.privacy.of_sets import named_items, speaks_of_sets
from shoal.schema.attribute import Attribute
from shoal.schema.schema import Schema
from shoal.table.baskets import Baskets, SetRecoding
from shoal.table.item_labels import check_items, nodes_of, read_label, write_label

BASKETS = (".basket", ".baskets")
"""Endings of files with a record a line and nothing but its items."""
_BARE = (".txt", ".dat")  # … or a table with one column; its first line tells
_ROW, _ITEM = "\x00row", "\x00item"


@dataclass(frozen=True, eq=False, repr=False)
class SetTable:
    """A table that was read whole: its other columns, and its sets.

    Attributes:
        others: every column but that of the sets.
        sets: a list of texts a record; none is missing.
        attribute: the column of the sets.
        is_bare: it came as a file of baskets.
    """

    source: Source
    others: pl.DataFrame
    sets: pl.Series
    attribute: Attribute
    is_bare: bool = False

    @property
    def where(self) -> str:
        """Return what the table is called in messages."""
        return self.source.where

    def baskets(self) -> Baskets:
        """Return the sets as numbers.

        Raises:
            InputError: items hold the separator.
        """
        found = baskets_of(self.sets)
        check_items(found.items, self.attribute.set_sep, self.where)
        return found


def opens_bare(table: object, schema: Schema) -> bool:
    """Say whether a table is a file with a record a line and nothing but its items."""
    if not isinstance(table, (str, Path, CsvFile)):
        return False
    path = Path(table)
    if path.suffix.lower() in BASKETS:
        return True
    if path.suffix.lower() not in _BARE or len(schema.attributes) != 1 or not path.is_file():
        return False
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return schema.attributes[0].name not in file.readline().rstrip("\r\n").split("\t")


def open_sets(
    table: object, schema: Schema, names: Sequence[str], *, separator: str | None = None
) -> SetTable:
    """Read some columns of a table, and its sets.

    Raises:
        InputError: a column is missing, or holds something else than sets.
    """
    attribute = schema.attribute(schema.sets[0])
    if opens_bare(table, schema):
        return _open_bare(Path(str(table)), attribute)
    source = open_source(table, separator=separator)
    check_columns(source.where, source.columns, [*names, attribute.name])
    wanted = [*names, attribute.name]
    if source.shape is None and source.frame is not None:  # lists are no plain values
        frame = source.collect(source.frame.select(wanted))
    else:
        frame = source.collect(source.scan(wanted))
    sets = read_sets(frame[attribute.name], attribute, source.where, tuple(schema.missing))
    return SetTable(source, frame.select(names), sets, attribute)


def _open_bare(path: Path, attribute: Attribute) -> SetTable:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        problem = f"cannot be read as a file of baskets ({type(error).__name__})"
        raise InputError(where=str(path), problem=problem) from None
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    cells = pl.Series(attribute.name, [line.removesuffix("\r") for line in lines], dtype=pl.String)
    source = open_source(pl.DataFrame([cells]))
    source = replace(source, where=str(path), format="baskets", given=str(path))
    return SetTable(
        source, pl.DataFrame(height=cells.len()), read_sets(cells, attribute, str(path)), attribute,
        is_bare=True,
    )  # fmt: skip


def read_sets(
    column: pl.Series, attribute: Attribute, where: str, missing: Sequence[str] = ()
) -> pl.Series:
    """Return the cells of a column as lists of different texts; an empty cell is an empty set.

    Raises:
        InputError: it holds something else.
    """
    kind = column.dtype
    if kind in (pl.Categorical, pl.Enum):
        column, kind = column.cast(pl.String), pl.String()
    if kind == pl.Null:
        column = pl.Series(column.name, [""] * column.len(), dtype=pl.String)
    elif isinstance(kind, (pl.List, pl.Array)) and not kind.inner.is_nested():
        column = column.cast(pl.List(pl.String))
    elif kind != pl.String:
        problem = f"column {attribute.name!r} holds no sets; write them as texts or lists"
        raise InputError(where=where, problem=problem)
    if column.dtype == pl.String:
        column = _split(column, attribute, where, missing)
    no_text = pl.element().is_not_null() & (pl.element() != "")
    lists = column.to_frame("s").select(
        pl.col("s").list.eval(pl.element().filter(no_text).unique().sort())
    )
    return lists["s"].fill_null([]).rename(attribute.name)


def _split(
    column: pl.Series, attribute: Attribute, where: str, missing: Sequence[str]
) -> pl.Series:
    if missing:
        column = column.set(column.is_in(list(missing)).fill_null(False), None)
    if attribute.set_sep != "json":
        return column.fill_null("").str.split(attribute.set_sep)
    try:
        return column.fill_null("[]").str.json_decode(pl.List(pl.String))
    except pl.exceptions.PolarsError:
        problem = f"column {attribute.name!r}: a cell is not a list of texts in JSON"
        raise InputError(where=where, problem=problem) from None


def baskets_of(sets: pl.Series) -> Baskets:
    """Return lists of different texts as numbers; items in the order of their names."""
    flat = pl.DataFrame({_ROW: np.arange(sets.len()), _ITEM: sets}).explode(_ITEM).drop_nulls()
    items = flat[_ITEM].unique().sort()
    codes = flat[_ITEM].cast(pl.Enum(items)).to_physical() if items.len() else flat[_ITEM]
    flat = flat.with_columns(codes.cast(pl.Int32).alias(_ITEM)).sort(_ROW, _ITEM)
    starts = np.searchsorted(flat[_ROW].to_numpy(), np.arange(sets.len() + 1))
    return Baskets(tuple(items.to_list()), starts.astype(np.int64), flat[_ITEM].to_numpy())


def label_texts(recoding: SetRecoding, attribute: Attribute) -> list[str]:
    """Return how each label is written; all are different."""
    items = recoding.baskets.items
    sep = attribute.set_sep
    nodes = nodes_of(tree_of(attribute), items)
    names = [[items[item] for item in label] for label in recoding.labels]
    found = []
    for each in names:
        node = nodes.get(frozenset(each))
        found.append(write_label(each, sep) if node is None or sep in node else node)
    return found


def tree_of(attribute: Attribute) -> Hierarchy | None:
    """Return the hierarchy of its items."""
    return attribute.hierarchy if isinstance(attribute.hierarchy, Hierarchy) else None


def released_sets(recoding: SetRecoding, attribute: Attribute, *, as_list: bool) -> pl.Series:
    """Return the released cells: labels in their order of letters, or lists of them."""
    starts, codes = recoding.released()
    texts = pl.Series(label_texts(recoding, attribute), dtype=pl.String)
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    flat = pl.DataFrame(
        {_ROW: row, _ITEM: texts.gather(codes)}, schema={_ROW: pl.Int64, _ITEM: pl.String}
    )
    lists = flat.sort(_ROW, _ITEM).group_by(_ROW, maintain_order=True).agg(_ITEM)
    every = pl.DataFrame({_ROW: np.arange(len(starts) - 1)}).join(
        lists, on=_ROW, how="left", maintain_order="left"
    )
    found = every[_ITEM].fill_null([]).rename(attribute.name)
    return found if as_list else written_sets(found, attribute)


def written_sets(lists: pl.Series, attribute: Attribute) -> pl.Series:
    """Return lists of texts as the cells of a column of sets."""
    if attribute.set_sep == "json":
        texts = [json.dumps(each, ensure_ascii=False) for each in lists.to_list()]
        return pl.Series(lists.name, texts, dtype=pl.String)
    return lists.list.join(attribute.set_sep)


def write_sets(
    frame: pl.DataFrame, path: Path, like: SetTable, *, spreadsheet_safe: bool | None
) -> None:
    """Write a released table, or, where the ending says so, a file of baskets."""
    if path.suffix.lower() in BASKETS or (like.is_bare and path.suffix.lower() in _BARE):
        lines = frame[like.attribute.name].to_list()
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return
    write_frame(frame, path, separator=like.source.separator, spreadsheet_safe=spreadsheet_safe)


def numbered(frame: pl.DataFrame, records: int) -> NDArray[np.int64]:
    """Return the class of each record by all columns of a frame; one class where it has none."""
    if not frame.width:
        return np.zeros(records, dtype=np.int64)
    rank = frame.select(pl.struct(pl.all()).rank("dense")).to_series()
    return rank.to_numpy().astype(np.int64) - 1


def covers_of(
    labels: Sequence[str], attribute: Attribute, wanted: Sequence[str]
) -> dict[str, tuple[int, ...]]:
    """Return, for items that are asked about, the labels that may stand for each."""
    stands = items_of(labels, attribute)
    return {
        item: tuple(n for n, members in enumerate(stands) if item in members) for item in wanted
    }


def items_of(labels: Sequence[str], attribute: Attribute) -> list[frozenset[str]]:
    """Return the items that each released label may stand for; nodes of a hierarchy, its leaves."""
    tree, found = tree_of(attribute), []
    below: Mapping[str, frozenset[str]] = {}
    if tree is not None:
        below = {
            tree.labels[node]: frozenset(
                tree.labels[leaf] for leaf in tree.leaves if tree.first[node] <= leaf <= node
            )
            for node in range(len(tree))
            if tree.first[node] != node
        }
    for label in labels:
        plain = frozenset(read_label(label, attribute.set_sep))
        found.append(below.get(label, plain) | ({label} if label in below else frozenset()))
    return found


def judged_sets(
    table: SetTable, quasi: Sequence[str], promise: Sequence[Promise]
) -> tuple[list[Verdict], NDArray[np.int64], tuple[str, ...]]:
    """Judge the sets of every class of the other quasi-identifiers.

    Returns:
        The verdicts, the sizes of the classes, and what to say of the rarest sets.

    Raises:
        InputError: there is no record.
    """
    number = numbered(table.others.select(quasi), table.sets.len())
    if not number.size:
        raise InputError(where=table.where, problem="no record to judge")
    models = [model for model in promise if speaks_of_sets(model)]
    baskets = baskets_of(table.sets)
    wanted = sorted({item for model in models for item in named_items(model)})
    covers = covers_of(baskets.items, table.attribute, wanted)
    order = np.argsort(number, kind="stable")
    bounds = np.searchsorted(number[order], np.arange(int(number.max()) + 2))
    classes, rarest = [], set()
    for at in range(len(bounds) - 1):
        part, _ = baskets.part(order[bounds[at] : bounds[at + 1]])
        counted = counted_sets(part, covers)
        classes.append(EquivalenceClass(part.records, itemsets=counted))
    verdicts = [judge_classes(model, classes) for model in models]
    for verdict in verdicts:
        for at in verdict.failing[:1000]:
            m = getattr(verdict.model, "m", None)
            sets = classes[at].itemsets
            if verdict.model.name == "km-anonymity" and sets is not None:
                rarest.add(sets.rarest(m))
    notes = []
    if rarest:
        support, size = min(rarest)
        notes.append(f"a set of {size} items is held by {support} records of a class only")
    return verdicts, np.diff(bounds), tuple(notes)


def lowest_supports(
    baskets: Baskets, number: NDArray[np.int64], known: Sequence[int | None]
) -> dict[int | None, NDArray[np.int64]]:
    """Return the least support of so many items of each record, within its class."""
    found = {m: np.empty(number.size, dtype=np.int64) for m in known}
    order = np.argsort(number, kind="stable")
    bounds = np.searchsorted(number[order], np.arange(int(number.max()) + 2))
    for start, end in pairwise(bounds.tolist()):
        part, _ = baskets.part(order[start:end])
        counted = counted_sets(part, {})
        for m in known:
            found[m][order[start:end]] = counted.lowest(m)[0]
    return found


def counted_sets(part: Baskets, covers: Mapping[str, Sequence[int]]) -> CountedSets:
    """Return the sets of one class for the judge, numbered by the labels that occur in it."""
    used, codes = np.unique(part.codes, return_inverse=True)
    place = {int(label): n for n, label in enumerate(used)}
    here = {i: [place[label] for label in found if label in place] for i, found in covers.items()}
    return CountedSets(part.starts, codes.astype(np.int32), used.size, here)
