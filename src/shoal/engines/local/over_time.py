"""Releases over time on this machine: who has which signature, and how counterfeits are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError, MethodError, OutputError
from shoal.core.watch import tell
from shoal.engines.base import Output
from shoal.engines.counts import class_labels
from shoal.engines.local.history import Known
from shoal.engines.local.identities import SIGNATURE, SIZE, WHO, value_hashes
from shoal.engines.local.order import order_of
from shoal.engines.local.person_file import with_persons, write_persons
from shoal.engines.local.records import LocalRecords, LocalWritten, inputs_of, person_place
from shoal.engines.local.source import open_source
from shoal.engines.local.write import all_or_nothing, write_frame
from shoal.engines.person_key import PERSON
from shoal.formats.endings import separator_for
from shoal.formats.frames import like
from shoal.hierarchies.tree import Hierarchy
from shoal.methods.over_time.buckets import NEW, WAITS, Signature
from shoal.methods.over_time.search import Invariant, People
from shoal.schema.schema import Schema
from shoal.table.domain import Domain

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Followed:
    """The records of a table, and what the ledger has of their persons.

    Attributes:
        people: in an order of their own.
        order: int64[records], the record of the table at each place of `people`.
        labels: what each code of a sensitive value stands for.
        column: the sensitive column.
        waiting: why records cannot be released, and how many.
        again: how many persons were released before.
    """

    people: People
    order: Numbers = field(repr=False)
    labels: tuple[str | None, ...] = field(repr=False)
    column: str
    waiting: dict[str, int]
    again: int


def followed(records: LocalRecords, domain: Domain, known: Known, sealed: pl.DataFrame) -> Followed:
    """Look every person up in the ledger.

    Args:
        records: of the table.
        domain: the sensitive column, as it was counted.
        known: the records by their hashes.
        sealed: the signatures of earlier releases; see `sealed_signatures`.

    Raises:
        MethodError: the table does not fit memory.
        InputError: somebody has several records.
    """
    source = records.source
    if not source.fits_memory():
        raise MethodError(
            problem="--after keeps the signature of every person beside it, and this table does "
            "not fit memory; give more of it"
        )
    frame, row = records.frame, records.rows
    persons = frame[PERSON].cast(pl.String)
    several = persons.drop_nulls().len() - persons.drop_nulls().n_unique()
    if several:
        raise InputError(
            where=source.where,
            problem=f"{several} records are of persons who have another one, and a person has one "
            "signature; release one record a person (the latest), or name as the person what tells "
            "records apart (--person), which then is all that is protected",
        )
    table = records.count().table
    value = table.sensitive[row, table.sensitive_domains.index(domain)].astype(np.int64)
    labels = _vocabulary(records.schema, domain)
    own, signatures, waiting = _signatures(value, labels, domain.name, known, sealed)
    order = np.lexsort((persons.rank("dense").fill_null(0).to_numpy(), row))
    people = People(row[order], value[order], own[order], signatures)
    again = int(known.who.is_in(sealed[WHO].implode()).sum())
    return Followed(people, order, labels, domain.name, waiting, again)


def _vocabulary(schema: Schema, domain: Domain) -> tuple[str | None, ...]:
    """Return the values that can be written: those of the table, then others of the hierarchy."""
    found = list(domain.labels)
    tree = schema.attribute(domain.name).hierarchy
    if isinstance(tree, Hierarchy) and domain.scale is not None:
        texts = [domain.scale.text(each) for each in tree.labels]
        labels = [domain.scale.label(text) for text in texts if text is not None]
        found += sorted({label for label in labels if label is not None} - set(found))
    return tuple(found)


def _signatures(
    value: Numbers,
    labels: Sequence[str | None],
    column: str,
    known: Known,
    sealed: pl.DataFrame,
) -> tuple[Numbers, tuple[Signature, ...], dict[str, int]]:
    """Return the signature of each record, those that there are, and why records must wait."""
    hashes = value_hashes(labels, known.key, column)
    code_of = {found: code for code, found in enumerate(hashes)}
    distinct = sealed[SIGNATURE].unique().to_list()
    # A value that the table does not have any more, nor its hierarchy, cannot be written.
    codes = {each: _codes(each, code_of) for each in distinct}
    whole = tuple(sorted({each for each in codes.values() if each is not None}))
    place_of = {each: place for place, each in enumerate(whole)}
    joined = known.who.to_frame().join(sealed, on=WHO, how="left", maintain_order="left")
    own = np.full(len(value), NEW, dtype=np.int64)
    waiting = dict.fromkeys(("nobody", "changed", "vanished"), 0)
    rows = zip(joined[WHO].to_list(), joined[SIGNATURE].to_list(), value.tolist(), strict=True)
    for record, (who, signature, own_value) in enumerate(rows):
        found = None if signature is None else codes[signature]
        if who is None:
            reason = "nobody"
        elif signature is None:
            continue
        elif found is None:
            reason = "vanished"
        elif own_value not in found:
            reason = "changed"
        else:
            own[record] = place_of[found]
            continue
        own[record] = WAITS
        waiting[reason] += 1
    return own, whole, waiting


def _codes(signature: bytes, code_of: dict[bytes, int]) -> Signature | None:
    parts = [signature[i : i + SIZE] for i in range(0, len(signature), SIZE)]
    found = [code_of.get(each) for each in parts]
    return None if None in found else tuple(sorted(each for each in found if each is not None))


@dataclass(frozen=True)
class FollowedWritten(LocalWritten):
    """A release over time that nobody sees yet: people, and counterfeits that nobody is behind.

    Attributes:
        numbers: int64[records], the class of each record of the table; -1: it waits.
    """

    numbers: Numbers = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)

    def class_numbers(self) -> Numbers:
        """Return the class of each record of the table, in its order; -1: it is not released."""
        return self.numbers


@dataclass(frozen=True)
class Places:
    """Where what belongs to a release over time goes.

    Attributes:
        false_records: the numbers of the counterfeits among the written records; stays inside.
        table: the counterfeits of each class; is published.
    """

    false_records: str | Path | None = None
    table: str | Path | None = None


@contextmanager
def write_followed(
    records: LocalRecords,
    made: Invariant,
    found: Followed,
    output: Output,
    places: Places,
    *,
    seed: int,
) -> Iterator[FollowedWritten]:
    """Write a release with its counterfeits; it is published at the end, if nothing was raised."""
    numbers = np.full(len(found.order), -1, dtype=np.int64)
    numbers[found.order] = made.label
    released, is_false = _released(records, made, found, numbers, seed=seed)
    source, out = records.source, output.file
    beside = (output.person_file, output.class_file, places.false_records, places.table)
    named = [Path(each) for each in (out, *beside) if each is not None]
    if len({each.absolute() for each in named}) < len(named):
        raise OutputError(where=str(named[-1]), problem="is named for two things; name another one")
    inputs = (*inputs_of(source.given), *output.inputs)
    with ExitStack() as open_files:
        enter = open_files.enter_context
        people = enter(person_place(output.person_file, inputs, is_needed=True))
        write_persons(released, people, is_kept=True)
        for place, more, private in (
            (output.class_file, pl.DataFrame({"class": numbers}), True),
            (places.false_records, _marks(is_false), True),
            (places.table, _published(made), False),
        ):
            if place is not None:
                write_frame(more, enter(all_or_nothing(place, inputs=inputs, private=private)))
        plain = released.drop(PERSON)
        if out is None:
            written, table = open_source(plain), like(plain, source.given)
        else:
            file = enter(all_or_nothing(out, inputs=inputs))
            separator, safe = separator_for(file, source.separator), output.spreadsheet_safe
            write_frame(plain, file, separator=separator, spreadsheet_safe=safe)
            written, table = open_source(file, separator=separator), None
        tell("verify")
        both, names = with_persons(written, people)
        yield FollowedWritten(both, table, person=names, numbers=numbers)


def _released(
    records: LocalRecords, made: Invariant, found: Followed, numbers: Numbers, *, seed: int
) -> tuple[pl.DataFrame, NDArray[np.bool_]]:
    """Return the release, sorted by its values, and which of its records are counterfeits."""
    schema, frame = records.schema, records.frame
    # Not in the order of the table: not even that of equal records tells anything.
    real = found.order[made.label >= 0]
    false = made.counterfeits
    beside = _donors(found, real, false.value, np.random.default_rng([seed, 2]))
    label = np.concatenate((numbers[real], false.label))
    labels = class_labels(made.recoding)
    names = [n for n in records.source.columns if n in schema.released]
    columns = []
    for name in names:
        if name in schema.quasi:
            columns.append(labels[name][label].cast(pl.String))
            continue
        own = frame[name][real]
        copied = frame[name][np.maximum(beside, 0)].set(pl.Series(beside < 0), None)
        if name == found.column and (beside < 0).any():
            missing = [found.labels[code] for code in false.value[beside < 0].tolist()]
            texts = copied.cast(pl.String).scatter(np.flatnonzero(beside < 0).tolist(), missing)
            own, copied = own.cast(pl.String), texts
        columns.append(pl.concat([own, copied]).cast(_plain(own)))
    people = pl.concat([frame[PERSON][real].cast(pl.String), _nulls(len(beside))])
    is_false = np.arange(len(label)) >= len(real)
    whole = pl.DataFrame(columns)
    order = order_of(whole, last=is_false)
    return whole[order].with_columns(people[order].alias(PERSON)), is_false[order]


def _donors(found: Followed, real: Numbers, value: Numbers, chance: np.random.Generator) -> Numbers:
    """Return, for each counterfeit, a released record with its value; -1: there is none."""
    value_of = np.empty(len(found.order), dtype=np.int64)
    value_of[found.order] = found.people.value
    place = np.empty(len(found.order), dtype=np.int64)
    place[found.order] = np.arange(len(found.order))
    known = real[np.lexsort((place[real], value_of[real]))]  # not in the order of the table
    begin = np.searchsorted(value_of[known], value)
    size = np.searchsorted(value_of[known], value, side="right") - begin
    drawn = begin + chance.integers(0, np.maximum(size, 1))
    return np.where(size > 0, known[np.minimum(drawn, max(len(known) - 1, 0))], -1)


def _marks(is_false: NDArray[np.bool_]) -> pl.DataFrame:
    """Return the counterfeits as a table of their own: their numbers, the first record is 1."""
    return pl.DataFrame({"false_row": np.flatnonzero(is_false) + 1})


def _published(made: Invariant) -> pl.DataFrame:
    """Return the counterfeits of each class that has some, by its labels."""
    counts = np.bincount(made.counterfeits.label, minlength=made.recoding.classes)
    there = np.flatnonzero(counts)
    labels = class_labels(made.recoding).with_columns(pl.all().cast(pl.String))
    return labels[there].with_columns(pl.Series("counterfeits", counts[there]))


def _plain(series: pl.Series) -> pl.DataType:
    is_coded = isinstance(series.dtype, (pl.Categorical, pl.Enum))
    return pl.String() if is_coded else series.dtype


def _nulls(length: int) -> pl.Series:
    return pl.Series([None] * length, dtype=pl.String)


__all__ = ["Followed", "FollowedWritten", "Places", "followed", "write_followed"]
