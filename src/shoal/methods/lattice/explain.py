"""Why the chosen node won, in sentences that hold no value of the data."""

from __future__ import annotations

import math

from shoal.core.documents import Document
from shoal.methods.lattice.space import Node, Space
from shoal.methods.lattice.state import SearchState, Solution

RUNNERS_UP = 5


def facts_of(
    space: Space, state: SearchState, winner: Solution, *, method: str, late: int = 0
) -> Document:
    """Return what a lattice search says about itself.

    late: records that had to go after the search (see `result.repair`).
    """
    measure = state.measure
    others = [found for found in state.ranked() if found.node != winner.node]
    evaluated = len(state.counted)
    return {
        "search": method,
        "levels": levels_of(space, winner.node),
        "loss": measure.value(winner.score),
        "utility_measure": measure.name,
        "lattice": state.lattice.size,
        "evaluated": evaluated,
        "pruned": state.lattice.size - evaluated if state.proven else None,
        "optimal": state.proven,
        "bound": _bound(state, winner),
        "runners_up": [
            {
                "levels": levels_of(space, found.node),
                "loss": measure.value(found.score),
                "suppressed": found.suppressed,
            }
            for found in others[:RUNNERS_UP]
        ],
        "explanation": [*explain(space, state, winner, method=method, late=late)],
    }


def levels_of(space: Space, node: Node) -> Document:
    """Return the level of each column by name."""
    return {la.domain.name: level for la, level in zip(space.ladders, node, strict=True)}


def explain(
    space: Space, state: SearchState, winner: Solution, *, method: str, late: int = 0
) -> list[str]:
    """Return the account of a search, one sentence an entry."""
    return [
        _how_far(space, state, method=method),
        _chosen(space, winner, records=space.table.records, budget=state.budget),
        *_proof(state, winner, late=late),
        *_shares(space, state, winner),
        *_neighbours(space, state, winner),
        *_second(state, winner),
    ]


def _how_far(space: Space, state: SearchState, *, method: str) -> str:
    return (
        f"{method}: {len(state.counted):,} of {state.lattice.size:,} combinations of levels "
        f"over {len(space.ladders)} columns were counted; {len(state.solutions):,} of them "
        "keep the promise within the limit."
    )


def _chosen(space: Space, winner: Solution, *, records: int, budget: int) -> str:
    raised = [
        f"{ladder.domain.name} to level {level} of {ladder.height}"
        for ladder, level in zip(space.ladders, winner.node, strict=True)
        if level
    ]
    what = "raises " + ", ".join(raised) if raised else "generalizes nothing"
    return (
        f"The chosen one {what}, and suppresses {winner.suppressed:,} of {records:,} records "
        f"({budget:,} would be allowed)."
    )


def _proof(state: SearchState, winner: Solution, *, late: int) -> list[str]:
    value = state.measure.value
    name, loss = state.measure.name, value(winner.score)
    lines = []
    if late:
        lines.append(
            f"{late:,} of the suppressed records had to go because what suppression leaves is "
            "spread a little differently from the whole table."
        )
    bound = _bound(state, winner)
    if state.proven:
        lines.append(f"Its {name} is {loss:.6g}; no other combination can be lower: proven.")
    elif bound is not None:
        lines.append(f"Its {name} is {loss:.6g}; not proven: none can be below {bound:.6g}.")
    else:
        lines.append(f"Its {name} is {loss:.6g}; this method does not prove it the lowest.")
    return lines


def _bound(state: SearchState, winner: Solution) -> float | None:
    """Return what no combination can be below, where the search knows."""
    if state.bound == -math.inf:
        return None
    return state.measure.value(min(state.bound, winner.score))


def _shares(space: Space, state: SearchState, winner: Solution) -> list[str]:
    parts = state.measure.floors()
    mine = [(float(parts[j, level]), j) for j, level in enumerate(winner.node)]
    whole = sum(part for part, _ in mine)
    if whole <= 0:
        return []
    part, j = max(mine)
    name = space.ladders[j].domain.name
    return [f"Of what generalization costs, column {name!r} pays the most: {part / whole:.0%}."]


def _neighbours(space: Space, state: SearchState, winner: Solution) -> list[str]:
    """Say why no column could stay one level finer."""
    lines = []
    losses = {found.node: found.score for found in state.solutions}
    for node in state.lattice.finer(winner.node):
        j = next(i for i, level in enumerate(node) if level != winner.node[i])
        name = space.ladders[j].domain.name
        suppressed = state.counted.get(node)
        if suppressed is None:
            lines.append(f"One level less for {name!r} was ruled out by other combinations.")
        elif node not in losses:
            lines.append(
                f"One level less for {name!r} would suppress more than the "
                f"{state.budget:,} records allowed."
            )
        else:
            loss = state.measure.value(losses[node])
            lines.append(
                f"One level less for {name!r} would suppress {suppressed:,} records and lose "
                f"{loss:.6g}."
            )
    return lines


def _second(state: SearchState, winner: Solution) -> list[str]:
    others = [found for found in state.ranked() if found.node != winner.node]
    if not others:
        return []
    second = state.measure.value(others[0].score)
    return [f"The best other combination that was counted loses {second:.6g}."]
