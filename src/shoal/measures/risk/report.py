"""RiskReport: every risk of one table, from its classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.kernels import infer as kernel
from shoal.measures.risk.classes import ClassRisk, bands, below, journalist, marketer, prosecutor
from shoal.measures.risk.individual import individual_risk
from shoal.measures.risk.persons import Repeats
from shoal.measures.risk.special import SpecialUniques, special_uniques

HIGH_RISK = 0.05


@dataclass(frozen=True, kw_only=True)
class ColumnRisk:
    """What one column adds to the risk.

    Attributes:
        contribution: share of the SUDA score that comes from sets with this column.
        unique_records: unique records that this column helps to single out.
        unique_because: records that are unique, and would not be without this column.
        global_risk_without: classes / records when the column is left out.
    """

    contribution: float
    unique_records: int
    unique_because: int
    global_risk_without: float

    def to_document(self) -> dict[str, Any]:
        """Return the risk as plain data."""
        return {
            "contribution": self.contribution,
            "unique_records": self.unique_records,
            "unique_because": self.unique_because,
            "global_risk_without": self.global_risk_without,
        }


@dataclass(frozen=True, kw_only=True)
class RiskReport:
    """How easily people are found in a table as it stands.

    Attributes:
        global_risk: expected share of records re-identified (weighted where weights are known).
        expected_reidentifications: the same as a number of records.
        journalist: None where nothing is known of the population.
        individual: risk of single records, with the population taken into account.
        special: special uniques; empty where they were not asked for.
        population: what the population table says (k-map), or None.
        household: risk that somebody of a household is found, or None.
    """

    records: int
    classes: int
    unique: int
    smallest_class: int
    below: Mapping[str, int]
    sizes: Sequence[Mapping[str, Any]]
    global_risk: float
    expected_reidentifications: float
    prosecutor: ClassRisk
    journalist: ClassRisk | None
    marketer: float
    individual: Mapping[str, Any]
    special: Mapping[str, Any]
    columns: Mapping[str, ColumnRisk]
    population: Mapping[str, Any] | None = None
    household: Mapping[str, Any] | None = None
    notices: tuple[str, ...] = field(default=())
    repeats: Repeats | None = None  # people have several records: how classes stand

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what must not be overlooked."""
        return () if self.repeats is None else (self.repeats.text,)

    @property
    def maximum(self) -> float:
        """Return the risk of the record easiest to find: journalist's where it is known."""
        return self.prosecutor.maximum if self.journalist is None else self.journalist.maximum

    @property
    def average(self) -> float:
        """Return the average risk: journalist's where it is known."""
        return self.prosecutor.average if self.journalist is None else self.journalist.average

    def within(self, max_risk: float, *, measure: str = "maximum") -> bool:
        """Say whether the table may pass a release gate.

        Args:
            max_risk: 0 … 1; 0.09 is the usual limit for health data.
            measure: "maximum" (nobody above it) or "average".

        Raises:
            MethodError: a limit or measure that cannot be meant.
        """
        if not 0 <= max_risk <= 1:
            raise MethodError(problem="max-risk must be a number from 0 to 1")
        if measure not in ("maximum", "average"):
            raise MethodError(problem="the gate looks at the maximum or the average risk")
        value = self.maximum if measure == "maximum" else self.average
        return value <= max_risk * (1 + 1e-12)

    def to_document(self) -> dict[str, Any]:
        """Return the document of `risk`."""
        return {
            "records": self.records,
            "classes": self.classes,
            "unique": self.unique,
            "smallest_class": self.smallest_class,
            "global_risk": self.global_risk,
            "expected_reidentifications": self.expected_reidentifications,
            "below": dict(self.below),
            "sizes": [dict(band) for band in self.sizes],
            "prosecutor": self.prosecutor.to_document(),
            "journalist": None if self.journalist is None else self.journalist.to_document(),
            "marketer": {"average": self.marketer},
            "individual": dict(self.individual),
            "household": None if self.household is None else dict(self.household),
            "population": None if self.population is None else dict(self.population),
            "special_uniques": dict(self.special),
            "columns": {name: risk.to_document() for name, risk in self.columns.items()},
            "repeats": None if self.repeats is None else self.repeats.to_document(),
            "warnings": list(self.warnings),
            "notices": list(self.notices),
        }


@dataclass(frozen=True, kw_only=True)
class Classes:
    """The classes of a table: distinct coded rows with their sizes.

    Attributes:
        codes: int32[classes, columns].
        sizes: int64[classes], fk.
        population: float64[classes], Fk, or None where nothing is known.
        weighted: Fk comes from sampling weights or a sampling fraction.
    """

    names: tuple[str, ...]
    codes: NDArray[np.int32]
    sizes: NDArray[np.int64]
    population: NDArray[np.float64] | None = None
    weighted: bool = False


def risk_report(
    classes: Classes,
    *,
    household: Mapping[str, Any] | None = None,
    population: Mapping[str, Any] | None = None,
    max_size: int | None = None,
    special: bool = True,
    notices: Sequence[str] = (),
) -> RiskReport:
    """Compute every risk of a table from its classes.

    Args:
        classes: one row a class.
        household: what was found about households, if asked for.
        population: what was found in a population table, if there is one.
        max_size: largest set of columns that SUDA looks at.
        special: False leaves out SUDA and what each column adds.
        notices: words for the person who reads it.
    """
    sizes, big = classes.sizes, classes.population
    records = int(sizes.sum())
    risks = individual_risk(sizes, sizes.astype(np.float64) if big is None else big)
    if big is not None and not classes.weighted:
        risks = 1 / np.maximum(big, sizes)  # the population itself is known: nothing to estimate
    expected = float((sizes * risks).sum())
    alone = special_uniques(classes.codes, sizes, max_size=max_size) if special else None
    if alone is not None and not alone.complete:
        notices = (
            *notices,
            f"special uniques: sets of more than {alone.max_size} columns left out",
        )
    return RiskReport(
        records=records,
        classes=len(sizes),
        unique=int((sizes == 1).sum()),
        smallest_class=int(sizes.min()) if records else 0,
        below=below(sizes),
        sizes=bands(sizes),
        global_risk=expected / records if records else 0.0,
        expected_reidentifications=expected,
        prosecutor=prosecutor(sizes),
        journalist=None if big is None else journalist(sizes, big),
        marketer=marketer(sizes, big),
        individual=_individual(sizes, risks, weighted=classes.weighted),
        special={} if alone is None else _special(alone),
        columns={} if alone is None else _columns(classes, alone),
        population=population,
        household=household,
        notices=tuple(notices),
    )


def _special(found: SpecialUniques) -> dict[str, Any]:
    return {
        "records": found.records,
        "by_size": {str(size): n for size, n in found.by_size.items()},
        "max_size": found.max_size,
        "complete": found.complete,
    }


def _individual(
    sizes: NDArray[np.int64], risks: NDArray[np.float64], *, weighted: bool
) -> dict[str, Any]:
    records = int(sizes.sum())
    return {
        "estimated": weighted,
        "maximum": float(risks.max()) if records else 0.0,
        "average": float((sizes * risks).sum()) / records if records else 0.0,
        "high_risk_above": HIGH_RISK,
        "high_risk_records": int(sizes[risks > HIGH_RISK].sum()),
    }


def _columns(classes: Classes, special: SpecialUniques) -> dict[str, ColumnRisk]:
    """Measure each column by leaving it out."""
    records = int(classes.sizes.sum())
    width = len(classes.names)
    rows = kernel.rows_of(classes.codes, classes.sizes)
    unique = int((classes.sizes == 1).sum())
    found = {}
    for j, name in enumerate(classes.names):
        others = np.array([[i for i in range(width) if i != j]], dtype=np.int32)
        without, left = 1, int(records == 1)
        if width > 1:
            without = int(kernel.count_sets(rows, others)[0, 1])
            marks = np.zeros((1, len(classes.sizes)), dtype=np.uint8)
            kernel.mark_unique(rows, others, marks)
            left = int(marks.sum())
        found[name] = ColumnRisk(
            contribution=special.contribution[j],
            unique_records=special.members[j],
            unique_because=unique - left,
            global_risk_without=without / records if records else 0.0,
        )
    return found
