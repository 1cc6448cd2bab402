"""SSE/SST: how much of a table's spread is lost when classes release one tuple each.

[veltmann2022], section 2.2.3.3, for categories; z-scores for numbers, as the literature on numeric
microaggregation has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.methods.microaggregation.centroids import column_centroids, whole_table
from shoal.methods.microaggregation.semantic import between, distance_name
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding

Labels = Sequence[Sequence[str | None]]
Sums = NDArray[np.int64]  # [parts, 2, 2]: of SSE and SST, as `_exact` has them

_LIMB = 26  # bits; a square is a whole number of 2^-52, so sums of them are exact


def sse_loss(recoding: Recoding, released: Labels | None = None) -> float:
    """Return 100 · SSE/SST of a release.

    SSE sums, over the records, the squared distance from the record to what is released of it;
    SST the squared distance to the centroid of the whole table. The distance of categories is
    the mean of their columns' semantic distances, weighted (the paper's); that of a number,
    ordinal value or date the difference over the standard deviation, and a missing value is as
    far from others as the column is wide. Categories together count as many times as their
    columns weigh, every other column by its own weight: on a table of numbers this is
    100 · SSE/SST of the z-scores, on a table of categories the paper's loss.

    A suppressed record counts as if the centroid of the whole table was released of it.

    Args:
        recoding: the classes.
        released: for each column, the label of each class; None: the recoding's own labels. An
            interval counts as its middle.

    Guarantee:
        0 where every record is released as it is; 100 where all are suppressed.
    """
    table = recoding.table
    histograms = [
        np.bincount(table.codes[:, j], weights=table.counts, minlength=len(domain)).astype(np.int64)
        for j, domain in enumerate(table.domains)
    ]
    yardstick = Yardstick.of(recoding, histograms, released)
    return yardstick.loss(yardstick.sums(table.codes[recoding.row], recoding.label, recoding.count))


@dataclass(frozen=True)
class Yardstick:
    """Measures how far tuples are from what is released of them, and from their middle.

    Attributes:
        places: for each column, where the labels of the classes stand, and, last, the centroid
            of the whole table: nodes of a tree, or places on a line.

    Law:
        Sums of parts of a table add up to those of the whole, in any order, to the last bit.
    """

    domains: tuple[Domain, ...]
    places: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(
        cls,
        recoding: Recoding,
        histograms: Sequence[NDArray[np.int64]],
        released: Labels | None = None,
    ) -> Yardstick:
        """Return what measures a release; histograms: the records of each code of each column."""
        domains = recoding.table.domains
        places = []
        for column, (domain, counts) in enumerate(zip(domains, histograms, strict=True)):
            labels = recoding.labels(column) if released is None else list(released[column])
            boxes = (recoding.low[:, column], recoding.high[:, column])
            places.append(_places(domain, [*labels, _centre(domain, counts)], boxes))
        return cls(domains, tuple(places))

    def sums(
        self, codes: NDArray[np.int32], label: NDArray[np.int64], count: NDArray[np.int64]
    ) -> Sums:
        """Return the sums of some pieces: the tuple, the class (-1: suppressed), the records."""
        trees: list[tuple[float, NDArray[np.float64], NDArray[np.float64]]] = []
        found = []
        for column, (domain, place) in enumerate(zip(self.domains, self.places, strict=True)):
            values = codes[:, column].astype(np.int64)
            lost = _distances(domain, place, values, label)
            most = _distances(domain, place[-1:], values, np.zeros_like(label))
            if domain.tree is not None:
                trees.append((domain.weight, lost, most))
            else:
                found.append([_exact(count, lost), _exact(count, most)])
        if trees:
            weight = sum(part[0] for part in trees)
            lost = np.sum([part[0] * part[1] for part in trees], axis=0) / weight
            most = np.sum([part[0] * part[2] for part in trees], axis=0) / weight
            found.append([_exact(count, lost), _exact(count, most)])
        return np.array(found, dtype=np.int64).reshape(-1, 2, 2)

    def loss(self, sums: Sums) -> float:
        """Return 100 · SSE/SST of the whole."""
        weights = [domain.weight for domain in self.domains if domain.tree is None]
        trees = [domain.weight for domain in self.domains if domain.tree is not None]
        if trees:
            weights.append(sum(trees))
        shares: list[tuple[float, float]] = []
        for weight, part in zip(weights, sums.tolist(), strict=True):
            sse, sst = ((high << _LIMB) + low for high, low in part)
            if sst:
                shares.append((weight, sse / sst))
            elif sse:  # nothing for a column without any spread that stays so
                shares.append((weight, 1.0))
        if not shares:
            return 0.0
        return 100 * sum(w * share for w, share in shares) / sum(w for w, _ in shares)


def _exact(count: NDArray[np.int64], distance: NDArray[np.float64]) -> tuple[int, int]:
    """Return the sum of the squared distances of records: a high and a low part."""
    square = np.rint(distance**2 * 2.0 ** (2 * _LIMB)).astype(np.int64)
    high, low = square >> _LIMB, square & ((1 << _LIMB) - 1)
    return int((count * high).sum()), int((count * low).sum())


def _centre(domain: Domain, counts: NDArray[np.int64]) -> str | None:
    """Return the centroid of a column; counts: the records of each code."""
    there = np.flatnonzero(counts)
    table = FrequencyTable(
        domains=(domain,), codes=there.astype(np.int32)[:, None], counts=counts[there],
        sensitive_domains=(), sensitive=np.zeros((len(there), 0), dtype=np.int32),
    )  # fmt: skip
    return column_centroids(table, 0, whole_table(table))[0]


def _places(
    domain: Domain,
    labels: Sequence[str | None],
    boxes: tuple[NDArray[np.int32], NDArray[np.int32]],
) -> NDArray[np.float64]:
    """Return where labels stand: nodes (missing: -1), or places on a line (missing: nan)."""
    if domain.tree is not None:
        nodes = [-1 if text is None else domain.tree.index(text) for text in labels]
        return np.array(nodes, dtype=np.float64)
    places = [_place(domain, text, at, boxes) for at, text in enumerate(labels)]
    return np.array(places, dtype=np.float64)


def _distances(
    domain: Domain, places: NDArray[np.float64], codes: NDArray[np.int64], label: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the distance of each piece from the label of its class (-1: the last label)."""
    if domain.tree is not None:
        pairs = label % len(places) * len(domain) + codes
        distinct, where = np.unique(pairs, return_inverse=True)
        nodes = places.astype(np.int64)[distinct // len(domain)]
        each: NDArray[np.float64] = _between(domain, nodes, distinct % len(domain))[where]
        return each
    place, value = places[label], domain.position[codes]
    distance: NDArray[np.float64] = np.abs(place - value) / (domain.span or 1.0)
    is_absent = np.isnan(value)
    distance[is_absent | np.isnan(place)] = 1.0
    distance[is_absent & np.isnan(place)] = 0.0
    return distance


def _between(
    domain: Domain, nodes: NDArray[np.int64], codes: NDArray[np.int64]
) -> NDArray[np.float64]:
    if domain.tree is None:
        raise TypeError("a line has no nodes")
    own = domain.position.astype(np.int64)[codes]
    absent = codes == 0 if domain.has_missing else np.zeros(len(codes), dtype=bool)
    known = (nodes >= 0) & ~absent
    found: NDArray[np.float64] = ((nodes < 0) != absent).astype(np.float64)
    found[known] = between(
        domain.tree, nodes[known], own[known], distance_name(domain), beta=domain.beta
    )
    return found


def _place(
    domain: Domain,
    text: str | None,
    at: int,
    boxes: tuple[NDArray[np.int32], NDArray[np.int32]],
) -> float:
    """Return where a released label stands on a line; missing: nan."""
    if text is None:
        return float("nan")
    if at < len(boxes[0]):
        low, high = int(boxes[0][at]), int(boxes[1][at])
        if text == domain.label(low, high):
            if low == 0 and domain.has_missing:  # missing and other values: the whole column
                low, high = 1, len(domain) - 1
            return float(domain.position[low] + domain.position[high]) / 2
    if domain.kind == "numeric":
        return float(text)
    return float(domain.position[domain.labels.index(text)])
