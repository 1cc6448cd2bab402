"""Disassociation: items stay as they are, and rare combinations are not linked [terrovitis2012].

Records are put into clusters of like ones; in each cluster, items are put into chunks whose
sub-records hold no rare combination, and what is rare in the cluster is told once for all of it,
beside nobody. Which sub-record of one chunk belongs to which of another one, nobody is told. The
paper's joint chunks, which link chunks of several clusters again, are not built.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.core.errors import NoSolutionError
from shoal.table.baskets import Baskets, Rows, places_of


@dataclass(frozen=True, slots=True)
class Cluster:
    """Some records, and how their items are told apart.

    Attributes:
        rows: the records.
        chunks: sets of items, by their codes; sub-records of each are told together.
        rest: the items that are told without any record.
    """

    rows: Rows
    chunks: tuple[tuple[int, ...], ...]
    rest: tuple[int, ...]


def disassociated(baskets: Baskets, *, k: int, m: int | None, most: int) -> list[Cluster]:
    """Return the clusters of a table, each k^m-anonymous.

    Args:
        baskets: the records.
        k: the fewest records that fit what is known.
        m: how many items are known; None: any number.
        most: records of a cluster, about.

    Raises:
        NoSolutionError: there are fewer than k records.
    """
    if baskets.records < k:
        raise NoSolutionError(
            problem=f"{baskets.records} records are fewer than k = {k}; ask for less, or bring "
            "more records"
        )
    longest = int(np.diff(baskets.starts).max(initial=1))
    known = longest if m is None else min(m, longest)
    return [_parted(baskets, rows, k, known) for rows in alike(baskets, k=k, most=max(most, k))]


def alike(baskets: Baskets, *, k: int, most: int) -> list[Rows]:
    """Return clusters of at least k records: cut by the commonest item that leaves k on each side.

    A cluster that no item cuts so may have more than `most` records.
    """
    waiting: list[tuple[Rows, frozenset[int]]] = [(np.arange(baskets.records), frozenset())]
    found = []
    while waiting:
        rows, used = waiting.pop()
        item = None if rows.size <= most else _cutting(baskets, rows, used, k)
        if item is None:
            found.append(rows)
            continue
        held = np.repeat(np.arange(rows.size), np.diff(baskets.starts)[rows])
        has = np.zeros(rows.size, dtype=np.bool_)
        has[held[baskets.codes[places_of(baskets.starts, rows)] == item]] = True
        waiting += [(rows[~has], used | {item}), (rows[has], used | {item})]
    return found


def _cutting(baskets: Baskets, rows: Rows, used: frozenset[int], k: int) -> int | None:
    codes = baskets.codes[places_of(baskets.starts, rows)]
    support = np.bincount(codes, minlength=len(baskets.items))
    support[[*used]] = 0
    support[(support < k) | (rows.size - support < k)] = 0
    return int(np.argmax(support)) if support.any() else None


def _parted(baskets: Baskets, rows: Rows, k: int, m: int) -> Cluster:
    """Put the items of a cluster into chunks, the commonest first, as long as nothing is rare."""
    bits = item_bits_of(baskets, rows)
    common = sorted(
        (item for item, mask in bits.items() if mask.bit_count() >= k),
        key=lambda item: (-bits[item].bit_count(), item),
    )
    rest = sorted(item for item, mask in bits.items() if mask.bit_count() < k)
    chunks = []
    while common:
        chunk: list[int] = []
        together: list[tuple[int, int]] = []  # records of sets of fewer than m items, and how many
        for item in common:
            more = _joined(together, bits[item], k, m)
            if more is not None:
                chunk.append(item)
                together += more
        common = [item for item in common if item not in chunk]
        chunks.append(tuple(sorted(chunk)))
    if not rest and not is_loose(bits, chunks, rows.size, k, m):
        last = min((item for chunk in chunks for item in chunk), key=lambda i: bits[i].bit_count())
        rest = [last]
        chunks = [left for c in chunks if (left := tuple(i for i in c if i != last))]
    return Cluster(rows, tuple(chunks), tuple(rest))


def item_bits_of(baskets: Baskets, rows: Rows) -> dict[int, int]:
    """Return the records of each item of a cluster, as the bits of a number."""
    found: dict[int, int] = {}
    for place, row in enumerate(rows.tolist()):
        for item in baskets.codes[baskets.starts[row] : baskets.starts[row + 1]].tolist():
            found[item] = found.get(item, 0) | (1 << place)
    return found


def _joined(
    together: Sequence[tuple[int, int]], own: int, k: int, m: int
) -> list[tuple[int, int]] | None:
    """Return what an item adds to a chunk; None: it would make a rare set there."""
    more = [(own, 1)]
    for mask, size in together:
        both = mask & own
        if size < m and both:
            if both.bit_count() < k:
                return None
            more.append((both, size + 1))
    return [(mask, size) for mask, size in more if size < m]


def is_loose(
    bits: dict[int, int], chunks: Sequence[Sequence[int]], records: int, k: int, m: int
) -> bool:
    """Say whether chunks without a rest can be put together in enough ways (the paper's lemma).

    The sub-records must be more than the records, by k for each further chunk that m items reach.
    """
    if len(chunks) < 2:
        return True
    total = 0
    for chunk in chunks:
        held = 0
        for item in chunk:
            held |= bits[item]
        total += held.bit_count()
    return total >= records + k * (min(m, len(chunks)) - 1)
