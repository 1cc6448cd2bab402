"""Drawing the cells of a release: a function of its labels, of protected marginals and a seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engines.drawing.protected import Ints, Marginal
from shoal.engines.drawing.raking import quotas, rake
from shoal.engines.drawing.units import Units
from shoal.measures.attacks.match import label_ends
from shoal.table.domain import Domain

NO_POOL = -1
_FEW = 8
"""Values of a label that no known one lies in, at most: of its steps, evenly."""


@dataclass(frozen=True)
class DrawnColumn:
    """The cells of one column, and what was found on the way.

    Attributes:
        misfit: the share of records that would have to be drawn otherwise to meet the marginal.
    """

    cells: pl.Series
    misfit: float


def draw_column(
    labels: pl.Series, marginal: Marginal, domain: Domain, units: Units | None,
    *, random: np.random.Generator,
) -> DrawnColumn:  # fmt: skip
    """Draw a column: each cell from what its label leaves open.

    Guarantee:
        Depends on nothing but what is given here. Every cell lies in its label.

    Args:
        labels: of each record, as texts, in the order of the release.
        marginal: what is known of the column beside the labels.
        domain: how labels of the column are read.
        units: its steps, where it has some.
        random: decides which record with a label gets which of its values.
    """
    asked = Asked.of(labels)
    open_ = Open.of(asked.labels, marginal, domain, units)
    raked = rake(open_.runs, asked.sizes, open_.pool, marginal.records)
    return DrawnColumn(asked.draw(open_, raked.weights, random), raked.misfit)


@dataclass(frozen=True)
class Asked:
    """The labels of a column that cells are drawn for.

    Attributes:
        labels: each once.
        where: of each record, the number of its label.
    """

    name: str
    labels: Sequence[str | None]
    where: Ints

    @classmethod
    def of(cls, labels: pl.Series) -> Asked:
        """Return the labels of a release."""
        texts = labels.cast(pl.String)
        distinct = sorted(texts.unique().to_list(), key=lambda text: (text is not None, text))
        place = pl.DataFrame({"t": pl.Series(distinct, dtype=pl.String), "i": range(len(distinct))})
        joined = texts.to_frame("t").join(
            place, on="t", how="left", nulls_equal=True, maintain_order="left"
        )
        return cls(labels.name, distinct, joined["i"].to_numpy().astype(np.int64))

    @property
    def sizes(self) -> Ints:
        """Return the records of each label."""
        return np.bincount(self.where, minlength=len(self.labels)).astype(np.int64)

    def draw(
        self, open_: Open, weights: NDArray[np.float64], random: np.random.Generator
    ) -> pl.Series:
        """Draw a cell for each record: each label gets its values as often as their weights say."""
        sizes = self.sizes
        order = np.argsort(self.where, kind="stable")
        ends = np.concatenate(([0], sizes.cumsum()))
        drawn = np.empty(len(self.where), dtype=np.int64)
        for number, (first, last) in enumerate(open_.runs.tolist()):
            found = first + quotas(weights[first:last], int(sizes[number]), random.random())
            drawn[order[ends[number] : ends[number + 1]]] = random.permutation(found)
        return pl.Series(self.name, open_.texts, dtype=pl.String).gather(drawn)


@dataclass(frozen=True)
class Open:
    """The values that labels leave open.

    Attributes:
        texts: the values of the marginal, and those that labels name beside them.
        pool: the pool of each; -1: of none.
        runs: int64[labels, 2], the first value of each label, and the one after its last.
    """

    texts: Sequence[str | None]
    pool: Ints
    runs: Ints

    @classmethod
    def of(
        cls, labels: Sequence[str | None], marginal: Marginal, domain: Domain, units: Units | None
    ) -> Open:
        """Find the run of values under each label; a label that has none brings its own."""
        ends = _ends(domain, labels, marginal)
        known = dict(zip(marginal.texts, marginal.place, strict=True))
        more: dict[str | None, float] = {}
        first = int(bool(marginal.texts) and marginal.texts[0] is None)
        places = marginal.place[first:]
        for text, (low, high) in zip(labels, ends, strict=True):
            if text is None:
                if text not in known:
                    more[None] = math.nan
                continue
            if np.searchsorted(places, low) < np.searchsorted(places, high, side="right"):
                continue
            more.update((t, p) for t, p in _own_values(domain, units, text, low, high))
        told = zip(marginal.place.tolist(), marginal.texts, marginal.pool.tolist(), strict=True)
        values = list(told)
        values += [(place, text, NO_POOL) for text, place in more.items() if text not in known]
        values.sort(key=lambda each: (each[1] is not None, each[0]))
        first = int(bool(values) and values[0][1] is None)
        inner = np.array([place for place, _, _ in values[first:]])
        runs = np.empty((len(labels), 2), dtype=np.int64)
        for at, (text, (low, high)) in enumerate(zip(labels, ends, strict=True)):
            if text is None:
                runs[at] = 0, 1
            elif math.isinf(low):
                runs[at] = 0, len(values)
            else:
                runs[at] = (
                    first + np.searchsorted(inner, low),
                    first + np.searchsorted(inner, high, side="right"),
                )
        return cls([text for _, text, _ in values],
                   np.array([pool for _, _, pool in values], dtype=np.int64), runs)  # fmt: skip


def _ends(
    domain: Domain, labels: Sequence[str | None], marginal: Marginal
) -> list[tuple[float, float]]:
    """Return where the values of each label begin and end; the root: everywhere."""
    known = dict(zip(domain.labels, map(float, domain.position), strict=True))
    found = []
    for text in labels:
        if text is None:
            found.append((math.nan, math.nan))
        elif text == domain.root:
            found.append((-math.inf, math.inf))
        elif domain.tree is not None:
            node = domain.tree.index(text)
            found.append((float(domain.tree.first[node]), float(node)))
        else:
            found.append(label_ends(domain, known, text))
    return found


def _own_values(
    domain: Domain, units: Units | None, label: str, low: float, high: float
) -> list[tuple[str | None, float]]:
    """Return values of a label in which the marginal knows none."""
    if low < high and units is not None:  # of its steps: which of them occur, G does not say
        inside = units.between(low, high)
        few = inside[:: max((len(inside) - 1) // _FEW, 1)]
        return [(units.text(unit), units.place(unit)) for unit in few] or [(label, low)]
    own: list[tuple[str | None, float]] = [
        (text, float(place))
        for text, place in zip(domain.labels, domain.position, strict=True)
        if text is not None and low <= place <= high
    ]
    return own or [(label, low)]
