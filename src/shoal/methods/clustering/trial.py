"""Which beginning ends best: tried on a sample, as many rounds as the whole will have.

What a beginning loses says little of how it ends: rows that were merged have lost more than rows
that were cut, and less once the search has cooled down; in few rounds it is the other way round.
The sample is whole clusters of `bestcut` in two places, so that rows lie as close there as in the
table. (More places have more rows at their edge, which find fewer neighbours: with eight of 250
rows the wrong beginning won on Adult and on hospital stays.)
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.methods.clustering.begin import Beginning, Rows, Task, cut, pieces_of, start
from shoal.methods.clustering.clusters import Clusters, lost_by
from shoal.methods.clustering.rounds import Plan, improved
from shoal.table.frequency import FrequencyTable

SAMPLE = 4_000
"""Rows of a sample. Where there are no more, every beginning is tried on all of them."""

PLACES = 2
"""Places in the line of clusters that the sample is taken from."""

CLOSE = 0.01
"""Beginnings that end so near to the best one are all searched in full."""

PATIENCE = 0.3
"""By the clock, a beginning may take this part of the time …"""

LEAST = 3.0
"""… and with fewer seconds than these nothing is tried: the quickest one is taken."""


def tried(
    table: FrequencyTable, task: Task, starts: Sequence[Beginning], plan: Plan, stop: float | None
) -> Sequence[Beginning]:
    """Return what ends best on a sample, and what comes close; in a small table all there are.

    plan: of the whole table. stop: when the search is to stop by the clock.
    """
    if len(starts) == 1 or table.rows <= SAMPLE:
        return starts
    if stop is not None and _left(stop) < LEAST:
        return starts[:1]
    some = sampled(table, task, SAMPLE)
    growth = table.rows / some.rows
    losses: list[float] = []
    for begin in starts:
        began = time.perf_counter()
        first = start(some, task, begin)
        taken = (time.perf_counter() - began) * growth
        if stop is not None and losses and taken > PATIENCE * _left(stop):
            losses.append(np.inf)
        else:
            losses.append(_ends(some, task, first, plan))
    most = min(losses) * (1 if stop is not None else 1 + CLOSE)
    return [begin for begin, loss in zip(starts, losses, strict=True) if loss <= most]


def _left(stop: float) -> float:
    return stop - time.perf_counter()


def _ends(table: FrequencyTable, task: Task, first: Clusters, plan: Plan) -> float:
    """Return what a beginning loses after the rounds of the plan, as far as they reach."""
    row, label, count = first
    once = replace(plan, share=1.0, stop=None)
    after, _ = improved(pieces_of(table, task, first), label, task=task, plan=once)
    before = lost_by(table, task.space, first)
    fallen = before - lost_by(table, task.space, Clusters(row, after, count))
    return before - plan.share * fallen


def sampled(table: FrequencyTable, task: Task, most: int) -> FrequencyTable:
    """Return about so many rows, in whole clusters of neighbours from a few places."""
    found = cut(table, task, np.arange(table.rows))
    order = np.argsort(found.label, kind="stable")
    label = found.label[order]
    is_in = np.zeros(table.rows, dtype=np.bool_)
    for begin in np.linspace(0, len(label), PLACES, endpoint=False).astype(np.int64):
        last = min(begin + most // PLACES, len(label) - 1)
        ends = np.searchsorted(label, [label[begin], label[last]])
        is_in[found.row[order[ends[0] : ends[1]]]] = True
    return part_of(table, np.flatnonzero(is_in))


def part_of(table: FrequencyTable, rows: Rows) -> FrequencyTable:
    """Return some rows of a table, compared with the whole of it."""
    persons = table.persons
    return replace(
        table,
        codes=np.ascontiguousarray(table.codes[rows]),
        counts=table.counts[rows],
        sensitive=np.ascontiguousarray(table.sensitive[rows]),
        persons=None if persons is None else persons[rows],
        whole=tuple(table.reference(s) for s in range(len(table.sensitive_domains))),
        earlier=None if table.earlier is None else table.earlier[rows],
    )
