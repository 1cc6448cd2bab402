"""The accounts of the local search: what it says it gained, and what it must never do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import refine
from tests.methods.clustering.tables import check_release, of_persons, people_in, records, tables
from tests.naive import cuts as naive

from shoal.kernels.clustering import refine as local_search
from shoal.kernels.clustering.losses import packed
from shoal.kernels.clustering.refine import Pieces
from shoal.methods.arrays import promise_of
from shoal.methods.catalogue import BestCut
from shoal.methods.clustering import begin as module
from shoal.methods.clustering.rounds import EFFORTS
from shoal.methods.clustering.space import space_of
from shoal.privacy import KAnonymity, LDiversity

STARTS = [module.merged, module.grown, module.cut]


def begin(table, models, start=module.merged):
    """Return the task, the pieces and the clusters that the search begins with."""
    space = space_of(table.domains)
    task = module.Task(space, packed(space), promise_of(models, table))
    row, label, count = module.start(table, task, start)
    secret = table.sensitive[row] + task.promise.start[:-1].astype(np.int32)
    who = None if table.persons is None else table.persons[row]
    return task, row, Pieces(table.codes[row], count, secret, who), label


def loss(table, pieces, label):
    data = [tuple(int(c) for c in row) for row in pieces.codes]
    counts = pieces.counts.tolist()
    return naive.total_loss(data, counts, label.tolist(), domains=table.domains)


def step(task, pieces, label, slack, seed):
    chance = np.random.default_rng(seed)
    turns = np.concatenate([chance.permutation(len(label)) for _ in range(3)])
    allowed = (chance.exponential(size=len(turns)) * slack).astype(np.int64)
    return local_search.improve(
        pieces, label, losses=task.losses, promise=task.promise, turns=turns, slack=allowed,
        window=4,
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    table=tables(missing=True), k=st.integers(1, 5), slack=st.sampled_from([0, 10**5, 10**7]),
    seed=st.integers(0, 9), start=st.sampled_from(STARTS),
)  # fmt: skip
def test_the_loss_falls_by_what_the_search_says(table, k, slack, seed, start):
    if table.records < k:
        return
    task, _, pieces, label = begin(table, [KAnonymity(k)], start)
    before = loss(table, pieces, label)
    fallen = step(task, pieces, label, slack, seed)
    assert before - loss(table, pieces, label) == fallen
    assert slack or fallen >= 0
    sizes = np.bincount(label, weights=pieces.counts)
    assert sizes[sizes > 0].min() >= k


@settings(max_examples=40, deadline=None)
@given(
    table=tables(sensitive=True), k=st.integers(1, 4), slack=st.sampled_from([0, 10**7]),
    start=st.sampled_from(STARTS),
)  # fmt: skip
def test_every_step_keeps_the_promise(table, k, slack, start):
    if table.records < k or len(np.unique(table.sensitive)) < 2:
        return
    models = [KAnonymity(k), LDiversity(2, column="disease")]
    task, row, pieces, label = begin(table, models, start)
    before = loss(table, pieces, label)
    assert before - step(task, pieces, label, slack, 0) == loss(table, pieces, label)
    for group in np.unique(label):
        mine = label == group
        assert pieces.counts[mine].sum() >= k
        assert len(np.unique(table.sensitive[row[mine], 0])) >= 2


@settings(max_examples=80, deadline=None)
@given(
    table=of_persons(), k=st.integers(1, 4), slack=st.sampled_from([0, 10**5, 10**7]),
    seed=st.integers(0, 9), start=st.sampled_from(STARTS),
)  # fmt: skip
def test_every_step_leaves_k_persons_in_each_cluster(table, k, slack, seed, start):
    if table.people < k:
        return
    task, row, pieces, label = begin(table, [KAnonymity(k)], start)
    before = loss(table, pieces, label)
    assert before - step(task, pieces, label, slack, seed) == loss(table, pieces, label)
    held = people_in(table, row, label, pieces.counts)
    assert min(len(people) for people in held.values()) >= k


@settings(max_examples=20, deadline=None)
@given(table=of_persons(), k=st.integers(2, 4))
def test_with_persons_it_never_loses_more_than_bestcut(table, k):
    if table.people < k:
        return
    losses = []
    for made in (refine(table, [KAnonymity(k)]), BestCut().search(table, [KAnonymity(k)])):
        assert not made.suppressed
        found = Pieces(table.codes[made.row], made.count, table.sensitive[made.row])
        losses.append(loss(table, found, made.label))
    assert losses[0] <= losses[1]


@pytest.mark.parametrize("effort", EFFORTS)
@settings(max_examples=10, deadline=None)
@given(table=tables(missing=True), k=st.integers(2, 4))
def test_no_effort_loses_more_than_the_start(effort, table, k):
    if table.records < k:
        return
    start = module.cut if effort == "fast" else module.merged
    _, _, pieces, label = begin(table, [KAnonymity(k)], start)
    release = refine(table, [KAnonymity(k)], effort=effort)
    check_release(release, k)
    found = Pieces(table.codes[release.row], release.count, table.sensitive[release.row])
    assert loss(table, found, release.label) <= loss(table, pieces, label)


def test_the_least_loss_is_never_beaten_and_often_reached():
    reached = 0
    chance = np.random.default_rng(5)
    for k in (2, 3):
        for _ in range(8):
            table = small(chance)
            best = naive.least_loss(records(table)[0], k, domains=table.domains)
            release = refine(table, [KAnonymity(k)])
            found = Pieces(table.codes[release.row], release.count, table.sensitive[release.row])
            mine = loss(table, found, release.label)
            assert mine >= best
            reached += mine == best
    assert reached >= 12


def small(chance):
    """Return eight records."""
    from tests.methods.clustering.tables import domains

    from shoal.table.frequency import from_codes

    columns = domains()
    cells = [chance.integers(0, len(domain), 8) for domain in columns]
    codes = np.stack(cells, axis=1).astype(np.int32)
    return from_codes(columns, codes, np.ones(8, dtype=np.int64))
