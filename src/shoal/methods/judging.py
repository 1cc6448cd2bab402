"""Judging the classes of a recoding by the exact models, in arithmetic that cannot overflow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

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
        for number, summary in enumerate(_summaries(recoding, column)):
            wrong[number] |= not model.holds(summary)
    return wrong


def judge_recoding(recoding: Recoding, models: Sequence[PrivacyModel]) -> Iterable[ModelResult]:
    """Judge the classes of a recoding by the exact models, for `learn`, which writes no table."""
    table = recoding.table
    names = [domain.name for domain in table.sensitive_domains]
    for model in expand(models, names):
        worst: float | None = None
        wrong = 0
        of_two = min if model.better == "high" else max
        summaries = _summaries(
            recoding, None if model.column is None else names.index(model.column)
        )
        for summary in summaries:
            value = model.measure(summary)
            worst = value if worst is None else of_two(worst, value)
            wrong += 0 if model.holds(summary) else summary.records
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
    reference = _reference(whole, domain)
    for row in histogram:
        yield ClassSummary(int(row.sum()), row.tolist(), reference=reference)


def _reference(counts: Any, domain: Domain) -> Reference:
    if domain.ladder is None:
        return Reference(counts.tolist(), values=domain.labels)
    return Reference(
        counts.tolist(),
        values=domain.labels,
        parents=domain.ladder.parents,
        heights=domain.ladder.heights,
        node_of_value=[int(node) for node in domain.ladder_nodes()],
    )
