"""SSE/SST: how much of a table's spread is lost when classes release one tuple each.

Seed 001, section 2.2.3.3, for categories; z-scores for numbers, as the literature on numeric
microaggregation has it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.methods.domain import Domain
from shoal.methods.microaggregation.centroids import column_centroids, whole_table
from shoal.methods.microaggregation.semantic import between, distance_name
from shoal.methods.recoding import Recoding

Labels = Sequence[Sequence[str | None]]


def sse_loss(recoding: Recoding, released: Labels | None = None) -> float:
    """Return 100 · SSE/SST of a release.

    SSE sums, over the records, the squared distance from the record to what is released of it;
    SST the squared distance to the centroid of the whole table. The distance of categories is
    the mean of their columns' semantic distances, weighted (the seed's); that of a number,
    ordinal value or date the difference over the standard deviation, and a missing value is as
    far from others as the column is wide. Categories together count as many times as their
    columns weigh, every other column by its own weight: on a table of numbers this is
    100 · SSE/SST of the z-scores, on a table of categories the seed's loss.

    A suppressed record counts as if the centroid of the whole table was released of it.

    Args:
        recoding: the classes.
        released: for each column, the label of each class; None: the recoding's own labels. An
            interval counts as its middle.

    Guarantee:
        0 where every record is released as it is; 100 where all are suppressed.
    """
    table = recoding.table
    whole = whole_table(table)
    trees: list[tuple[float, NDArray[np.float64], NDArray[np.float64]]] = []
    shares: list[tuple[float, float]] = []  # weight, SSE/SST
    for column, domain in enumerate(table.domains):
        labels = recoding.labels(column) if released is None else list(released[column])
        codes = table.codes[recoding.row, column].astype(np.int64)
        centre = column_centroids(table, column, whole)
        boxes = (recoding.low[:, column], recoding.high[:, column])
        lost = _distances(domain, [*labels, *centre], boxes, codes, recoding.label)
        most = _distances(domain, centre, None, codes, np.zeros_like(recoding.label))
        if domain.tree is not None:
            trees.append((domain.weight, lost, most))
        else:
            shares += _share(recoding.count, domain.weight, lost, most)
    if trees:
        weight = sum(part[0] for part in trees)
        lost = np.sum([part[0] * part[1] for part in trees], axis=0) / weight
        most = np.sum([part[0] * part[2] for part in trees], axis=0) / weight
        shares += _share(recoding.count, weight, lost, most)
    if not shares:
        return 0.0
    return 100 * sum(w * share for w, share in shares) / sum(w for w, _ in shares)


def _share(
    count: NDArray[np.int64], weight: float, lost: NDArray[np.float64], most: NDArray[np.float64]
) -> list[tuple[float, float]]:
    """Return the weight and SSE/SST; nothing for a column without any spread that stays so."""
    sse, sst = (float((count * part**2).sum()) for part in (lost, most))
    if sst == 0.0:
        return [(weight, 1.0)] if sse > 0 else []
    return [(weight, sse / sst)]


def _distances(
    domain: Domain,
    labels: Sequence[str | None],
    boxes: tuple[NDArray[np.int32], NDArray[np.int32]] | None,
    codes: NDArray[np.int64],
    label: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the distance of each piece from the label of its class (-1: the last label)."""
    if domain.tree is not None:
        pairs = label % len(labels) * len(domain) + codes
        distinct, where = np.unique(pairs, return_inverse=True)
        nodes = np.array([-1 if text is None else domain.tree.index(text) for text in labels])
        found = _between(domain, nodes[distinct // len(domain)], distinct % len(domain))
        each: NDArray[np.float64] = found[where]
        return each
    place = np.array(
        [_place(domain, text, at, boxes) for at, text in enumerate(labels)], dtype=np.float64
    )[label]
    value = domain.position[codes]
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
    boxes: tuple[NDArray[np.int32], NDArray[np.int32]] | None,
) -> float:
    """Return where a released label stands on a line; missing: nan."""
    if text is None:
        return float("nan")
    if boxes is not None and at < len(boxes[0]):
        low, high = int(boxes[0][at]), int(boxes[1][at])
        if text == domain.label(low, high):
            if low == 0 and domain.has_missing:  # missing and other values: the whole column
                low, high = 1, len(domain) - 1
            return float(domain.position[low] + domain.position[high]) / 2
    if domain.kind == "numeric":
        return float(text)
    return float(domain.position[domain.labels.index(text)])
