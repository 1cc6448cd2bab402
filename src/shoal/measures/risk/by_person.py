"""Risk where persons are counted: a class is as large as the persons in it.

A person may stand in several classes; whoever looks for them takes the record that is easiest to
find. So the risk of a person is that of the smallest class with one of their records, and every
average is one over persons. Where everybody has one record, these are the risks of records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.measures.risk.classes import LIMITS, ClassRisk, bands, marketer
from shoal.measures.risk.individual import individual_risk
from shoal.measures.risk.population import Population
from shoal.measures.risk.report import HIGH_RISK, ColumnRisk, RiskReport

NO_SPECIAL = (
    "special uniques count records and are left out; what a column adds is its share of the risk "
    "that goes when a column is left out"
)


@dataclass(frozen=True, kw_only=True)
class PersonClasses:
    """Which persons stand in which class.

    Attributes:
        label, person: int64[pairs], the different (class, person) pairs, both numbered from 0.
        own: int64[pairs], the records of the person in the class.
        records: int64[classes], with those that say nobody; no class is of nobody alone.
    """

    label: NDArray[np.int64]
    person: NDArray[np.int64]
    own: NDArray[np.int64]
    records: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Return the persons of each class."""
        return np.bincount(self.label, minlength=len(self.records)).astype(np.int64)

    @property
    def persons(self) -> int:
        """Return the number of persons."""
        return int(self.person.max()) + 1 if len(self.person) else 0

    def worst(self, risks: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the risk of each person, given that of each class."""
        found = np.zeros(self.persons)
        np.maximum.at(found, self.person, risks[self.label])
        return found

    @property
    def largest_share(self) -> float:
        """Return the largest share of a class's records that are of one person."""
        return float((self.own / self.records[self.label]).max()) if len(self.own) else 0.0


def risk_by_person(
    classes: PersonClasses,
    known: Population,
    without: Mapping[str, PersonClasses],
    *,
    notices: tuple[str, ...] = (),
    left_out: int = 0,
) -> RiskReport:
    """Compute every risk of a table from the persons of its classes.

    Args:
        classes: those of all quasi-identifiers.
        known: the population, one entry a class.
        without: the classes where a column is left out, for each column that is asked about.
        notices: what is to be known beside.
        left_out: records in classes of nobody.
    """
    sizes, people, persons = classes.sizes, known.people, classes.persons
    if people is not None and known.estimated:
        risks = individual_risk(sizes, people)
    else:
        risks = 1 / (sizes if people is None else np.maximum(people, sizes))
    alone, risk = classes.worst(1 / sizes), classes.worst(risks)
    expected = float(risk.sum())
    outside = None if people is None else classes.worst(1 / np.maximum(people, sizes))
    return RiskReport(
        records=int(classes.records.sum()),
        persons=persons,
        largest_share=classes.largest_share,
        left_out=left_out,
        classes=len(sizes),
        unique=int((alone == 1).sum()),
        smallest_class=int(sizes.min()) if persons else 0,
        below={str(limit): int((alone > 1 / (limit - 0.5)).sum()) for limit in LIMITS},
        sizes=bands(sizes, classes.records),
        global_risk=expected / persons if persons else 0.0,
        expected_reidentifications=expected,
        prosecutor=_class_risk(alone),
        journalist=None if outside is None else _class_risk(outside),
        marketer=marketer(sizes, people),
        individual={
            "estimated": known.estimated,
            "maximum": float(risk.max(initial=0.0)),
            "average": expected / persons if persons else 0.0,
            "high_risk_above": HIGH_RISK,
            "high_risk_records": int(classes.records[risks > HIGH_RISK].sum()),
        },
        special={},
        columns=_columns(alone, without),
        population=known.facts,
        notices=(*known.notices, *notices, *((NO_SPECIAL,) if without else ())),
    )


def _class_risk(worst: NDArray[np.float64]) -> ClassRisk:
    if not len(worst):
        return ClassRisk(maximum=0.0, average=0.0)
    return ClassRisk(maximum=float(worst.max()), average=float(worst.sum()) / len(worst))


def _columns(
    alone: NDArray[np.float64], without: Mapping[str, PersonClasses]
) -> dict[str, ColumnRisk]:
    """Measure each column by leaving it out."""
    left = {name: each.worst(1 / each.sizes) for name, each in without.items()}
    falls = {name: max(float(alone.sum() - each.sum()), 0.0) for name, each in left.items()}
    total, unique = sum(falls.values()), int((alone == 1).sum())
    return {
        name: ColumnRisk(
            contribution=falls[name] / total if total else 0.0,
            unique_records=unique,
            unique_because=unique - int((each == 1).sum()),
            global_risk_without=float(each.sum()) / max(len(each), 1),
        )
        for name, each in left.items()
    }
