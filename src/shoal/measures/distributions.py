"""Distributions of columns before and after, sizes of classes, associations: for pictures.

Everything is binned once, from the frequency table and the classes: a bin a value where a column
has few, equal steps of a line, nodes of a hierarchy. A released label is spread evenly over what
it covers, as a reader of the release would take it. Where persons are counted, each counts
once, shared out over their records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchies.draw import draw
from shoal.hierarchies.tree import Hierarchy
from shoal.measures.risk.classes import BANDS
from shoal.reports.pictures import Associations, Distribution, Pictures, SizeBand
from shoal.schema.schema import Kind
from shoal.table.domain import MISSING_NODE, Domain
from shoal.table.frequency import ONCE
from shoal.table.recoding import Recoding

BINS = 12
LABELS = 12
MISSING = "(missing)"
MOST_ASSOCIATED = 12
SAMPLED = 50_000
"""Rows and classes that associations look at, evenly spread over the sorted table."""
_DRAWN = 24

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def pictures_of(recoding: Recoding, *, has_tuples: bool = True) -> Pictures:
    """Count what the pictures of a release show.

    has_tuples: False where the rows stayed on a cluster and the recoding has the classes alone:
        then nothing is known of the table before.
    """
    members = _Members(recoding, has_tuples)
    columns = [_Column(recoding, j, members) for j in range(len(recoding.table.domains))]
    return Pictures(
        unit="record" if recoding.table.persons is None else "person",
        columns={each.domain.name: each.distribution() for each in columns},
        sizes=members.bands(),
        associations=_associations(columns, members),
        hierarchies={
            each.name: _drawn(tree)
            for each in recoding.table.domains
            if (tree := each.tree or each.ladder) is not None
        },
    )


@dataclass(frozen=True)
class _Members:
    """How much each row and each class counts."""

    recoding: Recoding
    has_tuples: bool

    @cached_property
    def weights(self) -> Floats:
        """Return what each member counts: its records, or its share of persons."""
        made = self.recoding
        count = made.count.astype(np.float64)
        if made.table.persons is None:
            return count
        who = made.table.persons[made.row]
        known = who >= 0
        own = np.bincount(who[known], weights=count[known])
        count[known] /= own[who[known]]
        count[~known & (who != ONCE)] = 0.0
        return count

    @cached_property
    def rows(self) -> Floats:
        made = self.recoding
        return _sums(made.row, self.weights, made.table.rows)

    @cached_property
    def classes(self) -> Floats:
        made, kept = self.recoding, self.recoding.label >= 0
        return _sums(made.label[kept], self.weights[kept], made.classes)

    def bands(self) -> tuple[SizeBand, ...]:
        after = _band_sums(self.recoding.persons)
        before: list[int | None] = [None] * len(BANDS)
        if self.has_tuples:
            before = [*_band_sums(self._tuples())]
        return tuple(
            SizeBand(low=low, high=high, before=old, after=new)
            for (low, high), old, new in zip(BANDS, before, after, strict=True)
        )

    def _tuples(self) -> Ints:
        """Return the records, or persons, of each distinct tuple of the table."""
        table = self.recoding.table
        if table.persons is None:
            return table.tuple_sizes
        every = np.arange(table.rows)
        most = int(table.tuple_ids.max(initial=-1)) + 1
        return table.persons_of(every, table.tuple_ids, table.counts, most)


def _band_sums(sizes: Ints) -> list[int]:
    edges = [low for low, _ in BANDS[1:]]
    place = np.searchsorted(edges, sizes, side="right")
    sums = np.bincount(place, weights=sizes, minlength=len(BANDS))
    return [round(float(each)) for each in sums]


@dataclass(frozen=True)
class _Bins:
    """How the codes of a column are binned.

    Attributes:
        of_code: int64[codes], the bin of each.
        edges: of equal steps on a line of numbers; None: bins are sets of codes.
    """

    names: tuple[str, ...]
    of_code: Ints
    edges: Floats | None = None

    @property
    def size(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class _Column:
    """One quasi-identifier of a recoding."""

    recoding: Recoding
    place: int
    members: _Members

    @property
    def domain(self) -> Domain:
        return self.recoding.table.domains[self.place]

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        return self.recoding.table.codes[:, self.place]

    @cached_property
    def weights(self) -> Floats | None:
        """Return how often each code occurs; None where that was not counted."""
        if not self.members.has_tuples:
            return None
        return _sums(self.codes, self.members.rows, len(self.domain))

    @cached_property
    def bins(self) -> _Bins:
        return _bins(self.domain, self.weights)

    @cached_property
    def distinct(self) -> tuple[list[str | None], Ints]:
        return self.recoding.distinct_labels(self.place)

    @cached_property
    def spread(self) -> Floats:
        """Return float64[labels, bins]: how a record with each label is shared out to bins."""
        texts, where = self.distinct
        size = len(texts)
        if self.recoding.released is not None:
            return _spread_points(self.bins, self._points(texts, where))
        first = np.zeros(size, dtype=np.int64)
        first[where] = np.arange(len(where))  # a class that has the label
        if self.recoding.node is not None:
            nodes = self.recoding.node[first, self.place].astype(np.int64)
            assert self.domain.ladder is not None
            return _spread_nodes(self.bins, self.domain.ladder, self.domain.ladder_nodes(), nodes)
        low, high = self.recoding.low[first, self.place], self.recoding.high[first, self.place]
        tree = self.domain.tree
        if tree is not None:
            at = self.domain.position.astype(np.int64)
            pairs = zip(at[low].tolist(), at[high].tolist(), strict=True)
            nodes = np.array([tree.lca(pair) for pair in pairs], dtype=np.int64)
            return _spread_nodes(self.bins, tree, at, nodes)
        return _spread_runs(self.bins, self.domain, low.astype(np.int64), high.astype(np.int64))

    def _points(self, texts: Sequence[str | None], where: Ints) -> Floats:
        """Return float64[labels, 2]: position of a centroid on the line (or NaN), and its code."""
        domain, found = self.domain, np.full((len(texts), 2), np.nan)
        code = {text: i for i, text in enumerate(domain.labels)}
        means: Floats | None = None
        for i, text in enumerate(texts):
            if text in code:
                found[i] = domain.position[code[text]], code[text]
            elif domain.tree is not None and text is not None and text in domain.tree:
                found[i, 1] = _code_under(domain, domain.tree, domain.tree.index(text))
            elif domain.tree is None:
                found[i, 0] = _number(text)
                if math.isnan(found[i, 0]):  # a date between two that occur
                    means = self._means(where, len(texts)) if means is None else means
                    found[i, 0] = means[i]
                found[i, 1] = np.abs(domain.position - found[i, 0]).argmin()
        return found

    def _means(self, where: Ints, size: int) -> Floats:
        """Return the mean position of the records with each label."""
        made = self.recoding
        kept = made.label >= 0
        label, count = where[made.label[kept]], made.count[kept]
        places = self.domain.position[self.codes[made.row[kept]]]
        total = np.bincount(label, weights=places * count, minlength=size)
        return total / np.maximum(np.bincount(label, weights=count, minlength=size), 1)

    def distribution(self) -> Distribution:
        bins, (texts, where) = self.bins, self.distinct
        before = None
        if self.weights is not None:
            before = _sums(bins.of_code, self.weights, bins.size)
        held = _sums(where, self.members.classes, len(texts))
        after = held @ self.spread
        people = np.bincount(where, weights=self.recoding.persons, minlength=len(texts))
        sums: dict[str, int] = {}
        for text, number in zip(texts, people.tolist(), strict=True):
            name = MISSING if text is None else text
            sums[name] = sums.get(name, 0) + round(number)
        often = sorted(sums, key=lambda name: (-sums[name], name))[:LABELS]
        return Distribution(
            bins=bins.names,
            before=None if before is None else tuple(before.round(6).tolist()),
            after=tuple(after.round(6).tolist()),
            labels=tuple((name, sums[name]) for name in sums if name in often),
            others=sum(sums.values()) - sum(sums[name] for name in often),
            different=len(sums),
        )


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return math.nan


def _code_under(domain: Domain, tree: Hierarchy, node: int) -> float:
    """Return the code in the middle of those below a node; NaN where none is."""
    nodes = domain.position
    below = np.flatnonzero((nodes >= tree.first[node]) & (nodes <= node))
    return float(below[len(below) // 2]) if len(below) else math.nan


def _bins(domain: Domain, weights: Floats | None) -> _Bins:
    """Choose at most `BINS` bins, and one more for the missing value."""
    missing = int(domain.has_missing)
    values = len(domain) - missing
    names: list[str] = [MISSING] * missing
    of_code = np.zeros(len(domain), dtype=np.int64)
    if values <= BINS:
        of_code[:] = np.arange(len(domain))
        return _Bins((*names, *map(str, domain.labels[missing:])), of_code)
    if domain.tree is not None:
        found = _tree_bins(domain, domain.tree, missing)
        if found is None:
            return _commonest_bins(domain, weights, missing)
        inner, texts = found
        of_code[missing:] = inner + missing
        return _Bins((*names, *texts), of_code)
    places = domain.position[missing:]
    if domain.kind is Kind.NUMERIC and domain.span > 0:
        edges = _steps(float(places[0]), float(places[-1]))
        of_code[missing:] = np.searchsorted(edges[1:-1], places, side="right") + missing
        texts = _step_names(edges, whole=bool((places == np.floor(places)).all()))
        return _Bins((*names, *texts), of_code, edges)
    share = np.arange(values) * BINS // values
    if domain.kind is Kind.DATE and domain.span > 0:  # equal steps of time, those that occur
        share = np.minimum((places - places[0]) / domain.span * BINS, BINS - 1).astype(np.int64)
        share = np.unique(share, return_inverse=True)[1]
    of_code[missing:] = share + missing
    return _Bins((*names, *_run_names(domain.labels[missing:], share)), of_code)


def _run_names(labels: Sequence[str | None], share: Ints) -> list[str]:
    """Name runs of codes by their first and last value."""
    found = []
    for place in range(int(share.max()) + 1):
        inside = np.flatnonzero(share == place)
        low, high = labels[int(inside[0])], labels[int(inside[-1])]
        found.append(str(low) if low == high else f"{low} – {high}")
    return found


def _steps(low: float, high: float) -> Floats:
    """Return round edges of at most `BINS` equal steps from low to high.

    Example:
        >>> _steps(17.0, 90.0).tolist()
        [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0]
    """
    raw = (high - low) / (BINS - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= raw * (1 - 1e-9))
    first, last = math.floor(low / step), math.floor(high / step) + 1
    edges: Floats = np.arange(first, last + 1, dtype=np.float64) * step
    return edges


def _step_names(edges: Floats, *, whole: bool) -> list[str]:
    """Name steps; whole: of whole numbers, whose last one before the next step is named.

    Example:
        >>> _step_names(np.array([0.0, 2.0, 4.0]), whole=True)
        ['0 – 1', '2 – 3']
        >>> _step_names(np.array([0.0, 0.5, 1.0]), whole=False)
        ['0 – 0.5', '0.5 – 1']
    """
    step = float(edges[1] - edges[0])
    if not whole or step < 2:
        return [f"{a:.10g} – {b:.10g}" for a, b in pairwise(edges.tolist())]
    return [f"{a:.10g} – {b - 1:.10g}" for a, b in pairwise(edges.tolist())]


def _tree_bins(domain: Domain, tree: Hierarchy, missing: int) -> tuple[Ints, list[str]] | None:
    """Return the bin of each value by its ancestor at the deepest level with few enough nodes."""
    nodes = domain.position[missing:].astype(np.int64)
    parents, depths = np.array(tree.parents), np.array(tree.depths)
    found = None
    for depth in range(1, tree.height + 1):
        above = nodes.copy()
        while (deep := depths[above] > depth).any():
            above[deep] = parents[above[deep]]
        distinct, where = np.unique(above, return_inverse=True)
        if len(distinct) > BINS:
            break
        found = where, [tree.labels[int(node)] for node in distinct]
    return found if found is not None and len(found[1]) > 1 else None


def _commonest_bins(domain: Domain, weights: Floats | None, missing: int) -> _Bins:
    """Give the commonest values a bin each, and one to all others."""
    held = np.zeros(len(domain)) if weights is None else weights
    order = np.argsort(-held[missing:], kind="stable")[: BINS - 1] + missing
    order.sort()
    of_code = np.full(len(domain), missing + len(order), dtype=np.int64)
    of_code[:missing] = 0
    of_code[order] = np.arange(len(order)) + missing
    names = [MISSING] * missing + [str(domain.labels[int(code)]) for code in order]
    return _Bins((*names, f"{len(domain) - missing - len(order):,} others"), of_code)


def _spread_nodes(bins: _Bins, tree: Hierarchy, at: Ints, nodes: Ints) -> Floats:
    """Spread nodes evenly over the codes that stand below them; at: the node of each code."""
    order = np.argsort(at, kind="stable")
    held = np.zeros((len(at) + 1, bins.size))
    held[np.arange(1, len(at) + 1), bins.of_code[order]] = 1.0
    held = held.cumsum(axis=0)
    first = np.array(tree.first)[nodes]
    start = np.searchsorted(at[order], first, side="left")
    end = np.searchsorted(at[order], nodes, side="right")
    return _shares(held[end] - held[start])


def _spread_runs(bins: _Bins, domain: Domain, low: Ints, high: Ints) -> Floats:
    """Spread runs of codes on a line: evenly over numbers between, or over values."""
    if domain.has_missing:  # what covers the missing value and others covers everything
        everything = (low == 0) & (high > 0)
        low, high = np.where(everything, 1, low), np.where(everything, len(domain) - 1, high)
    held = np.zeros((len(domain) + 1, bins.size))
    held[np.arange(1, len(domain) + 1), bins.of_code] = 1.0
    held = held.cumsum(axis=0)
    shared = _shares(held[high + 1] - held[low])
    if bins.edges is None:
        return shared
    wide = high > low
    a, b = domain.position[low[wide], None], domain.position[high[wide], None]
    inside = np.minimum(b, bins.edges[1:]) - np.maximum(a, bins.edges[:-1])
    first = bins.size - (len(bins.edges) - 1)
    shared[wide] = 0.0
    shared[wide, first:] = _shares(np.maximum(inside, 0.0))
    return shared


def _spread_points(bins: _Bins, points: Floats) -> Floats:
    """Put centroids into the bins where they stand; what stands nowhere is spread evenly."""
    place = np.zeros(len(points), dtype=np.int64)
    nowhere = np.isnan(points[:, 1])
    code = np.where(nowhere, 0, points[:, 1]).astype(np.int64)
    place[:] = bins.of_code[code]
    if bins.edges is not None:
        first = bins.size - (len(bins.edges) - 1)
        inner = np.searchsorted(bins.edges[1:-1], points[:, 0], side="right") + first
        place = np.where(np.isnan(points[:, 0]), place, inner)
        place = np.where((code == 0) & (first == 1) & ~nowhere, 0, place)
    shared = np.zeros((len(points), bins.size))
    shared[np.arange(len(points)), place] = 1.0
    shared[nowhere] = 1 / bins.size
    return shared


def _shares(held: Floats) -> Floats:
    """Return rows that add up to 1; a row of nothing is spread evenly."""
    total = held.sum(axis=1, keepdims=True)
    shared: Floats = np.where(total > 0, held / np.where(total > 0, total, 1), 1 / held.shape[1])
    return shared


def _associations(columns: Sequence[_Column], members: _Members) -> Associations | None:
    """Measure how strongly each two columns go together, before and after."""
    chosen = columns[:MOST_ASSOCIATED]
    if len(chosen) < 2:
        return None
    rows = _sample(members.recoding.table.rows)
    classes = _sample(members.recoding.classes)
    held = members.classes[classes]
    spreads = [each.spread[each.distinct[1][classes]] for each in chosen]
    before = None
    if members.has_tuples:
        weights = members.rows[rows]
        places = [each.bins.of_code[each.codes[rows]] for each in chosen]
        sizes = [each.bins.size for each in chosen]
        before = _matrix(
            len(chosen),
            lambda i, j: _sums(
                places[i] * sizes[j] + places[j], weights, sizes[i] * sizes[j]
            ).reshape(sizes[i], sizes[j]),
        )
    after = _matrix(len(chosen), lambda i, j: (spreads[i] * held[:, None]).T @ spreads[j])
    return Associations(
        columns=tuple(each.domain.name for each in chosen), before=before, after=after
    )


def _sums(place: NDArray[np.integer], weights: Floats, size: int) -> Floats:
    return np.bincount(place, weights=weights, minlength=size).astype(np.float64)


def _sample(size: int) -> Ints:
    return np.linspace(0, size - 1, min(size, SAMPLED)).astype(np.int64)


def _matrix(
    size: int, table: Callable[[int, int], NDArray[np.float64]]
) -> tuple[tuple[float, ...], ...]:
    found = np.eye(size)
    for i in range(size):
        for j in range(i):
            found[i, j] = found[j, i] = round(cramers_v(table(i, j)), 6)
    return tuple(tuple(row) for row in found.tolist())


def cramers_v(table: Floats) -> float:
    """Return Cramér's V of a contingency table, 0 (independent) … 1 (one tells the other).

    Example:
        >>> cramers_v(np.array([[5.0, 0.0], [0.0, 5.0]]))
        1.0
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    least = min(table.shape) - 1
    if least < 1:
        return 0.0
    total = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    chi = float(((table - expected) ** 2 / expected).sum())
    return min(math.sqrt(chi / total / least), 1.0)


def _drawn(tree: Hierarchy) -> str:
    """Draw a hierarchy, without the leaf that stands for the missing value."""
    lines = draw(tree, _DRAWN).splitlines()
    hidden = MISSING_NODE.encode("unicode_escape").decode()
    return "\n".join(line.replace(hidden, MISSING) for line in lines)
