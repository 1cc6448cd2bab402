"""Domain: the values of one column as the codes 0 … m-1, in an order that means something.

Numbers, dates and ordinal values stand on a line; categories stand in post-order
of their tree, so that a run of codes always has its lowest common ancestor at
the end of a climb from its last value. The missing value, where there is one,
is code 0: a value of its own that no interval contains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.core.grids import Grid, Span
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Kind
from shoal.schema.sensitive import Scale

ROOT = "*"
WEIGHTED, WEIGHTED_EXAMPLE = "weighted", "weighted-example"
MISSING_NODE = "\x00missing"  # a label that no text column can hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """The coded values of one column.

    Attributes:
        labels: the text of each code; None for the missing value.
        position: where each code stands: its number (line) or its node (tree).
        tree: the hierarchy that categories are released from; None on a line.
        ladder: the hierarchy that gives the levels of full-domain recoding, if any.
        distance: how far apart two categories are, as the schema chose it; None: the
            method's own choice. `beta` is the exponent of the weighted ones.
        scale: of a sensitive column, how whoever judges reads and orders its values.
        node: of a sensitive column, the ladder's node of each code.
        grid: where the intervals of a line may begin and end; None: at any value.
        lift: the node of the tree that is released for each node; None: the node itself.
        is_blank: a class releases a value that all of it share, or else the root.

    Guarantee:
        `label(low, high)` covers every code from low to high, and
        `cost(low, high)` lies in 0 … 1 and never falls when the run grows.
    """

    name: str
    kind: Kind
    labels: tuple[str | None, ...] = field(repr=False)
    position: NDArray[np.float64] = field(repr=False)
    tree: Hierarchy | None = None
    ladder: Hierarchy | None = None
    weight: float = 1.0
    distance: str | None = None
    beta: float = 1.0
    scale: Scale | None = None
    node: tuple[int, ...] | None = None
    grid: Grid | None = None
    lift: tuple[int, ...] | None = field(default=None, repr=False)
    is_blank: bool = False

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def has_missing(self) -> bool:
        """Say whether code 0 is the missing value."""
        return bool(self.labels) and self.labels[0] is None

    @property
    def span(self) -> float:
        """Return the range of a line: its largest minus its smallest position."""
        inner = self.position[1:] if self.has_missing else self.position
        return float(inner[-1] - inner[0]) if len(inner) else 0.0

    def cost(self, low: int, high: int) -> float:
        """Return the share of the column's information that releasing low … high loses."""
        if self.is_blank and low != high:
            return 1.0
        if self.tree is not None:
            return self.tree.heights[self.released_node(low, high)] / max(self.tree.height, 1)
        if low == high:
            return 0.0
        if low == 0 and self.has_missing:
            return 1.0
        if not self.span:  # numbers that floats cannot tell apart: their ranks can
            return (high - low) / max(len(self) - self.has_missing - 1, 1)
        begin, end = self.position[low], self.position[high]
        if self.grid is not None:
            begin, end = self.released_span(low, high)[2:4]
        return min(float(end - begin) / self.span, 1.0)

    def label(self, low: int, high: int) -> str | None:
        """Return what is written for a class whose codes run from low to high."""
        if low == high:
            return self.labels[low]
        if self.is_blank:
            return self.root
        if self.tree is not None:
            return self.tree.labels[self.released_node(low, high)]
        if low == 0 and self.has_missing:
            return self.root
        if self.grid is not None:
            return self.released_span(low, high).label
        return f"[{self.labels[low]}, {self.labels[high]}]"

    def released_node(self, low: int, high: int) -> int:
        """Return the node of the tree that is released for a class with these codes."""
        assert self.tree is not None
        if low == high:
            return int(self.position[low])
        if self.is_blank:
            return self.tree.root
        node = self.tree.lca((int(self.position[low]), int(self.position[high])))
        return node if self.lift is None else self.lift[node]

    def released_span(self, low: int, high: int) -> Span:
        """Return the interval of the grid that is released for two different values of a line."""
        assert self.grid is not None
        return self.grid.span(str(self.labels[low]), str(self.labels[high]))

    def alike_runs(
        self, low: NDArray[np.int32], high: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return runs of codes that release the same; all days of a month are alike on a grid."""
        if self.tree is not None or self.grid is None or not self.span:
            return low, high
        inner = self.labels[int(self.has_missing) :]
        steps = [None] * self.has_missing + [self.grid.step(str(text)) for text in inner]
        fresh = np.array([a != b for a, b in pairwise([object(), *steps])])
        starts = np.flatnonzero(fresh)
        which = np.cumsum(fresh) - 1
        first, last = starts[which], np.append(starts[1:], len(steps))[which] - 1
        several = low != high  # one value is released as it is
        return (
            np.where(several, first[low], low).astype(np.int32),
            np.where(several, last[high], high).astype(np.int32),
        )

    @property
    def is_plain_line(self) -> bool:
        """Say whether `label` tells every two runs of a line apart, whatever they are.

        But for those that all have the root's label. No text may look like an interval, or
        an interval with it like another one.
        """
        if self.tree is not None or self.grid is not None or self.is_blank:
            return False
        texts = [text for text in (*self.labels, self.root) if text is not None]
        return len(set(texts)) == len(texts) and not any(
            text.startswith("[") or ", " in text for text in texts
        )

    def ladder_nodes(self) -> NDArray[np.int64]:
        """Return the node of the ladder where each code stands."""
        if self.ladder is None:
            raise MethodError(problem=f"column {self.name!r} has no hierarchy to take levels from")
        if self.node is not None:
            return np.array(self.node, dtype=np.int64)
        if self.tree is not None:
            return self.position.astype(np.int64)
        names = [MISSING_NODE if label is None else label for label in self.labels]
        return np.array([self.ladder.index(name) for name in names], dtype=np.int64)

    def ladder_label(self, node: int) -> str | None:
        """Return what is written for a node of the ladder; None for the missing value."""
        if self.ladder is None:
            raise MethodError(problem=f"column {self.name!r} has no hierarchy to take levels from")
        label = self.ladder.labels[node]
        return None if label == MISSING_NODE else label

    @property
    def root(self) -> str:
        """Return the label that covers every value."""
        tree = self.tree or self.ladder
        return ROOT if tree is None else tree.labels[tree.root]


def line_domain(
    name: str,
    kind: Kind,
    labels: Sequence[str | None],
    position: Sequence[float],
    *,
    ladder: Hierarchy | None = None,
    weight: float = 1.0,
) -> Domain:
    """Return a domain on a line; `labels` are ordered, the missing value (None) first."""
    places = np.asarray(position, dtype=np.float64)
    return Domain(
        name=name,
        kind=kind,
        labels=tuple(labels),
        position=places,
        ladder=ladder,
        weight=weight,
    )


def weighted_heights(height: int, *, beta: float, example: bool = False) -> NDArray[np.float64]:
    """Return what a value of the most specific level loses 0 … height steps further up.

    [netshiunda2020], definition 5: levels count from the root, which is 1, and the step from
    level i to i - 1 weighs 1 / (i - 1)^beta, so that steps near the root are the heavy ones; a beta
    of 0 weighs all alike. Its worked example has the weights the other way round, the
    step next to the values being the heaviest: `example`.

    Example:
        Ages, pairs of ages and the root; by the formula, then as in the example:

        >>> weighted_heights(2, beta=1.0).round(2).tolist()
        [0.0, 0.33, 1.0]
        >>> weighted_heights(2, beta=1.0, example=True).round(2).tolist()
        [0.0, 0.67, 1.0]
    """
    steps = np.arange(1.0, height + 1) ** -beta  # of level 2 first, the one below the root
    rises = np.cumsum(np.append(0.0, steps if example else steps[::-1]))
    found: NDArray[np.float64] = rises / rises[-1] if height else rises
    return found


def tree_domain(
    name: str, kind: Kind, values: Sequence[str], tree: Hierarchy, *, missing: bool, weight: float
) -> Domain:
    """Return the domain of `values` in the post-order of their hierarchy.

    Guarantee:
        Every value stands in the tree; a missing value is a leaf of its own below the root.
    """
    full = tree.with_missing(MISSING_NODE) if missing else tree
    nodes = sorted((full.index(value), value) for value in values)
    labels: list[str | None] = [value for _, value in nodes]
    position = [float(node) for node, _ in nodes]
    if missing:
        labels.insert(0, None)
        position.insert(0, float(full.index(MISSING_NODE)))
    return Domain(
        name=name,
        kind=kind,
        labels=tuple(labels),
        position=np.asarray(position, dtype=np.float64),
        tree=full,
        ladder=full,
        weight=weight,
    )
