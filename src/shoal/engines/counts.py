"""Counts that fit this machine: the frequency table, and the classes that a search finds in it.

Both engines have them; how parts of a table are learned side by side is what they do apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import MethodError, NoSolutionError
from shoal.core.interruptible import interruptible
from shoal.engines.base import Progress, Search
from shoal.engines.person_key import PERSON
from shoal.engines.verification import ROWS, judge_cells
from shoal.measures.utility import Grouping, grouping_of
from shoal.methods.judging import failing_classes, judge_recoding
from shoal.methods.nested import nested_notices, search_nested
from shoal.methods.persons import hold_persons
from shoal.methods.trajectories import search_trajectories
from shoal.privacy import Promise, Verdict
from shoal.reports.release import Risk, Verification
from shoal.schema.schema import Schema
from shoal.table.blanks import blank_table
from shoal.table.frequency import ONCE, FrequencyTable
from shoal.table.recoding import Recoding, joined, with_centroids
from shoal.table.rounding import round_table, rounded


@dataclass(frozen=True)
class CountsHere:
    """The frequency table of a table, on this machine.

    Attributes:
        learn_partitions: searches parts of the table side by side, and joins what was found.
        is_blank: classes of the table release values as they are, or blanks.
    """

    schema: Schema
    table: FrequencyTable
    learn_partitions: Callable[[FrequencyTable, Search], Recoding]
    is_distributed: bool = False
    is_blank: bool = False

    @cached_property
    def risk(self) -> Risk:
        """Return how easily records, or persons, are found as they are."""
        table = self.table
        if table.persons is None:
            return risk_of(table.tuple_sizes)
        every = np.arange(table.rows)
        return risk_of_persons(table, every, table.tuple_ids, table.counts)

    def compile(self, search: Search, progress: Progress) -> None:
        """Load or compile the kernels: a tiny table is enough for that."""
        if search.method.must_compile():
            progress("compile")
        tiny = first_rows(self.table, search.promise)
        method = search.method.hurried()  # it would use up its time on two rows
        with suppress(NoSolutionError):  # two records need not meet anything
            interruptible(lambda: method.search(tiny, search.promise))

    def search(self, search: Search) -> ClassesHere:
        """Run the method on the whole table, or on its parts side by side."""
        found = interruptible(lambda: self._found(search))
        return ClassesHere(found, nested_notices(found))

    def _found(self, search: Search) -> Recoding:
        """Search, and give each class what it releases."""
        if search.method.blanks and not self.is_blank:
            blank = replace(self, table=blank_table(self.table), is_blank=True)
            return blank._found(search)
        round_labels = self.schema.has_round_labels
        if self.table.earlier is not None:
            # Parts of one earlier class may have equal labels: the search judges them together.
            table = round_table(self.table, self.schema) if round_labels else self.table
            return search_nested(table, search.promise, search.method, search.setting)
        if self.schema.trajectories:
            return _trajectories(self.table, self.schema, search)
        if search.partitions is None:
            table = self.table
            boxes = search.method.family == "clustering" and search.release != "aggregate"
            if self.schema.has_round_labels and boxes:
                table = round_table(table, self.schema)  # what will be written is what is weighed
            recoding = search.method.search(table, search.promise, search.setting)
        else:
            recoding = self.learn_partitions(self.table, search)
        if search.release == "aggregate":
            return _aggregated_holding(recoding, search)
        if search.method.family == "microaggregation":
            recoding = joined(
                recoding
            )  # what it keeps apart is one class where labels are released
            if recoding.table.persons is not None:
                recoding = hold_persons(recoding, search.promise, borrow=True)
        return self._labelled(recoding, search.promise)

    def _labelled(self, found: Recoding, promise: Sequence[Promise]) -> Recoding:
        """Give classes round labels, where the schema asks for these."""
        if not self.schema.has_round_labels:
            return found
        classes = found.classes
        found = rounded(found, self.schema)
        if found.table.persons is None and found.classes == classes:
            return found
        # Classes with one label are one class, and what each kept they may break together.
        return hold_persons(found, promise)

    def close(self) -> None:
        """Nothing is held elsewhere."""


@dataclass(frozen=True)
class ClassesHere:
    """Equivalence classes whose tuples are on this machine."""

    recoding: Recoding
    notices: tuple[str, ...] = ()

    def judge(self, promise: Sequence[Promise]) -> tuple[Verdict, ...]:
        """Judge them as they were found; nothing is written for it."""
        return tuple(judge_recoding(self.recoding, promise))

    def grouping(self, target: str | None) -> Grouping:
        """Describe them for the measures of utility."""
        return grouping_of(self.recoding, target=target)

    def sse_loss(self) -> float | None:
        """Return the squared loss of centroids; None where boxes are released."""
        if self.recoding.released is None:
            return None
        from shoal.methods.microaggregation.squared_error import sse_loss

        return sse_loss(self.recoding, self.recoding.released)

    def trial(self) -> None:
        """Return nothing: a model is tried on the recoding's own tuples."""


def _trajectories(table: FrequencyTable, schema: Schema, search: Search) -> Recoding:
    """Make whole persons alike; only intervals and common ancestors can be shared so."""
    if search.release == "aggregate":
        raise MethodError(
            problem=f"--method {search.method.name} releases centroids; where a pseudonym of the "
            "person is released, take bestcut, mondrian or refine, or --release generalize"
        )
    if search.partitions is not None:
        raise MethodError(problem="--partitions takes persons apart whose pseudonym is released")
    if schema.has_round_labels:  # persons are alike by their labels: known from the start
        table = round_table(table, schema)
    return search_trajectories(table, search.promise, search.method, search.setting)


def risk_of(sizes: NDArray[np.int64]) -> Risk:
    """Return the risk of records in classes of these sizes."""
    return Risk(
        records=int(sizes.sum()),
        classes=len(sizes),
        smallest_class=int(sizes.min()) if len(sizes) else 0,
        unique=int((sizes == 1).sum()),
    )


def risk_of_persons(
    table: FrequencyTable,
    row: NDArray[np.int64],
    label: NDArray[np.int64],
    count: NDArray[np.int64],
) -> Risk:
    """Return the risk of the persons of a table, each by the record that is easiest to find.

    row, label, count: the members of classes, see `Recoding`. Classes of nobody are left out.
    """
    assert table.persons is not None
    kept = label >= 0
    row, label, count = row[kept], label[kept], count[kept]
    classes = int(label.max(initial=-1)) + 1
    sizes = table.persons_of(row, label, count, classes)
    risk = 1 / np.maximum(sizes, 1)
    who, own = table.persons[row], risk[label]
    once, known = who == ONCE, who >= 0
    worst = np.zeros(int(who.max(initial=-1)) + 1)
    np.maximum.at(worst, who[known], own[known])
    there = worst > 0
    return Risk(
        records=int(count.sum()),
        classes=int((sizes > 0).sum()),
        smallest_class=int(sizes[sizes > 0].min(initial=np.iinfo(np.int64).max)) if classes else 0,
        unique=int((worst == 1).sum() + count[once & (own == 1)].sum()),
        persons=int(there.sum() + count[once].sum()),
        expected=float(worst.sum() + (count * own)[once].sum()),
    )


def first_rows(table: FrequencyTable, promise: Sequence[Promise]) -> FrequencyTable:
    """Return a tiny table: enough to load or compile the kernels of a search.

    Its rows have records enough for k, so that a search finds something to do with them.
    """
    most = min(table.rows, 2)
    enough = 2 * max((model.least_records for model in promise), default=1) + 1
    return FrequencyTable(
        domains=table.domains,
        codes=np.ascontiguousarray(table.codes[:most]),
        counts=np.full(most, enough, dtype=np.int64),
        sensitive_domains=table.sensitive_domains,
        sensitive=np.ascontiguousarray(table.sensitive[:most]),
        persons=None if table.persons is None else np.full(most, ONCE, dtype=np.int32),
    )


def class_labels(recoding: Recoding) -> pl.DataFrame:
    """Return what each class releases, and in a last row what suppressed records do."""
    columns = {}
    for j, domain in enumerate(recoding.table.domains):
        texts = [*recoding.labels(j), domain.root]
        names = pl.Series(sorted({text for text in texts if text is not None}), dtype=pl.String)
        columns[domain.name] = pl.Series(domain.name, texts, dtype=pl.Enum(names))
    return pl.DataFrame(columns)


def judge_starred(recoding: Recoding, schema: Schema, promise: Sequence[Promise]) -> Verification:
    """Judge the release with suppressed records as the root, before it is written."""
    return judge_cells(_starred(recoding), schema, promise, where="release")


def _starred(recoding: Recoding) -> pl.DataFrame:
    """Return the cells of the release with suppressed records as the root."""
    table = recoding.table
    labels = class_labels(recoding)
    frame = labels[np.where(recoding.label < 0, recoding.classes, recoding.label)]
    for domain, codes in zip(table.sensitive_domains, table.sensitive.T, strict=True):
        texts = pl.Series(domain.name, domain.labels, dtype=pl.String)
        frame = frame.with_columns(texts[codes[recoding.row]])
    frame = frame.with_columns(pl.Series(ROWS, recoding.count))
    return frame if table.persons is None else _with_person_cells(frame, recoding)


def _with_person_cells(cells: pl.DataFrame, recoding: Recoding) -> pl.DataFrame:
    """Return cells with who they are about; each record of somebody with one is a cell."""
    assert recoding.table.persons is not None
    who = recoding.table.persons[recoding.row].astype(np.int64)
    once = who == ONCE
    times = np.where(once, recoding.count, 1)
    place = np.repeat(np.arange(len(who)), times)
    person = who[place]
    single = once[place]
    person[single] = int(who.max(initial=0)) + 1 + np.arange(int(single.sum()))
    records = np.where(single, 1, recoding.count[place])
    known = pl.Series(PERSON, person).set(pl.Series(person < 0), None)
    return cells[place].with_columns(pl.Series(ROWS, records), known)


def _aggregated_holding(recoding: Recoding, search: Search) -> Recoding:
    """Give each class its centroid; where persons are counted, until every class holds.

    Classes with one centroid are one class, and persons of both may break what each kept.
    """
    made = _aggregated(recoding, search.method.centroid)
    if recoding.table.persons is None:
        return made
    while made.classes and failing_classes(made, search.promise).any():
        held = hold_persons(replace(made, released=None), search.promise, join=False)
        if not held.classes:
            return held
        made = _aggregated(held, search.method.centroid)
    return made


def _aggregated(recoding: Recoding, distance: str | None) -> Recoding:
    from shoal.methods.microaggregation.centroids import centroids

    return with_centroids(recoding, centroids(recoding, distance=distance))
