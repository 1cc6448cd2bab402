"""The random stays behind the hospital sample, drawn chunk by chunk.

Every column is drawn from a table of cumulative probabilities with one uniform number a
row, so a chunk is a handful of array operations.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.samples.catalogue import CALENDARS, DEPARTMENTS, DIAGNOSES, INSURANCES, SEXES
from shoal.samples.names import family_names, given_names
from shoal.samples.writer import chunk_sizes

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

FIRST_DAY = dt.date(2022, 1, 1)
DAYS = 1096  # three years, one of them a leap year
AGES = 109
ADULT = 16
BANDS = np.array([18, 40, 65])  # ages at which the next band begins
YEAR = 365.2425

MISSING_ZIP = 0.02
MISSING_BIRTH_DATE = 0.01
THIRD_SEX = 0.0005
OUTLIERS = 0.01

# Ten regions of ten districts of nine zip areas. Big regions are young and wealthy.
REGIONS, DISTRICTS, AREAS = 10, 10, 9
REGION_RANK = (4, 0, 7, 2, 9, 5, 1, 8, 3, 6)  # by size, so that neighbouring numbers differ

# Rows: age bands; columns: INSURANCES in their order.
INSURANCE_BY_BAND = (
    (0.05, 0.80, 0.04, 0.05, 0.04, 0.010, 0.010),
    (0.78, 0.06, 0.04, 0.05, 0.03, 0.020, 0.020),
    (0.80, 0.04, 0.05, 0.06, 0.04, 0.008, 0.002),
    (0.83, 0.03, 0.04, 0.05, 0.045, 0.003, 0.002),
)
PRIVATE = slice(2, 5)

DEPARTMENT = {name: code for code, name in enumerate(DEPARTMENTS)}


def frames(records: int, seed: int) -> Iterator[pl.DataFrame]:
    """Yield the register in chunks; each has a random stream of its own."""
    tables = _tables()
    start = 0
    for chunk, rows in enumerate(chunk_sizes(records)):
        sequence = np.random.SeedSequence(seed, spawn_key=(chunk,))
        random = np.random.Generator(np.random.PCG64DXSM(sequence))
        yield _chunk(tables, random, start=start, rows=rows, seed=seed)
        start += rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Everything that is drawn from: cumulative probabilities by row, and the labels."""

    patients: Floats  # one row over diagnosis × sex × age
    admissions: Floats  # a row a calendar, over the days
    places: Floats  # a row an age band, over the zip areas
    insurances: Floats  # a row a region × age band
    calendar: Codes  # by diagnosis, as are the next four
    department: Codes
    newborn: NDArray[np.bool_]
    stay: Floats
    cost: Floats
    zips: pl.Series  # the last entry is a missing zip


@cache
def _tables() -> Tables:
    return Tables(
        patients=cumulative(_patient_weights().reshape(1, -1)),
        admissions=cumulative(np.array([_admission_weights(name) for name in CALENDARS])),
        places=cumulative(_place_weights()),
        insurances=cumulative(_insurance_weights()),
        calendar=np.array([CALENDARS.index(d.calendar) for d in DIAGNOSES]),
        department=np.array([DEPARTMENT[d.department] for d in DIAGNOSES]),
        newborn=np.array([d.age == 0 for d in DIAGNOSES]),
        stay=np.array([d.stay for d in DIAGNOSES], dtype=np.float64),
        cost=np.array([d.cost for d in DIAGNOSES], dtype=np.float64),
        zips=pl.Series([*zip_areas(), None]),
    )


def cumulative(weights: Floats) -> Floats:
    """Return the running sums of each row, scaled to end in exactly 1.

    Example:
        >>> cumulative(np.array([[1.0, 3.0, 0.0]])).tolist()
        [[0.25, 1.0, 1.0]]
    """
    sums = np.cumsum(weights, axis=1)
    scaled: Floats = sums / sums[:, -1:]
    return scaled


def draw(table: Floats, row: Codes | int, uniform: Floats) -> Codes:
    """Return a column for each uniform number, drawn from its row of a cumulative table.

    Example:
        >>> table = np.array([[0.5, 1.0], [0.1, 1.0]])
        >>> draw(table, np.array([0, 1]), np.array([0.2, 0.2])).tolist()
        [0, 1]
    """
    # Row r is moved to r … r + 1: one sorted array then serves all rows at once.
    rows, width = table.shape
    shelf = (table + np.arange(rows)[:, None]).ravel()
    found = np.searchsorted(shelf, uniform + row, side="right") - np.multiply(row, width)
    column: Codes = np.minimum(found, width - 1)  # uniform + row may round up to row + 1
    return column


def zip_areas() -> list[str]:
    """Return the zips, region by region and district by district.

    Example:
        >>> len(zip_areas()), zip_areas()[:2]
        (900, ['00017', '00128'])
    """
    return [
        f"{region}{district}{(17 + 111 * area + 37 * district) % 1000:03}"
        for region in range(REGIONS)
        for district in range(DISTRICTS)
        for area in range(AREAS)
    ]


def _patient_weights() -> Floats:
    """Diagnosis × sex × age: how often the three meet in a hospital."""
    age = np.arange(AGES)
    # A Gompertz tail: a bell curve alone would put too many people over 100 in the beds.
    alive = np.exp(-1.6e-7 * np.expm1(0.16 * age))
    child = np.where(age < ADULT, np.exp(-age / 5), 0.0)
    weights = np.zeros((len(DIAGNOSES), len(SEXES), AGES))
    for code, d in enumerate(DIAGNOSES):
        if d.age == 0:
            ages = (age == 0).astype(np.float64)
        else:
            adult = (
                np.where(age >= ADULT, np.exp(-(((age - d.age) / d.spread) ** 2) / 2), 0) * alive
            )
            ages = d.children * child / child.sum() + (1 - d.children) * adult / adult.sum()
        third = THIRD_SEX if 0 < d.female < 1 else 0.0
        sexes = np.array([d.female * (1 - third), (1 - d.female) * (1 - third), third])
        weights[code] = d.weight * sexes[:, None] * ages[None, :]
    return weights


def _admission_weights(calendar: str) -> Floats:
    days = [FIRST_DAY + dt.timedelta(days=day) for day in range(DAYS)]
    week = {
        "planned": (1.5, 1.4, 1.3, 1.2, 0.8, 0.15, 0.35),  # Monday first; Sunday is the eve of one
        "emergency": (1.12, 1.04, 1.02, 1.01, 1.05, 0.9, 0.86),
        "winter": (1.14, 1.05, 1.02, 1.01, 1.04, 0.88, 0.86),
    }[calendar]
    swing = {"planned": 0.04, "emergency": 0.03, "winter": 0.45}[calendar]
    year = np.array([day.timetuple().tm_yday for day in days])
    season = 1 + swing * np.cos(2 * np.pi * (year - 25) / YEAR)
    weekday = np.array([week[day.weekday()] for day in days])
    holidays = (year >= 357) | (year <= 2)
    quiet = 0.3 if calendar == "planned" else 0.85
    weights: Floats = season * weekday * np.where(holidays, quiet, 1.0)
    return weights


def _youth() -> Floats:
    """How young and wealthy a region is, from 1 (the biggest) to −1 (the smallest)."""
    youth: Floats = 1 - 2 * np.array(REGION_RANK) / (REGIONS - 1)
    return youth


def _place_weights() -> Floats:
    region = (1.0 + np.array(REGION_RANK)) ** -0.6
    district = np.arange(1.0, DISTRICTS + 1) ** -0.7
    area = np.arange(1.0, AREAS + 1) ** -0.8
    people = region[:, None, None] * district[None, :, None] * area[None, None, :]
    pull = np.array([0.15, 0.35, 0.0, -0.3])  # of a young region on each age band
    tilt = np.exp(pull[:, None] * _youth()[None, :])
    weights: Floats = tilt[:, :, None, None] * people[None]
    return weights.reshape(len(pull), -1)


def _insurance_weights() -> Floats:
    weights = np.tile(np.array(INSURANCE_BY_BAND), (REGIONS, 1, 1))
    weights[:, :, PRIVATE] *= np.exp(0.5 * _youth())[:, None, None]
    return weights.reshape(-1, len(INSURANCES))


def _chunk(
    tables: Tables, random: np.random.Generator, *, start: int, rows: int, seed: int
) -> pl.DataFrame:
    cell = draw(tables.patients, 0, random.random(rows))
    diagnosis, rest = np.divmod(cell, len(SEXES) * AGES)
    sex, age = np.divmod(rest, AGES)
    band = np.searchsorted(BANDS, age, side="right")
    admission = draw(tables.admissions, tables.calendar[diagnosis], random.random(rows))
    place = draw(tables.places, band, random.random(rows))
    region = place // (DISTRICTS * AREAS)
    insurance = draw(tables.insurances, region * len(INSURANCE_BY_BAND) + band, random.random(rows))
    department = _department(tables.department[diagnosis], age, uniform=random.random(rows))
    stay = _stay(tables.stay[diagnosis], age, noise=random.standard_normal(rows))
    place[random.random(rows) < MISSING_ZIP] = len(tables.zips) - 1
    return pl.DataFrame(
        {
            "patient_id": _patient_ids(start, rows, seed=seed),
            "name": _names(sex, random),
            "birth_date": _birth_dates(admission, age, tables.newborn[diagnosis], random=random),
            "sex": pl.Series(SEXES).gather(sex),
            "zip": tables.zips.gather(place),
            "admission": np.datetime64(FIRST_DAY) + admission,
            "stay_days": stay,
            "department": pl.Series(list(DEPARTMENTS)).gather(department),
            "diagnosis": pl.Series([d.code for d in DIAGNOSES]).gather(diagnosis),
            "cost": _cost(tables.cost[diagnosis], stay, department, random=random),
            "insurance": pl.Series(list(INSURANCES)).gather(insurance),
        }
    )


def _patient_ids(start: int, rows: int, *, seed: int) -> pl.Series:
    # Odd factors and shifted exclusive-ors can be undone, so different rows get different
    # numbers, and neighbouring rows do not get neighbouring ones. 33 bits fill ten digits.
    keep = np.uint64(2**33 - 1)
    key = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    number = np.arange(start, start + rows, dtype=np.uint64)
    for factor, shift in ((0x9E3779B97F4A7C15, 17), (0xD6E8FEB86659FD93, 15)):
        number = (number * np.uint64(factor) + key) & keep
        number ^= number >> np.uint64(shift)
    return "P" + pl.Series(number).cast(pl.String).str.zfill(10)


def _names(sex: Codes, random: np.random.Generator) -> pl.Series:
    given = [given_names(each) for each in SEXES]
    family = family_names()
    # The square of a uniform number is often small: the first names of a list are common.
    first = (random.random(sex.size) ** 2 * len(given[0])).astype(np.int64) + sex * len(given[0])
    last = (random.random(sex.size) ** 2 * len(family)).astype(np.int64)
    everyone = pl.Series([name for names in given for name in names])
    return everyone.gather(first) + " " + pl.Series(family).gather(last)


def _birth_dates(
    admission: Codes, age: Codes, newborn: NDArray[np.bool_], *, random: np.random.Generator
) -> NDArray[np.datetime64]:
    part = random.random(age.size)
    days = np.where(newborn, 4 * part**4, (age + part) * YEAR).astype(np.int64)
    dates: NDArray[np.datetime64] = np.datetime64(FIRST_DAY) + (admission - days)
    dates[random.random(age.size) < MISSING_BIRTH_DATE] = np.datetime64("NaT")
    return dates


def _department(usual: Codes, age: Codes, *, uniform: Floats) -> Codes:
    chosen = np.where(uniform < 0.04, DEPARTMENT["emergency"], usual)
    chosen = np.where(uniform > 0.98, DEPARTMENT["intensive care"], chosen)
    child = (age < ADULT) & (usual != DEPARTMENT["neonatology"]) & (uniform < 0.9)
    return np.where(child, DEPARTMENT["paediatrics"], chosen)


def _stay(median: Floats, age: Codes, *, noise: Floats) -> Codes:
    slower = 0.9 + 0.005 * np.maximum(age - 40, 0)  # the old stay longer
    return np.clip(np.rint(median * slower * np.exp(0.55 * noise)), 0, 365).astype(np.int64)


def _cost(
    typical: Floats, stay: Codes, department: Codes, *, random: np.random.Generator
) -> Floats:
    daily = np.where(department == DEPARTMENT["intensive care"], 1400.0, 380.0)
    cost = (typical + daily * stay) * np.exp(0.3 * random.standard_normal(stay.size))
    jump = np.exp(np.log(5) + np.log(6) * random.random(stay.size))  # 5 to 30 times as much
    cost = np.where(random.random(stay.size) < OUTLIERS, cost * jump, cost)
    rounded: Floats = np.round(cost, 2)
    return rounded
