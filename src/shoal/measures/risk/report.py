"""RiskReport: every risk of one table, from its classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import MethodError
from shoal.core.rows import Rows
from shoal.kernels.inference import column_sets as kernel
from shoal.measures.risk.classes import (
    Band,
    ClassRisk,
    bands,
    below,
    journalist,
    marketer,
    prosecutor,
)
from shoal.measures.risk.individual import HouseholdRisk, individual_risk
from shoal.measures.risk.persons import Repeats
from shoal.measures.risk.population import Population, PopulationFacts
from shoal.measures.risk.question import RiskQuestion
from shoal.measures.risk.special import SpecialUniques, special_uniques
from shoal.measures.risk.trajectories import TrajectoryRisk
from shoal.reports.face import Face, percent

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

    def to_document(self) -> dict[str, float]:
        """Return the risk as plain data."""
        return asdict(self)


class IndividualRisk(TypedDict):
    """Risk of single records."""

    estimated: bool
    maximum: float
    average: float
    high_risk_above: float
    high_risk_records: int


class SpecialFacts(TypedDict, total=False):
    """Special uniques; nothing where they were not asked for."""

    records: int
    by_size: dict[str, int]
    max_size: int
    complete: bool


@dataclass(frozen=True, kw_only=True, repr=False)
class RiskReport(Rows):
    """How easily people are found in a table as it stands.

    Attributes:
        global_risk: expected share of records re-identified (weighted where weights are known).
        expected_reidentifications: the same as a number of records.
        journalist: None where nothing is known of the population.
        individual: risk of single records, with the population taken into account.
        special: special uniques; empty where they were not asked for.
        population: what the population table says (k-map), or None.
        household: risk that somebody of a household is found, or None.
        persons: who the records are about, where persons are counted: then class sizes, `unique`,
            `below`, `expected_reidentifications` and every average are about persons.
        largest_share: of a class's records that are of one person, where persons are counted.
        left_out: records in classes that name nobody: whoever they are about may be alone there.
    """

    records: int
    classes: int
    unique: int
    smallest_class: int
    below: Mapping[str, int]
    sizes: Sequence[Band]
    global_risk: float
    expected_reidentifications: float
    prosecutor: ClassRisk
    journalist: ClassRisk | None
    marketer: float
    individual: IndividualRisk
    special: SpecialFacts
    columns: Mapping[str, ColumnRisk]
    population: PopulationFacts | None = None
    household: HouseholdRisk | None = None
    notices: tuple[str, ...] = field(default=())
    repeats: Repeats | None = None  # people have several records: how classes stand
    trajectories: TrajectoryRisk | None = None  # records are linked: how persons stand
    persons: int | None = None
    largest_share: float | None = None
    left_out: int = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what must not be overlooked."""
        found = (self.repeats, self.trajectories)
        return tuple(each.text for each in found if each is not None)

    @property
    def maximum(self) -> float:
        """Return the risk of the record easiest to find: journalist's where it is known.

        Where records are linked, of the person easiest to find by all of them. Where classes name
        nobody, it is 1: a limit does not hold for those of whom nothing is known.
        """
        if self.left_out:
            return 1.0
        if self.trajectories is not None:
            return self.trajectories.maximum
        return self.prosecutor.maximum if self.journalist is None else self.journalist.maximum

    @property
    def average(self) -> float:
        """Return the average risk: journalist's where it is known; of persons, as above."""
        if self.trajectories is not None:
            return self.trajectories.average
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

    def to_document(self) -> dict[str, object]:
        """Return the document of `risk`."""
        return {
            "records": self.records,
            "persons": self.persons,
            "classes": self.classes,
            "largest_share": self.largest_share,
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
            "trajectories": None if self.trajectories is None else self.trajectories.to_document(),
            "warnings": list(self.warnings),
            "notices": list(self.notices),
        }

    to_dict = to_document

    def rows(self) -> list[dict[str, object]]:
        """Return a row for each column and what it adds to the risk."""
        return [{"column": name, **risk.to_document()} for name, risk in self.columns.items()]

    def face(self) -> Face:
        """Return what a notebook shows of it."""
        rows = [("column", "contribution", "unique because of it")]
        rows += [
            (name, percent(each.contribution), f"{each.unique_because:,}")
            for name, each in self.columns.items()
        ]
        word = "records" if self.persons is None else "persons"
        units = f"{self.records if self.persons is None else self.persons:,} {word}"
        return Face(
            title=f"{self.expected_reidentifications:,.6g} of {units} expected "
            f"to be re-identified, {self.unique:,} unique",
            facts={
                "risk, at worst": percent(self.maximum),
                "risk, average": percent(self.average),
                "classes": f"{self.classes:,}, the smallest has {self.smallest_class:,} {word}",
            },
            rows=rows,
            warnings=self.warnings,
        )

    def __repr__(self) -> str:
        return self.face().line("RiskReport")

    def _repr_html_(self) -> str:
        return self.face().html()


@dataclass(frozen=True, kw_only=True)
class Classes:
    """The equivalence classes of a table: distinct coded rows with their sizes.

    Attributes:
        codes: int32[classes, columns].
        sizes: int64[classes], fk.
        population: the people of each class, Fk.
    """

    names: tuple[str, ...]
    codes: NDArray[np.int32]
    sizes: NDArray[np.int64]
    population: Population = field(default_factory=Population)

    @property
    def risks(self) -> NDArray[np.float64]:
        """Return the risk of a record in each class."""
        people = self.population.people
        if people is not None and self.population.estimated:
            return individual_risk(self.sizes, people)
        # A population that is known leaves nothing to estimate.
        return 1 / (self.sizes if people is None else np.maximum(people, self.sizes))


def risk_report(
    classes: Classes, question: RiskQuestion, *, household: HouseholdRisk | None = None
) -> RiskReport:
    """Compute every risk of a table from its classes.

    Args:
        classes: one row a class.
        question: what was asked.
        household: what was found about households, if asked for.
    """
    sizes, known, risks = classes.sizes, classes.population, classes.risks
    records, people = int(sizes.sum()), known.people
    expected = float((sizes * risks).sum())
    special, notices = None, known.notices
    if question.special:
        special = special_uniques(classes.codes, sizes, max_size=question.max_size)
        if not special.complete:
            left_out = f"special uniques: sets of more than {special.max_size} columns left out"
            notices = (*notices, left_out)
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
        journalist=None if people is None else journalist(sizes, people),
        marketer=marketer(sizes, people),
        individual=_individual(sizes, risks, estimated=known.estimated),
        special={} if special is None else _special(special),
        columns={} if special is None else _columns(classes, special),
        population=known.facts,
        household=household,
        notices=notices,
    )


def _special(found: SpecialUniques) -> SpecialFacts:
    return {
        "records": found.records,
        "by_size": {str(size): n for size, n in found.by_size.items()},
        "max_size": found.max_size,
        "complete": found.complete,
    }


def _individual(
    sizes: NDArray[np.int64], risks: NDArray[np.float64], *, estimated: bool
) -> IndividualRisk:
    records = int(sizes.sum())
    return {
        "estimated": estimated,
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
