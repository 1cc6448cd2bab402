"""Judging classes given as counts of their sensitive values, and settling who stays.

No table and no array: a class is a mapping from the texts of its sensitive columns to
records. So the same lines serve a device, the local engine and the end of learning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

from shoal.core.hierarchy import Hierarchy
from shoal.core.model_keys import number_key
from shoal.core.model_runtime import Encoder
from shoal.core.privacy import (
    ClassSummary,
    KAnonymity,
    NTCloseness,
    PrivacyModel,
    Reference,
    TCloseness,
    expand,
)
from shoal.core.schema import Attribute, Kind, Schema

Spread = Mapping[tuple[str | None, ...], int]
KeyT = TypeVar("KeyT", bound=Hashable)


@dataclass(frozen=True)
class Judge:
    """Says which classes break a promise.

    Attributes:
        columns: the sensitive columns that the promise speaks of, in the order in which
            the keys of a class name their values.
    """

    schema: Schema
    models: tuple[PrivacyModel, ...]
    columns: tuple[str, ...]

    @classmethod
    def of(cls, schema: Schema, models: Iterable[PrivacyModel]) -> Judge:
        """Return the judge of a promise."""
        spread = expand(models, schema.sensitive)
        named = dict.fromkeys(m.column for m in spread if m.column is not None)
        return cls(schema, tuple(spread), tuple(named))

    @property
    def compares(self) -> bool:
        """Say whether a class is compared with all records, so that each change touches all."""
        return any(isinstance(m, (TCloseness, NTCloseness)) for m in self.models)

    def texts(self, values: Iterable[object]) -> tuple[str | None, ...]:
        """Return sensitive values as they are counted: missing marks are one missing value."""
        absent = {"", *self.schema.missing}
        found: list[str | None] = []
        for value in values:
            text = None if value is None else str(value)
            is_absent = text is None or text in absent or text.strip() in absent
            found.append(None if is_absent else text)
        return tuple(found)

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
            if isinstance(model, KAnonymity):
                found.update(key for key in wanted if sum(classes[key].values()) < model.k)
                continue
            place = self.columns.index(str(model.column))
            column = _Column.of(self.schema.attribute(str(model.column)), classes.values(), place)
            for key in wanted:
                if key not in found and not model.holds(column.summary(classes[key], place)):
                    found.add(key)
        return found

    def results(
        self, classes: Mapping[KeyT, Spread]
    ) -> list[tuple[PrivacyModel, bool, float | None, int]]:
        """Return, for each model, whether it holds, the worst value, and violating records."""
        found = []
        for model in self.models:
            place = 0 if model.column is None else self.columns.index(model.column)
            column = None
            if model.column is not None:
                about = self.schema.attribute(model.column)
                column = _Column.of(about, classes.values(), place)
            of_two = min if model.better == "high" else max
            worst: float | None = None
            wrong = 0
            for spread in classes.values():
                size = sum(spread.values())
                summary = ClassSummary(size) if column is None else column.summary(spread, place)
                value = model.measure(summary)
                worst = value if worst is None else of_two(worst, value)
                wrong += 0 if model.holds(summary) else size
            found.append((model, not wrong, worst, wrong))
        return found


@dataclass(frozen=True)
class _Column:
    """One sensitive column over all classes: its values in their order."""

    rank: Mapping[str | None, int]
    reference: Reference

    @classmethod
    def of(cls, attribute: Attribute, classes: Iterable[Spread], place: int) -> _Column:
        totals: Counter[str | None] = Counter()
        for spread in classes:
            for texts, records in spread.items():
                totals[texts[place]] += records
        # A declared order is the whole scale, whether or not each step of it occurs.
        absent = [step for step in attribute.order if step not in totals]
        key = _order(attribute, [text for text in totals if text is not None] + absent)
        ranks = {k: i + (None in totals) for i, k in enumerate(sorted(set(key.values())))}
        rank: dict[str | None, int] = {text: ranks[k] for text, k in key.items()}
        if None in totals:
            rank[None] = 0
        counts = [0] * (len(ranks) + (None in totals))
        values: list[str | None] = [None] * len(counts)
        for text in rank:
            counts[rank[text]] += totals[text]
            values[rank[text]] = None if text is None else text.strip()
        return cls(rank, _reference(counts, values, attribute))

    def summary(self, spread: Spread, place: int) -> ClassSummary:
        histogram = [0] * len(self.reference.counts)
        for texts, records in spread.items():
            histogram[self.rank[texts[place]]] += records
        return ClassSummary(sum(histogram), histogram, reference=self.reference)


def _order(attribute: Attribute, texts: Sequence[str]) -> dict[str, Any]:
    """Return the key by which each text of a sensitive column is ordered."""
    if attribute.order:
        rank = {value: i for i, value in enumerate(attribute.order)}
        return {text: (rank.get(text.strip(), len(rank)), text.strip()) for text in texts}
    tree = attribute.hierarchy
    if isinstance(tree, Hierarchy):
        nodes = {t: tree.get(t) if tree.get(t) is not None else tree.get(t.strip()) for t in texts}
        return {t: (len(tree) if nodes[t] is None else nodes[t], t.strip()) for t in texts}
    if attribute.kind in (None, Kind.NUMERIC):
        numbers = {text: number_key(text) for text in texts}
        zeros = any(t.strip()[:1] == "0" and t.strip()[1:2].isdigit() for t in texts)
        if texts and None not in numbers.values() and (attribute.kind is not None or not zeros):
            return numbers
    if attribute.kind is Kind.DATE:
        return {text: _moment(text) for text in texts}
    return {text: text for text in texts}


def _moment(text: str) -> str:
    try:
        return datetime.fromisoformat(text.strip()).isoformat()
    except ValueError:
        return text


def _reference(
    totals: Sequence[int], values: Sequence[str | None], attribute: Attribute
) -> Reference:
    tree = attribute.hierarchy
    if not isinstance(tree, Hierarchy):
        return Reference(totals, values=values)
    nodes = [-1 if value is None else tree.get(value) for value in values]
    return Reference(
        totals,
        values=values,
        parents=tree.parents,
        heights=tree.heights,
        node_of_value=[-1 if node is None else node for node in nodes],
    )


Home = tuple[str | None, ...]


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
    while changed or failed:
        if judge.compares:
            failed = judge.failing(board.classes)
        else:
            failed = (failed - changed) | judge.failing(board.classes, only=changed)
        # The finest first: what they give back may save a coarser one.
        order = sorted(failed, key=lambda home: (board.rank[home], [x or "" for x in home]))
        changed = board.close(order[: max(len(order) // 4, 1)], order) if order else set()
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
