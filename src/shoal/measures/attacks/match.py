"""How well a known value fits a released label: 0 when the label covers it, up to 1."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from shoal.schema.schema import Kind
from shoal.table.domain import Domain
from shoal.table.rounding import read_span

_INTERVAL = re.compile(r"\[(.*), (.*)\]", re.DOTALL)


def label_distances(
    domain: Domain, values: Sequence[str | None], labels: Sequence[str | None]
) -> NDArray[np.float32]:
    """Return float32[values, labels]: 0 where a label covers a value.

    On a line the distance is the gap between value and label over the range of the column;
    between categories it is 1. A missing value fits an empty label and the root alone.

    Args:
        domain: the column, as the original table and its hierarchy have it.
        values: what the attacker knows; None is a missing value.
        labels: what is released.
    """
    if domain.tree is not None:
        return _tree_distances(domain, values, labels)
    return _line_distances(domain, values, labels)


def _tree_distances(
    domain: Domain, values: Sequence[str | None], labels: Sequence[str | None]
) -> NDArray[np.float32]:
    tree = domain.tree
    assert tree is not None  # the caller just looked
    places = dict(zip(domain.labels, domain.position.astype(np.int64), strict=True))
    # Not every node is a value that occurred: an outside table may know others.
    nodes = np.array([_node(domain, places, value) for value in values], dtype=np.int64)
    out = np.ones((len(values), len(labels)), dtype=np.float32)
    for j, label in enumerate(labels):
        node = _node(domain, places, label)
        if node >= 0:
            out[:, j] = ~((nodes >= tree.first[node]) & (nodes <= node))
        if label == domain.root:
            out[:, j] = 0
    return out


def _node(domain: Domain, places: dict[str | None, np.int64], text: str | None) -> int:
    if text is None or text == "":
        return int(places.get(None, -1))
    tree = domain.tree
    found = None if tree is None else tree.get(text)
    if found is None and tree is not None:
        found = tree.get(text.strip())
    return -1 if found is None else found


def _line_distances(
    domain: Domain, values: Sequence[str | None], labels: Sequence[str | None]
) -> NDArray[np.float32]:
    known = {
        label: float(place) for label, place in zip(domain.labels, domain.position, strict=True)
    }
    points = np.array([_place(domain, known, value) for value in values], dtype=np.float64)
    absent = np.array([value is None or value == "" for value in values], dtype=bool)
    ends = [label_ends(domain, known, label) for label in labels]
    low, high = (np.array([end[side] for end in ends]) for side in (0, 1))
    gap = np.maximum(low[None, :] - points[:, None], points[:, None] - high[None, :])
    out: NDArray[np.float32] = np.clip(gap / (domain.span or 1.0), 0, 1).astype(np.float32)
    out[np.isnan(out)] = 1
    for j, label in enumerate(labels):
        if label is None or label == "":
            out[:, j] = ~absent
        elif label == domain.root:
            out[:, j] = 0
    return out


def label_ends(
    domain: Domain, known: dict[str | None, float], label: str | None
) -> tuple[float, float]:
    """Return the range that a label covers on a line; no numbers for a label nobody knows."""
    if label is None:
        return math.nan, math.nan
    point = _place(domain, known, label)
    if not math.isnan(point):
        return point, point
    ladder = domain.ladder
    node = None if ladder is None else ladder.get(label)
    if ladder is not None and node is not None:
        covered = [_place(domain, known, ladder.labels[i]) for i in range(ladder.first[node], node)]
        inside = [place for place in covered if not math.isnan(place)]
        return (min(inside), max(inside)) if inside else (math.nan, math.nan)
    found = _INTERVAL.fullmatch(label)
    if not found:
        span = read_span(domain, label)
        return (math.nan, math.nan) if span is None else (span.begin, span.end)
    low, high = (_place(domain, known, text) for text in found.groups())
    return low, high


def covered_codes(domain: Domain, labels: Sequence[str | None]) -> list[tuple[int, int]]:
    """Return the run of codes that each label covers; (1, 0) for one that covers none."""
    known = {
        label: float(place) for label, place in zip(domain.labels, domain.position, strict=True)
    }
    first = int(domain.has_missing)
    inner = domain.position[first:]
    found = []
    for label in labels:
        if label is None or label == "":
            found.append((0, 0) if domain.has_missing else (1, 0))
        elif label == domain.root:
            found.append((0, len(domain) - 1))
        else:
            if domain.tree is None:
                low, high = label_ends(domain, known, label)
            else:
                node = _node(domain, {}, label)
                low, high = (domain.tree.first[node], node) if node >= 0 else (math.nan, math.nan)
            begin, end = np.searchsorted(inner, low), np.searchsorted(inner, high, side="right")
            is_known = not (math.isnan(low) or math.isnan(high)) and begin < end
            found.append((first + int(begin), first + int(end) - 1) if is_known else (1, 0))
    return found


def place_of(domain: Domain, text: str) -> float:
    """Return where a text stands on a line; not a number when it stands nowhere."""
    return _place(domain, dict(zip(domain.labels, domain.position.tolist(), strict=True)), text)


def _place(domain: Domain, known: dict[str | None, float], text: str | None) -> float:
    """Return where a text stands on the line; not a number when it stands nowhere."""
    if text is None or text == "":
        return math.nan
    if text in known:
        return known[text]
    if domain.kind is Kind.DATE:
        try:
            moment = datetime.fromisoformat(text.strip())
        except ValueError:
            return math.nan
        return (
            moment.toordinal() + (moment.hour * 60 + moment.minute) / 1440 + moment.second / 86400
        )
    if domain.kind is Kind.NUMERIC:
        try:
            number = float(text.replace("_", "x"))
        except ValueError:
            return math.nan
        return number if math.isfinite(number) else math.nan
    return math.nan
