"""A node of a lattice with more rows than the driver takes: judged where its classes are.

Of a node that is asked about only sums come home; of the best one the classes that hold, without
their sensitive values.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from shoal.engines.spark.coding import Packing
from shoal.engines.spark.frequencies import Coded
from shoal.engines.spark.piles import ROWS, arrays, joined
from shoal.engines.spark.source import guarded
from shoal.methods.frequency import FrequencyTable
from shoal.methods.lattice.evaluate import Answer, Evaluator
from shoal.methods.lattice.measures import Measure, Tally
from shoal.methods.lattice.pledge import Pledge
from shoal.methods.lattice.result import closeness_of, codes_at, without_far
from shoal.methods.lattice.space import Node, Space
from shoal.privacy import Promise


class Step(NamedTuple):
    """A closeness model, and the records that classes were compared with, by their value."""

    model: Promise
    total: NDArray[np.int64]


class Held(NamedTuple):
    """The classes of a node that hold: their codes there and their records."""

    codes: NDArray[np.int32]
    sizes: NDArray[np.int64]


@dataclass(frozen=True)
class Teller:
    """Judges the classes of a node, each task those that it holds.

    Attributes:
        space: the lattice; its table knows how sensitive columns are spread in the whole.
        packing: how the codes of the node became keys.
        steps: the classes that went because others had gone, one comparison after the other.
            Who takes them again comes to the same classes.
        brings: whether the classes are brought, and not only counted.
    """

    space: Space
    pledge: Pledge
    measure: Measure
    node: Node
    packing: Packing
    steps: tuple[Step, ...] = ()
    brings: bool = False

    def run(self, coded: Coded, rolled: DataFrame) -> Tally:
        """Return the tally of the whole node: one job."""
        return self._counted(coded, rolled)[0]

    def settled(self, coded: Coded, rolled: DataFrame) -> tuple[Teller, Tally]:
        """Suppress what is no longer close without the suppressed; see `result.settle`.

        It ends early where too many would go.
        """
        models = closeness_of(self.pledge)
        teller = self
        tally, left = teller._counted(coded, rolled)
        names = [domain.name for domain in self.space.table.sensitive_domains]
        changed = bool(models) and tally.suppressed > 0
        while changed and tally.suppressed <= self.pledge.budget:
            changed = False
            for model in models:
                step = Step(model, left[names.index(str(model.column))])
                after = replace(teller, steps=(*teller.steps, step))
                found, rest = after._counted(coded, rolled)
                if found.suppressed != tally.suppressed:
                    teller, tally, left, changed = after, found, rest, True
        return teller, tally

    def held(self, coded: Coded, rolled: DataFrame) -> Held:
        """Return the classes that hold: one job."""
        width = len(self.space.ladders)
        none = Held(np.zeros((0, width), dtype=np.int32), np.zeros(0, dtype=np.int64))
        found = [none, *replace(self, brings=True)._job(coded, rolled)]
        codes, sizes = (np.concatenate(each) for each in zip(*found, strict=True))
        return Held(codes, sizes)

    def _counted(self, coded: Coded, rolled: DataFrame) -> tuple[Tally, list[NDArray[np.int64]]]:
        """Return the tally, and how each sensitive column is spread in the classes that hold."""
        found = self._job(coded, rolled)
        left = np.sum([spread for _, spread in found], axis=0)
        ends = np.cumsum([len(domain) for domain in self.space.table.sensitive_domains])
        return self._together([tally for tally, _ in found]), np.split(left, ends[:-1])

    def _job(self, coded: Coded, rolled: DataFrame) -> list[Any]:
        with guarded(coded.source.where):
            told = rolled.select(*self.packing.names, ROWS).mapInArrow(self, "found binary")
            blobs = told.toArrow().column("found").to_pylist()
        return [pickle.loads(blob) for blob in blobs]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Judge the classes of a task; all rows of a class are in one task."""
        import pyarrow as pa

        held = [each for batch in batches for each in arrays(batch, [*self.packing.names, ROWS])]
        if not held:
            return
        *keys, counts = (np.concatenate(each) for each in zip(*held, strict=True))
        if not len(counts):
            return
        keys, counts = joined(keys, counts)
        space = replace(self.space, table=self._table(self.packing.unpack(keys), counts))
        blob = pickle.dumps(self._told(space))
        yield pa.RecordBatch.from_arrays([pa.array([blob], pa.binary())], names=["found"])

    def _told(self, space: Space) -> Any:
        records = self.pledge.records
        evaluator = Evaluator(space, replace(self.pledge, budget=records), threads=1)
        evaluator.use(self.measure)
        answer = evaluator.release(self.node)
        for step in self.steps:
            answer = without_far(answer, evaluator, step.model, total=step.total)
        if self.brings:
            holds = np.flatnonzero(answer.due == 0)
            codes = codes_at(space, self.node, answer.classes.codes[:, holds])
            return Held(codes.astype(np.int32), answer.classes.counts[holds])
        return evaluator.read(self.node, answer), _spread(answer, evaluator)

    def _table(self, codes: NDArray[np.int32], counts: NDArray[np.int64]) -> FrequencyTable:
        """Return rows of the node as a table: a value stands for all that are coded alike."""
        width = len(self.space.ladders)
        plain = np.empty((len(codes), width), dtype=np.int32)
        for j, (ladder, level) in enumerate(zip(self.space.ladders, self.node, strict=True)):
            plain[:, j] = first_codes(ladder.codes[level], len(ladder.nodes[level]))[codes[:, j]]
        return replace(
            self.space.table, codes=plain, counts=counts,
            sensitive=np.ascontiguousarray(codes[:, width:]),
        )  # fmt: skip

    def _together(self, parts: Sequence[Tally]) -> Tally:
        """Return the sum of tallies, as one count of all classes would give it."""
        due = sum(part.least for part in parts)
        classes = sum(part.classes for part in parts)
        if due > self.pledge.budget and not self.measure.by_size:
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


def _spread(answer: Answer, evaluator: Evaluator) -> NDArray[np.int64]:
    """Return how many records of classes that hold have each sensitive value."""
    classes, start = answer.classes, evaluator.promise.start
    found = np.zeros(int(start[-1]), dtype=np.int64)
    if len(classes.first) > 1:  # else the promise names no sensitive column
        holds = np.repeat(answer.due == 0, np.diff(classes.first))
        np.add.at(found, classes.value[holds].astype(np.int64), classes.amount[holds])
    return found


def first_codes(codes: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """Return, for each code of a level, the first value that becomes it."""
    first = np.zeros(size, dtype=np.int32)
    first[codes[::-1]] = np.arange(len(codes), dtype=np.int32)[::-1]
    return first
