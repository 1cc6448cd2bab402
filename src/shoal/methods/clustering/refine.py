"""Refine: begin well, then improve by moving, swapping and pulling records, for seconds."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from shoal.core.documents import Document
from shoal.kernels.clustering.losses import packed
from shoal.methods.arrays import promise_of
from shoal.methods.catalogue import BestCut, KMember, Mondrian, Refine, RefineCentroids
from shoal.methods.clustering.begin import (
    Beginning,
    Task,
    cut,
    grown,
    mended,
    merged,
    pieces_of,
    start,
)
from shoal.methods.clustering.clusters import Clusters, boxes_of, lost_by
from shoal.methods.clustering.parting import parted
from shoal.methods.clustering.release import (
    best_of,
    column_losses,
    held,
    loss_of_columns,
)
from shoal.methods.clustering.repair import recode_holding
from shoal.methods.clustering.rounds import LESS, improved, plan_of
from shoal.methods.clustering.space import measure_of, space_of
from shoal.methods.clustering.trial import tried
from shoal.methods.judging import failing_classes, one_class
from shoal.methods.method import Method, Setting
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding, joined

GROWN = 500_000
"""Up to this many rows clusters may be merged or grown to begin with, which takes some seconds for
each hundred thousand; and `kmember` is searched, too."""


def refine(
    table: FrequencyTable, models: Sequence[Promise], method: Refine, setting: Setting
) -> Recoding:
    """Lose less than the other methods by improving clusters step by step.

    1. Where k alone is promised, rows begin merged round by round, each of them alone at first
       (see `merge`), grown as `kmember` does, or cut as `bestcut` does; effort fast does not
       merge. Which of them ends best is tried on a sample (see `trial`), or, in a small table, on
       all of it. Where more is promised, rows begin as `bestcut` has them under this promise, or
       cut for k alone, merged by what mends the promise and split again (see `split`).
    2. What a row that k or more records share has to spare may fill other clusters.
    3. Rounds of local search on the true loss, each with the clusters in another order.

    Every step keeps the promise. Effort fast means few rounds, normal and best many, the first
    of which also accept small losses, to leave dead ends. With seconds it stops after this time
    instead of after the effort's rounds; the beginning and one round are made in any case, and
    the result depends on the speed of the machine. The seed decides the orders; threads, how
    many blocks are improved at once, never change the result.

    By utility "loss" a cell loses the share of leaves that it covers, by "sse" clusters are those
    with the least squared error (see `microaggregation.refine`), released as boxes.

    Guarantee:
        By what is released, persons counted and labels round where they are: it never loses more
        than `bestcut` or Mondrian under the same promise and, up to GROWN rows, `kmember`; without
        seconds, more effort never loses more. By utility "sse" this is not so. At effort best
        nothing loses less on small tables (see `parting`).
    """
    if setting.utility == "sse":
        return _squared(table, models, method, setting)
    effort, seconds = method.effort, method.seconds
    stop = None if seconds is None else time.perf_counter() + seconds
    measure = measure_of(setting)
    space = space_of(table.domains, measure=measure, is_round=True)
    task = Task(space, packed(space), promise_of(models, table), measure)
    found, done = _searched(table, task, effort, setting, stop)
    candidates = [*found]
    if stop is None:
        # What less effort finds may be better by chance: more must never lose more.
        for less in LESS[effort]:
            candidates += _searched(table, task, less, setting, None)[0]
    facts: Document = {"effort": effort, "rounds": done}
    limit = setting.suppression_limit
    rivals: list[Method] = [Mondrian(), *([KMember()] if table.rows <= GROWN else [])]
    holds = not failing_classes(one_class(table), models).any()
    if table.persons is None and holds:  # then each candidate is released as it is
        best = min(candidates, key=partial(_lost, table, task, measure))
        candidates = [best]
        beyond = []
    else:
        beyond = [BestCut()]
    recodings = [
        recode_holding(table, models, each, space=space, suppression_limit=limit)
        for each in candidates
    ]
    releases = [held(each, models) for each in recodings]
    found_too = [rival.search(table, models, setting) for rival in (*rivals, *beyond)]
    if effort == "best" and holds:
        parts = parted(table, task, candidates[0], seed=setting.seed, stop=stop)
        found_too += [recode_holding(table, models, parts, space=space)]
    # Where not even one class of everything keeps the promise, a rival may not suppress what fails.
    releases += [each for each in found_too if not failing_classes(each, models).any()]
    chosen = best_of(releases, space, limit=limit, measure=measure)
    return replace(chosen, facts=facts)


def _searched(
    table: FrequencyTable, task: Task, effort: str, setting: Setting, stop: float | None
) -> tuple[list[Clusters], int]:
    """Return the clusters that one effort finds, those it began with, and its rounds."""
    plan_for = partial(plan_of, effort, seed=setting.seed, threads=setting.threads)
    k = max(int(task.promise.k), 1)
    whole = plan_for(table.rows, k=k, stop=None)
    starts = _starts(table, task, effort)
    if task.promise.kind.size:
        begun = [start(table, task, begin, is_part=whole.share < 1) for begin in starts]
        begun = [min(begun, key=lambda each: lost_by(table, task.space, each))]
    else:
        chosen = tried(table, task, starts, whole, stop)
        begun = [start(table, task, each, is_part=whole.share < 1) for each in chosen]
    found = []
    done = 0
    for first in begun:
        size = k
        if task.promise.kind.size:  # a turn takes longer in large clusters, whatever makes them so
            size = max(k, table.records // (int(first.label.max()) + 1))
        plan = plan_for(len(first.row), k=size, stop=stop)
        label, rounds = improved(pieces_of(table, task, first), first.label, task=task, plan=plan)
        found += [first._replace(label=label), first]
        done = max(done, rounds)
    found.append(cut(table, task, np.arange(table.rows)))
    return found, done


def _starts(table: FrequencyTable, task: Task, effort: str) -> tuple[Beginning, ...]:
    """Return how a search may begin, the quickest way first."""
    if table.rows > GROWN:
        return (cut,)
    if task.promise.kind.size:
        return (cut, mended)
    return (cut, grown) if effort == "fast" else (cut, grown, merged)


def _lost(table: FrequencyTable, task: Task, measure: str, clusters: Clusters) -> float:
    """Return what clusters that all hold lose."""
    row, label, records = clusters
    sizes = np.bincount(label, weights=records).astype(np.int64)
    low, high = boxes_of(table.codes[row], label)
    lost = column_losses(task.space, low, high, sizes)
    return loss_of_columns(lost, task.space, table.records, measure)


def _squared(
    table: FrequencyTable, models: Sequence[Promise], method: Refine, setting: Setting
) -> Recoding:
    """Return the boxes of clusters with the least squared error."""
    centroids = RefineCentroids(effort=method.effort, seconds=method.seconds)
    return held(joined(centroids.search(table, models, setting)), models)
