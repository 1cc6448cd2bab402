"""A sensitive column of a frequency table as whoever judges a release sees it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.privacy import Promise, Reference
from shoal.table.domain import Domain


class SensitiveColumn(NamedTuple):
    """Which codes have a place in the column's order, where, and how often each place occurs."""

    codes: NDArray[np.int64]
    places: NDArray[np.int64]
    reference: Reference

    def histograms(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the histograms by place; counts: by code, a row a class."""
        found = np.zeros((len(counts), len(self.reference.counts)), dtype=np.int64)
        found[:, self.places] = counts[:, self.codes]
        return found


def sensitive_column(
    domain: Domain, totals: NDArray[np.int64], *, persons: int | None = None
) -> SensitiveColumn:
    """Return how a column is seen of which these records of each code are left.

    A value that is not there any more has no place in an order or a hierarchy that is built
    of the values; in a declared order it has. persons: how many there are, where the totals
    are of persons.
    """
    present = np.flatnonzero(totals)
    if domain.scale is None:
        reference = _reference(totals, domain, present, persons)
        return SensitiveColumn(present, np.arange(len(present)), reference)
    labels = [domain.labels[code] for code in present]
    found = domain.scale.read(labels)
    places = np.array([found.place[label] for label in labels], dtype=np.int64)
    counts = np.zeros(len(found.labels), dtype=np.int64)
    counts[places] = totals[present]
    return SensitiveColumn(present, places, found.reference(counts.tolist(), persons=persons))


def named(promise: Promise, domain: Domain) -> Promise:
    """Return a promise whose named values are written as they are counted."""
    return promise if domain.scale is None else domain.scale.named(promise)


def _reference(
    totals: NDArray[np.int64], domain: Domain, present: NDArray[np.int64], persons: int | None
) -> Reference:
    counts = totals[present].tolist()
    labels = [domain.labels[code] for code in present]
    if domain.ladder is None:
        return Reference(counts, values=labels, persons=persons)
    return Reference(
        counts,
        persons=persons,
        values=labels,
        parents=domain.ladder.parents,
        heights=domain.ladder.heights,
        node_of_value=domain.ladder_nodes()[present].tolist(),
    )
