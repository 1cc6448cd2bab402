"""Drawn releases on Spark: labels stay on the cluster and are verified there; the driver draws.

The driver holds the records of the release while it draws, so there is a limit to their number.
The cells are those that the local engine draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from shoal.core.documents import Document
from shoal.core.errors import MethodError
from shoal.engines.base import Checks, Compared, Output
from shoal.engines.drawing.check import check_drawn
from shoal.engines.drawing.drawing import Drawer, Drawn, account_of, in_order, typed
from shoal.engines.drawing.metadata import described
from shoal.engines.spark.source import SparkSource
from shoal.engines.spark.written import SparkWritten, goal_of, write_release
from shoal.privacy import Promise
from shoal.reports.release import Verification
from shoal.schema.schema import Schema

MOST_DRAWN = 10_000_000
"""Records that the driver draws, at most."""


@dataclass(frozen=True)
class SparkDrawn:
    """A drawn release that is not yet published, beside the labels that it was drawn from.

    Attributes:
        texts: the labels that cells were drawn from, as they came to the driver.
        order: the record of them that each drawn one was drawn from.
    """

    labels: SparkWritten
    written: SparkWritten
    texts: pl.DataFrame
    order: NDArray[np.int64]
    drawer: Drawer
    drawn: Drawn

    @property
    def table(self) -> object:
        """Return the drawn release as a DataFrame; None where it goes to files."""
        return self.written.table

    def verify(self, schema: Schema, promise: Sequence[Promise]) -> Verification:
        """Judge the labels where they are, and see that every drawn cell lies in its own.

        Raises:
            UnsafeReleaseError: some cell does not, or is of nobody.
        """
        verified = self.labels.verify(schema, promise)
        again = collected(self.written.source.as_labels(), self.texts.columns)
        # Files come back in any order; the release is sorted by all of its cells.
        check_drawn(
            again[in_order(again)], self.texts, self.order, self.drawer.table.domains,
            self.drawer.forms(),
        )  # fmt: skip
        return verified

    def class_numbers(self) -> NDArray[np.int64]:
        """Refuse: records have no order on Spark."""
        return self.labels.class_numbers()

    def compare_persons(self, checks: Checks, *, centroids: bool, seed: int) -> Compared:
        """Refuse: records are attacked one by one, on this machine."""
        return self.labels.compare_persons(checks, centroids=centroids, seed=seed)

    def compare_labels(self, checks: Checks, *, seed: int) -> Compared:
        """Refuse: records are attacked one by one, on this machine.

        Raises:
            MethodError: always.
        """
        raise MethodError(problem="--attacks need the local engine")

    def account(self, *, fidelity: bool) -> Document:
        """Return what is to be known of the draw."""
        return account_of(self.drawer, self.drawn, fidelity=fidelity)


def collected(source: SparkSource, columns: Sequence[str]) -> pl.DataFrame:
    """Return the records of a table, on the driver."""
    plain = source.frame.toDF(*[f"c{j}" for j in range(len(source.columns))])
    found = source.polars(plain)
    found.columns = list(source.columns)
    return found.select(columns)


@contextmanager
def draw_release(
    source: SparkSource,
    made: tuple[DataFrame, Sequence[str], Sequence[str]],
    drawer: Drawer,
    output: Output,
) -> Iterator[SparkDrawn]:
    """Keep the labels on the cluster, draw from them, and write that.

    Args:
        source: the table.
        made: the generalized release, its columns, and those that persons are judged by.
        drawer: draws.
        output: where the release goes.

    Raises:
        MethodError: the driver does not take so many records.
    """
    frame, columns, judged = made
    if drawer.table.records > MOST_DRAWN:
        raise MethodError(
            problem=f"--release draw: on Spark the driver draws up to {MOST_DRAWN:,} records"
        )
    with (
        described(output.file, columns),
        goal_of(source, output) as place,
        write_release(frame, columns, None, judged=judged) as labels,
    ):
        texts = collected(labels.source, columns)
        drawn = drawer.draw(texts)
        records, order = drawn.sorted(keep_order=False)
        if place is None or place.kind not in ("csv", "csv.gz"):
            records = typed(records, _types(source, drawer))
        named = records.rename({name: f"c{j}" for j, name in enumerate(columns)})
        sent = source.session.createDataFrame(named.to_arrow())
        with write_release(sent, columns, place) as written:
            yield SparkDrawn(labels, written, texts, order, drawer, drawn)


def _types(source: SparkSource, drawer: Drawer) -> dict[str, pl.DataType]:
    """Return the types that the recoded columns have in the table."""
    names = [domain.name for domain in drawer.table.domains]
    none = source.frame.select(*map(source.name, names)).limit(0)
    found = source.polars(none)
    return dict(zip(names, found.dtypes, strict=True))
