"""What labels alone say of a class: the values of the original that each of them covers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.measures.attacks.match import label_ends
from shoal.measures.cells import run_of_label
from shoal.measures.utility import is_interval
from shoal.table.domain import Domain


def label_diversity(domain: Domain, labels: Sequence[str | None]) -> NDArray[np.float64]:
    """Attribute diversity ([netshiunda2020], definition 1) of all the values that a label covers.

    Guarantee:
        Never below the diversity of a class that is released with the label, and equal to it
        where the label is the interval from the class's lowest to its highest value.

    Args:
        domain: the column in the original table.
        labels: what is released; None is the missing value.
    """
    first, last = _covered(domain, labels)
    if is_interval(domain):
        position = domain.position
        empty = last < first  # values that a hierarchy knows and the table does not hold
        first, last = np.where(empty, 0, first), np.where(empty, 0, last)
        share: NDArray[np.float64] = (position[last] - position[first]) / (domain.span or 1.0)
        return share
    found: NDArray[np.float64] = np.maximum(last - first + 1, 0) / len(domain)
    return found


def _covered(
    domain: Domain, labels: Sequence[str | None]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last code that each label covers; none: last < first."""
    code = {text: i for i, text in enumerate(domain.labels) if text is not None}
    known = dict(zip(domain.labels, map(float, domain.position), strict=True))
    runs = [_run(domain, code, known, label) for label in labels]
    found = np.array(runs, dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _run(
    domain: Domain, code: dict[str, int], known: dict[str | None, float], label: str | None
) -> tuple[int, int]:
    if label is None or label == "":
        return 0, 0 if domain.has_missing else -1
    if label == domain.root:
        return 0, len(domain) - 1
    if domain.tree is not None:
        node = domain.tree.index(label)
        return _between(domain, domain.tree.first[node], node)
    run = run_of_label(code, label)
    return _between(domain, *label_ends(domain, known, label)) if run is None else run


def _between(domain: Domain, low: float, high: float) -> tuple[int, int]:
    missing = int(domain.has_missing and domain.tree is None)  # it stands nowhere on a line
    inner = domain.position[missing:]
    first = int(np.searchsorted(inner, low, side="left"))
    return missing + first, missing + int(np.searchsorted(inner, high, side="right")) - 1
