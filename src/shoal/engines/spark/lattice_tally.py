"""A node of a lattice with more classes than the driver takes: judged where its classes are."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from shoal.engines.spark.coding import Packing
from shoal.engines.spark.frequencies import Coded
from shoal.engines.spark.piles import ROWS, arrays, joined
from shoal.engines.spark.source import guarded
from shoal.methods.frequency import FrequencyTable
from shoal.methods.lattice.evaluate import Evaluator
from shoal.methods.lattice.measures import Measure, Tally
from shoal.methods.lattice.pledge import Pledge
from shoal.methods.lattice.space import Node, Space


@dataclass(frozen=True)
class Teller:
    """Counts what the classes of a node lose, each task those that it holds.

    Attributes:
        space: the lattice; its table knows how sensitive columns are spread in the whole.
        packing: how the codes of the node became keys.
    """

    space: Space
    pledge: Pledge
    measure: Measure
    node: Node
    packing: Packing

    def run(self, coded: Coded, rolled: DataFrame) -> Tally:
        """Return the tally of the whole node: one job."""
        with guarded(coded.source.where):
            told = rolled.select(*self.packing.names, ROWS).mapInArrow(self, "found binary")
            blobs = told.toArrow().column("found").to_pylist()
        return self._together([pickle.loads(blob) for blob in blobs])

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Count the classes of a task; all rows of a class are in one task."""
        import pyarrow as pa

        held = [each for batch in batches for each in arrays(batch, [*self.packing.names, ROWS])]
        if not held:
            return
        *keys, counts = (np.concatenate(each) for each in zip(*held, strict=True))
        if not len(counts):
            return
        keys, counts = joined(keys, counts)
        space = replace(self.space, table=self._table(self.packing.unpack(keys), counts))
        records = self.pledge.records
        evaluator = Evaluator(space, replace(self.pledge, budget=records), threads=1)
        evaluator.use(self.measure)
        blob = pickle.dumps(evaluator.tally(self.node))
        yield pa.RecordBatch.from_arrays([pa.array([blob], pa.binary())], names=["found"])

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


def first_codes(codes: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """Return, for each code of a level, the first value that becomes it."""
    first = np.zeros(size, dtype=np.int32)
    first[codes[::-1]] = np.arange(len(codes), dtype=np.int32)[::-1]
    return first
