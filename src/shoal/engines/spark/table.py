"""An open table on Spark, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.core.errors import MethodError
from shoal.core.secret_keys import Keys
from shoal.engines.base import Table
from shoal.engines.spark.encode import SparkEncoding
from shoal.engines.spark.infer import infer
from shoal.engines.spark.kept import check_kept
from shoal.engines.spark.links import check_links
from shoal.engines.spark.metrics import measure_release
from shoal.engines.spark.persons import repeats_as_it_stands
from shoal.engines.spark.records import SparkRecords
from shoal.engines.spark.risk import risk
from shoal.engines.spark.source import SparkSource, open_table
from shoal.engines.spark.verify import verify_table
from shoal.inference.infer import Inference
from shoal.inference.kept import KeptCheck, KeptColumn
from shoal.measures.risk.persons import Repeats
from shoal.measures.risk.question import RiskQuestion
from shoal.measures.risk.report import RiskReport
from shoal.measures.risk.trajectories import TrajectoryRisk
from shoal.model.model import RecodingModel
from shoal.privacy import Promise
from shoal.reports.release import Verification
from shoal.schema.schema import Schema


@dataclass(frozen=True)
class TableOnSpark:
    """A table that Spark reads."""

    source: SparkSource

    @property
    def where(self) -> str:
        """Return what the table is called in messages."""
        return self.source.where

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of its columns, in their order."""
        return self.source.columns

    def records(
        self,
        schema: Schema,
        counted: Sequence[str],
        keys: Keys,
        *,
        earlier: NDArray[np.int32] | None = None,
    ) -> SparkRecords:
        """Return the records as a schema releases them.

        Raises:
            MethodError: values are to be replaced, and keys do not leave this machine; or classes
                of an earlier release are given, and Spark keeps no order.
        """
        if earlier is not None:
            raise MethodError(problem="--nested-in needs the local engine: Spark keeps no order")
        if schema.replaced:
            names = ", ".join(map(repr, schema.replaced))
            raise MethodError(
                problem=f"columns whose values are replaced ({names}) need the local engine: a "
                "secret key does not travel to a cluster"
            )
        return SparkRecords.read(self.source, schema, counted)

    def verify(
        self, schema: Schema, promise: Sequence[Promise], *, blanked: bool = False
    ) -> Verification:
        """Judge it as it stands."""
        if blanked:
            raise MethodError(problem="--blanked needs the local engine")
        if schema.trajectories:
            raise MethodError(problem="trajectories of persons need the local engine")
        return verify_table(self.source, schema, promise)

    def trajectories(self, schema: Schema) -> TrajectoryRisk:
        """Refuse: whole persons are compared on this machine."""
        raise MethodError(problem="trajectories of persons need the local engine")

    def with_persons(
        self, file: str | Path, false_records: str | Path | None = None
    ) -> tuple[Table, tuple[str, ...]]:
        """Refuse: a cluster keeps no order that two files could share."""
        raise MethodError(problem="--person-file needs the local engine")

    def check_kept(self, names: Sequence[str], waived: Sequence[str]) -> KeptCheck:
        """Ask columns whether they say by themselves who a record is."""
        return check_kept(self.source, names, waived)

    def check_links(self, schema: Schema, names: Sequence[str]) -> tuple[KeptColumn, ...]:
        """Ask columns whether they link the records of a person."""
        return check_links(self.source, schema, names)

    def repeats(self, schema: Schema, k: int) -> Repeats | None:
        """Count the people of its own classes, where an identifying column repeats."""
        return repeats_as_it_stands(self.source, schema, k)

    @contextmanager
    def encode(
        self, model: RecodingModel, *, on_unseen: str | None, star: bool
    ) -> Iterator[SparkEncoding]:
        """Check it against a model; nothing is encoded yet."""
        encoding = SparkEncoding.open(self.source, model, on_unseen=on_unseen, star=star)
        try:
            yield encoding
        finally:
            encoding.close()

    def risk(self, question: RiskQuestion, *, population: object = None) -> RiskReport:
        """Measure how easily people are found in it."""
        return risk(self.source, question, population=_opened(population))

    def check_risk(self, question: RiskQuestion, *, population: object = None) -> None:
        """Refuse a question about risk that cannot be answered."""
        question.check(self.source, _opened(population))

    def measure(
        self, release: object, schema: Schema, *, starred: bool | None, separator: str | None
    ) -> Document:
        """Measure a release that was made from it, by its labels alone."""
        labels = open_table(release, separator=separator).as_labels()
        return measure_release(self.source, labels, schema, starred=starred)

    def infer(self, *, max_size: int, seconds: float | None, threshold: float) -> Inference:
        """Say what each column seems to be and which sets of columns identify people."""
        return infer(self.source, max_size=max_size, seconds=seconds, threshold=threshold)


def _opened(population: object) -> SparkSource | None:
    return None if population is None else open_table(population)
