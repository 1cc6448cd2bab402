"""Distributions of a column by hand: record by record, label by label, no shared code."""

from __future__ import annotations


def covers(label: str, values: list[str]) -> list[str]:
    """Return the values that a label covers: an interval's ends included, `*` all of them."""
    if label in values:
        return [label]
    if label == "*":
        return values
    assert label.startswith("[")
    low, high = label[1:-1].split(", ")
    return [value for value in values if float(low) <= float(value) <= float(high)]


def before(column: list[str | None], bins: dict[str, int]) -> list[float]:
    """Count records by the bin of their value; None is a value."""
    found = [0.0] * (max(bins.values()) + 1)
    for value in column:
        found[bins[str(value)]] += 1
    return found


def after(column: list[str | None], values: list[str], bins: dict[str, int]) -> list[float]:
    """Share each record out evenly to the bins of the values that its label covers."""
    found = [0.0] * (max(bins.values()) + 1)
    for label in column:
        inside = [str(label)] if label is None else covers(label, values)
        for value in inside:
            found[bins[value]] += 1 / len(inside)
    return found


def after_by_width(column: list[str], edges: list[tuple[float, float]]) -> list[float]:
    """Share each record out to steps of a line by how much of its interval lies in each."""
    found = [0.0] * len(edges)
    for label in column:
        parts = label.strip("[]").split(", ")
        low, high = float(parts[0]), float(parts[-1])
        for place, (a, b) in enumerate(edges):
            if low == high:
                found[place] += a <= low < b
            else:
                found[place] += max(min(high, b) - max(low, a), 0) / (high - low)
    return found
