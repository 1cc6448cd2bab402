"""Judging classes given as counts of their sensitive values, and deciding who stays in which.

No table and no array: a class is a mapping from the texts of its sensitive columns to
records. So the same lines serve a device, the local engine and the end of learning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import NamedTuple, Protocol, TypeVar

from shoal.model.sets import SetEncoder
from shoal.privacy import (
    EquivalenceClass,
    Needs,
    Promise,
    Reference,
    Verdict,
    expand,
    judge_classes,
    judge_counts,
    judge_sizes,
)
from shoal.schema.schema import Schema
from shoal.schema.sensitive import Scale, Values, notices

Texts = tuple[str | None, ...]  # of the sensitive columns of a record; the person behind them
Histogram = Mapping[Texts, int]  # the records of a class by their sensitive values, and persons
ReleasedTuple = tuple[str | None, ...]  # what a class releases of the quasi-identifiers
KeyT = TypeVar("KeyT", bound=Hashable)

EACH = "\x00each"
"""In place of a person: each of the records is of another person, who has no other one."""


@dataclass(frozen=True)
class Judge:
    """Says which classes break a promise.

    Attributes:
        columns: the sensitive columns that the promise speaks of, in the order in which
            the keys of a histogram name their values.
        scales: what the values of each of them are, and how they are ordered.
        persons: persons are counted, not records. The keys of a histogram then have one entry
            more, the person: a text, EACH, or None for nobody.
    """

    models: tuple[Promise, ...]
    columns: tuple[str, ...]
    scales: tuple[Scale, ...]
    persons: bool = False

    @classmethod
    def of(cls, schema: Schema, models: Iterable[Promise]) -> Judge:
        """Return the judge of a promise."""
        bound = expand(models, schema.sensitive)
        named = tuple(dict.fromkeys(m.column for m in bound if m.column is not None))
        scales = tuple(Scale.of(schema, name, bound) for name in named)
        return cls(tuple(bound), named, scales, bool(schema.person))

    @property
    def compares(self) -> bool:
        """Say whether a class is compared with all records, so that each change touches all."""
        return any(model.compares for model in self.models)

    def texts(self, values: Iterable[object]) -> Texts:
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
        self, classes: Mapping[KeyT, Histogram], *, only: Iterable[KeyT] | None = None
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
            if not left:  # also where there is no record at all, and so no reference
                break
            verdict = self._verdict(model, classes, left)
            found.update(left[position] for position in verdict.failing)
        return found

    def verdicts(
        self, classes: Mapping[ReleasedTuple, Histogram]
    ) -> tuple[list[Verdict], set[ReleasedTuple]]:
        """Return the verdict on each model, and the classes that break one.

        classes: by what they release; for (n,t)-closeness, classes that agree in some columns
        are tried as sets around a class.
        """
        released = list(classes)
        found: list[Verdict] = []
        failed: set[ReleasedTuple] = set()
        for model in self.models:
            verdict = self._verdict(model, classes, released, released)
            found.append(verdict)
            failed.update(released[position] for position in verdict.failing)
        return found, failed

    def _verdict(
        self,
        model: Promise,
        classes: Mapping[KeyT, Histogram],
        wanted: Sequence[KeyT],
        released: Sequence[ReleasedTuple] | None = None,
    ) -> Verdict:
        """Judge some classes; the others are what they are compared with. See `judge_column`."""
        if self.persons:
            return self._verdict_of_persons(model, classes, wanted)
        if model.column is None:
            return judge_sizes(model, [sum(classes[key].values()) for key in wanted])
        at = self.columns.index(model.column)
        totals: Counter[str | None] = Counter()
        for histogram in classes.values():
            for texts, records in histogram.items():
                totals[texts[at]] += records
        values = self.scales[at].read(totals)
        reference = values.reference(values.totals(totals))
        counts = [_at_places(classes[key], at, values) for key in wanted]
        return judge_column(model, self.scales[at], reference, counts, released=released)

    def _verdict_of_persons(
        self, model: Promise, classes: Mapping[KeyT, Histogram], wanted: Sequence[KeyT]
    ) -> Verdict:
        """Judge some classes by their different (person, value) pairs."""
        held = [sum(classes[key].values()) for key in wanted]
        if model.column is None:
            return judge_sizes(model, [persons_of(classes[key]) for key in wanted], held=held)
        at = self.columns.index(model.column)
        if not any(map(persons_of, classes.values())):  # nobody: there is nothing to compare with
            return judge_sizes(model, [0] * len(wanted), held=held)
        texts = {texts[at] for histogram in classes.values() for texts in histogram}
        values = self.scales[at].read(texts)
        whole, persons, _ = _pairs(classes.values(), at, values)
        totals = [whole.get(place, 0) for place in range(len(values.labels))]
        found = [_pairs([classes[key]], at, values) for key in wanted]
        people = [
            People(each.persons, records, each.several)
            for each, records in zip(found, held, strict=True)
        ]
        return judge_column(
            model, self.scales[at], values.reference(totals, persons=persons),
            [each.counts for each in found], people=people,
        )  # fmt: skip


def persons_of(histogram: Histogram) -> int:
    """Return the different persons behind records that say who they are about.

    Example:
        >>> persons_of({("flu", "ann"): 3, ("gout", "ann"): 1, ("flu", EACH): 2, ("flu", None): 9})
        3
    """
    each = sum(records for texts, records in histogram.items() if texts[-1] == EACH)
    return each + len({texts[-1] for texts in histogram} - {EACH, None})


class _Pairs(NamedTuple):
    """Persons at each place of a scale, all of them, and the places of those with several."""

    counts: dict[int, int]
    persons: int
    several: list[list[int]]


def _pairs(histograms: Iterable[Histogram], at: int, values: Values) -> _Pairs:
    counts: Counter[int] = Counter()
    places: dict[str, set[int]] = {}
    for histogram in histograms:
        for texts, records in histogram.items():
            place, who = values.place[texts[at]], texts[-1]
            if who == EACH:
                counts[place] += records
            elif who is not None:
                places.setdefault(who, set()).add(place)
    persons = counts.total() + len(places)
    for own in places.values():
        counts.update(own)
    return _Pairs(dict(counts), persons, [sorted(own) for own in places.values() if len(own) > 1])


def _at_places(histogram: Histogram, at: int, values: Values) -> dict[int, int]:
    """Return the records at each place of a column's scale; several texts may be one value."""
    found: dict[int, int] = {}
    for texts, records in histogram.items():
        place = values.place[texts[at]]
        found[place] = found.get(place, 0) + records
    return found


class People(NamedTuple):
    """The persons of a class: how many, behind how many records, and who has several values.

    several: for each of these persons, the places of their values.
    """

    persons: int
    records: int
    several: Sequence[Sequence[int]]

    def seen(
        self, counts: Mapping[int, int], reference: Reference, *, is_dense: bool
    ) -> EquivalenceClass:
        """Return the class as a promise sees it; counts: persons at each place."""
        if is_dense:
            histogram = [counts.get(place, 0) for place in range(len(reference.counts))]
            several = self.several
        else:
            histogram = list(counts.values())
            order = {place: i for i, place in enumerate(counts)}
            several = [[order[place] for place in values] for values in self.several]
        return EquivalenceClass(
            self.persons, histogram, reference=reference if is_dense else None, several=several,
            held=self.records,
        )  # fmt: skip


def judge_column(
    model: Promise,
    scale: Scale,
    reference: Reference,
    classes: Sequence[Mapping[int, int]],
    *,
    released: Sequence[Sequence[Hashable]] | None = None,
    people: Sequence[People] | None = None,
) -> Verdict:
    """Judge classes by what each has of one sensitive column.

    Args:
        model: bound to the column.
        scale: of the column.
        reference: the column in the whole table.
        classes: the records of each class at each place of the scale; places without a
            record may be left out.
        released: what each class releases, where all classes are given and those around a
            failing one may be tried as its supersets.
        people: where persons are counted, those of each class; `classes` then has the persons
            at each place. Supersets are not tried: persons of several classes cannot be added.
    """
    asked = scale.named(model)
    # Where nothing is compared and no value is named, places without a record say nothing.
    needs = Needs.REFERENCE | Needs.SUPERSETS
    is_dense = bool(model.needs & needs) or getattr(asked, "values", None) is not None

    def seen(counts: Mapping[int, int], of: People | None = None) -> EquivalenceClass:
        if of is not None:
            return of.seen(counts, reference, is_dense=is_dense)
        histogram = [counts.get(place, 0) for place in range(len(reference.counts))]
        return EquivalenceClass(sum(histogram), histogram, reference=reference)

    def widen(position: int) -> EquivalenceClass:
        assert released is not None
        around = supersets(
            position, released, classes, least=model.least_superset, size=len(reference.counts)
        )
        return replace(seen(classes[position]), supersets=around)

    if people is not None:
        verdict = judge_classes(asked, map(seen, classes, people))
        return replace(verdict, model=model)
    if not is_dense:  # classes with the same counts are judged once
        return replace(judge_counts(asked, classes), model=model)
    verdict = judge_classes(asked, map(seen, classes), widen=None if released is None else widen)
    return replace(verdict, model=model)


_MOST_SUBSETS = 1024  # of columns, tried as natural supersets for (n,t)-closeness


def supersets(
    position: int,
    released: Sequence[Sequence[Hashable]],
    classes: Sequence[Mapping[int, int]],
    *,
    least: int,
    size: int,
) -> list[tuple[int, list[int]]]:
    """Return the sets of classes that agree with one on some quasi-identifiers.

    These are its natural supersets: what generalizing the other columns to their root would
    make of it. Sets that drop fewer columns come first.

    Args:
        position: of the class.
        released: what every class releases.
        classes: records of every class at each place of the scale.
        least: records that such a set must have.
        size: places of the scale.

    Returns:
        Records and histogram of each set.
    """
    own = released[position]
    width = len(own)
    kept = (
        keep for dropped in range(1, width) for keep in combinations(range(width), width - dropped)
    )
    found = []
    for keep in islice(kept, _MOST_SUBSETS):
        total: Counter[int] = Counter()
        for other, counts in zip(released, classes, strict=True):
            if all(other[i] == own[i] for i in keep):
                total.update(counts)
        if total.total() >= least:
            found.append((total.total(), [total[place] for place in range(size)]))
    return found


def assign_classes(
    encoder: SetEncoder,
    tuples: Sequence[Sequence[object]],
    histograms: Sequence[Histogram],
    *,
    judge: Judge,
) -> list[ReleasedTuple | None]:
    """Give every distinct tuple a class so that all classes of the batch keep the promise.

    Each tuple goes to the first class that covers it. While classes fail, the finest of
    them are closed for this batch and their tuples move on to the next class that covers
    them; a tuple that none covers any more is suppressed.

    Args:
        encoder: the model; its `on_unseen` decides about tuples that no class covers.
        tuples: the distinct tuples of quasi-identifiers.
        histograms: for each of them, records by their sensitive values.
        judge: the promise.

    Returns:
        What each tuple is released as; None: suppressed.
    """
    assignment = _TupleAssignment(encoder, tuples, histograms)
    close_failing(assignment, judge)
    return assignment.released


class Assignment(Protocol):
    """Which tuples are in which class while classes are closed, and how coarse each one is."""

    @property
    def classes(self) -> Mapping[ReleasedTuple, Histogram]:
        """Return the records of every open class."""

    @property
    def rank(self) -> Mapping[ReleasedTuple, int]:
        """Return the place of every open class, the finest first."""

    def close(
        self, closing: Sequence[ReleasedTuple], failing: Sequence[ReleasedTuple], /
    ) -> set[ReleasedTuple]:
        """Close classes; return those that their records moved to. failing: all that fail."""


def close_failing(assignment: Assignment, judge: Judge) -> None:
    """Close classes, the finest first, until those left keep the promise."""
    changed: set[ReleasedTuple] = set(assignment.classes)
    failed: set[ReleasedTuple] = set()
    while assignment.classes:
        # Where classes are compared with all records, whoever is closed changes the comparison.
        if judge.compares:
            failed = judge.failing(assignment.classes)
        else:
            failed = (failed - changed) | judge.failing(assignment.classes, only=changed)
        if not failed:
            return
        # The finest first: what they give back may save a coarser one.
        order = sorted(failed, key=lambda key: (assignment.rank[key], [x or "" for x in key]))
        changed = assignment.close(order[: max(len(order) // 4, 1)], order)
        failed &= set(assignment.classes)
        changed &= set(assignment.classes)


class _TupleAssignment:
    """The class of every tuple of a batch."""

    def __init__(
        self,
        encoder: SetEncoder,
        tuples: Sequence[Sequence[object]],
        histograms: Sequence[Histogram],
    ) -> None:
        self.encoder = encoder
        self.tuples = tuples
        self.histograms = histograms
        most = len(encoder.regions)
        self.open = [  # the sets of classes that may be taken, block by block
            (1 << min(encoder.block, most - begin)) - 1
            for begin in range(0, max(most, 1), encoder.block)
        ]
        self.released: list[ReleasedTuple | None] = [None] * len(tuples)
        self.rank: dict[ReleasedTuple, int] = {}
        self.members: dict[ReleasedTuple, list[int]] = {}
        self.classes: dict[ReleasedTuple, Counter[Texts]] = {}
        for number, values in enumerate(tuples):
            labels, region = encoder.tuple_of(values)
            if labels is not None:
                self._enter(number, tuple(labels), region if region >= 0 else most)

    def _enter(self, number: int, key: ReleasedTuple, rank: int) -> None:
        self.released[number] = key
        self.rank[key] = min(self.rank.get(key, rank), rank)
        self.members.setdefault(key, []).append(number)
        self.classes.setdefault(key, Counter()).update(self.histograms[number])

    def close(
        self, closing: Sequence[ReleasedTuple], _: Sequence[ReleasedTuple]
    ) -> set[ReleasedTuple]:
        """Close classes; return those that their tuples moved to."""
        return set().union(*map(self._close, closing))

    def _close(self, key: ReleasedTuple) -> set[ReleasedTuple]:
        region = self.rank.pop(key)
        del self.classes[key]
        encoder = self.encoder
        if region < len(encoder.regions):
            self.open[region // encoder.block] &= ~(1 << (region % encoder.block))
        moved: set[ReleasedTuple] = set()
        for number in self.members.pop(key):
            self.released[number] = None
            found = -1
            if region < len(encoder.regions):
                found = encoder.find(self.tuples[number], self.open)
            if found >= 0:
                there = tuple(encoder.labels_of(found))
                self._enter(number, there, found)
                moved.add(there)
        return moved
