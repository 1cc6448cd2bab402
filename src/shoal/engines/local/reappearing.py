"""Who reappears in a drawn release: people who were in the table, and others who were not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from shoal.core.documents import Document
from shoal.engines.coding import coder_of, with_codes
from shoal.engines.local.source import Source, open_source
from shoal.formats.types import texts_of
from shoal.measures.attacks.match import label_distances
from shoal.schema.schema import Schema
from shoal.table.domain import Domain

LOOKED_FOR = 1_000
"""People of each half who are looked for among labels, at most."""
_ROWS = "\x00rows"


@dataclass(frozen=True)
class Halves:
    """A table in two halves, by chance: members of the release, and a control.

    Attributes:
        texts: the quasi-identifiers of every record, as a domain writes them.
        is_member: bool[records].
    """

    frame: pl.DataFrame
    texts: pl.DataFrame
    domains: tuple[Domain, ...]
    is_member: pl.Series

    @classmethod
    def of(cls, source: Source, schema: Schema, *, seed: int) -> Halves:
        """Part a table; where a column says who a record is about, person by person."""
        frame = source.collect(source.scan(source.columns))
        rng = np.random.default_rng(seed)
        if schema.person:
            group = frame.select(pl.struct(schema.person).rank("dense")).to_series().to_numpy()
            half = rng.permutation(int(group.max()) + 1)[group.astype(np.int64)] % 2 == 0
        else:
            half = rng.permutation(frame.height) % 2 == 0
        columns, domains = {}, []
        plain = open_source(frame)
        for name in schema.quasi:
            series = source.collect(with_codes(plain.scan([name], coded=[name]), [name]))[name]
            coder = coder_of(series.unique(), schema, name)
            labels = pl.Series(name, coder.domain.labels, dtype=pl.String)
            columns[name] = labels.gather(coder.codes(series))
            domains.append(coder.domain)
        return cls(frame, pl.DataFrame(columns), tuple(domains), pl.Series(half))

    @property
    def members(self) -> pl.DataFrame:
        """Return the half that is released."""
        return self.frame.filter(self.is_member)

    @cached_property
    def _unique(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The records of each half that nobody else of their half is like."""
        halves = (self.texts.filter(self.is_member), self.texts.filter(~self.is_member))
        one, other = (h.group_by(h.columns, maintain_order=True).len(_ROWS) for h in halves)
        return one.filter(pl.col(_ROWS) == 1), other.filter(pl.col(_ROWS) == 1)

    def reappear(self, drawn: pl.DataFrame, labels: pl.DataFrame) -> Document:
        """Return how many unique records of each half stand in a release of the first one.

        Args:
            drawn: the drawn release.
            labels: the generalized one that it was drawn from.
        """
        names = self.texts.columns
        held = drawn.select(texts_of(drawn[name]) for name in names).unique()
        labels = labels.select(texts_of(labels[name]) for name in names)
        found: Document = {}
        for who, unique in zip(("members", "control"), self._unique, strict=True):
            alike = unique.join(held, on=names, how="semi", nulls_equal=True).height
            covered, linked = self._linked(unique, labels)
            found[who] = {
                "unique": unique.height,
                "exact_matches": alike,
                "share": round(alike / max(unique.height, 1), 9),
                "covered_by_labels": covered,
                "linked_by_labels": linked,
            }
        return found

    def _linked(self, unique: pl.DataFrame, labels: pl.DataFrame) -> tuple[float, float]:
        """Return the share of people whom labels cover, and how likely each is pointed out.

        Whoever looks for somebody takes one of the records whose labels cover them.
        """
        people = unique[:: max(unique.height // LOOKED_FOR, 1)]
        classes = labels.group_by(self.texts.columns).len(_ROWS)
        fits = np.ones((people.height, classes.height), dtype=bool)
        for domain in self.domains:
            texts = classes[domain.name].unique().to_list()
            place = {text: i for i, text in enumerate(texts)}
            where = [place[text] for text in classes[domain.name].to_list()]
            near = label_distances(domain, people[domain.name].to_list(), texts) == 0
            fits &= near[:, where]
        candidates = fits @ classes[_ROWS].to_numpy().astype(np.float64)
        likely = np.divide(1.0, candidates, out=np.zeros(len(candidates)), where=candidates > 0)
        if not people.height:
            return 0.0, 0.0
        return round(float((candidates > 0).mean()), 9), round(float(likely.mean()), 9)
