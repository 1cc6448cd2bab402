"""Individual risk: how likely one record is re-identified, given its class and the population.

`fk` is the number of records in a class, `Fk` the (estimated) number of people in the
population who share its values: the sum of the sampling weights of the class. Benedetti
and Franconi (1998) take Fk given fk as negative binomial with p = fk / Fk; the risk is
the expected value of 1 / Fk.
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import KernelInputError

_TERMS = 400


class HouseholdRisk(TypedDict):
    """How likely somebody of a household is re-identified."""

    households: int
    maximum: float
    average: float
    expected_reidentifications: float


def individual_risk(
    sample: NDArray[np.int64], population: NDArray[np.float64], *, exact: bool = False
) -> NDArray[np.float64]:
    """Return the risk of a record in each class.

    Five cases (sdcMicro's approximation, its default): the population is not larger than
    the sample: 1 / fk; fk = 1; fk = 2; fk > 2: p / (fk - (1 - p)); an empty class: 0.

    Args:
        sample: fk of each class.
        population: Fk of each class; below fk it counts as fk.
        exact: compute the expected value itself for fk > 2 as well.

    Guarantee:
        0 < risk <= 1 / fk for every class that is not empty.

    Example:
        >>> individual_risk(np.array([1, 2]), np.array([215.0, 110.0])).round(8).tolist()
        [0.02509644, 0.01714426]
    """
    f = np.asarray(sample, dtype=np.float64)
    if f.shape != np.shape(population) or (f < 0).any():
        raise KernelInputError(problem="sample and population sizes do not fit each other")
    if not np.isfinite(population).all():
        raise KernelInputError(problem="a population size is not a finite number")
    big = np.maximum(np.asarray(population, dtype=np.float64), f)
    risk = np.zeros(len(f))
    np.divide(1.0, f, out=risk, where=f > 0)
    open_ = (f > 0) & (big > f)
    p = np.divide(f, big, out=np.ones(len(f)), where=open_)
    odds = np.divide(p, 1 - p, out=np.zeros(len(f)), where=open_)
    one = odds * -np.log(p)
    two = odds * (1 - one)
    many = p / np.maximum(f - (1 - p), 1e-300)
    # With p close to 1 the closed forms lose their digits: 1 - p is all rounding.
    series = exact_risk(f, p) if exact else many
    close = open_ & (1 - p < 1e-5)
    risk = np.where(open_ & (f == 1), one, risk)
    risk = np.where(open_ & (f == 2), two, risk)
    risk = np.where(open_ & (f > 2), series, risk)
    if close.any():
        risk[close] = exact_risk(f[close], p[close])
    ceiling = np.divide(1.0, f, out=np.zeros(len(f)), where=f > 0)
    return np.minimum(risk, ceiling)


def exact_risk(f: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p/f times the hypergeometric series 2F1(1, 1; f + 1; 1 - p), the exact expected risk.

    For few records and a small p the series is slow; there the recursion
    r(f + 1) = p / (1 - p) (1 / f - r(f)), which loses no digits for p < 1/2, is used.
    """
    q = 1 - p
    total, term = np.ones(len(f)), np.ones(len(f))
    for n in range(1, _TERMS):
        term = term * (n * q / (f + n))
        total = total + term
    risk = np.divide(p * total, f, out=np.zeros(len(f)), where=f > 0)
    for size in np.unique(f[(f > 0) & (f <= 30) & (p < 0.5)]):
        rows = (f == size) & (p < 0.5)
        odds = p[rows] / q[rows]
        value = odds * -np.log(p[rows])
        for n in range(1, int(size)):
            value = odds * (1 / n - value)
        risk[rows] = value
    return risk


def household_risk(risk: NDArray[np.float64], household: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return for each household the risk that at least one of its members is re-identified.

    Args:
        risk: the individual risk of each record.
        household: 0, 1, …: the household of each record.

    Example:
        >>> household_risk(np.array([0.5, 0.5, 0.1]), np.array([0, 0, 1])).round(6).tolist()
        [0.75, 0.1]
    """
    if risk.shape != household.shape or (len(household) and household.min() < 0):
        raise KernelInputError(problem="risks and households do not fit each other")
    with np.errstate(divide="ignore"):  # log 0: a member with risk 1 decides for all
        safe = np.log1p(-np.minimum(risk, 1.0))
    total = np.bincount(household, weights=safe) if len(household) else np.zeros(0)
    found: NDArray[np.float64] = -np.expm1(total)
    return found


def households_at_risk(
    risk: NDArray[np.float64], household: NDArray[np.int64], alone: NDArray[np.bool_]
) -> HouseholdRisk:
    """Return the risk of all households.

    Args:
        risk: the individual risk of each record.
        household: a number for the household of each record.
        alone: records whose household is missing.
    """
    # A missing household is a household of one, not one big household of strangers.
    own = int(household.max(initial=0)) + 1 + np.arange(int(alone.sum()))
    numbers = household.copy()
    numbers[alone] = own
    _, numbers = np.unique(numbers, return_inverse=True)
    found = household_risk(risk, numbers)
    expected = float(found[numbers].sum())
    return household_summary(len(found), float(found.max()), expected, records=len(risk))


def household_summary(
    households: int, maximum: float, expected: float, *, records: int
) -> HouseholdRisk:
    """Put together what was counted; expected: over all records, the risk of their households."""
    return HouseholdRisk(
        households=households,
        maximum=maximum,
        average=expected / records,
        expected_reidentifications=expected,
    )
