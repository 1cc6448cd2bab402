"""What a release of sets lost, from the sets of table and release alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.table.baskets import Baskets

QUERIES, FREQUENT, TOP = 500, 0.01, 100
"""Queries of two items that are asked; the support of a frequent set; how many of the top ones."""


def measures_of(
    original: Baskets, release: Baskets, stands: Sequence[frozenset[str]], *, suppressed: int = 0
) -> Document:
    """Measure a release of sets against the table.

    Args:
        original: the items of the table.
        release: the labels of the release.
        stands: the items that each label may stand for.
        suppressed: records of the table that are not in the release.

    An item's occurrences that are not released as the item itself are taken to be shared among the
    labels that may stand for it, by their records: exact where there is one such label.
    """
    code = {item: n for n, item in enumerate(original.items)}
    labels = [[code[i] for i in members if i in code] for members in stands]
    items, held = len(code), release.support()
    support = original.support()
    by_item: list[list[int]] = [[] for _ in range(items)]
    for label, members in enumerate(labels):
        for item in members:
            by_item[item].append(label)
    sizes = np.array([len(each) for each in stands], dtype=np.int64)
    lost = [
        _item_loss(int(support[item]), held[found], sizes[found], items)
        for item, found in enumerate(by_item)
    ]
    kept, gone, loss = np.array(lost, dtype=np.float64).reshape(-1, 3).sum(axis=0).tolist()
    total = max(int(support.sum()), 1)
    return {
        "occurrences": int(support.sum()),
        "items": items,
        "labels": len(labels),
        "ncp": loss / total,
        "utility_loss": sum(
            _utility_loss(len(members), int(held[label]), items, original.records)
            for label, members in enumerate(labels)
        ),
        "kept_occurrences": kept / total,
        "suppressed_occurrences": gone / total,
        "suppressed_items": sum(not found for found in by_item),
        "kept_items": sum(bool((sizes[found] == 1).any()) for found in by_item),
        "query_error": query_error(original, release, labels),
        **frequent_sets(original, release, [m[0] if len(m) == 1 else -1 for m in labels]),
        "suppressed_records": suppressed,
    }


def _item_loss(
    support: int, held: NDArray[np.int64], sizes: NDArray[np.int64], items: int
) -> tuple[float, float, float]:
    """Return how many occurrences of an item are kept and suppressed, and what all lose.

    held, sizes: of the labels that may stand for it, their records and items.
    """
    kept = min(int(held[sizes == 1].sum()), support)
    shared = held[sizes > 1]
    if not shared.sum():
        return kept, support - kept, support - kept
    mean = float((shared * (sizes[sizes > 1] - 1)).sum() / shared.sum())
    return kept, 0, (support - kept) * mean / max(items - 1, 1)


def _utility_loss(size: int, support: int, items: int, records: int) -> float:
    """Return what a label of so many items costs: its subsets, of all, in its records (UL)."""
    return (2.0 ** (size - items) - 2.0**-items) / (1 - 2.0**-items) * support / max(records, 1)


def query_error(
    original: Baskets, release: Baskets, labels: Sequence[Sequence[int]], *, seed: int = 0
) -> float | None:
    """Return the average relative error (ARE) of counts of records that hold two items.

    The pairs are drawn from records, so that frequent ones are asked more often. A label of several
    items is taken to stand for each of them with the same chance. None: no record has two items.
    """
    chance = np.random.default_rng(seed)
    sizes = np.diff(original.starts)
    pairs = np.flatnonzero(sizes > 1)
    if not pairs.size:
        return None
    asked = []
    for row in chance.choice(pairs, QUERIES):
        held = original.codes[original.starts[row] : original.starts[row + 1]]
        asked.append(chance.choice(held, 2, replace=False))
    wanted = np.unique(np.array(asked))
    true = _shares(original, [[n] for n in range(len(original.items))], wanted)
    seen = _shares(release, labels, wanted)
    errors = []
    for one, two in np.array(asked).tolist():
        actual, estimate = float(true[one] @ true[two]), float(seen[one] @ seen[two])
        errors.append(abs(actual - estimate) / max(actual, 1.0))
    return float(np.mean(errors))


def _shares(
    baskets: Baskets, labels: Sequence[Sequence[int]], wanted: NDArray[np.int64]
) -> Mapping[int, NDArray[np.float32]]:
    """Return, for some items, the chance that each record holds it."""
    found = {int(item): np.zeros(baskets.records, dtype=np.float32) for item in wanted}
    record = baskets.record
    order = np.argsort(baskets.codes, kind="stable")
    bounds = np.searchsorted(baskets.codes[order], np.arange(len(labels) + 1))
    for label, members in enumerate(labels):
        here = [item for item in members if item in found]
        rows = record[order[bounds[label] : bounds[label + 1]]] if here else record[:0]
        for item in here:
            left = 1 - found[item][rows]
            found[item][rows] = 1 - left * np.float32(1 - 1 / len(members))
    return found


def frequent_sets(
    original: Baskets, release: Baskets, item_of: Sequence[int]
) -> dict[str, float | None]:
    """Return how many frequent sets of one or two items the release still shows, and how many of
    those it shows are frequent; and of the top ones of the table, how many are its top ones.

    item_of: the item that a label stands for alone; -1: for several.
    """  # noqa: D205
    least = max(FREQUENT * original.records, 1)
    true = supports(original, range(len(original.items)), least)
    seen = supports(release, item_of, least)
    both = len(true.keys() & seen.keys())
    first = [{*sorted(each, key=lambda s: (-each[s], s))[:TOP]} for each in (true, seen)]
    return {
        "frequent_recall": both / len(true) if true else None,
        "frequent_precision": both / len(seen) if seen else None,
        "top_sets": len(first[0] & first[1]) / len(first[0]) if first[0] else None,
    }


def supports(baskets: Baskets, item_of: Sequence[int], least: float) -> dict[tuple[int, ...], int]:
    """Return the sets of one and two items that so many records hold, by their supports."""
    names = np.array([*item_of], dtype=np.int64)
    held = baskets.support()
    kept = np.flatnonzero((names >= 0) & (held >= least))
    masks = {}
    for label in kept.tolist():
        mask = np.zeros(baskets.records, dtype=np.bool_)
        mask[baskets.record[baskets.codes == label]] = True
        masks[int(names[label])] = np.packbits(mask)
    found: dict[tuple[int, ...], int] = {(int(names[n]),): int(held[n]) for n in kept.tolist()}
    for one, two in combinations(sorted(masks), 2):
        together = int(np.bitwise_count(masks[one] & masks[two]).sum())
        if together >= least:
            found[one, two] = together
    return found
