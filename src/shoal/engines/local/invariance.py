"""Judging m-invariance: what a written release shows of each person, held against the ledger.

Nothing here knows how a release came about, as in `engines.verification`: classes are the distinct
texts of the quasi-identifiers as they stand in the file, a signature is the set of sensitive
values that occur in a class, and who stands behind a record says the person file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from shoal.core.errors import InputError, UnsafeReleaseError
from shoal.engines.local.identities import SIGNATURE, WHO, hashed, value_hashes
from shoal.engines.local.source import Source
from shoal.engines.person_key import PERSON, person_key
from shoal.engines.refusals import check_columns
from shoal.formats.types import holds_dates, texts_of
from shoal.schema.attribute import Kind
from shoal.schema.schema import Schema
from shoal.schema.sensitive import Scale

_CLASS, _VALUE = "\x00class", "\x00value"


@dataclass(frozen=True)
class Shown:
    """What a release shows of each person, and which of its records are nobody's.

    Attributes:
        signatures: WHO and SIGNATURE, hashed, of every person.
        counterfeits: records that nobody is behind.
    """

    signatures: pl.DataFrame
    counterfeits: int


def values_by_class(source: Source, schema: Schema, column: str) -> pl.DataFrame:
    """Return the class of each record of a release, its sensitive value, and who it is about.

    schema: names the quasi-identifiers, and as the person the columns of the person file.

    Raises:
        InputError: a column is missing.
    """
    quasi = list(schema.quasi)
    names = [*quasi, column, *schema.person]
    check_columns(source.where, source.columns, names)
    who = person_key(schema.person, schema.missing)
    frame = source.collect(source.scan(names).with_columns(who))
    scale = Scale.of(schema, column, schema.privacy)
    scale = scale.declared(Kind.DATE) if holds_dates(frame[column].dtype) else scale
    texts = texts_of(frame[column])
    text_of = {text: scale.text(text) for text in texts.unique().to_list()}
    values = scale.read(text_of.values())
    labels = [values.labels[values.place[text_of[text]]] for text in texts.to_list()]
    cells = frame.select(pl.col(quasi).cast(pl.String))
    return pl.DataFrame(
        [
            cells.select(pl.struct(quasi).rank("dense").alias(_CLASS)).to_series(),
            pl.Series(_VALUE, labels, dtype=pl.String),
            frame[PERSON].cast(pl.String),
        ]
    )


def shown_of(source: Source, schema: Schema, column: str, key: bytes) -> Shown:
    """Return what a written release shows of each person; see `values_by_class`.

    key: of the ledger's hashes.

    Raises:
        UnsafeReleaseError: somebody is behind several records.
    """
    found = values_by_class(source, schema, column)
    known = found[_VALUE].unique().to_list()
    hash_of = dict(zip(known, value_hashes(known, key, column), strict=True))
    sets = found.group_by(_CLASS).agg(pl.col(_VALUE).unique())
    signatures = [b"".join(sorted(hash_of[v] for v in each)) for each in sets[_VALUE].to_list()]
    joined = found.filter(pl.col(PERSON).is_not_null()).join(
        sets.select(_CLASS, pl.Series(SIGNATURE, signatures, dtype=pl.Binary)), on=_CLASS
    )
    who = hashed(joined[PERSON], key, "person").alias(WHO)
    if who.n_unique() != who.len():
        raise UnsafeReleaseError(
            problem=f"{who.len() - who.n_unique()} persons have several records; nothing was "
            "written"
        )
    return Shown(joined.select(who, SIGNATURE), found.height - joined.height)


def sealed_signatures(held: Sequence[pl.DataFrame], where: str) -> pl.DataFrame:
    """Return the signature (WHO, SIGNATURE) of every person in earlier releases.

    Raises:
        InputError: somebody has different ones.
    """
    empty = pl.DataFrame(schema={WHO: pl.Binary, SIGNATURE: pl.Binary})
    every = pl.concat([empty, *(each.select(WHO, SIGNATURE) for each in held)])
    found = every.filter(pl.col(WHO).is_not_null()).unique()
    if found[WHO].n_unique() != found.height:
        raise InputError(where=where, problem="holds persons with different signatures; restore it")
    return found


def check_invariance(shown: Shown, sealed: pl.DataFrame) -> int:
    """Refuse a release in which somebody has another signature than in an earlier one.

    Returns:
        How many persons were in an earlier release.

    Raises:
        UnsafeReleaseError: says how many.
    """
    again = shown.signatures.join(sealed, on=WHO, how="inner", suffix="_sealed")
    moved = int((again[SIGNATURE] != again[f"{SIGNATURE}_sealed"]).sum())
    if moved:
        raise UnsafeReleaseError(
            problem=f"{moved} of {again.height} persons who were released before have another "
            "signature now, which breaks m-invariance; nothing was written"
        )
    return again.height


def intersections(releases: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Attack several releases: the values that everybody may have by all of them.

    releases: what `values_by_class` returned of each. The attacker knows who is in each release
    and in which class, and takes the value for the same in all of them.

    Returns:
        For each person (PERSON): how many releases they are in (`releases`), the fewest values by
        one of them (`alone`) and the values that are left by all (`together`).
    """
    everybody: dict[str, list[frozenset[str | None]]] = {}
    for found in releases:
        sets = found.group_by(_CLASS).agg(pl.col(_VALUE).unique())
        known = dict(zip(sets[_CLASS].to_list(), sets[_VALUE].to_list(), strict=True))
        candidates = {number: frozenset(values) for number, values in known.items()}
        for number, person in found.select(_CLASS, PERSON).iter_rows():
            if person is not None:
                everybody.setdefault(person, []).append(candidates[number])
    return pl.DataFrame(
        {
            PERSON: list(everybody),
            "releases": [len(each) for each in everybody.values()],
            "alone": [min(map(len, each)) for each in everybody.values()],
            "together": [len(frozenset.intersection(*each)) for each in everybody.values()],
        },
        schema={PERSON: pl.String, "releases": pl.Int64, "alone": pl.Int64, "together": pl.Int64},
    )


def persons_alike(releases: Sequence[pl.DataFrame]) -> pl.Series:
    """Return, for each person of some releases, how many persons share all their classes.

    releases: what `values_by_class` returned of each. Not to be in a release is a class, too; of a
    person with several records the attacker knows the class of each.
    """
    parts = [
        found.filter(pl.col(PERSON).is_not_null())
        .group_by(PERSON)
        .agg(pl.col(_CLASS).cast(pl.String).sort().str.join("+").alias(f"{_CLASS}{number}"))
        for number, found in enumerate(releases)
    ]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.join(part, on=PERSON, how="full", coalesce=True)
    names = [name for name in whole.columns if name != PERSON]
    key = pl.concat_str(pl.col(names).fill_null("-"), separator="|")
    return whole.select(key.alias(_CLASS)).select(pl.len().over(_CLASS)).to_series()
