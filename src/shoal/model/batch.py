"""Judging classes given as counts of their sensitive values, and settling who stays.

No table and no array: a class is a mapping from the texts of its sensitive columns to
records. So the same lines serve a device, the local engine and the end of learning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Any, Protocol, TypeVar

from shoal.model.runtime import Encoder
from shoal.privacy import (
    EquivalenceClass,
    Needs,
    Promise,
    Reference,
    Verdict,
    expand,
    judge_classes,
    judge_sizes,
)
from shoal.schema.schema import Schema
from shoal.schema.sensitive import Scale, Values, notices

Spread = Mapping[tuple[str | None, ...], int]
Home = tuple[str | None, ...]
KeyT = TypeVar("KeyT", bound=Hashable)


@dataclass(frozen=True)
class Judge:
    """Says which classes break a promise.

    Attributes:
        columns: the sensitive columns that the promise speaks of, in the order in which
            the keys of a class name their values.
        scales: what the values of each of them are, and how they are ordered.
    """

    models: tuple[Promise, ...]
    columns: tuple[str, ...]
    scales: tuple[Scale, ...]

    @classmethod
    def of(cls, schema: Schema, models: Iterable[Promise]) -> Judge:
        """Return the judge of a promise."""
        spread = expand(models, schema.sensitive)
        named = tuple(dict.fromkeys(m.column for m in spread if m.column is not None))
        scales = tuple(Scale.of(schema, name, spread) for name in named)
        return cls(tuple(spread), named, scales)

    @property
    def compares(self) -> bool:
        """Say whether a class is compared with all records, so that each change touches all."""
        return any(model.compares for model in self.models)

    def texts(self, values: Iterable[object]) -> tuple[str | None, ...]:
        """Return a record's sensitive values as they are counted, a value a column."""
        return tuple(scale.text(value) for scale, value in zip(self.scales, values, strict=True))

    def check(self, columns: Iterable[Iterable[str | None]]) -> tuple[str, ...]:
        """Refuse values that do not fit their scale; return what is to be said of the others.

        columns: the values of each column in the whole batch, as they are counted.

        Raises:
            InputError, UnknownValueError: see `Scale.read`.
        """
        found = zip(self.columns, self.scales, columns, strict=True)
        return notices({name: scale.read(texts) for name, scale, texts in found})

    def failing(
        self, classes: Mapping[KeyT, Spread], *, only: Iterable[KeyT] | None = None
    ) -> set[KeyT]:
        """Return the keys of the classes that break a model.

        Args:
            classes: every class.
            only: classes to look at, where the others are known to hold.
        """
        wanted = list(classes if only is None or self.compares else only)
        found: set[KeyT] = set()
        for model in self.models:
            left = [key for key in wanted if key not in found]
            verdict, _ = self._verdict(model, classes, left)
            found.update(left[position] for position in verdict.failing)
        return found

    def verdicts(self, classes: Mapping[Home, Spread]) -> tuple[list[Verdict], set[Home]]:
        """Return the verdict on each model, and the classes that break one.

        classes: by what they release; for (n,t)-closeness, classes that agree in some columns
        are tried as sets around a class.
        """
        homes = list(classes)
        found: list[Verdict] = []
        failed: set[Home] = set()
        for model in self.models:
            verdict, column = self._verdict(model, classes, homes)
            if not verdict.holds and column is not None and Needs.SUPERSETS in model.needs:
                verdict = self._widened(model, column, classes)
            found.append(verdict)
            failed.update(homes[position] for position in verdict.failing)
        return found, failed

    def _verdict(
        self, model: Promise, classes: Mapping[KeyT, Spread], wanted: Sequence[KeyT]
    ) -> tuple[Verdict, _Column | None]:
        """Judge some classes by one model; the others are what they are compared with."""
        if model.column is None:
            return judge_sizes(model, [sum(classes[key].values()) for key in wanted]), None
        place = self.columns.index(model.column)
        column = _Column.of(self.scales[place], classes.values(), place)
        seen = (column.seen(classes[key]) for key in wanted)
        verdict = judge_classes(column.scale.named(model), seen)
        return replace(verdict, model=model), column

    def _widened(self, model: Promise, column: _Column, classes: Mapping[Home, Spread]) -> Verdict:
        """Judge classes by a model that also looks at the sets of records around them."""
        homes = list(classes)
        counts = {home: column.places(classes[home]) for home in homes}
        size = len(column.values.labels)

        def widen(position: int) -> EquivalenceClass:
            home = homes[position]
            wider = supersets(home, counts, least=model.least_superset, size=size)
            return replace(column.seen(classes[home]), supersets=wider)

        seen = (column.seen(classes[home]) for home in homes)
        verdict = judge_classes(column.scale.named(model), seen, widen=widen)
        return replace(verdict, model=model)


@dataclass(frozen=True)
class _Column:
    """One sensitive column over all classes: its values in their order."""

    scale: Scale
    values: Values
    reference: Reference
    at: int  # its place in the keys of a class

    @classmethod
    def of(cls, scale: Scale, classes: Iterable[Spread], at: int) -> _Column:
        totals: Counter[str | None] = Counter()
        for spread in classes:
            for texts, records in spread.items():
                totals[texts[at]] += records
        values = scale.read(totals)
        return cls(scale, values, values.reference(values.totals(totals)), at)

    def places(self, spread: Spread) -> Counter[int]:
        """Return the records of a class at each place."""
        found: Counter[int] = Counter()
        for texts, records in spread.items():
            found[self.values.place[texts[self.at]]] += records
        return found

    def seen(self, spread: Spread) -> EquivalenceClass:
        """Return a class as a model sees it."""
        found = self.places(spread)
        histogram = [found[place] for place in range(len(self.values.labels))]
        return EquivalenceClass(sum(histogram), histogram, reference=self.reference)


_MOST_SUBSETS = 1024  # of columns, tried as natural supersets for (n,t)-closeness


def supersets(
    key: Sequence[Hashable], classes: Mapping[Any, Mapping[int, int]], *, least: int, size: int
) -> list[tuple[int, list[int]]]:
    """Return the sets of classes that agree with one on some quasi-identifiers.

    These are its natural supersets: what generalizing the other columns to their root would
    make of it. Sets that drop fewer columns come first.

    Args:
        key: what the class releases.
        classes: of every class, by what it releases: records at each place of the scale.
        least: records that such a set must have.
        size: places of the scale.

    Returns:
        Records and histogram of each set.
    """
    width = len(key)
    kept = (
        keep for dropped in range(1, width) for keep in combinations(range(width), width - dropped)
    )
    found = []
    for keep in islice(kept, _MOST_SUBSETS):
        total: Counter[int] = Counter()
        for other, counts in classes.items():
            if all(other[i] == key[i] for i in keep):
                total.update(counts)
        if total.total() >= least:
            found.append((total.total(), [total[place] for place in range(size)]))
    return found


def settle(
    encoder: Encoder,
    tuples: Sequence[Sequence[object]],
    spreads: Sequence[Spread],
    *,
    judge: Judge,
) -> list[Home | None]:
    """Give every distinct tuple a class so that all classes of the batch keep the promise.

    Each tuple goes to the first class that covers it. While classes fail, the finest of
    them are closed for this batch and their tuples move on to the next class that covers
    them; a tuple that none covers any more is suppressed.

    Args:
        encoder: the model; its `on_unseen` decides about tuples that no class covers.
        tuples: the distinct tuples of quasi-identifiers.
        spreads: for each of them, records by their sensitive values.
        judge: the promise.

    Returns:
        What each tuple is released as; None: suppressed.
    """
    board = _Board(encoder, tuples, spreads)
    close_failing(board, judge)
    return board.homes


class Board(Protocol):
    """Who is where while records settle: the classes, and how coarse each one is."""

    @property
    def classes(self) -> Mapping[Home, Spread]:
        """Return the records of every open class."""

    @property
    def rank(self) -> Mapping[Home, int]:
        """Return the place of every open class, the finest first."""

    def close(self, homes: Sequence[Home], failing: Sequence[Home]) -> set[Home]:
        """Close classes; return those that their records moved to. failing: all that fail."""


def close_failing(board: Board, judge: Judge) -> None:
    """Close classes, the finest first, until those left keep the promise."""
    changed: set[Home] = set(board.classes)
    failed: set[Home] = set()
    while board.classes:
        # Where classes are compared with all records, whoever is closed changes the comparison.
        if judge.compares:
            failed = judge.failing(board.classes)
        else:
            failed = (failed - changed) | judge.failing(board.classes, only=changed)
        if not failed:
            return
        # The finest first: what they give back may save a coarser one.
        order = sorted(failed, key=lambda home: (board.rank[home], [x or "" for x in home]))
        changed = board.close(order[: max(len(order) // 4, 1)], order)
        failed &= set(board.classes)
        changed &= set(board.classes)


class _Board:
    """Who is where while a batch settles."""

    def __init__(
        self, encoder: Encoder, tuples: Sequence[Sequence[object]], spreads: Sequence[Spread]
    ) -> None:
        self.encoder = encoder
        self.tuples = tuples
        self.spreads = spreads
        most = len(encoder.regions)
        self.among = [
            (1 << min(encoder.block, most - begin)) - 1
            for begin in range(0, max(most, 1), encoder.block)
        ]
        self.homes: list[Home | None] = [None] * len(tuples)
        self.rank: dict[Home, int] = {}
        self.members: dict[Home, list[int]] = {}
        self.classes: dict[Home, Counter[tuple[str | None, ...]]] = {}
        for number, values in enumerate(tuples):
            labels, region = encoder.tuple_of(values)
            if labels is not None:
                self._enter(number, tuple(labels), region if region >= 0 else most)

    def _enter(self, number: int, home: Home, rank: int) -> None:
        self.homes[number] = home
        self.rank[home] = min(self.rank.get(home, rank), rank)
        self.members.setdefault(home, []).append(number)
        self.classes.setdefault(home, Counter()).update(self.spreads[number])

    def close(self, homes: Sequence[Home], _: Sequence[Home]) -> set[Home]:
        """Close classes; return those that their tuples moved to."""
        return set().union(*[self._close(home) for home in homes])

    def _close(self, home: Home) -> set[Home]:
        region = self.rank.pop(home)
        del self.classes[home]
        encoder = self.encoder
        if region < len(encoder.regions):
            self.among[region // encoder.block] &= ~(1 << (region % encoder.block))
        moved: set[Home] = set()
        for number in self.members.pop(home):
            self.homes[number] = None
            found = -1
            if region < len(encoder.regions):
                found = encoder.find(self.tuples[number], self.among)
            if found >= 0:
                cells = zip(encoder.labels, encoder.regions[found], strict=True)
                there = tuple(names[cell] for names, cell in cells)
                self._enter(number, there, found)
                moved.add(there)
        return moved
