"""What a model draws from: values and raked weights of each column, worked out when it is learned.

Whoever has only the model has no table to take marginals from, so they travel in it: as the weights
that fit its labels to the protected marginals. A batch is drawn by these, whatever it holds: the
records of a batch are not bent towards those that the model was learned from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shoal.engines.coding import code_column
from shoal.engines.drawing.cells import Asked, Open
from shoal.engines.drawing.drawing import Drawer
from shoal.engines.drawing.protected import Floats, Marginal
from shoal.engines.drawing.raking import LEAST, rake
from shoal.engines.drawing.units import units_of
from shoal.measures.attacks.match import place_of
from shoal.model.column import label_of
from shoal.model.document_types import DrawnColumn
from shoal.model.model import ModelColumn, RecodingModel
from shoal.schema.attribute import Attribute
from shoal.schema.schema import Kind
from shoal.table.domain import Domain

_DIGITS = 6


def with_drawn_columns(model: RecodingModel, drawer: Drawer) -> RecodingModel:
    """Return a model that has what its cells are drawn from.

    Guarantee:
        A function of the model's labels and counts and of protected marginals.
    """
    counts = np.array(model.counts or [1] * len(model.regions), dtype=np.int64)
    regions = np.array(model.regions, dtype=np.int64).reshape(len(counts), len(model.columns))
    drawn = []
    for number, (column, domain, marginal) in enumerate(
        zip(model.columns, drawer.table.domains, drawer.marginals, strict=True)
    ):
        attribute = model.schema.attribute(column.name)
        labels = labels_of(column, attribute)
        sizes = np.bincount(regions[:, number], weights=counts, minlength=len(labels))
        open_ = Open.of(labels, marginal, domain, units_of(domain, attribute))
        raked = rake(open_.runs, sizes.astype(np.int64), open_.pool, marginal.records)
        found: DrawnColumn = {
            "name": column.name,
            "kind": str(domain.kind),
            "values": list(open_.texts),
            "weights": [float(f"{weight:.{_DIGITS}g}") for weight in raked.weights],
            "runs": open_.runs.tolist(),
        }
        drawn.append(found)
    return replace(model, drawn=tuple(drawn))


def labels_of(column: ModelColumn, attribute: Attribute) -> list[str | None]:
    """Return what each cell of a column releases."""
    known = getattr(attribute.hierarchy, "labels", ())
    return [label_of(cell, known) for cell in column.cells]


@dataclass(frozen=True)
class ModelDrawer:
    """Draws the cells of what a model encoded."""

    model: RecodingModel
    seed: int

    def draw(self, labels: pl.DataFrame) -> tuple[pl.DataFrame, tuple[Domain, ...]]:
        """Draw every recoded cell; return the records, and how their columns are read.

        Guarantee:
            A function of the labels, the model and the seed. Every cell lies in its label.
        """
        cells, domains = {}, []
        for number, (column, drawn) in enumerate(
            zip(self.model.columns, self.model.drawn or (), strict=True)
        ):
            asked = Asked.of(labels[column.name])
            attribute = replace(self.model.schema.attribute(column.name), kind=Kind(drawn["kind"]))
            domain = _domain(attribute, drawn["values"], asked.labels, column.root)
            open_, weights = _opened(asked, drawn, domain, attribute)
            cells[column.name] = asked.draw(
                open_, weights, np.random.default_rng([self.seed, number])
            )
            domains.append(domain)
        return labels.with_columns(**cells), tuple(domains)


def _domain(
    attribute: Attribute, values: Sequence[str | None], labels: Sequence[str | None], root: str
) -> Domain:
    """Return a column as the model and the labels that it wrote know it."""
    own = [value for value in values if value is not None]
    if attribute.kind in (Kind.NUMERIC, Kind.DATE):  # the ends of intervals are values of the line
        bare = code_column(pl.Series(own, dtype=pl.String), attribute, marks=()).domain
        own += [end for label in labels if label not in (None, root) for end in _ends(label, bare)]
    missing: list[str | None] = [None] if None in values or None in labels else []
    texts = [*dict.fromkeys(own), *missing]
    return code_column(pl.Series(texts, dtype=pl.String), attribute, marks=()).domain


def _ends(label: str | None, domain: Domain) -> list[str]:
    """Return the ends of an interval, or a value itself; nothing for other labels."""
    text = str(label)
    if not (text.startswith("[") and text.endswith("]")):
        return [] if np.isnan(place_of(domain, text)) else [text]
    found = text[1:-1].split(", ")
    return [end for end in found if len(found) == 2 and not np.isnan(place_of(domain, end))]


def _opened(
    asked: Asked, drawn: DrawnColumn, domain: Domain, attribute: Attribute
) -> tuple[Open, Floats]:
    """Return the values under each label, those that are not the model's own (joined ones) too."""
    place = {text: float(at) for text, at in zip(domain.labels, domain.position, strict=True)}
    values = [value for value in drawn["values"] if value in place]
    weight = dict(zip(drawn["values"], drawn["weights"], strict=True))
    known = Marginal(
        name=domain.name, texts=tuple(values),
        place=np.array([place[value] for value in values]),
        pool=np.arange(len(values)), records=np.array([weight[value] for value in values]),
    )  # fmt: skip
    open_ = Open.of(asked.labels, known, domain, units_of(domain, attribute))
    usual = float(np.mean(drawn["weights"]))
    weights = [max(weight.get(text, usual), LEAST) for text in open_.texts]
    return open_, np.array(weights, dtype=np.float64)
