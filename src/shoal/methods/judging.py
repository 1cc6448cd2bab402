"""Judging the classes of a recoding by the promise itself, in arithmetic that cannot overflow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.methods.alike import Histograms, for_all, reads_places
from shoal.methods.sensitive import SensitiveColumn, named, sensitive_column
from shoal.privacy import EquivalenceClass, Promise, Verdict, expand, judge_classes, judge_sizes
from shoal.table.frequency import ONCE, FrequencyTable, distinct
from shoal.table.recoding import Recoding


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

    Closeness is judged against the released records, or, for a partition of a table, against
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
            held = None if recoding.table.persons is None else recoding.sizes.tolist()
            yield judge_sizes(promise, recoding.persons.tolist(), held=held)
            continue
        column = names.index(promise.column)
        asked = named(promise, domains[column])
        if not recoding.classes:  # all are suppressed: there is nothing to compare with
            verdict = judge_classes(asked, ())
        elif recoding.table.persons is None:
            verdict = _judged(recoding, column, asked)
        else:
            verdict = judge_classes(asked, _classes_of_persons(recoding, column))
        yield replace(verdict, model=promise)


def _judged(recoding: Recoding, column: int, asked: Promise) -> Verdict:
    """Judge the classes by their records of each value; those that are alike, once."""
    table = recoding.table
    kept = recoding.label >= 0
    domain = table.sensitive_domains[column]
    values, count = (
        table.sensitive[recoding.row[kept], column].astype(np.int64),
        recoding.count[kept],
    )
    whole = np.bincount(values, count, minlength=len(domain)).astype(np.int64)
    seen = sensitive_column(domain, whole if table.whole is None else table.whole[column])
    found = Histograms.of(recoding.label[kept], values, count, recoding.classes)
    first, which = (found if reads_places(asked) else found.by_count()).alike()
    verdict = judge_classes(
        asked, _seen(found, first, seen, len(domain)), times=np.bincount(which).tolist()
    )
    return for_all(verdict, which)


def _seen(
    found: Histograms, classes: NDArray[np.int64], seen: SensitiveColumn, size: int
) -> Iterator[EquivalenceClass]:
    for number in classes.tolist():
        own = found.of_class(number)
        counts = np.zeros((1, size), dtype=np.int64)
        counts[0, list(own)] = list(own.values())
        row = seen.histograms(counts)[0]
        yield EquivalenceClass(int(row.sum()), row.tolist(), reference=seen.reference)


def _distinct_rows(*columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the different rows of columns, none of them negative, sorted."""
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    if math.prod(sizes) >= 2**62:
        return np.unique(np.stack(columns, axis=1), axis=0)
    packed = np.zeros(len(columns[0]), dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        packed = packed * size + column
    packed, found = distinct(packed), []
    for size in sizes[::-1]:
        packed, rest = np.divmod(packed, size)
        found.append(rest)
    return np.stack(found[::-1], axis=1)


def _classes_of_persons(recoding: Recoding, column: int) -> Iterator[EquivalenceClass]:
    """Yield the classes by their different (person, value) pairs.

    Closeness is judged against the pairs of the released records, or of the whole table.
    """
    table = recoding.table
    assert table.persons is not None
    kept = recoding.label >= 0
    row, label, count = recoding.row[kept], recoding.label[kept], recoding.count[kept]
    who = table.persons[row].astype(np.int64)
    domain = table.sensitive_domains[column]
    size = max(len(domain), 1)
    value = table.sensitive[row, column].astype(np.int64)
    histogram = np.zeros((recoding.classes, size), dtype=np.int64)
    once = who == ONCE
    np.add.at(histogram, (label[once], value[once]), count[once])
    whole = histogram.sum(axis=0)
    known = who >= 0
    pairs = _distinct_rows(label[known], who[known], value[known])
    np.add.at(histogram, (pairs[:, 0], pairs[:, 2]), 1)
    anywhere = _distinct_rows(pairs[:, 1], pairs[:, 2])
    whole += np.bincount(anywhere[:, 1], minlength=size)
    persons = int(count[once].sum()) + len(distinct(pairs[:, 1].copy()))
    if not persons:  # records of nobody: there is nothing to compare with
        for records in recoding.sizes.tolist():
            yield EquivalenceClass(0, several=(), held=records)
        return
    if table.whole_people is not None:
        whole, persons = table.people_by_value(column), table.whole_people[1]
    seen = sensitive_column(domain, whole, persons=persons)
    place = np.full(size, -1, dtype=np.int64)
    place[seen.codes] = seen.places
    several = _several(pairs, place, recoding.classes)
    sizes = zip(recoding.persons.tolist(), recoding.sizes.tolist(), several, strict=True)
    for counts, (people, records, values) in zip(seen.histograms(histogram), sizes, strict=True):
        yield EquivalenceClass(
            people, counts.tolist(), reference=seen.reference, several=values, held=records
        )


def _several(
    pairs: NDArray[np.int64], place: NDArray[np.int64], classes: int
) -> list[list[list[int]]]:
    """Return, for each class, the places of the values of those who have several in it.

    pairs: class, person and value, sorted and distinct.
    """
    found: list[list[list[int]]] = [[] for _ in range(classes)]
    if not len(pairs):
        return found
    fresh = np.ones(len(pairs), dtype=np.bool_)
    fresh[1:] = (pairs[1:, :2] != pairs[:-1, :2]).any(axis=1)
    starts = np.flatnonzero(fresh)
    ends = np.append(starts[1:], len(pairs))
    for begin, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if end - begin > 1:
            found[int(pairs[begin, 0])].append(place[pairs[begin:end, 2]].tolist())
    return found
