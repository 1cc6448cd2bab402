"""Sets of items recoded in each class of records by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import NoSolutionError, SchemaError
from shoal.hierarchies.tree import Hierarchy
from shoal.methods.method import Setting
from shoal.methods.transactions.catalogue import SetMethod
from shoal.methods.transactions.goal import SetGoal
from shoal.methods.transactions.uncertain import bounded
from shoal.privacy import KmAnonymity, Promise, Requirements
from shoal.privacy.of_sets import named_items
from shoal.privacy.rho_uncertainty import RhoUncertainty
from shoal.table.baskets import Baskets, SetRecoding


def check_known(promise: Sequence[Promise], baskets: Baskets) -> None:
    """Refuse a promise about items that do not occur: it would protect nobody."""
    known = set(baskets.items)
    faults = []
    for model in promise:
        named = set(named_items(model))
        unknown = len(named - known)
        if unknown:
            faults.append(
                f"{model.name}: {unknown} of {len(named)} items do not occur in the table"
            )
    if faults:
        raise SchemaError(where="schema", faults=faults)


def recode(
    baskets: Baskets,
    number: NDArray[np.int64],
    promise: Sequence[Promise],
    method: SetMethod,
    setting: Setting,
    tree: Hierarchy | None,
    *,
    utility: Sequence[Sequence[str]] = (),
) -> SetRecoding:
    """Recode the sets of each class of records by itself.

    utility: sets of items that no label may cross; an item in none of them stays alone.

    Raises:
        NoSolutionError: a class, or the table, has fewer records than are asked for.
    """
    order = np.argsort(number, kind="stable")
    bounds = np.searchsorted(number[order], np.arange(int(number.max(initial=-1)) + 2))
    goal = replace(goal_of(promise, baskets, tree), utility=_coded(utility, baskets))
    if np.diff(bounds).min(initial=goal.k) < goal.k and goal.m != 0:
        problem = f"{int(np.diff(bounds).min())} records are fewer than k = {goal.k}"
        raise NoSolutionError(problem=f"{problem}; ask for less, or bring more records")
    told = [model for model in promise if isinstance(model, RhoUncertainty)]
    if len(bounds) == 2:
        return bounded(_frequent(method.search_sets(baskets, goal, setting), goal), told)
    labels: dict[tuple[int, ...], int] = {}
    choice = np.full(baskets.codes.size, -1, dtype=np.int32)
    for start, end in pairwise(bounds.tolist()):
        part, places = baskets.part(np.sort(order[start:end]))
        found = bounded(_frequent(method.search_sets(part, goal, setting), goal), told)
        known = np.array([labels.setdefault(each, len(labels)) for each in found.labels] + [-1])
        choice[places] = known[found.choice]
    return SetRecoding(baskets, tuple(labels), choice)


def _coded(sets: Sequence[Sequence[str]], baskets: Baskets) -> tuple[tuple[int, ...], ...]:
    """Return sets of items by their codes; items that do not occur are left out."""
    code = {item: n for n, item in enumerate(baskets.items)}
    return tuple(tuple(code[item] for item in each if item in code) for each in sets)


def _frequent(recoding: SetRecoding, goal: SetGoal) -> SetRecoding:
    """Suppress the labels of a class in which fewer than k records hold any item at all."""
    if goal.m == 0 or not (np.diff(recoding.baskets.starts) > 0).any():
        return recoding
    if int((np.diff(recoding.baskets.starts) > 0).sum()) >= goal.k:
        return recoding
    return SetRecoding(recoding.baskets, recoding.labels, np.full_like(recoding.choice, -1))


def goal_of(promise: Sequence[Promise], baskets: Baskets, tree: Hierarchy | None) -> SetGoal:
    """Return what a search must reach."""
    code = {item: n for n, item in enumerate(baskets.items)}
    km = [model for model in promise if isinstance(model, KmAnonymity)]
    required = [model for model in promise if isinstance(model, Requirements)]
    m: int | None = 0
    if km:
        m = None if any(model.m is None for model in km) else max(model.m or 0 for model in km)
    sets = tuple(
        tuple(code[item] for item in each)
        for model in required for each in model.items if all(item in code for item in each)
    )  # fmt: skip
    sizes = [*(model.k for model in km), *(model.k for model in required)]
    k = max(sizes, default=1)
    return SetGoal(k=k, m=m, required=sets, tree=tree)
