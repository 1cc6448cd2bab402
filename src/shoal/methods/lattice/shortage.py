"""When nothing meets the promise within the limit: what is in the way, and what would do."""

from __future__ import annotations

import math
from collections.abc import Callable

from shoal.core.errors import NoSolutionError
from shoal.methods.lattice.best_first import best_first
from shoal.methods.lattice.constraint import constraint_of
from shoal.methods.lattice.flash import flash
from shoal.methods.lattice.measures import SuppressionMeasure
from shoal.methods.lattice.person_evaluate import evaluator_for
from shoal.methods.lattice.space import Space
from shoal.methods.lattice.state import DENSE, SearchState, TaggedState, drive
from shoal.privacy import Promise


def no_solution(
    space: Space,
    models: tuple[Promise, ...],
    *,
    limit: float,
    threads: int,
    stop: Callable[[], bool] | None = None,
) -> NoSolutionError:
    """Return the error that names the tightest column and the smallest limit that would do.

    The smallest limit is found by a search of its own, which minimizes suppression.
    """
    records = space.table.records
    constraint = constraint_of(models, space.table, limit=1.0)
    evaluator = evaluator_for(space, constraint, threads=threads)
    measure = SuppressionMeasure("suppression", space, k=constraint.k)
    evaluator.use(measure)
    if space.lattice.size <= DENSE:
        tagged = TaggedState(space.lattice, measure, budget=constraint.budget)
        state: SearchState = tagged
        search = flash(tagged)
    else:
        state = SearchState(space.lattice, measure, constraint.budget)
        search = best_first(state)
    drive(search, state, answer=evaluator.tallies, stop=stop)
    tightest = _tightest(space, models)
    given = f"no combination of levels keeps the promise and suppresses at most {limit:.6g} of the"
    found = state.ranked()
    if not found:
        return NoSolutionError(
            problem=f"{given} {records} records, and no larger limit would do: every record would "
            f"have to go. {tightest}",
            limit=limit,
            smallest_limit=None,
        )
    smallest = smallest_limit(found[0].suppressed, records)
    how = "the smallest limit that would do is" if state.proven else "a limit that would do is"
    return NoSolutionError(
        problem=f"{given} {records} records; {how} {smallest:.6g}. {tightest}",
        limit=limit,
        smallest_limit=smallest,
    )


def smallest_limit(suppressed: int, records: int) -> float:
    """Return the smallest share, in millionths where they suffice, that allows `suppressed`.

    Example:
        >>> smallest_limit(1, 3)
        0.333334
    """
    share = math.ceil(suppressed / records * 1e6) / 1e6
    return share if share * records < suppressed + 1 else suppressed / records


def _tightest(space: Space, models: tuple[Promise, ...]) -> str:
    """Name the column that stands most in the way.

    That is the sensitive column of the model that fails most records when every
    quasi-identifier is at its root; if none fails there, the quasi-identifier that alone
    forces the most records out when it is not generalized.
    """
    failing = []
    for model in models:
        constraint = constraint_of([model], space.table, limit=0.0)
        tally = evaluator_for(space, constraint).tally(space.lattice.top)
        if tally.suppressed:
            failing.append(model)
    for model in failing:
        if model.column is not None:
            return (
                f"The tightest column is {model.column!r}: even all records together do not "
                f"reach {model.name}. Ask less of it, or gather more varied records."
            )
    if failing:  # for the size of a class alone
        widest = max(space.ladders, key=lambda ladder: len(ladder.domain)).domain.name
        return (
            "There are fewer records than one class needs; the tightest column is "
            f"{widest!r}, which has the most distinct values."
        )
    return _tightest_quasi(space, models)


def _tightest_quasi(space: Space, models: tuple[Promise, ...]) -> str:
    constraint = constraint_of(models, space.table, limit=1.0)
    evaluator = evaluator_for(space, constraint)
    worst, name = -1, ""
    for j, ladder in enumerate(space.ladders):
        top = space.lattice.top
        tally = evaluator.tally((*top[:j], 0, *top[j + 1 :]))
        if tally.suppressed > worst:
            worst, name = tally.suppressed, ladder.domain.name
    return (
        f"The tightest column is {name!r}: left as it is, it alone makes {worst} records fail. "
        "A coarser hierarchy for it helps the most."
    )
