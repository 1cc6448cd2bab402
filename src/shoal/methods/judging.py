"""Judging the classes of a recoding by the promise itself, in arithmetic that cannot overflow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.methods.frequency import FrequencyTable
from shoal.methods.recoding import Recoding
from shoal.methods.sensitive import named, sensitive_column
from shoal.privacy import EquivalenceClass, Promise, Verdict, expand, judge_classes


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


def failing_classes(recoding: Recoding, promises: Sequence[Promise]) -> NDArray[np.bool_]:
    """Say of each class whether it breaks a promise.

    Closeness is judged against the released records, or, for a part of a table, against
    the whole table.
    """
    wrong = np.zeros(recoding.classes, dtype=np.bool_)
    for verdict in judge_recoding(recoding, promises):
        wrong[list(verdict.failing)] = True
    return wrong


def judge_recoding(recoding: Recoding, promises: Sequence[Promise]) -> Iterator[Verdict]:
    """Judge the classes of a recoding, for `learn`, which writes no table."""
    domains = recoding.table.sensitive_domains
    names = [domain.name for domain in domains]
    for promise in expand(promises, names):
        if promise.column is None:
            yield judge_classes(promise, (EquivalenceClass(int(n)) for n in recoding.sizes))
            continue
        column = names.index(promise.column)
        verdict = judge_classes(named(promise, domains[column]), _classes(recoding, column))
        yield replace(verdict, model=promise)


def _classes(recoding: Recoding, column: int) -> Iterator[EquivalenceClass]:
    table = recoding.table
    kept = recoding.label >= 0
    domain = table.sensitive_domains[column]
    values = table.sensitive[recoding.row[kept], column].astype(np.int64)
    histogram = np.zeros((recoding.classes, len(domain)), dtype=np.int64)
    np.add.at(histogram, (recoding.label[kept], values), recoding.count[kept])
    whole = histogram.sum(axis=0) if table.whole is None else table.whole[column]
    seen = sensitive_column(domain, whole)
    for row in seen.histograms(histogram):
        yield EquivalenceClass(int(row.sum()), row.tolist(), reference=seen.reference)
