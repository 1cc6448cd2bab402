"""A node judged by several tasks: the same tally and classes as by one."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from tests.engines.spark.tables import PROMISE, counted

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

import shoal
from shoal.engines.spark.chunks import ROWS, chunk_of, partition_of
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.lattice_tally import NodeJudge, first_codes
from shoal.methods.lattice.constraint import constraint_of
from shoal.methods.lattice.evaluate import Evaluator
from shoal.methods.lattice.measures import measure_of
from shoal.methods.lattice.space import space_of

TASKS = 3


def searched(models, utility):
    """Return a frequency table, its lattice and what counts the lattice's nodes."""
    table = counted(models=models)
    sensitive = range(len(table.sensitive_domains))
    space = space_of(replace(table, whole=tuple(table.reference(s) for s in sensitive)))
    constraint = constraint_of(models, space.table, limit=0.2)
    evaluator = Evaluator(space, constraint)
    measure = measure_of(utility, space, evaluator.tallied, k=constraint.k)
    evaluator.use(measure)
    return table, space, evaluator, measure


def judged(table, space, evaluator, measure, node):
    """Return who judges a node, and the chunk of each task; a class is in one task."""
    levels = list(zip(space.ladders, node, strict=True))
    cards = [len(ladder.nodes[level]) for ladder, level in levels]
    codes = [ladder.codes[level][table.codes[:, j]] for j, (ladder, level) in enumerate(levels)]
    rows = np.concatenate((np.stack(codes, axis=1), table.sensitive), axis=1)
    packing = Packing((*cards, *(len(domain) for domain in table.sensitive_domains)))
    judge = NodeJudge(space, evaluator.constraint, measure, node, packing)
    task = partition_of([codes[0].astype(np.int64), codes[1].astype(np.int64)], TASKS)
    chunks = []
    for number in range(TASKS):
        mine = task == number
        keys = packing.named(packing.pack(rows[mine]))
        chunks.append(chunk_of({**keys, ROWS: table.counts[mine]}))
    return judge, chunks


def nodes_of(space):
    return itertools.product(*(range(ladder.levels) for ladder in space.ladders))


def test_the_classes_that_hold_are_those_that_the_tally_publishes():
    table, space, evaluator, measure = searched(PROMISE, "loss")
    several = 0
    for node in nodes_of(space):
        judge, chunks = judged(table, space, evaluator, measure, node)
        classes = [found for chunk in chunks for found in judge.task_classes(iter([chunk]))]
        tallies = [answer for chunk in chunks for answer in judge.task_tally(iter([chunk]))]
        sizes = np.concatenate([found.sizes for found in classes])
        codes = np.concatenate([found.codes for found in classes])
        released = sum(histogram for _, histogram in tallies)
        assert len(sizes) == sum(tally.published for tally, _ in tallies)
        assert released.sum() == sizes.sum() * len(table.sensitive_domains)
        assert (sizes >= 3).all()
        assert len({tuple(row) for row in codes.tolist()}) == len(codes)
        several += len(codes) > 1
    assert several


def test_a_task_without_rows_says_nothing():
    table, space, evaluator, measure = searched(PROMISE, "loss")
    node = tuple(0 for _ in space.ladders)
    judge, chunks = judged(table, space, evaluator, measure, node)
    assert list(judge.task_tally(iter([]))) == []
    nothing = np.zeros(0, dtype=np.int64)
    empty = chunk_of({**dict.fromkeys(judge.packing.names, nothing), ROWS: nothing})
    assert list(judge.task_classes(iter([empty]))) == []
    assert chunks


def test_the_first_value_stands_for_all_that_are_coded_alike():
    codes = np.array([2, 0, 2, 1, 0], dtype=np.int32)
    assert first_codes(codes, 3).tolist() == [1, 3, 0]


@pytest.mark.parametrize("utility", ["loss", "entropy", "dm", "class-entropy"])
@pytest.mark.parametrize("models", [PROMISE, [shoal.KAnonymity(4)]])
def test_tasks_together_count_a_node_like_one(models, utility):
    table, space, evaluator, measure = searched(models, utility)
    for node in nodes_of(space):
        judge, chunks = judged(table, space, evaluator, measure, node)
        answers = [answer for chunk in chunks for answer in judge.task_tally(iter([chunk]))]
        found = judge.sum_tallies([tally for tally, _ in answers])
        wanted = evaluator.tally(node)
        if wanted.suppressed > evaluator.constraint.budget:
            assert found.suppressed > evaluator.constraint.budget
            continue
        counts = (found.suppressed, found.least, found.classes, found.published)
        assert counts == (wanted.suppressed, wanted.least, wanted.classes, wanted.published)
        assert measure.score(found) == pytest.approx(measure.score(wanted))
