"""Verification: what is written is read again and judged class by class.

Nothing here knows how a release came about. Classes are the distinct texts of
the quasi-identifier columns as they stand in the file; what a sensitive value is, and how
its column is ordered, says `schema.sensitive`; models are judged by `privacy` in exact
arithmetic; no kernel, domain or frequency table is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from shoal.core.errors import InputError
from shoal.engines.local.source import Source
from shoal.engines.local.types import holds_dates, texts_of
from shoal.model.batch import supersets
from shoal.privacy import (
    EquivalenceClass,
    Promise,
    Reference,
    Verdict,
    expand,
    judge_classes,
    judge_sizes,
)
from shoal.reports.release import Verification
from shoal.schema.schema import Kind, Schema
from shoal.schema.sensitive import Scale, Values, notices

_ROWS = "\x00rows"


def verify_source(source: Source, schema: Schema, models: Sequence[Promise]) -> Verification:
    """Judge the table as it is written.

    Raises:
        InputError: a column is missing, there is no record, or sensitive values do not fit
            their column's scale.
    """
    spread = expand(models, schema.sensitive)
    quasi = list(schema.quasi)
    columns = [*quasi, *dict.fromkeys(str(m.column) for m in spread if m.column is not None)]
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
    secret = columns[len(quasi) :]
    seen = {name: _Spread.read(cells, classes, Scale.of(schema, name, spread)) for name in secret}
    for model in spread:
        if model.column is None:
            verdict = judge_sizes(model, sizes.to_list())
        else:
            verdict = seen[model.column].judge(model)
        failed.update(verdict.failing)
        results.append(verdict)
    return Verification(
        records=int(sizes.sum()),
        classes=classes.height,
        smallest_class=int(sizes.min()),  # type: ignore[arg-type]
        violating_records=int(sizes.gather(sorted(failed)).sum()) if failed else 0,
        privacy=tuple(results),
        warnings=notices({name: found.values for name, found in seen.items()}),
    )


@dataclass(frozen=True)
class _Spread:
    """One sensitive column: its values per class, and in the whole table."""

    scale: Scale
    values: Values
    keys: list[tuple[Any, ...]]  # the classes, as their released tuples
    counts: list[dict[int, int]]  # for each class: records per place of a value
    reference: Reference

    @classmethod
    def read(cls, cells: pl.DataFrame, classes: pl.DataFrame, scale: Scale) -> _Spread:
        quasi = [name for name in classes.columns if name != _ROWS]
        raw = cells[scale.attribute.name]
        scale = scale.declared(Kind.DATE) if holds_dates(raw.dtype) else scale
        texts = texts_of(raw)
        text_of = {text: scale.text(text) for text in texts.unique().to_list()}
        values = scale.read(text_of.values())
        places = [values.place[text_of[text]] for text in texts.to_list()]
        where = pl.Series("\x00place", places, dtype=pl.Int64)
        number = classes.select(quasi).with_row_index("\x00class")
        joined = cells.select([*quasi, _ROWS]).with_columns(where)
        joined = joined.join(number, on=quasi, how="left", nulls_equal=True)
        summed = joined.group_by(["\x00class", "\x00place"]).agg(pl.col(_ROWS).sum())
        counts: list[dict[int, int]] = [{} for _ in range(classes.height)]
        totals = [0] * len(values.labels)
        for which, position, rows in summed.select("\x00class", "\x00place", _ROWS).iter_rows():
            counts[which][position] = rows
            totals[position] += rows
        keys = classes.select(quasi).rows()
        return cls(scale, values, keys, counts, values.reference(totals))

    def judge(self, model: Promise) -> Verdict:
        """Judge every class; the sets of records around one are looked at where it fails."""
        known: dict[Any, Mapping[int, int]] = {}

        def widen(number: int) -> EquivalenceClass:
            known.update({} if known else zip(self.keys, self.counts, strict=True))
            wider = supersets(
                self.keys[number], known, least=model.least_superset, size=len(self.values.labels)
            )
            return replace(self._seen(number), supersets=wider)

        asked = self.scale.named(model)
        compared = model.compares or getattr(asked, "values", None) is not None
        view = self._seen if compared else self._alone
        classes = map(view, range(len(self.counts)))
        return replace(judge_classes(asked, classes, widen=widen), model=model)

    def _seen(self, number: int) -> EquivalenceClass:
        counts = self.counts[number]
        dense = [counts.get(place, 0) for place in range(len(self.reference.counts))]
        return EquivalenceClass(sum(dense), dense, reference=self.reference)

    def _alone(self, number: int) -> EquivalenceClass:
        """Return a class for a promise that compares it with nothing: only what it holds."""
        counts = list(self.counts[number].values())
        return EquivalenceClass(sum(counts), counts)
