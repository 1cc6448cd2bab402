"""Risk of a table on Spark: one group-by there, the measures on its classes here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import Column
from pyspark.sql import functions as F

from shoal.core.errors import InputError
from shoal.engines.local.infer import dense_codes
from shoal.engines.local.risk import _class_risks, check_question
from shoal.engines.spark.coding import small
from shoal.engines.spark.frequencies import cells
from shoal.engines.spark.piles import ROWS
from shoal.engines.spark.source import SparkSource
from shoal.measures.risk.classes import LIMITS, below
from shoal.measures.risk.report import Classes, RiskReport, risk_report
from shoal.schema.schema import Schema

_WEIGHT, _BAD, _PEOPLE = "weight", "bad", "people"


def risk(
    source: SparkSource,
    schema: Schema,
    *,
    population: SparkSource | None = None,
    sampling_fraction: float | None = None,
    weights: str | None = None,
    household: str | None = None,
    max_size: int | None = None,
) -> RiskReport:
    """Measure how easily people are found; see the local engine's function of this name.

    Raises:
        InputError: a column is missing, there is no record, or a weight is no number above 0.
        MethodError: more than one of population, sampling_fraction and weights.
    """
    quasi = list(schema.quasi)
    check_question(source, quasi, population, sampling_fraction, weights, household)  # type: ignore[arg-type]
    source.check(quasi)
    grouped = _grouped(source, quasi, weights)
    sizes = grouped[ROWS].to_numpy().astype(np.int64)
    people: NDArray[np.float64] | None = None
    facts: dict[str, Any] | None = None
    notices: list[str] = []
    if weights is not None:
        people = grouped[_WEIGHT].to_numpy().astype(np.float64)
    elif sampling_fraction is not None:
        people = sizes.astype(np.float64) / sampling_fraction
    elif population is not None:
        people, facts, notices = _matched(grouped, quasi, population)
    codes = np.stack([dense_codes(grouped[f"g{j}"]) for j in range(len(quasi))], axis=1)
    classes = Classes(
        names=tuple(quasi),
        codes=np.ascontiguousarray(codes, dtype=np.int32),
        sizes=sizes,
        population=people,
        weighted=population is None and people is not None,
    )
    home = None
    if household is not None:
        home = _household(source, grouped, _class_risks(classes), quasi=quasi, household=household)
    return risk_report(
        classes, household=home, population=facts, max_size=max_size, notices=notices
    )


def _grouped(source: SparkSource, quasi: Sequence[str], weights: str | None) -> pl.DataFrame:
    """Return the classes with their records and weights, in the order of their values."""
    names = [f"g{j}" for j in range(len(quasi))]
    asked = [F.count(F.lit(1)).alias(ROWS)]
    plain: list[Column] = [source.value(n).alias(f"g{j}") for j, n in enumerate(quasi)]
    if weights is not None:
        number = F.trim(F.col(source.name(weights)).cast("string")).try_cast("double")
        bad = number.isNull() | F.isnan(number) | (number <= 0) | (number == float("inf"))
        plain += [number.alias(_WEIGHT), bad.cast("int").alias(_BAD)]
        asked += [F.sum(_WEIGHT).alias(_WEIGHT), F.sum(_BAD).alias(_BAD)]
    found = source.polars(source.frame.select(*plain).groupBy(*names).agg(*asked))
    if not found.height:
        raise InputError(where=source.where, problem="the table has a header but no record")
    wrong = int(found[_BAD].sum()) if weights is not None else 0
    if wrong:
        raise InputError(
            where=f"column {weights!r}", problem=f"{wrong} weights are not numbers above 0"
        )
    return found.sort(names, nulls_last=False)


def _matched(
    grouped: pl.DataFrame, quasi: Sequence[str], population: SparkSource
) -> tuple[NDArray[np.float64], dict[str, Any], list[str]]:
    """Return the people of each class, and what the population table says."""
    names = [f"g{j}" for j in range(len(quasi))]
    counted = population.polars(cells(population, list(quasi)))
    texts = [pl.col(name).cast(pl.String).str.strip_chars() for name in names]
    everybody = counted.select(*texts, ROWS).group_by(names).agg(pl.col(ROWS).sum().alias(_PEOPLE))
    joined = grouped.select(*texts).join(
        everybody, on=names, how="left", nulls_equal=True, maintain_order="left"
    )
    people = joined[_PEOPLE].fill_null(0).to_numpy().astype(np.float64)
    sizes = grouped[ROWS].to_numpy().astype(np.float64)
    short = people < sizes
    matched = np.maximum(people, sizes).astype(np.int64)
    facts = {
        "people": int(counted[ROWS].sum()),
        "smallest_class": int(matched.min()),
        "below": {str(limit): int(sizes[matched < limit].sum()) for limit in LIMITS},
        "population_unique_records": below(sizes[matched == 1].astype(np.int64), (2,))["2"],
        "classes_larger_than_in_population": int(short.sum()),
    }
    notices = []
    if short.any():
        notices.append(
            f"{int(short.sum())} classes have more records than people in the population table; "
            "they count as fully known"
        )
    return people, facts, notices


def _household(
    source: SparkSource,
    grouped: pl.DataFrame,
    risks: NDArray[np.float64],
    *,
    quasi: Sequence[str],
    household: str,
) -> dict[str, Any]:
    """Return the risk of households: that at least one member is found."""
    names = [f"g{j}" for j in range(len(quasi))]
    known = grouped.select(*names, pl.Series("risk", risks))
    plain = [source.value(name).alias(f"v{j}") for j, name in enumerate(quasi)]
    home = F.col(source.name(household)).cast("string").alias("home")
    on = F.lit(True)
    for j, name in enumerate(names):
        on = on & F.col(f"v{j}").eqNullSafe(F.col(name))
    joined = source.frame.select(*plain, home).join(small(source, known), on, "left")
    escaped = F.exp(F.sum(F.log1p(-F.least(F.col("risk"), F.lit(1 - 1e-16)))))
    certain = F.max(F.col("risk") >= 1)
    found = F.when(certain, F.lit(1.0)).otherwise(1 - escaped)
    together = joined.where(F.col("home").isNotNull()).groupBy("home")
    # A missing household is a household of one, not one big household of strangers.
    alone = joined.where(F.col("home").isNull()).select(
        F.col("risk").alias("found"), F.lit(1).cast("long").alias("members")
    )
    homes = together.agg(found.alias("found"), F.count(F.lit(1)).alias("members"))
    everything = homes.select("found", "members").unionByName(alone).agg(
        F.count(F.lit(1)).alias("households"), F.max("found").alias("maximum"),
        F.sum(F.col("found") * F.col("members")).alias("expected"),
        F.sum("members").alias("records"),
    )  # fmt: skip
    row = source.polars(everything).row(0, named=True)
    return {
        "households": int(row["households"]),
        "maximum": float(row["maximum"]),
        "average": float(row["expected"]) / int(row["records"]),
        "expected_reidentifications": float(row["expected"]),
    }
