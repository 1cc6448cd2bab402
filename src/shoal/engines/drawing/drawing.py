"""A drawn release: from the labels that were verified, protected marginals and a seed alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.engines.drawing.cells import draw_column
from shoal.engines.drawing.protected import Marginal, Noise, protected_marginal
from shoal.engines.drawing.units import units_of
from shoal.formats.types import texts_of
from shoal.measures.fidelity.columns import Column
from shoal.measures.fidelity.fidelity import Released, fidelity_of
from shoal.measures.fidelity.marginals import Marginals
from shoal.schema.schema import Schema
from shoal.table.frequency import FrequencyTable

DRAWN = (
    "The values of the recoded columns are drawn: no record is literally true of anybody. Each "
    "cell is one of the values that the verified, generalized release leaves open."
)
"""What a report, and the metadata of a file, say first."""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """What a release is drawn with.

    Attributes:
        k: the fewest persons that a value, or a pool of rarer ones, of a marginal has.
        noise: of the marginals, for differential privacy; None: they are exact, and pooled.
        epsilon: what the noise was paid with.
    """

    seed: int
    k: int
    noise: Noise | None = None
    epsilon: float | None = None


@dataclass(frozen=True)
class Drawer:
    """Draws the cells of releases of a table.

    Attributes:
        table: its frequency table: marginals are taken from it, and nothing else.
    """

    table: FrequencyTable
    schema: Schema
    drawing: Drawing

    @cached_property
    def marginals(self) -> tuple[Marginal, ...]:
        """Return what may be known of each column."""
        found = []
        for column, domain in enumerate(self.table.domains):
            attribute = self.schema.attribute(domain.name)
            found.append(
                protected_marginal(
                    self.table, column, attribute, k=self.drawing.k, noise=self.drawing.noise
                )
            )
        return tuple(found)

    def draw(self, labels: pl.DataFrame) -> Drawn:
        """Draw every recoded cell of a release; other columns stay as they are.

        Guarantee:
            A function of the labels, in their order, the marginals and the seed.
        """
        cells, misfit = {}, {}
        for column, (domain, marginal) in enumerate(
            zip(self.table.domains, self.marginals, strict=True)
        ):
            attribute = self.schema.attribute(domain.name)
            found = draw_column(
                texts_of(labels[domain.name]), marginal, domain, units_of(domain, attribute),
                random=np.random.default_rng([self.drawing.seed, column]),
            )  # fmt: skip
            cells[domain.name], misfit[domain.name] = found.cells, found.misfit
        return Drawn(labels.with_columns(**cells), misfit)

    def fidelity(self, drawn: pl.DataFrame) -> Document | None:
        """Return how near drawn records are to the table."""
        columns = [_placed(texts_of(drawn[domain.name])) for domain in self.table.domains]
        return fidelity_of(self.table, Released(columns, np.ones(drawn.height, dtype=np.int64)))

    def zero_line(self, records: int) -> float | None:
        """Return the k-marginal score of so many records that are drawn from marginals alone."""
        roots = {d.name: pl.Series([d.root] * records, dtype=pl.String) for d in self.table.domains}
        drawn = self.draw(pl.DataFrame(roots)).frame
        held = [
            np.bincount(self.table.codes[:, j], weights=self.table.counts, minlength=len(domain))
            for j, domain in enumerate(self.table.domains)
        ]
        columns = [
            Column(domain, held[j].astype(np.float64), *_placed(drawn[domain.name]))
            for j, domain in enumerate(self.table.domains)
        ]
        one = np.ones(records, dtype=np.int64)
        if not records:
            return None
        return round(Marginals(columns, self.table.codes, self.table.counts, one).score(), 9)

    def forms(self) -> Mapping[str, str | None]:
        """Return how the dates of each column are written."""
        known = {name: self.schema.attribute(name) for name in self.schema.quasi}
        return {n: a.date_format if a.dates == "same" else None for n, a in known.items()}


@dataclass(frozen=True)
class Drawn:
    """Drawn records, in the order of the labels that they were drawn from.

    Attributes:
        misfit: of each column, the share of its records that its marginal wants otherwise.
    """

    frame: pl.DataFrame
    misfit: Mapping[str, float]

    def sorted(self, *, keep_order: bool) -> tuple[pl.DataFrame, NDArray[np.int64]]:
        """Return the records in the order of their values, and where each was before.

        So that what stands side by side does not say who was in one class.
        """
        if keep_order:
            return self.frame, np.arange(self.frame.height)
        found = in_order(self.frame)
        return self.frame[found], found


def in_order(frame: pl.DataFrame) -> NDArray[np.int64]:
    """Return the order of records by the texts of all their cells, equal ones as they stand."""
    texts = frame.select(texts_of(frame[name]) for name in frame.columns)
    order = texts.select(pl.arg_sort_by(texts.columns, nulls_last=False, maintain_order=True))
    return order.to_series().to_numpy().astype(np.int64)


def typed(drawn: pl.DataFrame, types: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Return drawn texts in the types that the columns had, where they fit them.

    Example:
        >>> typed(pl.DataFrame({"age": ["30", None]}), {"age": pl.Int64()})["age"].to_list()
        [30, None]
    """
    changes = []
    for name, kind in types.items():
        texts = drawn[name]
        if kind == pl.Boolean:
            made = texts == "true"
        elif isinstance(kind, (pl.Date, pl.Datetime, pl.Time)):
            made = _moments(texts, kind)
        elif kind.is_numeric():
            made = texts.cast(kind, strict=False)
        else:
            continue
        if made.null_count() == texts.null_count():
            changes.append(made.alias(name))
    return drawn.with_columns(changes)


def _moments(texts: pl.Series, kind: pl.DataType) -> pl.Series:
    if kind == pl.Date:
        return texts.str.to_date("%Y-%m-%d", strict=False)
    if kind == pl.Time:
        return texts.str.to_time("%H:%M:%S", strict=False)
    padded = texts.str.replace(r"^(\d{4}-\d\d-\d\d)$", "$1 00:00:00")
    return padded.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False).cast(kind)


def _placed(texts: pl.Series) -> tuple[list[str | None], NDArray[np.int64]]:
    """Return the distinct texts of a column, and which of them each record has."""
    known = texts.unique(maintain_order=True)
    ranks = pl.DataFrame({"t": known, "i": range(len(known))})
    found = texts.to_frame("t").join(
        ranks, on="t", how="left", nulls_equal=True, maintain_order="left"
    )
    return known.to_list(), found["i"].to_numpy().astype(np.int64)


def account_of(drawer: Drawer, drawn: Drawn, *, fidelity: bool) -> Document:
    """Return what is to be known of a draw.

    fidelity: measure it, and the zero line: marginals alone.
    """
    about: Document = {
        "note": DRAWN,
        "seed": drawer.drawing.seed,
        "k": drawer.drawing.k,
        "exact_marginals": drawer.drawing.noise is None,
        **({} if drawer.drawing.epsilon is None else {"epsilon": drawer.drawing.epsilon}),
        "misfit": {name: round(value, 9) for name, value in drawn.misfit.items()},
    }
    if fidelity:
        about["fidelity"] = drawer.fidelity(drawn.frame)
        about["marginals_alone"] = drawer.zero_line(drawn.frame.height)
    return about
