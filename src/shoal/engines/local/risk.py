"""Risk of a table from a Polars scan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engines.column_facts import dense_codes, row_codes
from shoal.engines.local.source import Source
from shoal.engines.person_key import PERSON, person_hash
from shoal.engines.person_risk import risk_of_persons
from shoal.engines.verification import ROWS as _ROWS
from shoal.measures.risk.individual import HouseholdRisk, households_at_risk
from shoal.measures.risk.population import TOO_LARGE, Population, is_comparable, people_covered
from shoal.measures.risk.question import RiskQuestion
from shoal.measures.risk.report import Classes, RiskReport, risk_report
from shoal.table.domain import Domain

_WEIGHT, _BAD, _PEOPLE = "\x00weight", "\x00bad", "\x00people"


def risk(
    source: Source,
    question: RiskQuestion,
    *,
    population: Source | None = None,
    domains: Sequence[Domain] | None = None,
) -> RiskReport:
    """Measure how easily people are found in a table as it stands.

    Args:
        source: the table.
        question: what is asked.
        population: a table of everybody the records may come from, coded the same way.
        domains: for a release, the columns as the original has them: people of the
            population belong to a class when its labels cover their values.

    Raises:
        InputError: a column is missing, there is no record, or a weight is no number above 0.
        MethodError: a question that cannot be meant; see `RiskQuestion.check`.
    """
    question.check(source, population)
    if question.person:
        return _risk_of_persons(source, question, population, domains)
    grouped = _grouped(source, question)
    sizes = grouped[_ROWS].to_numpy().astype(np.int64)
    if population is None:
        weights = None if question.weights is None else grouped[_WEIGHT].to_numpy()
        known = Population.estimate(question, sizes, weights)
    else:
        known = _matched(grouped, list(question.quasi), population, domains)
    codes = row_codes(grouped, question.quasi)
    classes = Classes(names=question.quasi, codes=codes, sizes=sizes, population=known)
    households = None
    if question.household is not None:
        households = _households(source, grouped, classes.risks, question)
    return risk_report(classes, question, household=households)


def _risk_of_persons(
    source: Source,
    question: RiskQuestion,
    population: Source | None,
    domains: Sequence[Domain] | None,
) -> RiskReport:
    """Measure risk by the persons of each class."""
    quasi = list(question.quasi)
    lazy = source.scan([*quasi, *question.person], coded=quasi)
    lazy = lazy.with_columns(person_hash(question.person, question.missing))
    cells = source.collect(lazy.group_by([*quasi, PERSON]).agg(pl.len().alias(_ROWS)))

    def matched(grouped: pl.DataFrame) -> Population:
        assert population is not None
        return _matched(grouped, quasi, population, domains)

    return risk_of_persons(
        cells, quasi, question, where=source.where,
        matched=None if population is None else matched,
    )  # fmt: skip


def _grouped(source: Source, question: RiskQuestion) -> pl.DataFrame:
    """Return the classes with their records and weights."""
    quasi, weights = list(question.quasi), question.weights
    needed = quasi if weights is None else list(dict.fromkeys([*quasi, weights]))
    lazy = source.scan(needed, coded=quasi)
    counts = [pl.len().alias(_ROWS)]
    if weights is not None:
        counts.append(_weight(lazy, weights).sum().alias(_WEIGHT))
        counts.append(_bad_weight(lazy, weights).sum().alias(_BAD))
    grouped = source.collect(lazy.group_by(quasi).agg(counts))
    bad = 0 if weights is None else int(grouped[_BAD].sum())
    question.check_counts(source.where, grouped.height, bad)
    return grouped


def _weight(lazy: pl.LazyFrame, weights: str) -> pl.Expr:
    column = pl.col(weights)
    if lazy.collect_schema()[weights] in (pl.String, pl.Categorical):
        column = column.cast(pl.String).str.strip_chars()
    return column.cast(pl.Float64, strict=False)


def _bad_weight(lazy: pl.LazyFrame, weights: str) -> pl.Expr:
    value = _weight(lazy, weights)
    return (value.is_null() | ~value.is_finite() | (value <= 0)).fill_null(value=True)


def _matched(
    grouped: pl.DataFrame,
    quasi: list[str],
    population: Source,
    domains: Sequence[Domain] | None,
) -> Population:
    """Return the people of each class, and what the population table says."""
    counted = population.collect(
        population.scan(quasi, coded=quasi).group_by(quasi).agg(pl.len().alias(_PEOPLE))
    )
    # Texts, not dictionary codes: the two tables have dictionaries of their own.
    texts = [pl.col(name).cast(pl.String).str.strip_chars().alias(name) for name in quasi]
    everybody = counted.select(*texts, _PEOPLE).group_by(quasi).agg(pl.col(_PEOPLE).sum())
    labels = grouped.select(*texts)
    if domains is None:
        joined = labels.join(
            everybody, on=quasi, how="left", nulls_equal=True, maintain_order="left"
        )
        people = joined[_PEOPLE].fill_null(0).to_numpy().astype(np.float64)
    elif not is_comparable(everybody.height, grouped.height, len(quasi)):
        return Population(notices=(TOO_LARGE,))
    else:
        names = [domain.name for domain in domains]
        people = people_covered(
            domains,
            [everybody[name].to_list() for name in names],
            everybody[_PEOPLE].to_numpy().astype(np.float64),
            [labels[name].to_list() for name in names],
        )
    sizes = grouped[_ROWS].to_numpy().astype(np.int64)
    return Population.match(sizes, people, int(counted[_PEOPLE].sum()))


def _households(
    source: Source, grouped: pl.DataFrame, risks: NDArray[np.float64], question: RiskQuestion
) -> HouseholdRisk:
    """Return the risk of households: that at least one member is found."""
    quasi, household = question.quasi, str(question.household)
    texts = [pl.col(name).cast(pl.String).alias(name) for name in quasi]
    known = grouped.select(*texts, pl.Series("\x00risk", risks))
    label = pl.col(household).cast(pl.String).alias("\x00household")
    lazy = source.scan(list(dict.fromkeys([*quasi, household])), coded=quasi)
    records = source.collect(lazy.select(*texts, label))
    joined = records.join(known, on=quasi, how="left", nulls_equal=True)
    numbers = dense_codes(joined["\x00household"]).astype(np.int64)
    alone = joined["\x00household"].is_null().to_numpy()
    return households_at_risk(joined["\x00risk"].to_numpy(), numbers, alone)
