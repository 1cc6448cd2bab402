"""Dividing tuples on Spark: MLlib's k-means over the distinct ones, or a draw for each record.

Which partition a record belongs to follows from the seed and from its own codes, so that neither
executors nor retries decide anything, and a table that fits the driver is divided alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from shoal.engines.spark.chunks import (
    ROWS,
    ArrowMap,
    Codes,
    Ints,
    Shuffle,
    by_partition,
    decode_chunks,
    partition_of,
    send_chunks,
)
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.source import guarded
from shoal.methods.coarse import Coarse
from shoal.methods.partition import Partition, deal, features, nearest
from shoal.table.domain import Domain
from shoal.table.frequency import FrequencyTable

SAMPLE = 1_000_000  # distinct tuples that the centres are found on
_SLICE = 100_000  # points; how many slices there are must not depend on the executors
_ROUNDS = 25

Shares = Iterator[tuple[int, Ints, Ints]]  # partition, rows, their records


@dataclass(frozen=True)
class NearestCentre:
    """Gives a tuple to the partition whose centre is nearest; of equals the first."""

    domains: tuple[Domain, ...]
    centres: NDArray[np.float64]

    def __call__(self, codes: Codes, counts: Ints) -> Shares:
        """Yield the rows of each partition and how many of their records it gets."""
        points = features(self.domains, codes[:, : len(self.domains)])
        for part, rows in by_partition(nearest(points, self.centres)):
            yield part, rows, counts[rows]


@dataclass(frozen=True)
class RandomDraw:
    """Draws a partition for every record."""

    partitions: int
    seed: int

    def __call__(self, codes: Codes, counts: Ints) -> Shares:
        """Yield the rows of each partition and how many of their records it gets."""
        dealt = deal(codes, counts, self.partitions, seed=self.seed)
        for part in range(self.partitions):
            rows = np.flatnonzero(dealt[:, part])
            if len(rows):
                yield part, rows, dealt[rows, part]


Divider = NearestCentre | RandomDraw


def centres_of(
    chunks: DataFrame, packing: Packing, domains: Sequence[Domain], *, tuples: int, coarse: Coarse
) -> NDArray[np.float64]:
    """Return the centres of MLlib's k-means, seeded by k-means‖ ([lim2018]'s CP).

    Args:
        chunks: keys and their records.
        packing: how columns became keys, the quasi-identifiers first.
        domains: of the quasi-identifiers.
        tuples: how many distinct ones there are. Of very many, a sample is looked at, chosen
            by their own codes.
        coarse: how many partitions, and the seed.
    """
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.functions import array_to_vector

    width = len(domains)
    share = max(-(-tuples // SAMPLE), 1)
    shuffle = Shuffle(Packing(packing.sizes[:width]), width, tuples // share // _SLICE + 1)
    thin = chunks.select(*packing.names, ROWS).mapInArrow(
        _thinner(packing, shuffle, share), shuffle.schema
    )
    made = shuffle.gather(thin).select(*shuffle.packing.names, ROWS)
    points = made.mapInArrow(
        _points(shuffle.packing, tuple(domains)), "point array<double>, weight double"
    )
    asked = points.select(array_to_vector(F.col("point")).alias("features"), "weight")
    kmeans = KMeans(
        k=max(coarse.partitions, 2), seed=coarse.seed, maxIter=_ROUNDS, initMode="k-means||",
        weightCol="weight",
    )  # fmt: skip
    with guarded("k-means"):
        found = kmeans.fit(asked).clusterCenters()
    # Sums of floats differ in their last bits with the order of tasks; rounded, they do not.
    return np.unique(np.round(np.array(found), 9), axis=0)


def split_by_kmeans(spark: SparkSession, table: FrequencyTable, coarse: Coarse) -> list[Partition]:
    """Divide a table of the driver as one that stays on Spark would be divided."""
    starts = np.flatnonzero(np.diff(table.tuple_ids, prepend=-1))
    codes = table.codes[starts]
    packing = Packing(tuple(max(len(domain), 1) for domain in table.domains))
    keys = packing.named(packing.pack(codes))
    chunks = send_chunks(spark, pl.DataFrame({**keys, ROWS: table.tuple_sizes}))
    centres = centres_of(chunks, packing, table.domains, tuples=len(starts), coarse=coarse)
    centre = nearest(features(table.domains, codes), centres)[table.tuple_ids]
    return [Partition(rows, table.counts[rows]) for _, rows in by_partition(centre)]


def _thinner(packing: Packing, shuffle: Shuffle, share: int) -> ArrowMap:
    """Return the function that forgets sensitive values, and all but every so-many-th tuple."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for codes, counts in decode_chunks(packing, batches):
            keys = shuffle.packing.pack(codes[:, : shuffle.width])
            if share > 1:  # drawn otherwise than the slices are
                drawn = partition_of([*keys, np.ones(len(counts), dtype=np.int64)], share) == 0
                keys, counts = [key[drawn] for key in keys], counts[drawn]
            yield from shuffle.send(keys, counts)

    return work


def _points(packing: Packing, domains: tuple[Domain, ...]) -> ArrowMap:
    """Return the function that turns keys into points."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for codes, counts in decode_chunks(packing, batches):
            points = features(domains, codes)
            ends = np.arange(len(points) + 1, dtype=np.int32) * len(domains)
            cells = pa.ListArray.from_arrays(pa.array(ends), pa.array(points.ravel()))
            columns = [cells, pa.array(counts.astype(np.float64))]
            yield pa.RecordBatch.from_arrays(columns, names=["point", "weight"])

    return work
