"""Clusters and chunks of a table of sets: written as lines, checked, and what they still answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.core.errors import UnsafeReleaseError
from shoal.engines.local.transactions import written_sets
from shoal.measures.transactions import QUERIES
from shoal.methods.transactions.disassociation import Cluster, item_bits_of
from shoal.schema.attribute import Attribute
from shoal.table.baskets import Baskets, SetRecoding

CLUSTER, CHUNK, REST = "cluster", "chunk", "rest"


def parts_of(baskets: Baskets, clusters: Sequence[Cluster], attribute: Attribute) -> pl.DataFrame:
    """Return a line a sub-record: its cluster, its chunk, its items, and the cluster's rest."""
    lines: list[tuple[int, int, list[str], list[str]]] = []
    for number, cluster in enumerate(clusters):
        rest = [baskets.items[item] for item in cluster.rest]
        for place, chunk in enumerate(cluster.chunks or ((),)):
            inside = set(chunk)
            for row in cluster.rows.tolist():
                codes = baskets.codes[baskets.starts[row] : baskets.starts[row + 1]].tolist()
                held = [baskets.items[code] for code in codes if code in inside]
                lines.append((number, place, held, rest))
    lines.sort()  # within a chunk by the items: the order of the records says nothing
    sets = [
        written_sets(pl.Series(name, cells, dtype=pl.List(pl.String)), attribute)
        for name, cells in (
            (attribute.name, [line[2] for line in lines]),
            (REST, [line[3] for line in lines]),
        )
    ]
    numbers = [pl.Series(CLUSTER, [line[0] for line in lines]),
               pl.Series(CHUNK, [line[1] for line in lines])]  # fmt: skip
    return pl.DataFrame([*numbers, *sets])


def check_rest(frame: pl.DataFrame, name: str, *, k: int, m: int | None) -> None:
    """Hold what is written to what the promise of clusters asks beside that of chunks.

    Each chunk of a cluster has the same number of lines, k at least; no item stands in two of its
    parts; and where no rest is told, its sub-records can be put together in enough ways.

    frame: cluster and chunk, and the items of each line and of the rest, as lists.

    Raises:
        UnsafeReleaseError: something of this does not hold.
    """
    for _, cluster in frame.group_by(CLUSTER):
        chunks = cluster.partition_by(CHUNK)
        sizes = {chunk.height for chunk in chunks}
        items = [set(chunk[name].explode().drop_nulls()) for chunk in chunks]
        rests = {tuple(rest) for rest in cluster[REST].to_list()}
        parts = [*items, set(next(iter(rests)))]
        wrong = len(sizes) != 1 or min(sizes) < k or len(rests) != 1
        wrong = wrong or sum(map(len, parts)) != len(set().union(*parts))
        known = len(chunks) if m is None else min(m, len(chunks))
        told = int((cluster[name].list.len() > 0).sum())
        if not wrong and len(chunks) > 1 and not parts[-1]:
            wrong = told < min(sizes) + k * (known - 1)
        if wrong:
            raise UnsafeReleaseError(
                problem="a cluster does not keep what was promised; nothing was published"
            )


def as_recoding(baskets: Baskets, clusters: Sequence[Cluster]) -> SetRecoding:
    """Return what is told with a record as it is, and what is told without one as suppressed."""
    choice = baskets.codes.copy()
    for cluster in clusters:
        gone = np.array(cluster.rest, dtype=np.int32)
        for row in cluster.rows.tolist() if gone.size else ():
            part = slice(int(baskets.starts[row]), int(baskets.starts[row + 1]))
            choice[part] = np.where(np.isin(baskets.codes[part], gone), -1, baskets.codes[part])
    return SetRecoding(baskets, SetRecoding.of_items(baskets).labels, choice)


def query_error(baskets: Baskets, clusters: Sequence[Cluster], *, seed: int = 0) -> float | None:
    """Return the average relative error of counts of records with two items.

    Items of two chunks of a cluster are taken to be independent of each other, and an item of its
    rest to be held by one record.
    """
    pairs = np.flatnonzero(np.diff(baskets.starts) > 1)
    if not pairs.size:
        return None
    chance = np.random.default_rng(seed)
    asked = []
    for row in chance.choice(pairs, QUERIES):
        codes = baskets.codes[baskets.starts[row] : baskets.starts[row + 1]]
        asked.append(tuple(chance.choice(codes, 2, replace=False).tolist()))
    true, seen = dict.fromkeys(asked, 0.0), dict.fromkeys(asked, 0.0)
    for cluster in clusters:
        bits = item_bits_of(baskets, cluster.rows)
        chunk_of = {item: n for n, chunk in enumerate(cluster.chunks) for item in chunk}
        for one, two in true:
            if one in bits and two in bits:
                both = (bits[one] & bits[two]).bit_count()
                true[one, two] += both
                if one in chunk_of and chunk_of[one] == chunk_of.get(two):
                    seen[one, two] += both
                    continue
                held = [bits[i].bit_count() if i in chunk_of else 1 for i in (one, two)]
                seen[one, two] += held[0] * held[1] / cluster.rows.size
    return float(np.mean([abs(true[each] - seen[each]) / max(true[each], 1.0) for each in asked]))
