"""A node of a lattice with more rows than the driver takes: judged where its classes are.

Of a node that is asked about only sums come to the driver; of the best one the classes that hold,
without their sensitive values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from shoal.engines.spark.answers import ask_tasks
from shoal.engines.spark.chunks import ROWS, Codes, Ints, concatenated, sum_equal_keys
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.distributed import Histograms, split_columns
from shoal.engines.spark.frequencies import Coded
from shoal.methods.lattice.constraint import Constraint
from shoal.methods.lattice.evaluate import Answer, Evaluator
from shoal.methods.lattice.measures import Measure, Tally
from shoal.methods.lattice.result import closeness_of, codes_at, without_distant
from shoal.methods.lattice.space import Node, Space
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable

AnswerT = TypeVar("AnswerT")


class ClosenessStep(NamedTuple):
    """A closeness model, and the histogram of the records that classes were compared with."""

    model: Promise
    total: Ints


class HoldingClasses(NamedTuple):
    """The classes of a node that hold: their codes there and their records."""

    codes: Codes
    sizes: Ints


@dataclass(frozen=True)
class NodeJudge:
    """Judges the classes of a node, each task those that it holds.

    Attributes:
        space: the lattice; its table knows how sensitive columns are spread in the whole.
        packing: how the codes of the node became keys.
        steps: the classes that went because others had gone, one comparison after the other.
            Who takes them again comes to the same classes.
    """

    space: Space
    constraint: Constraint
    measure: Measure
    node: Node
    packing: Packing
    steps: tuple[ClosenessStep, ...] = ()

    def tally(self, coded: Coded, rolled: DataFrame) -> Tally:
        """Return the tally of the whole node: one job."""
        return self._counted(coded, rolled)[0]

    def repaired(self, coded: Coded, rolled: DataFrame) -> tuple[NodeJudge, Tally]:
        """Suppress what is no longer close without the suppressed; see `result.repair`.

        It ends early where too many would go.
        """
        models = closeness_of(self.constraint)
        judge = self
        tally, released = judge._counted(coded, rolled)
        names = [domain.name for domain in self.space.table.sensitive_domains]
        changed = bool(models) and tally.suppressed > 0
        while changed and tally.suppressed <= self.constraint.budget:
            changed = False
            for model in models:
                step = ClosenessStep(model, released[names.index(str(model.column))])
                after = replace(judge, steps=(*judge.steps, step))
                found, rest = after._counted(coded, rolled)
                if found.suppressed != tally.suppressed:
                    judge, tally, released, changed = after, found, rest, True
        return judge, tally

    def holding(self, coded: Coded, rolled: DataFrame) -> HoldingClasses:
        """Return the classes that hold: one job."""
        width = len(self.space.ladders)
        none = HoldingClasses(np.zeros((0, width), dtype=np.int32), np.zeros(0, dtype=np.int64))
        found = [none, *self._ask(coded, rolled, self.task_classes)]
        return HoldingClasses(
            np.concatenate([each.codes for each in found]),
            np.concatenate([each.sizes for each in found]),
        )

    def _counted(self, coded: Coded, rolled: DataFrame) -> tuple[Tally, Histograms]:
        """Return the tally, and how each sensitive column is spread in the classes that hold."""
        found = self._ask(coded, rolled, self.task_tally)
        released = np.sum([spread for _, spread in found], axis=0)
        sizes = [len(domain) for domain in self.space.table.sensitive_domains]
        return self.sum_tallies([tally for tally, _ in found]), split_columns(released, sizes)

    def _ask(
        self,
        coded: Coded,
        rolled: DataFrame,
        ask: Callable[[Iterator[pa.RecordBatch]], Iterator[AnswerT]],
    ) -> list[AnswerT]:
        keys = rolled.select(*self.packing.names, ROWS)
        return ask_tasks(keys, ask, where=coded.source.where)

    def task_tally(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[Tally, Ints]]:
        """Yield the tally of a task's classes, and how many records of holding ones have a value.

        This runs where they are.
        """
        for _, evaluator, answer in self._judged(batches):
            yield evaluator.read(self.node, answer), _holding_histogram(answer, evaluator)

    def task_classes(self, batches: Iterator[pa.RecordBatch]) -> Iterator[HoldingClasses]:
        """Yield the classes of a task that hold; this runs where they are."""
        for space, _, answer in self._judged(batches):
            holds = np.flatnonzero(answer.due == 0)
            codes = codes_at(space, self.node, answer.classes.codes[:, holds])
            yield HoldingClasses(codes.astype(np.int32), answer.classes.counts[holds])

    def _judged(
        self, batches: Iterator[pa.RecordBatch]
    ) -> Iterator[tuple[Space, Evaluator, Answer]]:
        """Judge the classes of a task, if it has any; all rows of a class are in one task."""
        *keys, counts = concatenated(batches, [*self.packing.names, ROWS])
        if not len(counts):
            return
        keys, counts = sum_equal_keys(keys, counts)
        space = replace(self.space, table=self._table(self.packing.unpack(keys), counts))
        unlimited = replace(self.constraint, budget=self.constraint.records)
        evaluator = Evaluator(space, unlimited, threads=1)
        evaluator.use(self.measure)
        answer = evaluator.release(self.node)
        for step in self.steps:
            answer = without_distant(answer, evaluator, step.model, total=step.total)
        yield space, evaluator, answer

    def _table(self, codes: Codes, counts: Ints) -> FrequencyTable:
        """Return rows of the node as a table: a value stands for all that are coded alike."""
        width = len(self.space.ladders)
        plain = np.empty((len(codes), width), dtype=np.int32)
        for j, (ladder, level) in enumerate(zip(self.space.ladders, self.node, strict=True)):
            plain[:, j] = first_codes(ladder.codes[level], len(ladder.nodes[level]))[codes[:, j]]
        return replace(
            self.space.table, codes=plain, counts=counts,
            sensitive=np.ascontiguousarray(codes[:, width:]),
        )  # fmt: skip

    def sum_tallies(self, parts: Sequence[Tally]) -> Tally:
        """Return the sum of tallies, as one count of all classes would give it."""
        due = sum(part.least for part in parts)
        classes = sum(part.classes for part in parts)
        if due > self.constraint.budget and not self.measure.by_size:
            return Tally(node=self.node, suppressed=due, least=due, classes=classes)
        paid = [part.paid for part in parts if part.paid.shape[1]]
        lost = [part.lost for part in parts if part.lost]
        return Tally(
            node=self.node,
            suppressed=sum(part.suppressed for part in parts),
            least=due,
            classes=classes,
            published=sum(part.published for part in parts),
            squares=sum(part.squares for part in parts),
            published_squares=sum(part.published_squares for part in parts),
            logs=math.fsum(part.logs for part in parts),
            published_logs=math.fsum(part.published_logs for part in parts),
            paid=np.sum(paid, axis=0) if paid else np.zeros((2, 0), dtype=np.int64),
            lost=[np.sum(each, axis=0) for each in zip(*lost, strict=True)],
        )


def _holding_histogram(answer: Answer, evaluator: Evaluator) -> Ints:
    """Return how many records of classes that hold have each sensitive value."""
    classes, start = answer.classes, evaluator.promise.start
    found = np.zeros(int(start[-1]), dtype=np.int64)
    if len(classes.first) > 1:  # else the promise names no sensitive column
        holds = np.repeat(answer.due == 0, np.diff(classes.first))
        np.add.at(found, classes.value[holds].astype(np.int64), classes.amount[holds])
    return found


def first_codes(codes: Codes, size: int) -> Codes:
    """Return, for each code of a level, the first value that becomes it."""
    first = np.zeros(size, dtype=np.int32)
    first[codes[::-1]] = np.arange(len(codes), dtype=np.int32)[::-1]
    return first
