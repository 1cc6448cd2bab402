"""Verification: what is written is read again and judged class by class.

Nothing here knows how a release came about. Classes are the distinct texts of
the quasi-identifier columns as they stand in the file; models are judged by
`core.privacy` in exact arithmetic; no kernel, domain or frequency table is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import combinations
from typing import Any

import polars as pl

from shoal.core.errors import InputError
from shoal.core.hierarchy import Hierarchy
from shoal.core.privacy import (
    ClassSummary,
    KAnonymity,
    NTCloseness,
    PrivacyModel,
    Reference,
    TCloseness,
    expand,
)
from shoal.core.report import ModelResult, Verification
from shoal.core.schema import Attribute, Kind, Schema
from shoal.engines.local.source import Source

_ROWS = "\x00rows"
_MOST_SUBSETS = 1024  # of columns, tried as natural supersets for (n,t)-closeness


def verify_source(source: Source, schema: Schema, models: Sequence[PrivacyModel]) -> Verification:
    """Judge the table as it is written.

    Raises:
        InputError: a column is missing, or there is no record.
    """
    spread = expand(models, schema.sensitive)
    quasi = list(schema.quasi)
    columns = [*quasi, *dict.fromkeys(m.column for m in spread if m.column is not None)]
    absent = [name for name in columns if name not in source.columns]
    if absent:
        named = ", ".join(repr(name) for name in absent)
        raise InputError(where=source.where, problem=f"has no column {named}; check the names")
    lazy = source.scan(columns, coded=columns)
    cells = source.collect(lazy.group_by(columns).agg(source.records.alias(_ROWS)))
    classes = cells.group_by(quasi).agg(pl.col(_ROWS).sum())
    if not classes.height:
        raise InputError(
            where=source.where, problem="the table has a header but no record; bring some"
        )
    sizes = classes[_ROWS]
    failed: set[int] = set()
    results = []
    for model in spread:
        if isinstance(model, KAnonymity):
            wrong = [] if sizes.min() >= model.k else (sizes < model.k).arg_true().to_list()  # type: ignore[operator]
            value: float | None = int(sizes.min())  # type: ignore[arg-type]
        else:
            spread_of = _Spread.read(cells, classes, schema.attribute(str(model.column)), schema)
            wrong, value = spread_of.judge(model)
        failed.update(wrong)
        violating = int(sizes.gather(wrong).sum()) if wrong else 0
        results.append(
            ModelResult(model=model, holds=not wrong, value=value, violating_records=violating)
        )
    return Verification(
        records=int(sizes.sum()),
        classes=classes.height,
        smallest_class=int(sizes.min()),  # type: ignore[arg-type]
        violating_records=int(sizes.gather(sorted(failed)).sum()) if failed else 0,
        privacy=tuple(results),
    )


@dataclass(frozen=True)
class _Spread:
    """One sensitive column: its values per class, and in the whole table."""

    keys: list[tuple[Any, ...]]  # the classes, as their released tuples
    counts: list[dict[int, int]]  # for each class: records per position of a value
    reference: Reference

    @classmethod
    def read(
        cls, cells: pl.DataFrame, classes: pl.DataFrame, attribute: Attribute, schema: Schema
    ) -> _Spread:
        quasi = [name for name in classes.columns if name != _ROWS]
        texts = cells[attribute.name].cast(pl.String)
        place, reference_values = _positions(texts.unique().to_list(), attribute, schema.missing)
        where = pl.Series("\x00place", [place[text] for text in texts.to_list()], dtype=pl.Int64)
        number = classes.select(quasi).with_row_index("\x00class")
        joined = cells.select([*quasi, _ROWS]).with_columns(where)
        joined = joined.join(number, on=quasi, how="left", nulls_equal=True)
        summed = joined.group_by(["\x00class", "\x00place"]).agg(pl.col(_ROWS).sum())
        counts: list[dict[int, int]] = [{} for _ in range(classes.height)]
        totals = [0] * len(reference_values)
        for which, position, rows in summed.select("\x00class", "\x00place", _ROWS).iter_rows():
            counts[which][position] = rows
            totals[position] += rows
        reference = _reference(totals, reference_values, attribute)
        return cls(keys=classes.select(quasi).rows(), counts=counts, reference=reference)

    def judge(self, model: PrivacyModel) -> tuple[list[int], float | None]:
        """Return the classes that fail, and the worst measure."""
        worst: float | None = None
        wrong = []
        of_two = min if model.better == "high" else max
        for number in range(len(self.counts)):
            summary = self._summary(number, model)
            value = model.measure(summary)
            holds = model.holds(summary)
            if not holds and isinstance(model, NTCloseness):
                summary = self._with_supersets(number, model)
                value, holds = model.measure(summary), model.holds(summary)
            worst = value if worst is None else of_two(worst, value)
            if not holds:
                wrong.append(number)
        return wrong, worst

    def _summary(self, number: int, model: PrivacyModel) -> ClassSummary:
        counts = self.counts[number]
        records = sum(counts.values())
        if isinstance(model, (TCloseness, NTCloseness)) or getattr(model, "values", None):
            return ClassSummary(records, self._dense(counts), reference=self.reference)
        return ClassSummary(records, list(counts.values()))

    def _dense(self, counts: Mapping[int, int]) -> list[int]:
        return [counts.get(position, 0) for position in range(len(self.reference.counts))]

    def _with_supersets(self, number: int, model: NTCloseness) -> ClassSummary:
        """Try the sets of classes that agree with this one on some quasi-identifiers.

        These are its natural supersets: what generalizing the other columns to their
        root would make of it. Sets that drop fewer columns come first.
        """
        width = len(self.keys[number])
        kept = (
            keep
            for dropped in range(1, width)
            for keep in combinations(range(width), width - dropped)
        )
        wider = []
        for keep, _ in zip(kept, range(_MOST_SUBSETS), strict=False):
            mine = tuple(self.keys[number][i] for i in keep)
            total: dict[int, int] = {}
            for key, counts in zip(self.keys, self.counts, strict=True):
                if tuple(key[i] for i in keep) == mine:
                    for position, rows in counts.items():
                        total[position] = total.get(position, 0) + rows
            if sum(total.values()) >= model.n:
                wider.append((sum(total.values()), self._dense(total)))
        counts = self.counts[number]
        return ClassSummary(
            sum(counts.values()),
            self._dense(counts),
            reference=self.reference,
            supersets=wider,
        )


def _positions(
    texts: Iterable[str | None], attribute: Attribute, marks: Sequence[str]
) -> tuple[dict[str | None, int], list[str | None]]:
    """Return the position of each text in the column's own order; the missing value is first.

    Texts that mean the same value (1 and 1.0) share a position.
    """
    listed = list(texts)
    absent = {"", *marks}
    present = [t for t in listed if t is not None and t not in absent and t.strip() not in absent]
    # A declared order is the whole scale, whether or not each step of it occurs.
    order = _order([*present, *attribute.order], attribute)
    ranks = sorted(set(order.values()))
    shift = 1 if len(present) < len(listed) else 0
    rank = {key: i + shift for i, key in enumerate(ranks)}
    place: dict[str | None, int] = dict.fromkeys(listed, 0)
    place.update({text: rank[order[text]] for text in present})
    values: list[str | None] = [None] * (len(ranks) + shift)
    for text in order:
        values[rank[order[text]]] = text.strip()
    return place, values


def _order(texts: Sequence[str], attribute: Attribute) -> dict[str, Any]:
    """Return the key by which each text is ordered: its kind decides, then its hierarchy."""
    if attribute.order:
        rank = {value: i for i, value in enumerate(attribute.order)}
        return {text: (rank.get(text.strip(), len(rank)), text.strip()) for text in texts}
    if attribute.kind in (None, Kind.NUMERIC):
        numbers = {text: _number(text) for text in texts}
        zeros = any(t.strip()[:1] == "0" and t.strip()[1:2].isdigit() for t in texts)
        if texts and None not in numbers.values() and (attribute.kind is not None or not zeros):
            return numbers
    if attribute.kind is Kind.DATE:
        return {text: _moment(text) for text in texts}
    tree = _tree(attribute, texts)
    if tree is not None:
        nodes = {t: tree.get(t) if tree.get(t) is not None else tree.get(t.strip()) for t in texts}
        return {t: (len(tree) if nodes[t] is None else nodes[t], t.strip()) for t in texts}
    return {text: text for text in texts}


def _tree(attribute: Attribute, texts: Sequence[str]) -> Hierarchy | None:
    """Return the column's hierarchy; one that is only described is built for these texts."""
    if attribute.hierarchy is None or isinstance(attribute.hierarchy, Hierarchy):
        return attribute.hierarchy
    return attribute.hierarchy.build(attribute.name, sorted({text.strip() for text in texts}))


def _number(text: str) -> Decimal | None:
    try:
        value = Decimal(text.strip().replace("_", "x"))
    except ArithmeticError:
        return None
    return value if value.is_finite() else None


def _moment(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo is None else moment.astimezone(UTC)).isoformat()
    except ValueError:
        return text


def _reference(
    totals: Sequence[int], values: Sequence[str | None], attribute: Attribute
) -> Reference:
    tree = _tree(attribute, [value for value in values if value is not None])
    if tree is None:
        return Reference(totals, values=values)
    nodes = [-1 if value is None else tree.get(value) for value in values]
    return Reference(
        totals,
        values=values,
        parents=tree.parents,
        heights=tree.heights,
        node_of_value=[-1 if node is None else node for node in nodes],
    )
