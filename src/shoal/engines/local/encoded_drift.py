"""Drift seen by a collector: encoded records alone, against the classes of the model.

The classes of a model of cuts lie side by side, and each cut divides those who reach it. If a
column is distributed as it was, so are its cuts among those who reach them, whatever happened to
the columns above: so each column is judged by its own cuts, and only what changed is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.core.errors import InputError
from shoal.engines.local.drift import FEWEST, Trials, holm
from shoal.model.document_types import Record
from shoal.model.model import RecodingModel

EXPECTED, LEARNED = 8.0, 50.0
"""Records that a cut must expect on either side to be judged, and training records it must have.

Where a cut is fitted to few records, new ones of the same people are divided otherwise.
"""

LEAST = 0.025
"""A column that moved by less beyond chance at its cuts is no reason to learn again."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedDrift:
    """The answer: learn again, yes or no, and which columns say so.

    Attributes:
        unseen: records that are released as the root, or as no class of the model.
        moved: for each column, the mean difference at its cuts beyond chance, weighted by who
            reaches them.
        p_values: how often samples of the training records differ as much, by column; and of
            those that no class covers.
    """

    records: int
    unseen: int
    moved: Mapping[str, float]
    p_values: Mapping[str, float]
    false_alarm: float
    changed: tuple[str, ...]
    why: tuple[str, ...]

    @property
    def learn_again(self) -> bool:
        """Say whether to learn again."""
        return bool(self.changed)

    def to_document(self) -> Document:
        """Return the report as one JSON document."""
        return {
            "learn_again": self.learn_again,
            "why": list(self.why),
            "records": self.records,
            "unseen": self.unseen,
            "false_alarm": self.false_alarm,
            "changed": [name for name in self.changed if name in self.moved],
            "columns": {
                name: {"moved": moved, "p_value": self.p_values[name]}
                for name, moved in self.moved.items()
            },
        }


UNSEEN = "\x00unseen"
MOST_UNSEEN = 0.05


def encoded_drift(
    records: Iterable[Record], model: RecodingModel, *, false_alarm: float = 0.05
) -> EncodedDrift:
    """Compare encoded records with what the model was learned from.

    Guarantee:
        Samples of the training records are called moved at most at the rate of false alarms,
        over all columns together (Monte Carlo p-values, held against the rate by Holm's rule).

    Raises:
        InputError: there is no record, one lacks a quasi-identifier, or the model has no counts.
    """
    if model.counts is None or model.tree is None:
        raise InputError(
            where="the model",
            problem="its classes are not divided by cuts, so their records say nothing of single "
            "columns; learn it with --method mondrian or bestcut, or give the records as they were",
        )
    tuples = _Tuples(model)
    after = tuples.count(records)
    size = int(after.sum())
    if not size:
        raise InputError(where="the encoded records", problem="there is no record in them")
    before = np.append(tuples.before, float(max(model.suppressed, 0)))
    trials = Trials.of(model, size, false_alarm)
    tests = _Tests(model, tuples, size)
    share = before / before.sum()
    found = tests.statistics(share[None, :], after[None, :])
    drawn = np.zeros(found.shape[1])
    many = 0
    chance = np.zeros(len(model.columns))
    for learned, drawn_now in trials.draw(before.astype(np.int64)):
        now = drawn_now.astype(np.float64)
        drawn += (tests.statistics(learned, now) >= found - 1e-9).sum(axis=0)
        if not many:
            chance = tests.moved(learned, now).mean(axis=0)
        many += len(now)
    rarity = (1 + drawn) / (many + 1)
    names = [column.name for column in model.columns]
    p_values = dict(zip([*names, UNSEEN], rarity.tolist(), strict=True))
    moved = (tests.moved(share[None, :], after[None, :])[0] - chance).clip(0.0).tolist()
    # What hangs together with a column that changed moves with it, but less.
    least = max(LEAST, max(moved) / 2)
    large = {name for name, by in zip(names, moved, strict=True) if by >= least}
    if after[-1] / size - share[-1] >= MOST_UNSEEN:
        large.add(UNSEEN)
    kept = [] if size < FEWEST else [n for n in holm(p_values, false_alarm) if n in large]
    return EncodedDrift(
        records=size,
        unseen=int(after[-1]),
        moved=dict(zip(names, moved, strict=True)),
        p_values=p_values,
        false_alarm=false_alarm,
        changed=tuple(kept),
        why=_words(size, kept, moved=dict(zip(names, moved, strict=True)), unseen=int(after[-1])),
    )


def _words(
    size: int, changed: Sequence[str], *, moved: Mapping[str, float], unseen: int
) -> tuple[str, ...]:
    if size < FEWEST:
        return (f"{size} records are too few to tell; bring at least {FEWEST}",)
    if not changed:
        return ("no column is distributed otherwise than chance explains",)
    return tuple(
        f"{unseen} of {size} records are covered by no class, more than chance explains"
        if name == UNSEEN
        else f"column {name!r} is distributed differently (by {moved[name]:.2f} at its cuts)"
        for name in changed
    )


class _Tuples:
    """What a model releases; classes of one tuple cannot be told apart by who sees labels alone."""

    def __init__(self, model: RecodingModel) -> None:
        assert model.counts is not None
        self.names = [column.name for column in model.columns]
        self.number: dict[tuple[str | None, ...], int] = {}
        of = [self.number.setdefault(each, len(self.number)) for each in model.tuples()]
        self.of_class = np.array(of, dtype=np.int64)
        counts = np.array(model.counts, dtype=np.float64)
        self.before = np.bincount(self.of_class, counts, len(self.number)).astype(np.float64)
        # Of a tuple that several classes release, each gets the share it had.
        self.share: Numbers = counts / np.maximum(self.before[self.of_class], 1.0)

    def count(self, records: Iterable[Record]) -> Numbers:
        """Return the records of each tuple; the last place is for all others."""
        found = np.zeros(len(self.number) + 1)
        for row in records:
            try:
                key = tuple(None if row[n] in (None, "") else str(row[n]) for n in self.names)
            except KeyError:
                raise InputError(
                    where="the encoded records", problem="one lacks a quasi-identifier"
                ) from None
            found[self.number.get(key, -1)] += 1
        return found

    def classes(self, tuples: Numbers) -> Numbers:
        """Return records or shares of tuples as those of classes."""
        found: Numbers = tuples[:, self.of_class] * self.share
        return found


class _Tests:
    """How far the cuts of each column differ, as one number a column."""

    def __init__(self, model: RecodingModel, tuples: _Tuples, size: int) -> None:
        self.tuples = tuples
        self.size = size
        assert model.counts is not None
        counts = np.array(model.counts, dtype=np.float64)
        parts = _cuts(model)
        self.columns = []
        for part in parts:
            begin, middle, end = part.T
            sums = np.append(0.0, np.cumsum(counts))
            # As many as that are to be expected on either side.
            rate = size / max(model.records, 1)
            left = (sums[middle] - sums[begin]) * rate
            right = (sums[end] - sums[middle]) * rate
            fewest = np.minimum(left, right)
            self.columns.append(part[(fewest >= EXPECTED) & (fewest >= LEARNED * rate)])

    def statistics(self, learned: Numbers, now: Numbers) -> Numbers:
        """Return, for each draw, the statistic of each column, and that of no class."""
        was = _sums(self.tuples.classes(learned[:, :-1]))
        here = _sums(self.tuples.classes(now[:, :-1]))
        found = []
        for part in self.columns:
            begin, middle, end = part.T
            before = was[:, end] - was[:, begin]
            share = (was[:, middle] - was[:, begin]) / np.maximum(before, 1e-12)
            reach = here[:, end] - here[:, begin]
            off = here[:, middle] - here[:, begin] - reach * share
            spread = np.maximum(reach * share * (1 - share), 1.0)
            found.append((off**2 / spread).sum(axis=1))
        unseen = now[:, -1] / self.size - learned[:, -1]
        return np.stack([*found, unseen], axis=1)

    def moved(self, learned: Numbers, now: Numbers) -> Numbers:
        """Return, for each draw, the mean difference of the shares at the cuts of each column."""
        was = _sums(self.tuples.classes(learned[:, :-1]))
        here = _sums(self.tuples.classes(now[:, :-1]))
        found = []
        for part in self.columns:
            begin, middle, end = part.T
            reach = here[:, end] - here[:, begin]
            share = (was[:, middle] - was[:, begin]) / np.maximum(
                was[:, end] - was[:, begin], 1e-12
            )
            off = np.abs(here[:, middle] - here[:, begin] - reach * share)
            found.append(off.sum(axis=1) / np.maximum(reach.sum(axis=1), 1.0))
        return np.stack(found, axis=1)


def _sums(classes: Numbers) -> Numbers:
    return np.concatenate([np.zeros((len(classes), 1)), np.cumsum(classes, axis=1)], axis=1)


def _cuts(model: RecodingModel) -> list[NDArray[np.int64]]:
    """Return, for each column, its cuts: the first class, the first to the right, and the end."""
    assert model.tree is not None
    width = len(model.columns)
    found: list[list[tuple[int, int, int]]] = [[] for _ in range(width)]
    waiting = [(0, 0, len(model.tree["cut"]) + 1)]
    while waiting:
        node, first, many = waiting.pop()
        if many == 1:
            continue
        left = model.tree["left"][node]
        found[model.tree["cut"][node] % width].append((first, first + left, first + many))
        waiting.append((node + left, first + left, many - left))
        waiting.append((node + 1, first, left))
    return [np.array(part, dtype=np.int64).reshape(-1, 3) for part in found]
