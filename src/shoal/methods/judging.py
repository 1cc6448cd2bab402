"""Judging the classes of a recoding by the exact models, in arithmetic that cannot overflow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.privacy import ClassSummary, PrivacyModel, Reference, expand
from shoal.core.report import ModelResult
from shoal.methods.domain import Domain
from shoal.methods.frequency import FrequencyTable
from shoal.methods.recoding import Recoding


def one_class(table: FrequencyTable) -> Recoding:
    """Return the recoding that puts all records into one class."""
    return Recoding(
        table=table,
        low=np.zeros((1, len(table.domains)), dtype=np.int32),
        high=np.zeros((1, len(table.domains)), dtype=np.int32),
        row=np.arange(table.rows),
        label=np.zeros(table.rows, dtype=np.int64),
        count=table.counts,
    )


def failing_classes(recoding: Recoding, models: Sequence[PrivacyModel]) -> NDArray[np.bool_]:
    """Say of each class whether it breaks a model.

    Closeness is judged against the released records, or, for a part of a table, against
    the whole table.
    """
    names = [domain.name for domain in recoding.table.sensitive_domains]
    wrong = np.zeros(recoding.classes, dtype=np.bool_)
    for model in expand(models, names):
        column = None if model.column is None else names.index(model.column)
        judged = _named(recoding, model, column)
        for number, summary in enumerate(_summaries(recoding, column)):
            wrong[number] |= not judged.holds(summary)
    return wrong


def judge_recoding(recoding: Recoding, models: Sequence[PrivacyModel]) -> Iterable[ModelResult]:
    """Judge the classes of a recoding by the exact models, for `learn`, which writes no table."""
    table = recoding.table
    names = [domain.name for domain in table.sensitive_domains]
    for model in expand(models, names):
        worst: float | None = None
        wrong = 0
        of_two = min if model.better == "high" else max
        column = None if model.column is None else names.index(model.column)
        judged = _named(recoding, model, column)
        for summary in _summaries(recoding, column):
            value = judged.measure(summary)
            worst = value if worst is None else of_two(worst, value)
            wrong += 0 if judged.holds(summary) else summary.records
        yield ModelResult(model=model, holds=not wrong, value=worst, violating_records=wrong)


def _summaries(recoding: Recoding, column: int | None) -> Iterable[ClassSummary]:
    if column is None:
        for size in recoding.sizes:
            yield ClassSummary(int(size))
        return
    table = recoding.table
    kept = recoding.label >= 0
    domain = table.sensitive_domains[column]
    values = table.sensitive[recoding.row[kept], column].astype(np.int64)
    histogram = np.zeros((recoding.classes, len(domain)), dtype=np.int64)
    np.add.at(histogram, (recoding.label[kept], values), recoding.count[kept])
    whole = histogram.sum(axis=0) if table.whole is None else table.whole[column]
    seen = seen_by_judges(domain, whole)
    for row in seen.histograms(histogram):
        yield ClassSummary(int(row.sum()), row.tolist(), reference=seen.reference)


class Seen(NamedTuple):
    """A sensitive column as whoever judges sees it.

    codes: those that have a place; places: where.
    """

    codes: NDArray[np.int64]
    places: NDArray[np.int64]
    reference: Reference

    def histograms(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the histograms by place; counts: by code, a row a class."""
        found = np.zeros((len(counts), len(self.reference.counts)), dtype=np.int64)
        found[:, self.places] = counts[:, self.codes]
        return found


def seen_by_judges(domain: Domain, totals: NDArray[np.int64]) -> Seen:
    """Return how a column is seen of which these records of each code are left.

    A value that is not there any more has no place in an order or a hierarchy that is built
    of the values; in a declared order it has.
    """
    present = np.flatnonzero(totals)
    if domain.scale is None:
        return Seen(present, np.arange(len(present)), _reference(totals, domain, present))
    labels = [domain.labels[code] for code in present]
    found = domain.scale.read(labels)
    places = np.array([found.place[label] for label in labels], dtype=np.int64)
    counts = np.zeros(len(found.labels), dtype=np.int64)
    counts[places] = totals[present]
    return Seen(present, places, found.reference(counts.tolist()))


def _named(recoding: Recoding, model: PrivacyModel, column: int | None) -> PrivacyModel:
    """Return a model whose named values are written as they are counted."""
    if column is None:
        return model
    scale = recoding.table.sensitive_domains[column].scale
    return model if scale is None else scale.named(model)


def _reference(totals: NDArray[np.int64], domain: Domain, present: NDArray[np.int64]) -> Reference:
    counts = totals[present].tolist()
    labels = [domain.labels[code] for code in present]
    if domain.ladder is None:
        return Reference(counts, values=labels)
    return Reference(
        counts,
        values=labels,
        parents=domain.ladder.parents,
        heights=domain.ladder.heights,
        node_of_value=domain.ladder_nodes()[present].tolist(),
    )
