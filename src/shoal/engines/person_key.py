"""Who a record is about, as one value: the key of the columns that say it.

A record without a key, or with a part of it missing, adds nobody: a class is never thought to
have more persons than it has.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engines.refusals import nobody
from shoal.schema.persons import NOBODY as WORDS
from shoal.schema.persons import SPELLINGS
from shoal.schema.sensitive import EDGES
from shoal.table.frequency import NOBODY, ONCE

PERSON = "\x00person"  # the key, as a text
WHO = "\x00who"  # what `table.frequency` has of it: a code, ONCE or NOBODY
BETWEEN = "\x1f"  # of the parts of a key; a text that holds it can only make persons fewer


def present(column: pl.Expr, marks: Sequence[str]) -> pl.Expr:
    """Return who a record is about as a text; a missing value is nobody.

    Law:
        It is `schema.persons.person_text` of each text.
    """
    text = column.cast(pl.String).str.strip_chars(EDGES)
    text = text.map_batches(_normal, return_dtype=pl.String, is_elementwise=True)
    is_nobody = text.is_in(list(marks)) | text.str.to_lowercase().is_in(list(WORDS))
    return pl.when(~is_nobody).then(text)


def _normal(texts: pl.Series) -> pl.Series:
    """Return stripped texts in normal form C; those in ASCII are in it."""
    odd = (texts.str.len_bytes() != texts.str.len_chars()).fill_null(False).arg_true()
    if not odd.len():
        return texts
    changed = texts.gather(odd).str.normalize("NFC").str.strip_chars(EDGES)
    place = np.arange(texts.len(), dtype=np.int64)
    place[odd.to_numpy()] = np.arange(texts.len(), texts.len() + odd.len())
    return pl.concat([texts, changed]).gather(place)


def person_spelling(name: str) -> pl.Expr:
    """Return a column of keys without what spellings of one key differ in."""
    text = pl.col(name).str.to_lowercase()
    for pattern, instead in SPELLINGS:
        text = text.str.replace_all(pattern, instead.replace("$1", "${1}"))
    return text


def person_key(names: Sequence[str], marks: Sequence[str]) -> pl.Expr:
    """Return the key of columns as a text; null where a part of it is missing."""
    parts = [present(pl.col(name), marks) for name in names]
    return pl.concat_str(parts, separator=BETWEEN).alias(PERSON)


def person_hash(names: Sequence[str], marks: Sequence[str]) -> pl.Expr:
    """Return the key as a 64-bit number, a fraction of its size.

    Two persons with the same number, one chance in millions for millions of them, count as
    one: a class may be refused for it, never accepted.
    """
    key = person_key(names, marks)
    return pl.when(key.is_not_null()).then(key.hash(seed=0)).alias(PERSON)


def repeated_persons(keys: pl.LazyFrame) -> pl.LazyFrame:
    """Return the persons with several records (PERSON), in a fixed order, and their codes (WHO).

    keys: a column PERSON. Who has one record needs no code: memory follows the others.
    """
    known = keys.filter(pl.col(PERSON).is_not_null()).group_by(PERSON).len()
    several = known.filter(pl.col("len") > 1).select(PERSON).sort(PERSON)
    return several.with_row_index(WHO)


def with_who(lazy: pl.LazyFrame, repeated: pl.DataFrame) -> pl.LazyFrame:
    """Return records that have PERSON with their codes (WHO) beside it, in the same order."""
    joined = lazy.join(repeated.lazy(), on=PERSON, how="left", maintain_order="left")
    code = pl.col(WHO).cast(pl.Int32).fill_null(int(ONCE))
    nobody = pl.lit(int(NOBODY), dtype=pl.Int32)
    who = pl.when(pl.col(PERSON).is_null()).then(nobody).otherwise(code)
    return joined.with_columns(who.alias(WHO))


def persons_of_rows(
    who: NDArray[np.int32], *, where: str, names: Collection[str]
) -> NDArray[np.int32] | None:
    """Return who each row of a frequency table is about; None where each record is a person.

    who: codes, ONCE or NOBODY. where, names: the table and its person columns, for messages.

    Raises:
        InputError: no row says who it is about.
    """
    if (who == NOBODY).all():
        raise nobody(where, names)
    return None if (who == ONCE).all() else who
