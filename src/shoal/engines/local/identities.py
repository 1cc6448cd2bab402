"""Recognising the records of a table in another state of it, whatever their order.

A record is known by a key of its own, where the schema names one (a person or an identifying
column that is complete and different everywhere); otherwise by all of its values. Neither is
kept: only a keyed hash of it.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from shoal.engines.local.source import Source
from shoal.engines.person_key import PERSON, person_key
from shoal.schema.attribute import Role
from shoal.schema.schema import Schema

SIZE = 16
"""Bytes of a hash: two of a billion records are alike once in 10^20 tables."""

ID, WHO, CLASS, SIGNATURE = "id", "who", "class", "signature"
"""What is entered of a record: its hash, that of its person (null: nobody), its class; and of a
release over time the hashes of the sensitive values of that class, one behind the other."""

_TEXT = "\x00text"


@dataclass(frozen=True)
class Identity:
    """What the records of a table are recognised by.

    Attributes:
        is_key: the columns are a key; otherwise they are all columns of the table.
    """

    columns: tuple[str, ...]
    is_key: bool

    @classmethod
    def of(cls, source: Source, schema: Schema) -> Identity:
        """Return the first key that the schema names, or else the whole record."""
        single = [(a.name,) for a in schema.attributes if a.role is Role.IDENTIFYING]
        for names in [schema.person, *single]:
            if names and all(name in source.columns for name in names):
                key = source.collect(
                    source.scan(list(names)).select(person_key(names, schema.missing))
                )[PERSON]
                if key.len() and not key.null_count() and key.n_unique() == key.len():
                    return cls(tuple(names), is_key=True)
        return cls(tuple(sorted(source.columns)), is_key=False)

    def missing_in(self, source: Source) -> list[str]:
        """Return the columns that another state of the table does not have."""
        return [name for name in self.columns if name not in source.columns]

    def hashes(self, source: Source, schema: Schema, key: bytes) -> pl.Series:
        """Return the hash of each record, in the table's order; null: it cannot be told.

        Equal records are numbered in their order, so that each has a hash of its own. A key that
        is missing, or that several records have, tells nobody apart.
        """
        scan = source.scan(list(self.columns))
        if self.is_key:
            texts = source.collect(scan.select(person_key(self.columns, schema.missing)))[PERSON]
            texts = pl.select(
                pl.when(texts.is_duplicated()).then(None).otherwise(texts)
            ).to_series()
        else:
            cells = [_cell(name) for name in self.columns]
            whole = pl.concat_str([cell.alias(str(i)) for i, cell in enumerate(cells)])
            found = source.collect(scan.select(whole.alias(_TEXT)))
            nth = pl.col(_TEXT).cum_count().over(_TEXT).cast(pl.String)
            texts = found.select(pl.concat_str([nth, pl.lit("#"), _TEXT])).to_series()
        purpose = "\x1f".join(("key" if self.is_key else "record", *self.columns))
        return hashed(texts, key, purpose).alias(ID)


def person_hashes(source: Source, schema: Schema, key: bytes) -> pl.Series:
    """Return the hash of who each record is about; null: nobody, or no person is named."""
    if not schema.person:
        length = source.collect(source.scan(list(source.columns[:1]))).height
        return pl.Series(WHO, [None] * length, dtype=pl.Binary)
    names = list(schema.person)
    texts = source.collect(source.scan(names).select(person_key(names, schema.missing)))[PERSON]
    return hashed(texts, key, "person").alias(WHO)


def value_hashes(labels: Sequence[str | None], key: bytes, column: str) -> list[bytes]:
    """Return the hashes of sensitive values; the missing one has a hash of its own."""
    texts = ["-" if label is None else f"+{label}" for label in labels]
    found = hashed(pl.Series(texts, dtype=pl.String), key, f"sensitive\x1f{column}")
    return [bytes(each) for each in found]


def hashed(texts: pl.Series, key: bytes, purpose: str) -> pl.Series:
    """Return keyed hashes of texts; those of one purpose say nothing of those of another."""
    own = hmac.digest(key, purpose.encode("utf-8", "surrogatepass"), "sha256")
    found = [
        None if text is None else hmac.digest(own, text.encode("utf-8"), "sha256")[:SIZE]
        for text in texts.cast(pl.String)
    ]
    return pl.Series(found, dtype=pl.Binary)


def _cell(name: str) -> pl.Expr:
    """Return a cell with its length before it, so that no two records look alike."""
    text = pl.col(name).cast(pl.String)
    return pl.format("{}:{}", text.str.len_bytes(), text).fill_null("-")


def named_columns(schema: Schema) -> Sequence[str]:
    """Return the columns that a release shows as they are."""
    return [name for name in schema.released if name not in schema.quasi]


__all__ = [
    "CLASS",
    "ID",
    "SIGNATURE",
    "WHO",
    "Identity",
    "hashed",
    "named_columns",
    "person_hashes",
    "value_hashes",
]
