"""RiskQuestion: what can be asked about the risk of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from shoal.core.errors import InputError, MethodError, SchemaError, ShoalError
from shoal.core.suggest import no_column


class Columns(Protocol):
    """A table, as far as a question is checked against it."""

    @property
    def where(self) -> str:
        """Return what the table is called in messages."""

    @property
    def columns(self) -> Sequence[str]:
        """Return the names of its columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskQuestion:
    """What is asked about the risk of a table; a table of the population stands beside it.

    Attributes:
        quasi: the quasi-identifiers.
        sampling_fraction: the share of the population that is in the table.
        weights: or: the column with the sampling weight of each record.
        household: the column that says who lives together.
        max_size: largest set of columns that the search for special uniques looks at.
        person: the columns that say who a record is about: persons are counted, not records.
        missing: texts that stand for nobody there.
        special: False leaves out special uniques and what each column adds.
    """

    quasi: tuple[str, ...]
    sampling_fraction: float | None = None
    weights: str | None = None
    household: str | None = None
    max_size: int | None = None
    special: bool = True
    person: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def check(self, table: Columns, population: Columns | None = None) -> None:
        """Refuse a question that cannot be answered, before any work is done.

        Raises:
            InputError: a column is missing.
            MethodError: choices that cannot be meant, or do not go together.
            SchemaError: several of these, named together.
        """
        faults = self._faults(table, population)
        if len(faults) > 1:
            raise SchemaError(where="risk", faults=[str(fault) for fault in faults])
        if faults:
            raise faults[0]

    def _faults(self, table: Columns, population: Columns | None) -> list[ShoalError]:
        found: list[ShoalError] = []
        if not self.quasi:
            problem = "no quasi-identifier; name them (--qi a,b)"
            found.append(InputError(where="schema", problem=problem))
        more = [name for name in (self.weights, self.household) if name is not None]
        found += _absent(table, [*self.quasi, *more, *self.person])
        if self.person and more:
            problem = "weights and households are of records; leave them out with a person column"
            found.append(MethodError(problem=problem))
        found += [] if population is None else _absent(population, self.quasi)
        if [population, self.sampling_fraction, self.weights].count(None) < 2:
            problem = "give one of a population table, a sampling fraction and a weight column"
            found.append(MethodError(problem=problem))
        if self.sampling_fraction is not None and not 0 < self.sampling_fraction <= 1:
            problem = "the sampling fraction must lie above 0 and at most at 1"
            found.append(MethodError(problem=problem))
        if self.max_size is not None and self.max_size < 1:
            found.append(MethodError(problem="max-size must be a whole number of at least 1"))
        return found

    def check_counts(self, where: str, classes: int, bad_weights: int) -> None:
        """Refuse a table without a record, or with weights that are no numbers above 0.

        Args:
            where: what the table is called.
            classes: how many it has.
            bad_weights: records whose weight cannot be meant.

        Raises:
            InputError: either of these.
        """
        if not classes:
            raise InputError(where=where, problem="the table has a header but no record")
        if bad_weights:
            problem = f"{bad_weights} weights are not numbers above 0"
            raise InputError(where=f"column {self.weights!r}", problem=problem)


def _absent(table: Columns, names: Sequence[str]) -> list[InputError]:
    absent = [name for name in names if name not in table.columns]
    problem = no_column(absent, table.columns)
    return [InputError(where=table.where, problem=problem)] if absent else []
