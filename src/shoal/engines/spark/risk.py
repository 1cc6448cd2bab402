"""Risk of a table on Spark: one group-by there, the measures on its classes here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import Column
from pyspark.sql import functions as F

from shoal.engines.column_facts import row_codes
from shoal.engines.person_key import PERSON as CELL_PERSON
from shoal.engines.person_risk import risk_of_persons
from shoal.engines.spark.chunks import ROWS
from shoal.engines.spark.coding import broadcast_frame
from shoal.engines.spark.frequencies import cells
from shoal.engines.spark.persons import PERSON, with_person
from shoal.engines.spark.source import SparkSource
from shoal.engines.verification import ROWS as CELL_ROWS
from shoal.measures.risk.individual import HouseholdRisk, household_summary
from shoal.measures.risk.population import Population
from shoal.measures.risk.question import RiskQuestion
from shoal.measures.risk.report import Classes, RiskReport, risk_report

_WEIGHT, _BAD, _PEOPLE = "weight", "bad", "people"


def risk(
    source: SparkSource, question: RiskQuestion, *, population: SparkSource | None = None
) -> RiskReport:
    """Measure how easily people are found; see the local engine's function of this name.

    Raises:
        InputError: a column is missing, there is no record, or a weight is no number above 0.
        MethodError: a question that cannot be meant; see `RiskQuestion.check`.
    """
    question.check(source, population)
    source.check(question.quasi)
    if question.person:
        return _risk_of_persons(source, question, population)
    grouped = _grouped(source, question)
    sizes = grouped[ROWS].to_numpy().astype(np.int64)
    if population is None:
        weights = None if question.weights is None else grouped[_WEIGHT].to_numpy()
        known = Population.estimate(question, sizes, weights)
    else:
        known = _matched(grouped, list(question.quasi), population)
    codes = row_codes(grouped, [f"g{j}" for j in range(len(question.quasi))])
    classes = Classes(names=question.quasi, codes=codes, sizes=sizes, population=known)
    households = None
    if question.household is not None:
        households = _households(source, grouped, classes.risks, question)
    return risk_report(classes, question, household=households)


def _risk_of_persons(
    source: SparkSource, question: RiskQuestion, population: SparkSource | None
) -> RiskReport:
    """Measure risk by the persons of each class; persons come here as 64-bit numbers."""
    quasi = list(question.quasi)
    names = [f"g{j}" for j in range(len(quasi))]
    known = with_person(source, question.person, question.missing)
    number = F.when(F.col(PERSON).isNotNull(), F.xxhash64(PERSON))
    known = replace(known, frame=known.frame.withColumn(PERSON, number))
    found = source.polars(cells(known, quasi, PERSON)).sort([*names, PERSON], nulls_last=False)

    def matched(grouped: pl.DataFrame) -> Population:
        assert population is not None
        return _matched(grouped.rename({CELL_ROWS: ROWS}), quasi, population)

    return risk_of_persons(
        found.rename({PERSON: CELL_PERSON, ROWS: CELL_ROWS}), names, question,
        where=source.where, matched=None if population is None else matched,
    )  # fmt: skip


def _grouped(source: SparkSource, question: RiskQuestion) -> pl.DataFrame:
    """Return the classes with their records and weights, in the order of their values."""
    quasi, weights = question.quasi, question.weights
    names = [f"g{j}" for j in range(len(quasi))]
    asked = [F.count(F.lit(1)).alias(ROWS)]
    plain: list[Column] = [source.value(n).alias(f"g{j}") for j, n in enumerate(quasi)]
    if weights is not None:
        number = F.trim(F.col(source.name(weights)).cast("string")).try_cast("double")
        bad = number.isNull() | F.isnan(number) | (number <= 0) | (number == float("inf"))
        plain += [number.alias(_WEIGHT), bad.cast("int").alias(_BAD)]
        asked += [F.sum(_WEIGHT).alias(_WEIGHT), F.sum(_BAD).alias(_BAD)]
    found = source.polars(source.frame.select(*plain).groupBy(*names).agg(*asked))
    wrong = 0 if weights is None else int(found[_BAD].sum())
    question.check_counts(source.where, found.height, wrong)
    return found.sort(names, nulls_last=False)


def _matched(grouped: pl.DataFrame, quasi: list[str], population: SparkSource) -> Population:
    """Return the people of each class, and what the population table says."""
    names = [f"g{j}" for j in range(len(quasi))]
    counted = population.polars(cells(population, quasi))
    texts = [pl.col(name).cast(pl.String).str.strip_chars() for name in names]
    everybody = counted.select(*texts, ROWS).group_by(names).agg(pl.col(ROWS).sum().alias(_PEOPLE))
    joined = grouped.select(*texts).join(
        everybody, on=names, how="left", nulls_equal=True, maintain_order="left"
    )
    people = joined[_PEOPLE].fill_null(0).to_numpy().astype(np.float64)
    sizes = grouped[ROWS].to_numpy().astype(np.int64)
    return Population.match(sizes, people, int(counted[ROWS].sum()))


def _households(
    source: SparkSource,
    grouped: pl.DataFrame,
    risks: NDArray[np.float64],
    question: RiskQuestion,
) -> HouseholdRisk:
    """Return the risk of households: that at least one member is found."""
    names = [f"g{j}" for j in range(len(question.quasi))]
    known = grouped.select(*names, pl.Series("risk", risks))
    plain = [source.value(name).alias(f"v{j}") for j, name in enumerate(question.quasi)]
    label = F.col(source.name(str(question.household))).cast("string").alias("household")
    on = F.lit(True)
    for j, name in enumerate(names):
        on = on & F.col(f"v{j}").eqNullSafe(F.col(name))
    joined = source.frame.select(*plain, label).join(broadcast_frame(source, known), on, "left")
    escaped = F.exp(F.sum(F.log1p(-F.least(F.col("risk"), F.lit(1 - 1e-16)))))
    certain = F.max(F.col("risk") >= 1)
    found = F.when(certain, F.lit(1.0)).otherwise(1 - escaped)
    together = joined.where(F.col("household").isNotNull()).groupBy("household")
    # A missing household is a household of one, not one big household of strangers.
    alone = joined.where(F.col("household").isNull()).select(
        F.col("risk").alias("found"), F.lit(1).cast("long").alias("members")
    )
    households = together.agg(found.alias("found"), F.count(F.lit(1)).alias("members"))
    everything = households.select("found", "members").unionByName(alone).agg(
        F.count(F.lit(1)).alias("households"), F.max("found").alias("maximum"),
        F.sum(F.col("found") * F.col("members")).alias("expected"),
        F.sum("members").alias("records"),
    )  # fmt: skip
    row = source.polars(everything).row(0, named=True)
    return household_summary(
        int(row["households"]),
        float(row["maximum"]),
        float(row["expected"]),
        records=int(row["records"]),
    )
