"""Fidelity by hand: record by record and label by label, with no code in common with shoal's.

A column is a list of texts (None: missing), a release a list of labels. A column is described by
its kind, "number" (whole numbers) or "real", or by a dictionary value -> values below it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np

Kind = str | dict[str, list[str]]
Label = str | None


def ends(label: str, values: Sequence[str]) -> tuple[float, float]:
    """Return the interval of a label of numbers."""
    if label == "*":
        known = [float(value) for value in values if value is not None]
        return min(known), max(known)
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        return float(low), float(high)
    return float(label), float(label)


def sdnist_edges(column: Sequence[Label], bins: int = 20) -> list[float] | None:
    """Return the edges that SDNist gives a continuous feature; None where it bins nothing."""
    known = [float(value) for value in column if value is not None]
    bins -= None in column
    whole = all(value == math.floor(value) for value in known)
    few = max(known) - min(known) <= 20 if whole else False
    if few or len(set(known)) <= bins:
        return None
    at = [i * (100 / bins) for i in range(bins)]
    return sorted({float(x) for x in np.percentile(known, at, method="higher")} | {max(known)})


def bin_of(value: float, edges: list[float]) -> int:
    """Return the bin of a number: (a, b], the first one with its lowest value."""
    for place in range(1, len(edges)):
        if value <= edges[place]:
            return place
    return len(edges) - 1


def shares(label: Label, column: Sequence[Label], kind: Kind) -> dict[object, float]:
    """Return the bins that a label covers, and how much of a record lies in each."""
    if label is None:
        return {"missing": 1.0}
    if isinstance(kind, dict):
        present = {value for value in column if value is not None}
        if label == "*":
            below = sorted(present)
        else:
            below = [value for value in kind.get(label, [label]) if value in present]
        return {value: 1 / len(below) for value in below}
    low, high = ends(label, column)
    edges = sdnist_edges(column)
    if kind == "number":
        numbers = range(int(low), int(high) + 1)
        known = sorted({int(float(value)) for value in column if value is not None})
        found: Counter[object] = Counter()
        for number in numbers:
            places = _places(number, known, edges)
            for place in places:
                found[place] += 1 / len(numbers) / len(places)
        return dict(found)
    known_reals = sorted({float(value) for value in column if value is not None})
    if low == high:
        return {_places(low, known_reals, edges)[0]: 1.0}
    if edges is None:
        cuts = [(a + b) / 2 for a, b in pairwise(known_reals)]
        names: list[object] = list(known_reals)
    else:
        cuts, names = edges[1:-1], list(range(1, len(edges)))
    places = [low, *(min(max(cut, low), high) for cut in cuts), high]
    widths = [b - a for a, b in pairwise(places)]
    return {name: width / (high - low) for name, width in zip(names, widths, strict=True) if width}


def _places(number: float, known: Sequence[float], edges: list[float] | None) -> list[object]:
    """Return the bin of a number; in the middle of two values that have a bin each, both."""
    if edges is not None:
        return [bin_of(number, edges)]
    nearest = min(abs(value - number) for value in known)
    return [value for value in known if abs(value - number) == nearest]


def pair_table(
    columns: Sequence[Sequence[Label]], labels: Sequence[Sequence[Label]], kinds: Sequence[Kind]
) -> Counter[tuple[object, ...]]:
    """Return the table of some columns, as shares of the records."""
    found: Counter[tuple[object, ...]] = Counter()
    records = len(labels[0])
    for record in range(records):
        cells: dict[tuple[object, ...], float] = {(): 1.0}
        for column, given, kind in zip(columns, labels, kinds, strict=True):
            own = shares(given[record], column, kind)
            cells = {(*key, name): held * part for key, held in cells.items()
                     for name, part in own.items()}  # fmt: skip
        for key, held in cells.items():
            found[key] += held / records
    return found


def distance(one: Counter[tuple[object, ...]], other: Counter[tuple[object, ...]]) -> float:
    """Return the sum of |p − q|."""
    return sum(abs(one[key] - other[key]) for key in {*one, *other})


def k_marginal(
    before: Sequence[Sequence[Label]], after: Sequence[Sequence[Label]], kinds: Sequence[Kind]
) -> float:
    """Return SDNist's score over all pairs of columns."""
    found = []
    for i, j in combinations(range(len(before)), 2):
        chosen = [before[i], before[j]], [kinds[i], kinds[j]]
        p = pair_table(chosen[0], chosen[0], chosen[1])
        q = pair_table(chosen[0], [after[i], after[j]], chosen[1])
        found.append(distance(p, q))
    return (2 - sum(found) / len(found)) * 500


def total_variation(before: Sequence[Label], after: Sequence[Label], kind: Kind) -> float:
    """Return half of Σ |p − q| of one column."""
    p = pair_table([before], [before], [kind])
    return distance(p, pair_table([before], [after], [kind])) / 2


def kolmogorov_smirnov(before: Sequence[Label], after: Sequence[Label], kind: Kind) -> float:
    """Return the largest gap between both distribution functions, looked for at many places."""
    known = [float(value) for value in before if value is not None]
    labels = [ends(label, before) for label in after if label is not None]
    half = 0.5 if kind == "number" else 0.0
    places = sorted(set(known))
    gap = 0.0
    for place in places:
        for at, is_left in ((place + half, False), (place, True)):
            if half and is_left:
                continue
            old = sum(value < at if is_left else value <= at for value in known) / len(known)
            new = 0.0
            for low, high in labels:
                a, b = low - half, high + half
                if a == b:
                    new += a < at if is_left else a <= at
                else:
                    new += min(max((at - a) / (b - a), 0.0), 1.0)
            gap = max(gap, abs(old - new / len(labels)))
    return gap


def correlation(
    x: Sequence[tuple[float, float] | None], y: Sequence[tuple[float, float] | None], step: float
) -> float | None:
    """Return Pearson's correlation of intervals: middles, and the spread within; step: 1 or 0."""
    pairs = [(a, b) for a, b in zip(x, y, strict=True) if a is not None and b is not None]
    if not pairs:
        return None
    mids = [((a[0] + a[1]) / 2, (b[0] + b[1]) / 2) for a, b in pairs]
    n = len(pairs)
    mean_x, mean_y = sum(m[0] for m in mids) / n, sum(m[1] for m in mids) / n
    cov = sum((m[0] - mean_x) * (m[1] - mean_y) for m in mids) / n

    def inner(span: tuple[float, float]) -> float:
        if step:  # of the whole numbers from low to high
            numbers = range(int(span[0]), int(span[1]) + 1)
            mean = sum(numbers) / len(numbers)
            return sum((number - mean) ** 2 for number in numbers) / len(numbers)
        return (span[1] - span[0]) ** 2 / 12

    var_x = sum((m[0] - mean_x) ** 2 for m in mids) / n + sum(inner(a) for a, _ in pairs) / n
    var_y = sum((m[1] - mean_y) ** 2 for m in mids) / n + sum(inner(b) for _, b in pairs) / n
    return None if var_x <= 1e-12 or var_y <= 1e-12 else cov / math.sqrt(var_x * var_y)


def count(
    conditions: Sequence[tuple[int, set[str | None]]], records: Sequence[Sequence[Label]]
) -> int:
    """Count the records whose values are in a set each; records: a list of texts each."""
    return sum(all(row[j] in allowed for j, allowed in conditions) for row in records)


def answer(
    conditions: Sequence[tuple[int, set[str | None]]],
    records: Sequence[Sequence[Label]],
    columns: Sequence[Sequence[Label]],
    kinds: Sequence[Kind],
) -> float:
    """Answer a count query from labels, by the share of each that lies in the condition."""
    total = 0.0
    for row in records:
        held = 1.0
        for j, allowed in conditions:
            held *= _share(row[j], allowed, columns[j], kinds[j])
        total += held
    return total


def _share(label: Label, allowed: set[str | None], column: Sequence[Label], kind: Kind) -> float:
    if label is None:
        return float(None in allowed)
    if isinstance(kind, dict):
        own = shares(label, column, kind)
        return sum(part for value, part in own.items() if value in allowed)
    asked = [float(value) for value in allowed if value is not None]
    if not asked:
        return 0.0
    low, high = ends(label, column)
    if kind == "number":
        numbers = range(int(low), int(high) + 1)
        return sum(min(asked) <= number <= max(asked) for number in numbers) / len(numbers)
    if low == high:
        return float(min(asked) <= low <= max(asked))
    return max(min(high, max(asked)) - max(low, min(asked)), 0.0) / (high - low)


def exact_matches(
    before: Sequence[Sequence[Label]], after: Sequence[Sequence[Label]]
) -> tuple[int, int]:
    """Return the unique records of the original that are released as they are, and all unique."""
    counted = Counter(map(tuple, before))
    unique = [row for row, held in counted.items() if held == 1]
    written = set(map(tuple, after))
    return sum(row in written for row in unique), len(unique)


def logistic(design: Sequence[Sequence[float]], target: Sequence[int]) -> list[float]:
    """Return the probabilities of a logistic regression: plain gradient steps, many of them."""
    rows, wanted = np.array(design, dtype=float), np.array(target, dtype=float)
    weights = np.zeros(rows.shape[1])
    for _ in range(60_000):
        found = 1 / (1 + np.exp(-rows @ weights))
        weights += 2.0 * rows.T @ (wanted - found) / len(wanted)
    return list(1 / (1 + np.exp(-rows @ weights)))
