"""Fidelity: how near what a release shows is to the original. Formulas: docs/guides/measures.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document, Json
from shoal.measures.fidelity.columns import Column, Ints
from shoal.measures.fidelity.lines import correlation_changes, ks_distance
from shoal.measures.fidelity.marginals import Marginals
from shoal.measures.fidelity.propensity import propensity
from shoal.measures.fidelity.queries import QUERIES, query_errors
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding


@dataclass(frozen=True)
class Released:
    """The classes of a release, as their labels.

    Attributes:
        labels: for each column, its distinct labels and int64[classes], the one of each class.
        sizes: int64[classes], records.
    """

    labels: Sequence[tuple[Sequence[str | None], Ints]]
    sizes: Ints


def fidelity_of(table: FrequencyTable, released: Released, *, seed: int = 0) -> Document | None:
    """Compare the quasi-identifiers of a table with those of its release.

    Suppressed records are no part of the release: distributions are those of the others, and
    queries miss them. None: nothing is released, or nothing was recoded.

    Guarantee:
        The same table, release and seed give the same figures.
    """
    if not len(released.sizes) or not table.domains:
        return None
    columns = [
        Column(domain, _held(table, j, domain), *released.labels[j])
        for j, domain in enumerate(table.domains)
    ]
    codes, counts, sizes = table.codes, table.counts, released.sizes
    pairs = Marginals(columns, codes, counts, sizes)
    names = [each.domain.name for each in columns]
    gaps = {
        name: ks_distance(each, sizes)
        for name, each in zip(names, columns, strict=True)
        if each.is_line
    }
    all_records = max(table.records, int(sizes.sum()))
    told = propensity(columns, codes, counts, sizes, seed=seed)
    errors = query_errors(columns, codes, counts, sizes, seed=seed)
    return {
        "k_marginal": _rounded(pairs.score()),
        "pmse": None if told is None else _rounded(told.pmse),
        "pmse_ratio": None if told is None else _rounded(told.ratio),
        "query_error": {
            "mean": _rounded(errors.mean), "median": _rounded(errors.median), "queries": QUERIES,
        },
        "total_variation": dict(zip(names, map(_rounded, pairs.variations()), strict=True)),
        "kolmogorov_smirnov": {name: _rounded(gap) for name, gap in gaps.items()},
        "correlation_change": _change(correlation_changes(columns, codes, counts, sizes)),
        "association_change": _change(pairs.association_changes()),
        "unique_exact_matches": matches(table, columns),
        "sampled": {
            "pairs": pairs.sampled,
            "queries": errors.sampled,
            "pmse": None if told is None or told.records >= all_records else told.records,
        },
    }  # fmt: skip


def fidelity_of_recoding(recoding: Recoding) -> Document | None:
    """Compare a table with what a recoding of it releases."""
    columns = range(len(recoding.table.domains))
    labels = [recoding.distinct_labels(j) for j in columns]
    return fidelity_of(recoding.table, Released(labels, recoding.sizes))


def _held(table: FrequencyTable, column: int, domain: Domain) -> NDArray[np.float64]:
    found = np.bincount(table.codes[:, column], weights=table.counts, minlength=len(domain))
    return found.astype(np.float64)


def _change(found: Sequence[float]) -> Json:
    """Return the mean and the largest change, by size; None where nothing can be compared."""
    if not found:
        return None
    sizes = np.abs(found)
    return {"mean": _rounded(float(sizes.mean())), "largest": _rounded(float(sizes.max()))}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 9)


def matches(table: FrequencyTable, columns: Sequence[Column]) -> Document:
    """Count the unique tuples of the original that stand in the release as they are.

    SDNist's "unique exact matches": records that nobody else is like, and that somebody who looks
    for them finds word by word.
    """
    first = np.flatnonzero(np.diff(table.tuple_ids, prepend=-1))
    unique = first[table.tuple_sizes == 1]
    singles = [each.codes()[each.where] for each in columns]
    plain = np.all([each >= 0 for each in singles], axis=0)
    asked = [each[plain] for each in singles]
    known = [table.codes[unique, j].astype(np.int64) for j in range(len(columns))]
    found = 0
    if len(unique) and plain.any():
        found = int(np.isin(*_packed(known, asked)).sum())
    return {
        "records": found,
        "unique": len(unique),
        "share": _rounded(found / len(unique)) if len(unique) else None,
    }


def _packed(known: Sequence[Ints], asked: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Return one number for each tuple of both: equal numbers, equal tuples."""
    one, other = known[0], asked[0]
    for left, right in zip(known[1:], asked[1:], strict=True):
        size = int(max(left.max(initial=0), right.max(initial=0))) + 1
        if int(max(one.max(initial=0), other.max(initial=0))) >= 2**62 // size:
            dense = np.unique(np.concatenate((one, other)), return_inverse=True)[1]
            one, other = dense[: len(one)], dense[len(one) :]
        one, other = one * size + left, other * size + right
    return one, other
