"""What a search can minimize, and what it can know about a node without looking.

A measure turns the tally of a node into a *score* that searches compare and a
*value* that people read. Searches never look at nodes whose score cannot be
low enough, so each measure also bounds the score of

* a node from its levels alone (what generalization costs if nothing is suppressed);
* every finer node, from the records that a node has to suppress: they fail
  there too, and pay in full;
* every coarser node, from the number of classes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.core.suggest import did_you_mean
from shoal.methods.lattice.space import Ladder, Node, Space
from shoal.methods.method import ALIASES, MEASURES

Floats = NDArray[np.float64]


@dataclass(slots=True, kw_only=True)
class Tally:
    """What was counted at one node.

    Attributes:
        suppressed: records of classes that break the promise.
        least: records that the part of the promise suppresses which only gets better
            on the way up; every finer node suppresses them too. Once `least` is above the
            budget, counting may stop, and the other numbers are not complete.
        classes, published: all classes, and those that keep the promise (classes is
            -1 where counting stopped before they were known).
        squares, published_squares: the sums of their squared sizes.
        logs, published_logs: the sums of n·log2(n), where the measure asks for them.
        paid: int64[2, columns], what suppressed records would have cost; row 1: those
            of `least`.
        lost: per column int64[2, codes], suppressed records by generalized value; row 1
            holds those of `least`. Only for measures that ask for it (`by_code`).
    """

    node: Node
    suppressed: int
    least: int
    classes: int = -1
    published: int = 0
    squares: int = 0
    published_squares: int = 0
    logs: float = 0.0
    published_logs: float = 0.0
    paid: NDArray[np.int64] = field(default_factory=lambda: np.zeros((2, 0), dtype=np.int64))
    lost: Sequence[NDArray[np.int64]] = ()


class Measure(ABC):
    """One way to say how much a node loses; the smaller the score the better."""

    name: str
    takes_max: bool = False  # a node scores its worst column, not the sum of its columns
    with_logs: bool = False  # whether the tally needs n·log2(n)
    by_size: bool = False  # whether it needs the sizes of the classes
    by_code: bool = False  # whether it needs suppressed records by generalized value

    @abstractmethod
    def cost(self, column: int, level: int) -> NDArray[np.int64]:
        """Return what a record pays for each code of a column at a level."""

    @abstractmethod
    def floors(self) -> Floats:
        """Return float64[columns, levels]: the score that generalization alone costs."""

    @abstractmethod
    def score(self, tally: Tally) -> float:
        """Return the score of a node."""

    def value(self, score: float) -> float:
        """Return the score as people read it."""
        return score

    def finer(self, tally: Tally) -> Floats | float:
        """Bound the score of all finer nodes: float64[columns, levels], or one number."""
        return -math.inf

    def coarser(self, tally: Tally) -> float:
        """Bound the score of all coarser nodes."""
        return -math.inf


class ColumnCosts(NamedTuple):
    """What a column pays.

    Attributes:
        costs: per level, whole numbers that a record pays for each code.
        base: per level, what generalization alone costs the column.
        full: what a suppressed record pays.
        scale: what turns a sum over records into the column's share.
        weight: of the column.
    """

    costs: list[NDArray[np.int64]]
    base: Floats
    full: int
    scale: float
    weight: float


class ColumnMeasure(Measure):
    """A measure that adds up columns: each pays for its level and for suppressed records.

    Column j scores shape_j(base[j][level] + scale[j]·extra), where extra is what
    suppressed records pay on top; shape is increasing.
    """

    def __init__(
        self,
        name: str,
        *,
        columns: Sequence[ColumnCosts],
        aggregate: str,
        suppression_counts: bool = True,
    ) -> None:
        self.name = name
        self._costs = [column.costs for column in columns]
        self._full = np.array([column.full for column in columns], dtype=np.int64)
        self._scale = np.array([column.scale for column in columns])
        weights = [column.weight for column in columns]
        self._counts = suppression_counts
        self._aggregate = aggregate
        self.takes_max = aggregate == "max"
        share = np.array(weights) / sum(weights)
        if aggregate == "sum":
            share *= len(weights)
        if aggregate == "max":
            share = np.array(weights) / max(weights)
        self._share = share[:, None]
        # Short ladders repeat their last level, so that all fit one matrix.
        deepest = max(len(column.base) for column in columns)
        self._base = np.array(
            [np.pad(column.base, (0, deepest - len(column.base)), "edge") for column in columns]
        )
        self._floors = self._shape(self._base)
        self._base_rows: list[list[float]] = self._base.tolist()
        self._floor_rows: list[list[float]] = self._floors.tolist()
        self._shares: list[float] = share.tolist()

    def _shape(self, xs: Floats) -> Floats:
        part = np.log1p(xs) if self._aggregate == "geometric" else xs
        return np.asarray(part * self._share, dtype=np.float64)

    def cost(self, column: int, level: int) -> NDArray[np.int64]:
        """Return what a record pays for each code of a column at a level."""
        return self._costs[column][level]

    def floors(self) -> Floats:
        """Return float64[columns, levels]: the score that generalization alone costs."""
        return self._floors

    def extra(self, tally: Tally, *, least: bool) -> Floats:
        """Return float64[columns, 1]: what suppressed records pay on top, already scaled."""
        records = tally.least if least else tally.suppressed
        paid = tally.paid[int(least)]
        extra: Floats = (records * self._full - paid) * self._scale
        return extra[:, None]

    def score(self, tally: Tally) -> float:
        """Return the score of a node."""
        # Plain numbers: for a handful of columns they take a quarter of the time of arrays.
        if tally.suppressed and self._counts:
            extra = self.extra(tally, least=False)[:, 0].tolist()
            parts = []
            for j, level in enumerate(tally.node):
                x = self._base_rows[j][level] + extra[j]
                x = math.log1p(x) if self._aggregate == "geometric" else x
                parts.append(x * self._shares[j])
        else:
            parts = [self._floor_rows[j][level] for j, level in enumerate(tally.node)]
        return float(max(parts) if self.takes_max else sum(parts))

    def value(self, score: float) -> float:
        """Return the score as people read it."""
        return math.expm1(score) if self._aggregate == "geometric" else score

    def finer(self, tally: Tally) -> Floats | float:
        """Bound all finer nodes by what the records pay that they must suppress as well.

        They pay in full there, and what they would have paid at a finer level is at
        most what they would have paid here.
        """
        if not tally.least or not self._counts:
            return -math.inf
        return self._shape(self._base + self.extra(tally, least=True))


class EntropyMeasure(ColumnMeasure):
    """Non-uniform entropy: suppressed records pay the entropy of their generalized values."""

    by_code = True

    def extra(self, tally: Tally, *, least: bool) -> Floats:
        """Return F·H of the suppressed records' values, column by column.

        F·H never falls when records are added or values become finer, so it bounds
        every finer node too.
        """
        return np.array([[_spread(counts[int(least)])] for counts in tally.lost])


def _spread(counts: NDArray[np.int64]) -> float:
    """Return -Σ c·log2(c / total)."""
    found = counts[counts > 0].astype(np.float64)
    if not found.size:
        return 0.0
    return float((found * (np.log2(found.sum()) - np.log2(found))).sum())


class ClassMeasure(Measure):
    """A measure of the sizes of the classes; levels and weights do not enter."""

    by_size = True

    def __init__(self, name: str, space: Space, *, k: int) -> None:
        self.name = name
        self._space = space
        self._records = space.table.records
        self._k = max(k, 1)
        self.with_logs = name == "class-entropy"

    def cost(self, column: int, level: int) -> NDArray[np.int64]:
        """Return zeros: no column pays."""
        return np.zeros(len(self._space.ladders[column].nodes[level]), dtype=np.int64)

    def floors(self) -> Floats:
        """Return zeros: levels alone say nothing."""
        deepest = max(ladder.levels for ladder in self._space.ladders)
        return np.zeros((len(self._space.ladders), deepest))

    def score(self, tally: Tally) -> float:
        """Return the score of a node."""
        n, f = self._records, tally.suppressed
        if self.name == "dm":
            return float(tally.published_squares + n * f)
        if self.name == "aecs":
            return n / max(tally.published + (f > 0), 1)
        # log2(N) minus the entropy of the class sizes, all suppressed records being one class.
        return (tally.published_logs + (f * math.log2(f) if f else 0.0)) / n

    def finer(self, tally: Tally) -> float:
        """Bound all finer nodes: at least `least` records are suppressed, classes hold k."""
        n, f = self._records, tally.least
        if self.name == "dm":
            return float(n * f + self._k * (n - f))
        if self.name == "aecs":
            return n / ((n - f) // self._k + 1)
        return f * math.log2(f) / n if f else 0.0

    def coarser(self, tally: Tally) -> float:
        """Bound all coarser nodes: their classes are made of these."""
        if tally.classes < 0:
            return -math.inf
        if self.name == "dm":
            return float(tally.squares)
        if self.name == "aecs":
            return self._records / tally.classes
        return tally.logs / self._records


class SuppressionMeasure(ClassMeasure):
    """The suppressed records themselves: how small a limit could be."""

    def score(self, tally: Tally) -> float:
        """Return the suppressed records."""
        return float(tally.suppressed)

    def finer(self, tally: Tally) -> float:
        """Finer nodes suppress these records too."""
        return float(tally.least)

    def coarser(self, tally: Tally) -> float:
        """Say nothing about coarser nodes."""
        return -math.inf


def measure_of(
    name: str,
    space: Space,
    tallied: Sequence[NDArray[np.int64]],
    *,
    aggregate: str = "geometric",
    k: int = 1,
) -> Measure:
    """Return the measure called `name`.

    Args:
        name: one of `MEASURES`, or an old name of one (`ALIASES`).
        space: the lattice; the weights of its columns enter per-column measures.
        tallied: per column, records per code of the domain.
        aggregate: how `loss` joins its columns.
        k: the smallest class that the promise allows, for bounds.

    Raises:
        MethodError: no such measure.
    """
    name = ALIASES.get(name, name)
    if name not in MEASURES:
        meant = did_you_mean(name, MEASURES, before=", ") or ";"
        raise MethodError(
            problem=f"no utility measure {name!r}{meant} there are {', '.join(MEASURES)}"
        )
    if name in ("dm", "aecs", "class-entropy"):
        return ClassMeasure(name, space, k=k)
    return _column_measure(name, space, tallied, aggregate=aggregate)


def _column_measure(
    name: str, space: Space, tallied: Sequence[NDArray[np.int64]], *, aggregate: str
) -> ColumnMeasure:
    columns = [
        _column_costs(name, ladder, counts, space.table.records)
        for ladder, counts in zip(space.ladders, tallied, strict=True)
    ]
    joined = {"loss": aggregate, "precision-loss": "arithmetic", "ncp": "arithmetic"}
    kind = EntropyMeasure if name == "non-uniform-entropy" else ColumnMeasure
    return kind(
        name,
        columns=columns,
        aggregate=joined.get(name, "sum"),
        suppression_counts=name not in ("level-sum", "entropy-monotone"),
    )


def _column_costs(
    name: str, ladder: Ladder, counts: NDArray[np.int64], records: int
) -> ColumnCosts:
    costs, full = _costs_of(name, ladder)
    unit = _unit_of(name, ladder, records)
    levels = range(ladder.levels)
    if "entropy" in name:
        amounts = [_generalization_entropy(ladder, level, counts) for level in levels]
    else:
        sums = [int((counts * costs[level][ladder.codes[level]]).sum()) for level in levels]
        least = records if name == "loss" else 0  # a record covers a leaf at the very least
        amounts = [(total - least) * unit for total in sums]
    return ColumnCosts(costs, np.array(amounts, dtype=np.float64), full, unit, ladder.domain.weight)


def _costs_of(name: str, ladder: Ladder) -> tuple[list[NDArray[np.int64]], int]:
    """Return whole numbers that a record pays per level and code, and what the root costs."""
    if name in ("level-sum", "precision-loss", "height-utility"):
        per_level = [np.full(len(nodes), i, dtype=np.int64) for i, nodes in enumerate(ladder.nodes)]
        return per_level, max(ladder.height, 1)
    weight_of_node = ladder.tree.heights if name == "ncp" else ladder.tree.leaf_counts
    by_node = np.asarray(weight_of_node, dtype=np.int64)
    return [by_node[nodes] for nodes in ladder.nodes], max(int(by_node[-1]), 1)


def _unit_of(name: str, ladder: Ladder, records: int) -> float:
    """Return what turns a sum over records into a column's share."""
    if name == "loss":
        leaves = ladder.tree.leaf_counts[-1]
        return 1 / (records * (leaves - 1)) if leaves > 1 else 0.0
    if name == "ncp":
        return 1 / (records * max(ladder.tree.height, 1))
    if name in ("precision-loss", "height-utility"):
        return 1 / (records * max(ladder.height, 1))
    if name == "level-sum":
        return 1 / records
    return 1.0


def _generalization_entropy(ladder: Ladder, level: int, counts: NDArray[np.int64]) -> float:
    """Return -Σ a·log2(a/b): a records with a value, b records with its generalization."""
    codes = ladder.codes[level]
    joined = np.bincount(codes, weights=counts).astype(np.float64)[codes]
    found = counts > 0
    a = counts[found].astype(np.float64)
    return float((a * (np.log2(joined[found]) - np.log2(a))).sum())
