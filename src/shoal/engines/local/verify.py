"""Verification: what is written is read again and judged class by class.

Nothing here knows how a release came about. Classes are the distinct texts of
the quasi-identifier columns as they stand in the file; what a sensitive value is, and how
its column is ordered, says `core.sensitive`; models are judged by `core.privacy` in exact
arithmetic; no kernel, domain or frequency table is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from shoal.core.errors import InputError
from shoal.core.model_judge import supersets
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
from shoal.core.schema import Kind, Schema
from shoal.core.sensitive import Scale, Values, notices
from shoal.engines.local.source import Source
from shoal.engines.local.types import holds_dates, texts_of

_ROWS = "\x00rows"


def verify_source(source: Source, schema: Schema, models: Sequence[PrivacyModel]) -> Verification:
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
        if isinstance(model, KAnonymity):
            wrong = [] if sizes.min() >= model.k else (sizes < model.k).arg_true().to_list()  # type: ignore[operator]
            value: float | None = int(sizes.min())  # type: ignore[arg-type]
        else:
            wrong, value = seen[str(model.column)].judge(model)
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

    def judge(self, model: PrivacyModel) -> tuple[list[int], float | None]:
        """Return the classes that fail, and the worst measure."""
        worst: float | None = None
        wrong = []
        of_two = min if model.better == "high" else max
        asked = self.scale.named(model)
        known: dict[Any, Mapping[int, int]] = {}
        for number in range(len(self.counts)):
            summary = self._summary(number, asked)
            value = asked.measure(summary)
            holds = asked.holds(summary)
            if not holds and isinstance(asked, NTCloseness):
                known = known or dict(zip(self.keys, self.counts, strict=True))
                size = len(self.values.labels)
                wider = supersets(self.keys[number], known, least=asked.n, size=size)
                summary = replace(summary, supersets=wider)
                value, holds = asked.measure(summary), asked.holds(summary)
            worst = value if worst is None else of_two(worst, value)
            if not holds:
                wrong.append(number)
        return wrong, worst

    def _summary(self, number: int, model: PrivacyModel) -> ClassSummary:
        counts = self.counts[number]
        records = sum(counts.values())
        if isinstance(model, (TCloseness, NTCloseness)) or getattr(model, "values", None):
            places = range(len(self.reference.counts))
            dense = [counts.get(place, 0) for place in places]
            return ClassSummary(records, dense, reference=self.reference)
        return ClassSummary(records, list(counts.values()))
