"""A table in parts to learn from, and releases of them as samples for models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError
from shoal.engines.coding import coder_of, with_codes
from shoal.engines.local.source import Source, open_source
from shoal.measures.fidelity.columns import Column, Ints
from shoal.measures.learning.features import features_of
from shoal.measures.learning.models import (
    MOST_VALUES,
    Sample,
    Scores,
    check_extra,
    scores,
    shuffled_within,
)
from shoal.schema.schema import Schema

RECORDS = 20_000
"""Records that are learned from and tested on, at most; drawn from a larger table."""
FOLDS, FOLDS_OF_FEW, FEW = 3, 5, 2_000
"""Parts of a table; of one with few records, whose scores vary more."""

RAW, RELEASE, CONTROL, RAW_ON_RELEASE = "raw", "release", "control", "raw_on_release"


@dataclass(frozen=True)
class Parts:
    """Records with a known target, each in a part; parts are tested on in turn.

    Attributes:
        part: int64[records].
        dropped: records without a target.
        of: records of the whole table, with a target.
    """

    frame: pl.DataFrame
    part: Ints
    folds: int
    dropped: int
    of: int

    def split(self, fold: int) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the records to learn from, and those that are held out."""
        inside = pl.Series(self.part == fold)
        return self.frame.filter(~inside), self.frame.filter(inside)


def check_values(source: Source, target: str) -> None:
    """Refuse a target that nobody can learn.

    Raises:
        InputError: it has one value, or too many.
    """
    values = source.collect(source.scan([target]))[target].drop_nulls().n_unique()
    if not 2 <= values <= MOST_VALUES:
        raise InputError(
            where=f"column {target!r}",
            problem=f"has {values:,} different values; a target to learn has 2 to {MOST_VALUES}",
        )


def parts_of(source: Source, schema: Schema, target: str, *, seed: int) -> Parts:
    """Share records out to parts, by chance; of each target value as evenly as can be.

    Where a column says who a record is about, all records of a person are in one part.

    Raises:
        InputError: the target has one value, or too many.
    """
    check_extra()
    check_values(source, target)
    frame = source.collect(source.scan(source.columns))
    known = frame.filter(pl.col(target).is_not_null())
    rng = np.random.default_rng(seed)
    most = min(known.height, RECORDS)
    chosen = np.sort(rng.choice(known.height, size=most, replace=False))
    sample = known[chosen]
    folds = FOLDS_OF_FEW if most <= FEW else FOLDS
    group = sample.select(pl.struct(schema.person or [target]).rank("dense"))
    number = group.to_series().to_numpy().astype(np.int64)
    part = np.empty(most, dtype=np.int64)
    if schema.person:
        people = rng.permutation(int(number.max()) + 1)
        part[:] = people[number] % folds
    else:
        for value in np.unique(number):
            rows = rng.permutation(np.flatnonzero(number == value))
            part[rows] = (np.arange(len(rows)) + int(rng.integers(folds))) % folds
    return Parts(sample, part, folds, frame.height - known.height, known.height)


@dataclass(frozen=True)
class Tables:
    """A part of the table to learn from, what was released of it, and the records held out.

    Attributes:
        released: the release of `train`, in any order.
        encoded: `test`, record by record, through the recoding that was learned on `train`.
    """

    train: pl.DataFrame
    released: pl.DataFrame
    test: pl.DataFrame
    encoded: pl.DataFrame


def score_fold(tables: Tables, schema: Schema, target: str, *, seed: int) -> Folded:
    """Train models on raw records, on their release and on marginals alone, and score them.

    Guarantee:
        Nothing of the held-out records is seen by what is trained: neither by a model nor by
        what cells are turned into.
    """
    domains = _Domains.of(tables.train, schema)
    values = pl.concat([tables.train[target], tables.test[target]]).cast(pl.String).unique().sort()
    codes = {text: i for i, text in enumerate(values.to_list())}

    def wanted(frame: pl.DataFrame) -> Ints:
        texts = frame[target].cast(pl.String).to_list()
        return np.array([codes[text] for text in texts], dtype=np.int64)

    raw_columns, raw_target = domains.columns(tables.train), wanted(tables.train)
    raw = Sample(features_of(raw_columns), raw_target)
    places = np.stack([each.where for each in raw_columns], axis=1)
    shuffled = shuffled_within(raw_target, places, seed=seed)
    control = Sample(
        features_of([_at(each, shuffled[:, j]) for j, each in enumerate(raw_columns)]), raw_target
    )
    released = Sample(features_of(domains.columns(tables.released)), wanted(tables.released))
    test_target = wanted(tables.test)
    plain = Sample(features_of(domains.columns(tables.test)), test_target)
    coded = Sample(features_of(domains.columns(tables.encoded)), test_target)
    of_raw = scores(raw, {RAW: plain, RAW_ON_RELEASE: coded}, seed=seed)
    of_release = scores(released, {RELEASE: coded}, seed=seed)
    of_control = scores(control, {CONTROL: plain}, seed=seed)
    common = int(np.bincount(raw_target).argmax())
    return Folded(
        {name: {**of_raw[name], **of_release[name], **of_control[name]} for name in of_raw},
        float((test_target == common).mean()),
    )


@dataclass(frozen=True)
class Folded:
    """The scores of one part: of each model, by what it was trained on.

    Attributes:
        majority: accuracy of always saying the commonest value of the training part.
    """

    models: dict[str, dict[str, Scores]]
    majority: float


def _at(column: Column, where: NDArray[np.int64]) -> Column:
    return Column(column.domain, column.held, column.texts, where)


@dataclass(frozen=True)
class _Domains:
    """The quasi-identifiers of the part that is learned from."""

    known: Sequence[Column]

    @classmethod
    def of(cls, train: pl.DataFrame, schema: Schema) -> _Domains:
        found = []
        source = open_source(train)
        for name in schema.quasi:
            series = source.collect(with_codes(source.scan([name], coded=[name]), [name]))[name]
            coder = coder_of(series.unique(), schema, name)
            held = np.bincount(coder.codes(series), minlength=len(coder.domain))
            found.append(
                Column(coder.domain, held.astype(np.float64), [], np.empty(0, dtype=np.int64))
            )
        return cls(found)

    def columns(self, frame: pl.DataFrame) -> list[Column]:
        """Return the columns of a table with these names, as the labels of its records."""
        found = []
        for each in self.known:
            texts = frame[each.domain.name].cast(pl.String)
            distinct = texts.unique(maintain_order=True)
            place = texts.to_frame("t").join(
                distinct.to_frame("t").with_row_index("i"), on="t", how="left", nulls_equal=True,
                maintain_order="left",
            )  # fmt: skip
            where = place["i"].to_numpy().astype(np.int64)
            found.append(Column(each.domain, each.held, distinct.to_list(), where))
        return found
