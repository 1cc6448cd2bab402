"""How far from the best possible release a release can be: a lower bound on what must be lost.

Every k-anonymous release shares its records out to groups of k to 2k - 1 (a larger one can be split
and loses no more). Which groups together hold every record once and cost least is a linear program
with a variable for each group, if groups may be taken in part; its value is a lower bound. The
groups are made as they are needed: the program's dual gives each record a price, and a branch and
bound (`kernels.bounds`) looks for groups that cost less than their members would pay. Whatever it
has not looked at is known from below, so every round gives a bound that holds, how ever early it
ends ([aloise2014] has this for squared errors).

Needs SciPy (`pip install shoal[bound]`), whose solver is HiGHS.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.core.errors import MissingExtraError
from shoal.kernels.bounds.groups import Rows, cheap_groups
from shoal.kernels.clustering.losses import packed
from shoal.kernels.clustering.space import SCALE
from shoal.methods.clustering.clusters import box_losses
from shoal.methods.clustering.space import space_of
from shoal.methods.microaggregation.points import points_of
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding

MOST_ROWS = 5_000
"""Distinct tuples up to which a bound is looked for: pairs of them are kept in memory."""

SECONDS = 60.0
NODES = (200, 50_000)
"""Nodes that are looked at for one row: at first, and at most."""

CENTRE = 0.7
"""Prices are drawn so far towards the best ones so far, so that they do not swing."""

FEW = 20
"""Where fewer new groups come than a part of the rows, more nodes are looked at."""

ENOUGH = 1e-5
"""A bound so near to the value of the program is good enough."""

Group = tuple[tuple[int, int], ...]


class Bound(NamedTuple):
    """What every k-anonymous release loses at least.

    Attributes:
        least: the bound.
        lost: by the release, each group by itself.
        is_exact: the linear program was solved to its end.
    """

    least: float
    lost: float
    is_exact: bool


def check_extra() -> None:
    """Refuse to begin where SciPy is not installed.

    Raises:
        MissingExtraError: names the extra.
    """
    if find_spec("scipy") is None:
        raise MissingExtraError(feature="a bound", package="scipy", extra="shoal[bound]")


def bound_of(
    recoding: Recoding, k: int, *, lost: Mapping[str, float | None], seconds: float = SECONDS
) -> Document:
    """Return how far a release is above the least that any release must lose, as a document.

    lost: its measures of utility, of which NCP counts for boxes and `sse_loss` for centroids.
    """
    measure = "ncp" if recoding.released is None else "sse_loss"
    told: Document = {"measure": measure, "k": k, "above": None}
    why = _unknown(recoding, k)
    if why is not None:
        return {**told, "why": why}
    search = bound_of_boxes if recoding.released is None else bound_of_squares
    found = search(recoding, k, seconds=seconds)
    least, own = found.least, lost[measure] or 0.0
    above = 0.0 if own <= least else own / least - 1 if least > 0 else None
    return {**told, "least": least, "lost": own, "above": above, "is_exact": found.is_exact}


def _unknown(recoding: Recoding, k: int) -> str | None:
    """Say why no bound can be given, if there is a reason."""
    table = recoding.table
    if len(table.tuple_sizes) > MOST_ROWS:
        return f"a bound is looked for with up to {MOST_ROWS:,} distinct tuples"
    if recoding.suppressed:
        return "records are suppressed, which the bound does not know"
    if k < 2:
        return "k-anonymity is not promised"
    lines = all(d.tree is None and not d.has_missing for d in table.domains)
    if recoding.released is not None and not lines:
        return "of centroids there is a bound for numbers without missing values alone"
    return None


def bound_of_boxes(recoding: Recoding, k: int, *, seconds: float = SECONDS) -> Bound:
    """Return the bound on the NCP of k-anonymous boxes with tight labels, columns unweighted."""
    table = _tuples(recoding.table)
    whole = table.records * max(len(table.domains), 1) * SCALE
    return _bound(_Boxes(table), recoding, k, whole=whole, seconds=seconds)


def bound_of_squares(recoding: Recoding, k: int, *, seconds: float = SECONDS) -> Bound:
    """Return the bound on 100 · SSE/SST of numbers in groups of k, around their means."""
    table = _tuples(recoding.table, is_weighted=True)
    pairs = _Squares(table)
    middle = np.average(pairs.points, axis=0, weights=table.counts)
    whole = float(((pairs.points - middle) ** 2 * table.counts[:, None]).sum()) / 100
    return _bound(pairs, recoding, k, whole=whole or 1.0, seconds=seconds)


def _tuples(table: FrequencyTable, *, is_weighted: bool = False) -> FrequencyTable:
    """Return the distinct tuples of a table alone, their labels tight."""
    first = np.searchsorted(table.tuple_ids, np.arange(len(table.tuple_sizes)))
    plain = tuple(
        replace(
            each, weight=each.weight if is_weighted else 1.0,
            lift=None, grid=None, distance=None, is_blank=False,
        )
        for each in table.domains
    )  # fmt: skip
    return FrequencyTable(
        domains=plain, codes=np.ascontiguousarray(table.codes[first]), counts=table.tuple_sizes,
        sensitive_domains=(), sensitive=np.zeros((len(first), 0), dtype=np.int32),
    )  # fmt: skip


class _Pairs:
    """Rows as the search for cheap groups takes them, and what a group costs."""

    def __init__(self, table: FrequencyTable, apart: NDArray[np.float64]) -> None:
        self.table = table
        self.apart = apart
        # The rows that lie far out are the first of their groups: few others come near them.
        self.rank = np.argsort(np.argsort(-(apart * table.counts).sum(axis=1), kind="stable"))

    def rows(self, k: int) -> Rows:
        """Return them, each with those after it, the nearest first."""
        raise NotImplementedError

    def cost(self, group: Group) -> float:
        """Return what a group loses."""
        raise NotImplementedError

    def alone(self, k: int) -> NDArray[np.float64]:
        """Return what a record of each row loses at least, whichever k records it is with."""
        raise NotImplementedError

    def near(self) -> NDArray[np.int32]:
        """Return, for each row, itself where it has several records, and the rows after it."""
        n = len(self.rank)
        order = np.argsort(self.apart, axis=1, kind="stable")
        found = np.full((n, n), -1, dtype=np.int32)
        for i, others in enumerate(order):
            after = others[self.rank[others] > self.rank[i]]
            if self.table.counts[i] > 1:
                after = np.concatenate(([i], after))
            found[i, : len(after)] = after
        return found

    def nearest(self, row: int, records: int) -> Group:
        """Return a row and the records that are nearest to it."""
        found = {}
        for other in np.argsort(self.apart[row], kind="stable"):
            found[int(other)] = min(int(self.table.counts[other]), records)
            records -= found[int(other)]
            if not records:
                break
        return tuple(sorted(found.items()))


class _Boxes(_Pairs):
    """Groups lose their box, for each of their records."""

    def __init__(self, table: FrequencyTable) -> None:
        self.space = space_of(table.domains)
        codes = table.codes
        apart = np.empty((table.rows, table.rows))
        for i, own in enumerate(codes):
            apart[i] = box_losses(self.space, np.minimum(codes, own), np.maximum(codes, own))
        super().__init__(table, apart)

    def rows(self, k: int) -> Rows:
        table, nothing = self.table, np.zeros((0, 0))
        return Rows(table.codes, packed(self.space), nothing, self.near(), nothing, table.counts)

    def cost(self, group: Group) -> float:
        codes = self.table.codes[[row for row, _ in group]]
        box = codes.min(axis=0, keepdims=True), codes.max(axis=0, keepdims=True)
        return float(sum(records for _, records in group) * box_losses(self.space, *box)[0])

    def alone(self, k: int) -> NDArray[np.float64]:
        order = np.argsort(self.apart, axis=1, kind="stable")
        enough = (np.cumsum(self.table.counts[order], axis=1) < k).sum(axis=1)
        every = np.arange(len(order))
        found: NDArray[np.float64] = self.apart[every, order[every, enough]]
        return found


class _Squares(_Pairs):
    """Groups lose the squared distances from their mean."""

    def __init__(self, table: FrequencyTable) -> None:
        self.points = points_of(table)
        apart = np.stack([((self.points - own) ** 2).sum(axis=1) for own in self.points])
        super().__init__(table, apart)

    def rows(self, k: int) -> Rows:
        table = self.table
        halves = np.zeros((table.rows, 2 * k - 1))
        for row in range(table.rows):
            order = np.argsort(self.apart[row], kind="stable")
            left = table.counts[order]
            left = left - (order == row)  # itself is no neighbour, its copies are
            least = np.repeat(self.apart[row, order], np.minimum(left, 2 * k))[: 2 * k - 2]
            halves[row, 1 : len(least) + 1] = np.cumsum(least) / 2
            halves[row, len(least) + 1 :] = np.inf
        codes, losses = np.zeros((table.rows, 0), dtype=np.int32), np.zeros(0, dtype=np.int32)
        return Rows(codes, losses, self.apart, self.near(), halves, table.counts)

    def cost(self, group: Group) -> float:
        row, records = (np.array(each) for each in zip(*group, strict=True))
        own = self.points[row]
        middle = np.average(own, axis=0, weights=records)
        return float((((own - middle) ** 2).sum(axis=1) * records).sum())

    def alone(self, k: int) -> NDArray[np.float64]:
        return self.rows(k).halves[:, k - 1] / k


def _bound(pairs: _Pairs, recoding: Recoding, k: int, *, whole: float, seconds: float) -> Bound:
    released = _groups(recoding)
    lost = sum(map(pairs.cost, released))
    if k < 2 or pairs.table.records < k:
        return Bound(0.0, lost / whole, is_exact=False)
    stop = time.perf_counter() + seconds
    least, is_exact = _raised(_Program(pairs, k, released), stop)
    return Bound(least / whole, lost / whole, is_exact)


def _groups(recoding: Recoding) -> list[Group]:
    """Return each class as its tuples and how many records it has of them."""
    found: list[Counter[int]] = [Counter() for _ in range(recoding.classes)]
    members = (recoding.table.tuple_ids[recoding.row], recoding.label, recoding.count)
    for row, label, records in zip(*(each.tolist() for each in members), strict=True):
        if label >= 0:
            found[label][row] += records
    return [tuple(sorted(group.items())) for group in found]


class _Program:
    """The linear program over the groups that are known."""

    def __init__(self, pairs: _Pairs, k: int, released: list[Group]) -> None:
        self.pairs, self.k = pairs, k
        self.rows = pairs.rows(k)
        self.counts = pairs.table.counts
        self.groups: dict[Group, float] = {}
        self.add(released)
        self.begin = self._shares(released)
        for row in range(pairs.table.rows):
            for records in (k, k + 1):
                if records <= pairs.table.records:
                    self.add([pairs.nearest(row, records)])

    def add(self, groups: Iterable[Group]) -> int:
        """Add groups; return how many of them are new."""
        before = len(self.groups)
        for group in groups:
            if group not in self.groups:
                self.groups[group] = self.pairs.cost(group)
        return len(self.groups) - before

    def solved(self) -> tuple[float, NDArray[np.float64]]:
        """Return the value of the program, and what a record of each row costs in it."""
        from scipy.optimize import linprog
        from scipy.sparse import csc_array

        places = [row for group in self.groups for row, _ in group]
        records = [float(n) for group in self.groups for _, n in group]
        starts = np.cumsum([0, *map(len, self.groups)])
        shape = (len(self.counts), len(self.groups))
        found = linprog(
            list(self.groups.values()), A_eq=csc_array((records, places, starts), shape=shape),
            b_eq=self.counts, bounds=(0, None), method="highs-ds",
        )  # fmt: skip
        return float(found.fun), np.asarray(found.eqlin.marginals)

    def cheap(self, prices: NDArray[np.float64], most_nodes: int) -> tuple[float, int, bool]:
        """Return a bound by these prices, how many groups were added, and whether all was seen."""
        found = cheap_groups(self.rows, prices, k=self.k, most_nodes=most_nodes)
        least = float((self.counts * (prices + found.short)).sum())
        fresh = self.add(
            tuple(zip(*(part.tolist() for part in np.unique(rows[:size], return_counts=True)),
                      strict=True))
            for rows, size in zip(found.members, found.sizes, strict=True)
        )  # fmt: skip
        return least, fresh, not found.is_cut

    def _shares(self, released: list[Group]) -> NDArray[np.float64]:
        """Return what a record of each row loses in the release, on average."""
        found = np.zeros(len(self.counts))
        for group in released:
            each = self.groups[group] / sum(n for _, n in group)
            for row, n in group:
                found[row] += each * n
        return found / self.counts


def _raised(program: _Program, stop: float) -> tuple[float, bool]:
    """Return the best bound until the program is solved or the time is over."""
    nodes, most = NODES
    alone = program.pairs.alone(program.k)  # prices that no group undercuts
    best = float((program.counts * alone).sum())
    centre, of_centre = program.begin, -np.inf
    while True:
        value, prices = program.solved()
        fresh, saw_all = 0, True
        for tried in (CENTRE * centre + (1 - CENTRE) * prices, prices):
            least, fresh, saw_all = program.cheap(tried, nodes)
            best = max(best, least)
            if least > of_centre:
                centre, of_centre = tried, least
            if fresh:
                break
        if best >= value * (1 - ENOUGH) or (not fresh and saw_all):
            return best, True
        if time.perf_counter() > stop or (not fresh and nodes >= most):
            return best, False
        if not saw_all and fresh * FEW < len(program.counts) and nodes < most:
            nodes, of_centre = nodes * 3, -np.inf
