"""An open local table, and what can be asked of it."""

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
from shoal.engines.local.blanked import verify_blanked
from shoal.engines.local.encode import LocalEncoding
from shoal.engines.local.infer import infer
from shoal.engines.local.kept import check_beside
from shoal.engines.local.links import links_beside
from shoal.engines.local.metrics import measure_release
from shoal.engines.local.person_file import (
    read_false_rows,
    records_of,
    with_made_up,
    with_persons,
)
from shoal.engines.local.persons import repeats_as_it_stands
from shoal.engines.local.records import LocalRecords, open_written
from shoal.engines.local.risk import risk
from shoal.engines.local.source import Source, open_source
from shoal.engines.local.verify import trajectories_of, verify_table
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


def local_source(table: Table, option: str) -> Source:
    """Return what a table is read from: once opened, its records keep their order.

    Raises:
        MethodError: it is on Spark; option: what needs the order.
    """
    if not isinstance(table, LocalTable):
        raise MethodError(problem=f"{option} needs the local engine: Spark keeps no order")
    return table.source


@dataclass(frozen=True)
class LocalTable:
    """A table that Polars scans."""

    source: Source

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
    ) -> LocalRecords:
        """Return the records as a schema releases them."""
        return LocalRecords.read(self.source, schema, counted, keys, earlier)

    def verify(
        self, schema: Schema, promise: Sequence[Promise], *, blanked: bool = False
    ) -> Verification:
        """Judge it as it stands."""
        judge = verify_blanked if blanked else verify_table
        return judge(self.source, schema, promise)

    def trajectories(self, schema: Schema) -> TrajectoryRisk:
        """Count the persons whose records, all together, nobody else has."""
        return trajectories_of(self.source, schema)

    def with_persons(
        self, file: str | Path, false_records: str | Path | None = None
    ) -> tuple[LocalTable, tuple[str, ...]]:
        """Return the table with the columns of a person file beside it, and their names."""
        source, names = with_persons(self.source, file)
        if false_records is not None:
            rows = read_false_rows(false_records, records_of(self.source))
            source, names = with_made_up(source, names, rows)
        return LocalTable(source), names

    def check_kept(self, names: Sequence[str], waived: Sequence[str]) -> KeptCheck:
        """Ask columns whether they say by themselves who a record is."""
        return check_beside(self.source, names, waived)

    def check_links(self, schema: Schema, names: Sequence[str]) -> tuple[KeptColumn, ...]:
        """Ask columns whether they link the records of a person."""
        return links_beside(self.source, schema, names)

    def repeats(self, schema: Schema, k: int) -> Repeats | None:
        """Count the people of its own classes, where an identifying column repeats."""
        return repeats_as_it_stands(self.source, schema, k)

    @contextmanager
    def encode(
        self, model: RecodingModel, *, on_unseen: str | None, star: bool
    ) -> Iterator[LocalEncoding]:
        """Check it against a model; nothing is encoded yet."""
        yield LocalEncoding.open(self.source, model, on_unseen=on_unseen, star=star)

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
        labels = open_written(release, separator).as_labels()
        return measure_release(self.source, labels, schema, starred=starred)

    def infer(self, *, max_size: int, seconds: float | None, threshold: float) -> Inference:
        """Say what each column seems to be and which sets of columns identify people."""
        return infer(self.source, max_size=max_size, seconds=seconds, threshold=threshold)


def _opened(population: object) -> Source | None:
    return None if population is None else open_source(population)
