"""xk-anonymity carried out: the seven steps, strung together as a plan says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from shoal.core.errors import MethodError, NoSolutionError, UnsafeReleaseError
from shoal.methods.xk import steps
from shoal.methods.xk.candidates import check_k, check_xk
from shoal.methods.xk.rows import Column, Rows
from shoal.methods.xk.steps import Confirmation


@dataclass(frozen=True, slots=True, kw_only=True)
class Techniques:
    """The three techniques that save records from suppression; none, some or all of them.

    Example:
        >>> Techniques.parse("gc").label, Techniques.parse("none").label
        ('GC', '-')
    """

    generalization: bool = False
    cell_suppression: bool = False
    sensitive_suppression: bool = False

    @classmethod
    def parse(cls, text: str) -> Techniques:
        """Read letters (g, c, s) or names, in any order; `none` or `-` stands for none.

        Raises:
            MethodError: a letter or name that is not a technique.
        """
        wanted = text.strip().lower()
        if wanted in ("", "-", "none"):
            return cls()
        parts = [part.strip() for part in wanted.split(",")]
        if len(parts) == 1 and parts[0] not in _LETTERS.values():
            parts = list(parts[0])
        names = {_LETTERS.get(part, part) for part in parts}
        if not names <= set(_LETTERS.values()):
            raise MethodError(
                problem="techniques are generalization, cells and sensitive (or letters of gcs), "
                "separated by commas, or none"
            )
        return cls(
            generalization="generalization" in names,
            cell_suppression="cells" in names,
            sensitive_suppression="sensitive" in names,
        )

    @property
    def label(self) -> str:
        """Return the paper's letters: G, C and S, or - for none."""
        chosen = (self.generalization, self.cell_suppression, self.sensitive_suppression)
        return "".join(x for x, is_on in zip("GCS", chosen, strict=True) if is_on) or "-"


_LETTERS = {"g": "generalization", "c": "cells", "s": "sensitive"}

COMBINATIONS = tuple(Techniques.parse(x) for x in ("-", "gcs", "gc", "gs", "cs", "c", "g", "s"))
"""The eight methods of experiment 6, in the paper's order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a table is to be made xk-anonymous.

    Attributes:
        k: records that a released pair has, false ones included.
        xk: original records that a released pair has.
        diversity: l for each sensitive column, in the order in which they are taken.
        ranking: the quasi-identifiers, the most important first.
        generalized: the column to generalize; the least important one with groups if None.
        suppressed: the column to suppress cells of; the least important one if None.
        gradual: introduce the quasi-identifiers one by one, the two most important first,
            and treat each when it comes in, instead of all at once.
    """

    k: int
    xk: int
    techniques: Techniques = field(default_factory=Techniques)
    diversity: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    ranking: Sequence[str] = ()
    generalized: str | None = None
    suppressed: str | None = None
    gradual: bool = False

    def __post_init__(self) -> None:
        check_xk(self.xk, check_k(self.k))
        if len(set(self.ranking)) != len(self.ranking):
            raise MethodError(problem="the ranking names a column twice")
        if self.gradual and (self.generalized is not None or self.suppressed is not None):
            raise MethodError(
                problem="columns that come in gradually are each treated in turn; "
                "name none to generalize or suppress"
            )
        if self.techniques.sensitive_suppression and not self.diversity:
            raise MethodError(
                problem="sensitive suppression needs a sensitive column with a diversity l of "
                "2 or more; name the column and its l, or leave sensitive suppression out"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """A plan carried out: the table before step 2 and after step 6, and what step 7 found."""

    plan: Plan
    before: Rows
    after: Rows
    confirmation: Confirmation


Trail = Callable[[str, Rows], None]
"""Is given the name of each step that was taken, and the table after it."""


def _nobody(_: str, __: Rows) -> None:
    return None


def carry_out(rows: Rows, plan: Plan, *, seed: int = 0, trail: Trail = _nobody) -> Carried:
    """Make a table xk-anonymous: steps 2 to 7, those that the plan's techniques ask for.

    Step 1 comes before the table is coded, see `steps.unify`.

    Args:
        rows: the table, its empty marks unified.
        plan: thresholds, techniques and columns.
        seed: chooses which records the false ones copy.
        trail: an audit's eye.

    Guarantee:
        Every released pair has at least k records (persons, where the rows have any), of which
        at least xk are original, and in every sensitive column l different values (of as many
        different persons) or none at all. The same seed gives
        the same result, whatever the order of the records.

    Raises:
        NoSolutionError: every record would be suppressed.
        UnsafeReleaseError: the confirmation found something to change; a bug of ours.
    """
    random = np.random.default_rng(seed)
    blank = plan.techniques.sensitive_suppression
    trail("1-unification", rows)
    now = steps.diversify(rows, plan.diversity, blank=blank)
    if plan.diversity:
        trail("2-diversification", now)
    now = saved(now, plan, trail=trail)
    now = steps.fill(now, k=plan.k, xk=plan.xk, random=random)
    trail("5-filling", now)
    now = steps.suppress(now)
    trail("6-suppression", now)
    if not now.kept.any():
        raise NoSolutionError(problem=_nothing(rows, plan))
    confirmation = steps.confirm(now, k=plan.k, diversity=plan.diversity)
    if not confirmation.holds:
        raise UnsafeReleaseError(
            problem=f"{confirmation.small_pairs} pairs are too small and "
            f"{confirmation.undiverse_pairs} are not diverse after all steps"
        )
    trail("7-confirmation", now)
    return Carried(plan=plan, before=rows, after=now, confirmation=confirmation)


def saved(rows: Rows, plan: Plan, *, trail: Trail = _nobody) -> Rows:
    """Save records from suppression: steps 3 and 4, stage by stage."""
    for stage, (column, places) in enumerate(_stages(rows, plan), start=1):
        stamp = f"-{stage}" if plan.gradual else ""
        rows = _save(rows, plan, column=column, places=places, trail=trail, stamp=stamp)
    return rows


def _nothing(rows: Rows, plan: Plan) -> str:
    kept = steps.diversify(rows, plan.diversity, blank=plan.techniques.sensitive_suppression).kept
    if not kept.any():
        return (
            "no pair has as many different sensitive values as asked for, so every record would "
            "be suppressed. Ask for a smaller l, or allow sensitive suppression"
        )
    return (
        f"no pair reaches xk = {plan.xk} {rows.unit}, so every record would be suppressed. Take a "
        "smaller xk, allow generalization or cell suppression, or use fewer quasi-identifiers"
    )


def _save(
    rows: Rows,
    plan: Plan,
    *,
    column: tuple[int | None, int | None],
    places: list[int],
    trail: Trail,
    stamp: str,
) -> Rows:
    """Steps 3 and 4 on the quasi-identifiers that are in so far."""
    to_generalize, to_suppress = column
    if to_generalize is not None:
        rows = steps.generalize(rows, to_generalize, xk=plan.xk, places=places)
        trail(f"3-generalization{stamp}", rows)
    if to_suppress is not None:
        rows = steps.suppress_cells(rows, to_suppress, xk=plan.xk, places=places)
        trail(f"4-cell-suppression{stamp}", rows)
    return rows


def _stages(rows: Rows, plan: Plan) -> Iterator[tuple[tuple[int | None, int | None], list[int]]]:
    """Yield, for each stage, the columns to generalize and suppress, and those that are in."""
    ranked = ranked_places(rows.columns, plan.ranking)
    asked = plan.techniques
    grouped = any(column.has_groups for column in rows.columns)
    if asked.generalization and plan.generalized is None and not grouped:
        raise MethodError(
            problem="generalization needs a quasi-identifier with a hierarchy of at least three "
            "levels: value, group, root"
        )
    if not plan.gradual:
        general = _generalized(rows, plan, ranked) if asked.generalization else None
        cell = ranked[-1] if plan.suppressed is None else _place(rows, plan.suppressed)
        yield (general, cell if asked.cell_suppression else None), ranked
        return
    for upto in range(min(2, len(ranked)), len(ranked) + 1):
        newest = ranked[upto - 1]
        general = newest if asked.generalization and rows.columns[newest].has_groups else None
        yield (general, newest if asked.cell_suppression else None), ranked[:upto]


def _generalized(rows: Rows, plan: Plan, ranked: list[int]) -> int:
    if plan.generalized is None:
        return next(place for place in reversed(ranked) if rows.columns[place].has_groups)
    place = _place(rows, plan.generalized)
    if not rows.columns[place].has_groups:
        raise MethodError(
            problem=f"column {plan.generalized!r} has no hierarchy of three levels to generalize by"
        )
    return place


def _place(rows: Rows, name: str) -> int:
    if name not in [column.name for column in rows.columns]:
        raise MethodError(problem=f"column {name!r} is not a quasi-identifier")
    return rows.place(name)


def ranked_places(columns: Sequence[Column], ranking: Sequence[str]) -> list[int]:
    """Return the numbers of the columns, the most important first.

    Raises:
        MethodError: the ranking does not name each quasi-identifier once.
    """
    names = [column.name for column in columns]
    if not ranking:
        return list(range(len(names)))
    if sorted(ranking) != sorted(names):
        raise MethodError(problem="the ranking must name each quasi-identifier exactly once")
    return [names.index(name) for name in ranking]
