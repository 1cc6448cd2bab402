"""Python objects from tasks: each answer is pickled into a cell, and the driver reads them all."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame

from shoal.engines.spark.source import guarded

AnswerT = TypeVar("AnswerT")
_ANSWER = "answer"


def ask_tasks(
    frame: DataFrame,
    ask: Callable[[Iterator[pa.RecordBatch]], Iterator[AnswerT]],
    *,
    where: str,
) -> list[AnswerT]:
    """Let every task answer from its batches; return all answers, in any order: one job.

    where: the table's name, for errors.
    """

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for answer in ask(batches):
            cell = pa.array([pickle.dumps(answer)], pa.binary())
            yield pa.RecordBatch.from_arrays([cell], names=[_ANSWER])

    with guarded(where):
        cells = frame.mapInArrow(work, f"{_ANSWER} binary").toArrow().column(_ANSWER)
    return [pickle.loads(cell) for cell in cells.to_pylist()]
