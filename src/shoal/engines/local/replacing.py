"""Columns whose values are replaced as they are read: nothing behind the scan sees the original.

Each batch is replaced by its distinct values. A first pass checks what the values must be (dates
that can be shifted, people that are there) and that no two values get one pseudonym.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.dates import find_form
from shoal.core.errors import InputError, SchemaError, UnsafeReleaseError
from shoal.core.secret_keys import Keys
from shoal.engines.coding import with_codes
from shoal.engines.local.source import Source
from shoal.engines.person_key import present
from shoal.inference.kept import Replaced
from shoal.schema.schema import Attribute, Schema
from shoal.schema.techniques import Pseudonym, Shift, digest_of, shifted

_BATCH = 100_000
_FORMS = 1000  # dates that tell how the dates of a column are written
_DIGEST = np.dtype([("first", ">u8"), ("second", ">u8"), ("rest", ">u8")])


@dataclass(frozen=True)
class Replacing:
    """The scan of a table with the columns replaced that a schema says so of.

    Attributes:
        keys: of this release.
        forms: how the dates of shifted columns are written.
        found: what the first pass found, by column.
    """

    source: Source
    schema: Schema
    keys: Keys = field(repr=False)
    forms: Mapping[str, str | None]
    found: Mapping[str, Replaced]

    @classmethod
    def of(cls, source: Source, schema: Schema, keys: Keys) -> Replacing:
        """Look at what is to be replaced, in one pass, and check it.

        Raises:
            SchemaError: dates are shifted by a column that is not there.
            InputError: a date cannot be read, or a record says nobody whose date it is.
            UnsafeReleaseError: two values would get one pseudonym.
        """
        techniques = schema.replaced
        missing = [t.by for t in techniques.values() if isinstance(t, Shift)]
        faults = [f"column {n!r}: no such column; dates are shifted by it" for n in missing
                  if n not in source.columns]  # fmt: skip
        if faults:
            raise SchemaError(where=source.where, faults=faults)
        forms = {
            a.name: _form(source, a) for a in schema.attributes if isinstance(a.release, Shift)
        }
        made = cls(source, schema, keys, forms, {})
        return cls(source, schema, keys, forms, made._look())

    def scan(
        self,
        columns: Collection[str],
        *,
        coded: Collection[str] = (),
        beside: Mapping[str, str] | None = None,
    ) -> pl.LazyFrame:
        """Return a scan of some columns, replaced.

        beside: further columns as they are in the table, by the names that they get.
        """
        techniques = {n: t for n, t in self.schema.replaced.items() if n in columns}
        raw = dict(beside or {})
        if not techniques:
            lazy = self.source.scan([*dict.fromkeys((*columns, *raw.values()))], coded=coded)
            more = [pl.col(name).alias(alias) for alias, name in raw.items()]
            return lazy.select(*columns, *more) if raw else lazy
        needed = {t.by for t in techniques.values() if isinstance(t, Shift)}
        names = [n for n in self.source.columns if n in {*columns, *needed, *raw.values()}]
        lazy = self.source.scan(names, coded=[n for n in coded if n not in techniques])
        weights = [] if self.source.weight is None else [self.source.weight]
        changed = [self._expression(name).alias(name) for name in techniques]
        lazy = lazy.with_columns(
            *changed, *(pl.col(name).alias(alias) for alias, name in raw.items())
        ).select([*columns, *raw, *weights])
        return with_codes(lazy, [name for name in techniques if name in coded])

    def _expression(self, name: str) -> pl.Expr:
        technique = self.schema.attribute(name).release
        if isinstance(technique, Shift):
            pair = pl.struct(pl.col(name).alias("date"), pl.col(technique.by).alias("who"))
            return pair.map_batches(
                lambda both: self._shifted(name, *both.struct.unnest()),
                return_dtype=pl.String,
                is_elementwise=True,
            )
        return pl.col(name).map_batches(
            lambda values: self._mapped(name, values), return_dtype=pl.String, is_elementwise=True
        )

    def _mapped(self, name: str, values: pl.Series) -> pl.Series:
        """Replace the values of a column, each distinct one once."""
        technique = self.schema.attribute(name).release
        assert technique is not None
        return _by_distinct(self._values(name, values), technique.cell(name, self.keys))

    def _values(self, name: str, values: pl.Series) -> pl.Series:
        """Return what is replaced: of a person, the key as it is counted."""
        return self._who(values) if name in self.schema.person else self._present(values)

    def _who(self, values: pl.Series) -> pl.Series:
        """Return who records are about, as persons are counted."""
        return pl.select(present(pl.lit(values), self.schema.missing)).to_series()

    def _shifted(self, name: str, dates: pl.Series, who: pl.Series) -> pl.Series:
        """Move dates by the days of their person."""
        attribute = self.schema.attribute(name)
        technique = attribute.release
        assert isinstance(technique, Shift)
        days_of, form = technique.days_of(self.keys), self.forms[name]
        who = self._who(who)
        days = {person: days_of(person) for person in who.unique().drop_nulls().to_list()}
        same = attribute.dates == "same"
        known: dict[tuple[str, int], str | None] = {}
        moved: list[str | None] = []
        for text, person in zip(self._present(dates).to_list(), who.to_list(), strict=True):
            if text is None or person is None:
                moved.append(None)
                continue
            pair = text, days[person]
            if pair not in known:
                known[pair] = shifted(text, pair[1], form, same=same)
            moved.append(known[pair])
        return pl.Series(dates.name, moved, dtype=pl.String)

    def _present(self, values: pl.Series) -> pl.Series:
        """Return values as texts, the missing ones as null."""
        texts = values.cast(pl.String)
        marks = ["", *self.schema.missing]
        gone = texts.str.strip_chars().is_in(marks)
        return texts.set(gone.fill_null(True), None)

    def _look(self) -> dict[str, Replaced]:
        """Go through the raw columns once; see `of`."""
        techniques = self.schema.replaced
        if not techniques:
            return {}
        needed = {*techniques, *(t.by for t in techniques.values() if isinstance(t, Shift))}
        columns = [name for name in self.source.columns if name in needed]
        seen = {n: _Seen(t, t.key(n, self.keys)) for n, t in techniques.items()
                if isinstance(t, Pseudonym)}  # fmt: skip
        lost: dict[str, list[int]] = {
            n: [0, 0] for n, t in techniques.items() if isinstance(t, Shift)
        }
        lazy = self.source.scan(columns)
        for batch in self.source.batches(lazy, _BATCH):
            for name, pseudonyms in seen.items():
                pseudonyms.add(self._values(name, batch[name]))
            for name, counts in lost.items():
                technique = techniques[name]
                assert isinstance(technique, Shift)
                dates = self._present(batch[name])
                who = self._who(batch[technique.by])
                counts[0] += int((dates.is_not_null() & who.is_null()).sum())
                moved = self._shifted(name, batch[name], who)
                counts[1] += int((dates.is_not_null() & who.is_not_null() & moved.is_null()).sum())
        self._refuse_lost(lost)
        return {name: each.judged(name) for name, each in seen.items()}

    def _refuse_lost(self, lost: Mapping[str, Sequence[int]]) -> None:
        for name, (nobody, unread) in lost.items():
            technique = self.schema.attribute(name).release
            assert isinstance(technique, Shift)
            if nobody:
                raise InputError(
                    where=f"column {name!r}",
                    problem=f"{nobody:,} dates cannot be shifted: the records have no value in "
                    f"{technique.by!r}. Fill it, or remove these records",
                )
            if unread:
                raise InputError(
                    where=f"column {name!r}",
                    problem=f"{unread:,} values cannot be shifted: they are no dates, or would "
                    "leave the years 1 to 9999. Say how they are written (date_format), or name "
                    "marks of missing values (--missing)",
                )


@dataclass
class _Seen:
    """The digests of a pseudonymised column: 24 bytes for each different value."""

    technique: Pseudonym
    key: bytes = field(repr=False)
    present: int = 0
    digests: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, dtype=_DIGEST))

    def add(self, values: pl.Series) -> None:
        self.present += values.len() - values.null_count()
        texts = values.unique().drop_nulls().to_list()
        joined = b"".join(digest_of(self.key, text)[:24] for text in texts)
        fresh = np.frombuffer(joined, dtype=_DIGEST)
        self.digests = np.unique(np.concatenate((self.digests, fresh)))

    def judged(self, name: str) -> Replaced:
        """Return how many values and repeats there are.

        Raises:
            UnsafeReleaseError: two values would get one pseudonym.
        """
        bits = 5 * self.technique.characters
        first, second = self.digests["first"], self.digests["second"]
        shown = second >> np.uint64(128 - bits) if bits > 64 else np.zeros_like(second)
        begun = first if bits >= 64 else first >> np.uint64(64 - bits)
        same = (begun[1:] == begun[:-1]) & (shown[1:] == shown[:-1])
        if same.any():  # sorted, so that equal beginnings stand side by side
            raise UnsafeReleaseError(
                problem=f"column {name!r}: two values would get one pseudonym; keep more "
                f"characters than {self.technique.characters}. Nothing was written"
            )
        values = len(self.digests)
        return Replaced(
            values=values, linked=self.present - values, chance=self.technique.chance(values)
        )


def _by_distinct(values: pl.Series, cell: Callable[[str], str | None]) -> pl.Series:
    texts = values.unique().drop_nulls()
    if not texts.len():
        return values.cast(pl.String)
    new = pl.Series([cell(text) for text in texts.to_list()], dtype=pl.String)
    return values.replace_strict(texts, new, default=None, return_dtype=pl.String)


def _form(source: Source, attribute: Attribute) -> str | None:
    """Return how the dates of a column are written; None: as ISO dates."""
    if attribute.date_format is not None:
        return attribute.date_format
    name = attribute.name
    lazy = source.scan([name]).select(pl.col(name).cast(pl.String).drop_nulls().head(_FORMS))
    texts = [text for text in source.collect(lazy)[name].to_list() if text.strip()]
    return find_form(texts, column=name)
