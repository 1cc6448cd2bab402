"""Risk of a table from a Polars scan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError, MethodError
from shoal.engines.local.infer import dense_codes
from shoal.engines.local.source import Source
from shoal.measures.attacks.linkage import MOST_WORK
from shoal.measures.attacks.match import label_distances
from shoal.measures.risk.classes import LIMITS, below
from shoal.measures.risk.individual import household_risk, individual_risk
from shoal.measures.risk.report import Classes, RiskReport, risk_report
from shoal.methods.domain import Domain
from shoal.schema.schema import Schema

_CELLS = 4_000_000  # people × classes that are compared at a time
_ROWS, _WEIGHT, _PEOPLE = "\x00rows", "\x00weight", "\x00people"


def risk(
    source: Source,
    schema: Schema,
    *,
    population: Source | None = None,
    sampling_fraction: float | None = None,
    weights: str | None = None,
    household: str | None = None,
    max_size: int | None = None,
    special: bool = True,
    domains: Sequence[Domain] | None = None,
) -> RiskReport:
    """Measure how easily people are found in a table as it stands.

    Args:
        source: the table.
        schema: names the quasi-identifiers.
        population: a table of everybody the records may come from, coded the same way.
        sampling_fraction: or: the share of the population that is in the table.
        weights: or: the column with the sampling weight of each record.
        household: the column that says who lives together.
        max_size: largest set of columns that the search for special uniques looks at.
        special: False leaves special uniques out.
        domains: for a release, the columns as the original has them: people of the
            population belong to a class when its labels cover their values.

    Raises:
        InputError: a column is missing, there is no record, or a weight is no number above 0.
        MethodError: more than one of population, sampling_fraction and weights.
    """
    quasi = list(schema.quasi)
    check_question(source, quasi, population, sampling_fraction, weights, household)
    extra = [weights] if weights is not None else []
    lazy = source.scan([*quasi, *(w for w in extra if w not in quasi)], coded=quasi)
    counts = [pl.len().alias(_ROWS)]
    if weights is not None:
        counts.append(_weight(lazy, weights).sum().alias(_WEIGHT))
        counts.append(_bad_weight(lazy, weights).sum().alias("\x00bad"))
    grouped = source.collect(lazy.group_by(quasi).agg(counts))
    if not grouped.height:
        raise InputError(where=source.where, problem="the table has a header but no record")
    if weights is not None and int(grouped["\x00bad"].sum()):
        bad = int(grouped["\x00bad"].sum())
        raise InputError(
            where=f"column {weights!r}", problem=f"{bad} weights are not numbers above 0"
        )
    sizes = grouped[_ROWS].to_numpy().astype(np.int64)
    people, facts, notices = _people(
        grouped, quasi, population, sampling_fraction, weights, domains
    )
    codes = np.stack([dense_codes(grouped[name]) for name in quasi], axis=1)
    classes = Classes(
        names=tuple(quasi),
        codes=np.ascontiguousarray(codes, dtype=np.int32),
        sizes=sizes,
        population=people,
        weighted=population is None and people is not None,
    )
    home = None
    if household is not None:
        risks = _class_risks(classes)
        home = _household(source, grouped, risks, quasi=quasi, household=household)
    return risk_report(
        classes, household=home, population=facts, max_size=max_size, special=special,
        notices=notices,
    )  # fmt: skip


def check_question(
    source: Source,
    quasi: list[str],
    population: Source | None,
    fraction: float | None,
    weights: str | None,
    household: str | None,
) -> None:
    """Refuse a question that cannot be answered, before any work is done."""
    if not quasi:
        raise InputError(where="schema", problem="no quasi-identifier; name them (--qi a,b)")
    for table, names in ((source, [*quasi, weights, household]), (population, quasi)):
        if table is None:
            continue
        absent = [name for name in names if name is not None and name not in table.columns]
        if absent:
            named = ", ".join(repr(name) for name in absent)
            raise InputError(where=table.where, problem=f"has no column {named}")
    if [population, fraction, weights].count(None) < 2:
        raise MethodError(
            problem="give one of a population table, a sampling fraction and a weight column"
        )
    if fraction is not None and not 0 < fraction <= 1:
        raise MethodError(problem="the sampling fraction must lie above 0 and at most at 1")


def _weight(lazy: pl.LazyFrame, weights: str) -> pl.Expr:
    column = pl.col(weights)
    if lazy.collect_schema()[weights] in (pl.String, pl.Categorical):
        column = column.cast(pl.String).str.strip_chars()
    return column.cast(pl.Float64, strict=False)


def _bad_weight(lazy: pl.LazyFrame, weights: str) -> pl.Expr:
    value = _weight(lazy, weights)
    return (value.is_null() | ~value.is_finite() | (value <= 0)).fill_null(value=True)


def _people(
    grouped: pl.DataFrame,
    quasi: list[str],
    population: Source | None,
    fraction: float | None,
    weights: str | None,
    domains: Sequence[Domain] | None = None,
) -> tuple[NDArray[np.float64] | None, dict[str, Any] | None, list[str]]:
    """Return Fk of each class, what a population table says, and notices."""
    sizes = grouped[_ROWS].to_numpy().astype(np.float64)
    if weights is not None:
        return grouped[_WEIGHT].to_numpy().astype(np.float64), None, []
    if fraction is not None:
        return sizes / fraction, None, []
    if population is None:
        return None, None, []
    counted = population.collect(
        population.scan(quasi, coded=quasi).group_by(quasi).agg(pl.len().alias(_PEOPLE))
    )
    # Texts, not dictionary codes: the two tables have dictionaries of their own.
    texts = [pl.col(name).cast(pl.String).str.strip_chars().alias(name) for name in quasi]
    everybody = counted.select(*texts, _PEOPLE).group_by(quasi).agg(pl.col(_PEOPLE).sum())
    if domains is None:
        joined = grouped.select(*texts).join(
            everybody, on=quasi, how="left", nulls_equal=True, maintain_order="left"
        )
        people = joined[_PEOPLE].fill_null(0).to_numpy().astype(np.float64)
    else:
        if everybody.height * grouped.height * len(quasi) > MOST_WORK:
            much = "the population is too large to be compared with every class: left out"
            return None, None, [much]
        people = _covered(grouped.select(*texts), everybody, domains)
    short = people < sizes
    matched = np.maximum(people, sizes).astype(np.int64)
    facts = {
        "people": int(counted[_PEOPLE].sum()),
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


def _covered(
    classes: pl.DataFrame, everybody: pl.DataFrame, domains: Sequence[Domain]
) -> NDArray[np.float64]:
    """Return, for each released class, the people whose values its labels cover."""
    fits: list[NDArray[np.bool_]] = []
    labels: list[NDArray[np.int64]] = []
    values: list[NDArray[np.int64]] = []
    for domain in domains:
        texts = [column.unique(maintain_order=True) for column in
                 (everybody[domain.name], classes[domain.name])]  # fmt: skip
        away = label_distances(domain, texts[0].to_list(), texts[1].to_list())
        fits.append(away == 0)
        for column, known, places in ((everybody, texts[0], values), (classes, texts[1], labels)):
            number = {text: i for i, text in enumerate(known.to_list())}
            places.append(np.array([number[text] for text in column[domain.name].to_list()]))
    counts = everybody[_PEOPLE].to_numpy().astype(np.float64)
    people = np.zeros(classes.height)
    step = max(_CELLS // max(classes.height, 1), 1)
    for at in range(0, len(counts), step):
        rows = slice(at, at + step)
        inside = np.ones((len(counts[rows]), classes.height), dtype=bool)
        for fit, value, label in zip(fits, values, labels, strict=True):
            inside &= fit[value[rows]][:, label]
        people += counts[rows] @ inside
    return people


def _class_risks(classes: Classes) -> NDArray[np.float64]:
    sizes = classes.sizes
    if classes.population is None:
        return 1 / sizes
    if classes.weighted:
        return individual_risk(sizes, classes.population)
    return 1 / np.maximum(classes.population, sizes)


def _household(
    source: Source,
    grouped: pl.DataFrame,
    risks: NDArray[np.float64],
    *,
    quasi: Sequence[str],
    household: str,
) -> dict[str, Any]:
    """Return the risk of households: that at least one member is found."""
    texts = [pl.col(name).cast(pl.String).alias(name) for name in quasi]
    known = grouped.select(*texts, pl.Series("\x00risk", risks))
    home = pl.col(household).cast(pl.String).alias("\x00home")
    lazy = source.scan(list(dict.fromkeys([*quasi, household])), coded=quasi)
    records = source.collect(lazy.select(*texts, home))
    joined = records.join(known, on=list(quasi), how="left", nulls_equal=True)
    alone = joined["\x00home"].is_null()
    codes = dense_codes(joined["\x00home"]).astype(np.int64)
    # A missing household is a household of one, not one big household of strangers.
    codes[alone.to_numpy()] = int(codes.max(initial=0)) + 1 + np.arange(int(alone.sum()))
    _, codes = np.unique(codes, return_inverse=True)
    found = household_risk(joined["\x00risk"].to_numpy(), codes)
    per_record = found[codes]
    return {
        "households": len(found),
        "maximum": float(found.max()),
        "average": float(per_record.mean()),
        "expected_reidentifications": float(per_record.sum()),
    }
