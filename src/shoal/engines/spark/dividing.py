"""Dividing tuples on Spark: MLlib's k-means over the distinct ones, or a draw for each record.

Which part a record belongs to follows from the seed and from its own codes, so that neither
executors nor retries decide anything, and a table that fits the driver is divided alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from shoal.engines.spark.coding import Packing
from shoal.engines.spark.piles import ROWS, Goal, Work, arrays, by_part, part_of, sent_piles
from shoal.engines.spark.source import guarded
from shoal.methods.dividing import Part, deal, features, nearest
from shoal.methods.domain import Domain
from shoal.methods.frequency import FrequencyTable
from shoal.methods.partitions import Coarse

SAMPLE = 1_000_000  # distinct tuples that the centres are found on
_SLICE = 100_000  # points; how many slices there are must not depend on the executors
_ROUNDS = 25

Shares = Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]  # part, rows, their records


@dataclass(frozen=True)
class Nearest:
    """Gives a tuple to the part whose centre is nearest; of equals the first."""

    domains: tuple[Domain, ...]
    centres: NDArray[np.float64]

    def __call__(self, codes: NDArray[np.int32], counts: NDArray[np.int64]) -> Shares:
        """Yield the rows of each part and how many of their records it gets."""
        points = features(self.domains, codes[:, : len(self.domains)])
        for part, rows in by_part(nearest(points, self.centres)):
            yield part, rows, counts[rows]


@dataclass(frozen=True)
class Drawn:
    """Draws a part for every record."""

    parts: int
    seed: int

    def __call__(self, codes: NDArray[np.int32], counts: NDArray[np.int64]) -> Shares:
        """Yield the rows of each part and how many of their records it gets."""
        dealt = deal(codes, counts, self.parts, seed=self.seed)
        for part in range(self.parts):
            rows = np.flatnonzero(dealt[:, part])
            if len(rows):
                yield part, rows, dealt[rows, part]


Divider = Nearest | Drawn


def centres_of(
    piles: DataFrame, packing: Packing, domains: Sequence[Domain], *, tuples: int, coarse: Coarse
) -> NDArray[np.float64]:
    """Return the centres of MLlib's k-means, seeded by k-means‖ ([lim2018]'s CP).

    Args:
        piles: keys and their records.
        packing: how columns became keys, the quasi-identifiers first.
        domains: of the quasi-identifiers.
        tuples: how many distinct ones there are. Of very many, a sample is looked at, chosen
            by their own codes.
        coarse: how many parts, and the seed.
    """
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.functions import array_to_vector

    width = len(domains)
    share = max(-(-tuples // SAMPLE), 1)
    goal = Goal(Packing(packing.sizes[:width]), width, tuples // share // _SLICE + 1)
    thin = piles.select(*packing.names, ROWS).mapInArrow(_thinner(packing, goal, share), goal.kinds)
    made = goal.gather(thin).select(*goal.packing.names, ROWS)
    points = made.mapInArrow(
        _pointer(goal.packing, tuple(domains)), "point array<double>, weight double"
    )
    asked = points.select(array_to_vector(F.col("point")).alias("features"), "weight")
    kmeans = KMeans(
        k=max(coarse.parts, 2), seed=coarse.seed, maxIter=_ROUNDS, initMode="k-means||",
        weightCol="weight",
    )  # fmt: skip
    with guarded("k-means"):
        found = kmeans.fit(asked).clusterCenters()
    # Sums of floats differ in their last bits with the order of tasks; rounded, they do not.
    return np.unique(np.round(np.array(found), 9), axis=0)


def split_by_kmeans(spark: SparkSession, table: FrequencyTable, coarse: Coarse) -> list[Part]:
    """Divide a table of the driver as one that stays on Spark would be divided."""
    starts = np.flatnonzero(np.diff(table.tuple_ids, prepend=-1))
    codes = table.codes[starts]
    packing = Packing(tuple(max(len(domain), 1) for domain in table.domains))
    keys = dict(zip(packing.names, packing.pack(codes), strict=True))
    piles = sent_piles(spark, pl.DataFrame({**keys, ROWS: table.tuple_sizes}))
    centres = centres_of(piles, packing, table.domains, tuples=len(starts), coarse=coarse)
    home = nearest(features(table.domains, codes), centres)[table.tuple_ids]
    return [Part(rows, table.counts[rows]) for _, rows in by_part(home)]


def _thinner(packing: Packing, goal: Goal, share: int) -> Work:
    """Return the function that forgets sensitive values, and all but every so-many-th tuple."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for *keys, counts in arrays(batch, [*packing.names, ROWS]):
                own = goal.packing.pack(packing.unpack(keys)[:, : goal.width])
                if share > 1:  # drawn otherwise than the slices are
                    drawn = part_of([*own, np.ones(len(counts), dtype=np.int64)], share) == 0
                    own, counts = [key[drawn] for key in own], counts[drawn]
                yield from goal.send(own, counts)

    return work


def _pointer(packing: Packing, domains: tuple[Domain, ...]) -> Work:
    """Return the function that turns keys into points."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for *keys, counts in arrays(batch, [*packing.names, ROWS]):
                points = features(domains, packing.unpack(keys))
                ends = np.arange(len(points) + 1, dtype=np.int32) * len(domains)
                cells = pa.ListArray.from_arrays(pa.array(ends), pa.array(points.ravel()))
                columns = [cells, pa.array(counts.astype(np.float64))]
                yield pa.RecordBatch.from_arrays(columns, names=["point", "weight"])

    return work
