"""What a table tells of its persons beside who they are; see `inference.links`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from shoal.engines.local.kept import is_nested
from shoal.engines.local.persons import with_persons_beside
from shoal.engines.local.source import Source
from shoal.engines.person_key import PERSON, WHO, person_key, person_spelling
from shoal.inference.kept import KeptColumn
from shoal.inference.links import PersonFacts, groups_of, judge_links
from shoal.schema.persons import leaves_nobody_out
from shoal.schema.schema import Schema
from shoal.table.frequency import NOBODY

_ROWS, _LOW, _HIGH = "\x00rows", "\x00low", "\x00high"


def check_links(
    source: Source,
    lazy: pl.LazyFrame,
    schema: Schema,
    kept: Sequence[str],
    *,
    ordered: bool = False,
    promised: bool | None = None,
) -> tuple[KeptColumn, ...]:
    """Ask of kept columns whether they link the records of a person; nothing without persons.

    Of trajectories they may: linked records are what is judged.

    ordered: the release keeps the order of the records, which may link them, too.
    promised: something is promised of sensitive values; None: the schema says it.
    """
    if not schema.person:
        return ()
    types = lazy.collect_schema()
    plain = [] if schema.trajectories else [n for n in kept if not is_nested(types[n])]
    secret = [name for name in plain if name in schema.sensitive]
    others = [name for name in plain if name not in secret]
    facts = person_facts(source, lazy, schema.person, kept=others, sensitive=secret)
    if ordered and facts.records and not schema.trajectories:
        beside, by_chance = _neighbours(source, lazy)
        facts = replace(facts, beside=beside, by_chance=by_chance)
    if schema.trajectories:  # there, a record of nobody breaks every promise
        return judge_links(facts)
    if promised is None:
        promised = leaves_nobody_out(schema.privacy)
    return judge_links(facts, schema.sensitive, promised=promised)


def links_beside(source: Source, schema: Schema, names: Sequence[str]) -> tuple[KeptColumn, ...]:
    """Ask the columns of a table as it stands whether they link the records of a person."""
    if not schema.person:
        return ()
    lazy = source.scan([*dict.fromkeys((*names, *schema.person))])
    keyed = lazy.with_columns(person_key(schema.person, schema.missing))
    return check_links(source, with_persons_beside(source, keyed), schema, names)


def person_facts(
    source: Source,
    lazy: pl.LazyFrame,
    names: Sequence[str],
    *,
    kept: Sequence[str],
    sensitive: Sequence[str],
) -> PersonFacts:
    """Count what kept columns tell of persons, and how these are spelled.

    lazy: records with PERSON and WHO beside them.
    names: the columns that say who a record is about.
    kept, sensitive: columns that are released as they are.
    """
    who = pl.col(WHO)
    asked = lazy.select(pl.len(), (who == int(NOBODY)).sum().alias(_LOW), (who >= 0).sum())
    whole, nobody, records = source.collect(asked).row(0)
    keys = lazy.select(pl.col(PERSON).cast(pl.String)).unique().drop_nulls()
    spelled = person_spelling(PERSON).n_unique()
    persons, spellings = source.collect(keys.select(pl.len(), spelled)).row(0)
    linked = {}
    if records:
        linked = {group: _linked(source, lazy, group) for group in groups_of(kept, sensitive)}
    return PersonFacts(
        names=tuple(names),
        whole=whole,
        nobody=nobody,
        records=records,
        linked=linked,
        persons=persons,
        spellings=spellings,
    )


def _neighbours(source: Source, lazy: pl.LazyFrame) -> tuple[int, float]:
    """Return the records that stand beside one of the same person, and how many would by chance."""
    who = source.collect(lazy.select(WHO))[WHO].to_numpy()
    same = (who[1:] == who[:-1]) & (who[1:] >= 0)
    edge = np.zeros(1, dtype=np.bool_)
    beside = np.concatenate((same, edge)) | np.concatenate((edge, same))
    several = np.bincount(who[who >= 0]).astype(np.float64)
    by_chance = 2 * float((several * (several - 1)).sum()) / max(len(who) - 1, 1)
    return int(beside.sum()), by_chance


def _linked(source: Source, lazy: pl.LazyFrame, columns: Sequence[str]) -> int:
    """Return the records with a value that several records have, all of one person."""
    who = pl.col(WHO)
    there = lazy.select([*columns, WHO]).filter(pl.any_horizontal(pl.col(columns).is_not_null()))
    found = {_ROWS: pl.len(), _LOW: who.min(), _HIGH: who.max()}
    counted = there.group_by(columns).agg(**found)
    alone = (pl.col(_LOW) == pl.col(_HIGH)) & (pl.col(_LOW) >= 0) & (pl.col(_ROWS) > 1)
    return int(source.collect(counted.filter(alone).select(pl.col(_ROWS).sum())).item() or 0)
