"""Refine for aggregation: two good starts, then annealing on the sum of squared errors."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.kernels.microaggregation import mdav as searches
from shoal.kernels.microaggregation.annealing import Crowd, anneal, cut
from shoal.methods.catalogue import BestCut, Mondrian, RefineCentroids, SMdav
from shoal.methods.clustering.clusters import Clusters, least_records
from shoal.methods.clustering.repair import recode
from shoal.methods.clustering.space import space_of
from shoal.methods.judging import failing_classes
from shoal.methods.method import Method, Setting
from shoal.methods.microaggregation.centroids import centroids
from shoal.methods.microaggregation.points import blocks_of, points_of
from shoal.methods.microaggregation.squared_error import sse_loss
from shoal.methods.persons import hold_persons
from shoal.methods.threads import in_threads
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding

EFFORTS = {"fast": 0.1, "normal": 1.0, "best": 12.0}
"""Steps, in those of the normal effort."""

STEPS = (5_000_000, 10_000_000)
"""Steps of the normal effort: at least, and at most. In between A_RECORD for each record."""

A_RECORD = 1_000

FEW, SOME = 2_500, 10_000
"""Up to so many records the steps are shared out to four or two searches, the best of which
goes on: in small tables chance decides more than patience (Tarragona, k = 3: 14.6 … 15.0)."""

HEAT = (0.5, 0.02)
"""First and last heat. The first is lower where a record has few steps."""

AGAIN = (0.12, 0.05)
"""First heats of searches that begin with the best groups found so far."""

TURNS = 3
"""How often small tables are searched anew at the best effort, or with seconds to spend."""

PATIENT, LONGER, WARM = 500, 4.0, 0.3
"""From so many records up to FEW the best effort has so many times its steps, in one turn with
this first heat: some seconds (Census, k = 3: 4.711 … 4.728 instead of 4.757 … 4.805)."""

TRIAL = 500_000
"""Steps a second that a first, short turn expects; the next ones go by what it took."""

LOCAL = 0.75
"""How far the heat follows a record's own surroundings (1) or the mean error (0)."""

SLOW = 5_000
"""Up to so many rows `s-mdav` is searched, too: its time grows with their square."""

NEAR = 16
"""Rows near a row that its records deal with, at least."""

SPARE = 8
"""Records of a row that may go elsewhere, in groups of k: equal records are good company."""

WIDE = 64
"""The same, at most. Groups come and go only while k is below the number of near rows."""

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class _Job:
    """One search: where it begins, how long, how hot, with what chances."""

    begin: Labels
    steps: int
    heat: float
    chance: tuple[int, ...]


@dataclass(frozen=True)
class _Task:
    """What all searches share."""

    crowd: Crowd
    k: int
    threads: int | None

    def all(self, jobs: Sequence[_Job]) -> list[tuple[Labels, float]]:
        """Return what each job found; the number of threads changes nothing."""
        return in_threads(self.one, jobs, self.threads)

    def one(self, job: _Job) -> tuple[Labels, float]:
        chance = np.random.default_rng(job.chance)
        heat = (job.heat, min(HEAT[1], job.heat))
        return anneal(self.crowd, job.begin, k=self.k, steps=job.steps, heat=heat, chance=chance)


def refine(
    table: FrequencyTable, models: Sequence[Promise], method: RefineCentroids, setting: Setting
) -> Recoding:
    """Lose less than MDAV by improving groups step by step.

    1. Of a row with very many records (above SPARE · k + k) all but SPARE · k stay together.
    2. Two starts: MDAV; and a path from the outermost record always to the nearest one that
       is left, cut into runs of k to 2k - 1 records with the least error.
    3. Annealing: records move, swap and pull, groups dissolve and are made, among near
       neighbours; first small losses are accepted, then only gains. Small tables are
       searched several times, and the best groups are heated up and searched again.
    4. What was found is measured as it is released, by `sse_loss`. Where there are numbers and
       categories, the first groups say how near categories are to each other in that measure, and
       the search begins again in a space that is stretched accordingly.

    Effort fast, normal and best mean a tenth, once and twelve times the normal steps; from
    PATIENT to FEW records best means four times as many again. With seconds it searches for this
    time instead, and the result depends on the machine. Threads, how many searches run at once,
    change the result only then.

    Guarantee:
        By `sse_loss` it never loses more than `bestcut` or Mondrian under the same promise or, up
        to SLOW rows and but for effort fast, `s-mdav`; without seconds, more effort never loses
        more.
    """
    effort, seconds = method.effort, method.seconds
    stop = None if seconds is None else time.perf_counter() + seconds
    k = least_records(models)
    if k < 2 or table.records < k:
        whole = np.arange(table.rows) if k < 2 else np.zeros(table.rows, dtype=np.int64)
        clusters = Clusters(np.arange(table.rows), whole, table.counts)
        return _recoded(table, models, setting, clusters, {"effort": effort, "searches": 0})
    found = _releases(table, models, method, setting, stop)
    best = min(found, key=_loss)
    return replace(best, facts=found[0].facts)


def _releases(
    table: FrequencyTable,
    models: Sequence[Promise],
    method: RefineCentroids,
    setting: Setting,
    stop: float | None,
) -> list[Recoding]:
    """Return what the effort finds, first, what less effort finds, and the other methods."""
    found: list[Recoding] = []
    efforts = list(EFFORTS)[: list(EFFORTS).index(method.effort) + 1]
    trees = 1.0
    if stop is None and _is_mixed(table):
        found.append(_grouped(table, models, setting, "fast", None, trees=trees))
        trees = _stretch(found[0])
    for effort in efforts if stop is None else [method.effort]:
        found.insert(0, _grouped(table, models, setting, effort, stop, trees=trees))
    rivals: list[Method] = [BestCut(), Mondrian()]
    if method.effort != "fast" and table.rows <= SLOW:
        rivals.append(SMdav())
    others = [rival.search(table, models, setting) for rival in rivals]
    found += [each for each in others if not failing_classes(each, models).any()]
    return found


def _grouped(
    table: FrequencyTable,
    models: Sequence[Promise],
    setting: Setting,
    effort: str,
    stop: float | None,
    *,
    trees: float,
) -> Recoding:
    """Search once."""
    k = least_records(models)
    crowd, starts = _begin(table, points_of(table, trees=trees), k)
    task = _Task(crowd, k, setting.threads)
    label, number = _search(task, starts, effort, setting.seed, stop)
    facts: Document = {"effort": effort, "searches": number}
    return _recoded(table, models, setting, _members(crowd, label), facts)


def _recoded(
    table: FrequencyTable,
    models: Sequence[Promise],
    setting: Setting,
    clusters: Clusters,
    facts: Document,
) -> Recoding:
    found = recode(
        table, models, clusters, space=space_of(table.domains),
        suppression_limit=setting.suppression_limit, facts=facts, join=False,
    )  # fmt: skip
    return found if table.persons is None else hold_persons(found, models, join=False, borrow=True)


def _loss(recoding: Recoding) -> tuple[int, float]:
    """Return what centroids of these classes lose; suppressed records count first."""
    return recoding.suppressed, sse_loss(recoding, centroids(recoding))


def _is_mixed(table: FrequencyTable) -> bool:
    return len({domain.tree is None for domain in table.domains}) > 1


def _stretch(recoding: Recoding) -> float:
    """Return how much further apart categories are, within these classes, by `sse_loss`.

    Its distance of two tuples is a mean over the columns, squared, and a share of its own spread;
    in space squares of the columns are added.
    """
    table = recoding.table
    trees = [j for j, domain in enumerate(table.domains) if domain.tree is not None]
    part = replace(
        table, domains=tuple(table.domains[j] for j in trees),
        codes=np.ascontiguousarray(table.codes[:, trees]),
    )  # fmt: skip
    own = replace(recoding, table=part, low=recoding.low[:, trees], high=recoding.high[:, trees])
    weight = sum(domain.weight for domain in part.domains)
    asked = weight * sse_loss(own, centroids(own)) / 100 * max(table.records - 1, 1)
    points = points_of(part)
    kept = recoding.label >= 0
    at, label, count = points[recoding.row[kept]], recoding.label[kept], recoding.count[kept]
    middle = np.zeros((recoding.classes, points.shape[1]))
    np.add.at(middle, label, at * count[:, None])
    middle /= np.maximum(recoding.sizes, 1)[:, None]
    there = float((((at - middle[label]) ** 2).sum(axis=1) * count).sum())
    return float(np.sqrt(asked / there)) if asked > 0 and there > 0 else 1.0


def _begin(
    table: FrequencyTable, points: NDArray[np.float64], k: int
) -> tuple[Crowd, list[Labels]]:
    """Return the records that may move and two ways to group them."""
    moving = np.where(table.counts > SPARE * k + k, SPARE * k, table.counts)
    heavy = np.flatnonzero(moving < table.counts)
    core = np.full(table.rows, -1)
    core[heavy] = np.arange(len(heavy))
    row = np.repeat(np.arange(table.rows), moving)
    blocks = blocks_of(points)
    near = _near(blocks, min(max(NEAR, -(-8 * k // 5)), WIDE, table.rows - 1))
    crowd = Crowd(
        at=np.ascontiguousarray(points[row]),
        row=row,
        first=np.concatenate(([0], np.cumsum(moving))),
        core=core,
        held=(table.counts - moving)[heavy],
        base=np.ascontiguousarray(points[heavy]),
        near=near,
        scale=_surroundings(points, near, k)[row],
    )
    starts = _starts(points, blocks, moving, k)
    return crowd, [start + len(heavy) for start in starts]


def _near(blocks: searches.Blocks, number: int) -> NDArray[np.int32]:
    """Return each row and the rows near it."""
    rows = np.arange(len(blocks.row))
    if number < 1:
        return rows[:, None].astype(np.int32)
    others = searches.neighbours(blocks, number=number, rows=rows)
    return np.concatenate((rows[:, None].astype(np.int32), others), axis=1)


def _surroundings(
    points: NDArray[np.float64], near: NDArray[np.int32], k: int
) -> NDArray[np.float64]:
    """Return the mean squared distance of each row to the k - 1 nearest."""
    wide = min(k, near.shape[1])
    total: NDArray[np.float64] = np.zeros(len(points))
    for q in range(1, wide):
        total += ((points - points[near[:, q]]) ** 2).sum(axis=1)
    total /= max(wide - 1, 1)
    return total


def _starts(
    points: NDArray[np.float64], blocks: searches.Blocks, counts: NDArray[np.int64], k: int
) -> list[Labels]:
    """Return MDAV's groups of the records, and those of a path."""
    found = searches.mdav(blocks, counts, k=k)
    order = np.lexsort((found.label, found.row))
    outside = np.repeat(found.label[order], found.records[order])
    way = searches.path(blocks)
    first = np.repeat(np.cumsum(counts)[way] - counts[way], counts[way])
    turn = np.arange(len(first)) - np.repeat(np.cumsum(counts[way]) - counts[way], counts[way])
    along = np.empty(len(first), dtype=np.int64)
    along[first + turn] = cut(np.repeat(points[way], counts[way], axis=0), k=k)
    return [outside, along]


def _search(
    task: _Task, starts: list[Labels], effort: str, seed: int, stop: float | None
) -> tuple[Labels, int]:
    """Return the best groups, and how many searches it took to find them."""
    started = task.all([_Job(start, 0, HEAT[0], (seed,)) for start in starts])
    started.sort(key=_error)
    best = started[0]
    records = len(task.crowd.row)
    mean = best[1] / max(records, 1)
    if not mean > 0.0:
        return best[0], 0
    local = np.maximum(task.crowd.scale, 1e-6 * mean)
    crowd = task.crowd._replace(scale=local**LOCAL * mean ** (1 - LOCAL))
    task = _Task(crowd, task.k, task.threads)
    begins = [found[0] for found in started]
    done = 0
    first = WARM if stop is None and _is_patient(records, effort) else HEAT[0]
    for steps in _turns(records, task.k, effort, stop):
        for jobs in _plan(records, steps, first):
            work = [
                _Job(
                    begins[job % len(begins)] if heat > AGAIN[0] else best[0],
                    length,
                    heat,
                    (seed, done + job),
                )
                for job, (length, heat) in enumerate(jobs)
            ]
            best = min([best, *task.all(work)], key=_error)
            done += len(jobs)
    return best[0], done


def _error(found: tuple[Labels, float]) -> float:
    return found[1]


def _is_patient(records: int, effort: str) -> bool:
    return effort == "best" and PATIENT <= records <= FEW


def _turns(records: int, k: int, effort: str, stop: float | None) -> Iterator[int]:
    """Yield the steps of each turn: a fixed number, or what the time that is left allows."""
    steps = min(max(A_RECORD * records, STEPS[0]), STEPS[1]) / max(1.0, k / 8)
    if stop is None and _is_patient(records, effort):
        yield int(steps * EFFORTS[effort] * LONGER)
        return
    if stop is None:
        turns = TURNS if records <= SOME and effort == "best" else 1
        yield from [int(steps * EFFORTS[effort] / turns)] * turns
        return
    began = time.perf_counter()
    length = int(min(steps / 4, TRIAL * max(stop - began, 0.0)))
    turns = TURNS if records <= SOME else 1
    yield length
    for turn in range(turns, 0, -1):
        now = time.perf_counter()
        length = int(length / max(now - began, 1e-3) * max(stop - now, 0.0) / turn)
        began = now
        if length < records:
            return
        yield length


def _plan(records: int, steps: int, first: float = HEAT[0]) -> Iterator[list[tuple[int, float]]]:
    """Yield the searches of a turn, as steps and first heat; those of a list run at once."""
    searches_at_once = 4 if records <= FEW else 2 if records <= SOME else 1
    # With few steps a record would not cool down again.
    hot = first * min(1.0, (steps / records / A_RECORD) ** 0.5)
    hot = max(hot, AGAIN[0] * 1.01)
    if searches_at_once == 1:
        yield [(steps, hot)]
        return
    yield [(steps // (2 * searches_at_once), hot)] * searches_at_once
    yield [(steps // 4, heat) for heat in AGAIN]


def _members(crowd: Crowd, label: Labels) -> Clusters:
    """Return the groups of all records, those that could not move included."""
    heavy = np.flatnonzero(crowd.core >= 0)
    return Clusters(
        np.concatenate((heavy, crowd.row)),
        np.concatenate((crowd.core[heavy], label)),
        np.concatenate((crowd.held, np.ones(len(label), dtype=np.int64))),
    )
