"""Frequency tables that stay on Spark: the same classes as where they fit the driver."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.spark.tables import PROMISE, frame, schema
from tests.naive.mondrian import candidates

import shoal
from shoal import api
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.cuts import median_cuts
from shoal.engines.spark.lattice_tally import Teller
from shoal.engines.spark.piles import ROWS, part_of, pile
from shoal.methods.lattice.evaluate import Evaluator
from shoal.methods.lattice.measures import measure_of
from shoal.methods.lattice.pledge import pledge_of
from shoal.methods.lattice.space import space_of
from shoal.pipeline import Job
from shoal.privacy import expand
from shoal.spark import SparkJob


def test_mondrian_with_cuts_by_jobs(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.engines.spark.mondrian.TASK_ROWS", 60)
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    options = api.Options(method="mondrian")
    wanted = api.anonymize(frame(), schema(), privacy=PROMISE, options=options)
    wanted.table.write_csv(here)
    table = api.SparkTable(frame(), driver_rows=10)
    made = api.anonymize(table, schema(), privacy=PROMISE, out=there)  # auto: what is cut by jobs
    assert made.report.method == "mondrian"
    assert there.read_bytes() == here.read_bytes()
    assert made.report.risk_before == wanted.report.risk_before
    assert made.report.utility == wanted.report.utility


FEW = ("flat", "tree", "steps")


def test_lattice_search_by_jobs(spark, tmp_path):
    options = api.Options(method="flash")
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    wanted = api.anonymize(frame(), schema(FEW), privacy=PROMISE, options=options)
    wanted.table.write_csv(here)
    table = api.SparkTable(frame(), driver_rows=200)
    made = api.anonymize(table, schema(FEW), privacy=PROMISE, out=there, options=options)
    assert there.read_bytes() == here.read_bytes()
    assert made.report.facts["levels"] == wanted.report.facts["levels"]
    assert made.report.risk_before == wanted.report.risk_before


def test_nodes_too_large_for_the_driver_are_judged_by_jobs(spark):
    promise, asked, options = [shoal.KAnonymity(6)], schema(FEW), api.Options(method="flash")
    wanted = Job.open(frame(), asked, promise, options).search()
    there = SparkJob.on(api.SparkTable(frame(), driver_rows=20), asked, promise, options)
    found = there.search()
    assert found.facts == wanted.facts
    assert found.suppressed == wanted.suppressed > 0
    assert (found.sizes == wanted.sizes).all()
    there.forget()


@pytest.mark.parametrize("utility", ["loss", "entropy", "dm", "class-entropy"])
@pytest.mark.parametrize("models", [PROMISE, [shoal.KAnonymity(4)]])
def test_tasks_together_count_a_node_like_one(models, utility):
    table = Job.open(frame(), schema(FEW), models, api.Options()).counted.table
    sensitive = range(len(table.sensitive_domains))
    space = space_of(replace(table, whole=tuple(table.reference(s) for s in sensitive)))
    promise = tuple(expand(models, [domain.name for domain in table.sensitive_domains]))
    pledge = pledge_of(promise, records=table.records, limit=0.2)
    evaluator = Evaluator(space, pledge)
    measure = measure_of(utility, space, evaluator.tallied, k=pledge.k)
    evaluator.use(measure)
    for node in itertools.product(*(range(ladder.levels) for ladder in space.ladders)):
        levels = list(zip(space.ladders, node, strict=True))
        cards = [len(ladder.nodes[level]) for ladder, level in levels]
        codes = [ladder.codes[level][table.codes[:, j]] for j, (ladder, level) in enumerate(levels)]
        rows = np.concatenate((np.stack(codes, axis=1), table.sensitive), axis=1)
        packing = Packing((*cards, *(len(domain) for domain in table.sensitive_domains)))
        teller = Teller(space, pledge, measure, node, packing)
        task = part_of([codes[0].astype(np.int64), codes[1].astype(np.int64)], 3)
        parts = []
        for number in range(3):  # a class is in one task
            mine = task == number
            keys = dict(zip(packing.names, packing.pack(rows[mine]), strict=True))
            parts += teller(iter([pile({**keys, ROWS: table.counts[mine]})]))
        found = teller._together([pickle.loads(part.column(0)[0].as_py())[0] for part in parts])
        wanted = evaluator.tally(node)
        if wanted.suppressed > pledge.budget:
            assert found.suppressed > pledge.budget
            continue
        told = (found.suppressed, found.least, found.classes, found.published)
        assert told == (wanted.suppressed, wanted.least, wanted.classes, wanted.published)
        assert measure.score(found) == pytest.approx(measure.score(wanted))


CLOSE = [shoal.KAnonymity(2), shoal.TCloseness(0.3, column="s")]


def test_what_suppression_leaves_is_what_classes_are_compared_with(spark):
    options, asked = api.Options(method="flash"), schema(FEW, suppression_limit=0.3)
    wanted = Job.open(frame(), asked, CLOSE, options).search()
    there = SparkJob.on(api.SparkTable(frame(), driver_rows=200), asked, CLOSE, options)
    found = there.search()
    there.forget()
    assert found.facts == wanted.facts
    assert (found.sizes == wanted.sizes).all()


@pytest.mark.parametrize("rows", [None, 200])
@pytest.mark.parametrize("limit", [0.3, 0.02])
@pytest.mark.parametrize("promise", [PROMISE, CLOSE], ids=["l", "t"])
def test_stars_are_judged_by_the_whole_promise(spark, tmp_path, rows, limit, promise):
    options = api.Options(method="flash", suppressed="star")
    asked = schema(FEW, suppression_limit=limit)
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    wanted = api.anonymize(frame(), asked, privacy=promise, options=options)
    wanted.table.write_csv(here)
    table = api.SparkTable(frame(), driver_rows=rows)
    made = api.anonymize(table, asked, privacy=promise, out=there, options=options)
    assert there.read_bytes() == here.read_bytes()
    assert made.report.released == wanted.report.released
    found = [notice for notice in made.report.notices if "released as *" in notice]
    assert found == [notice for notice in wanted.report.notices if "released as *" in notice]


def test_a_best_node_with_more_classes_than_the_driver_takes(spark, tmp_path):
    options, asked = api.Options(method="flash"), schema(FEW, suppression_limit=0.3)
    wanted = api.anonymize(frame(), asked, privacy=CLOSE, options=options)
    assert "spread a little differently" in str(wanted.report.facts["explanation"])
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    wanted.table.write_csv(here)
    table = api.SparkTable(frame(), driver_rows=5)
    made = api.anonymize(table, asked, privacy=CLOSE, out=there, options=options)
    assert there.read_bytes() == here.read_bytes()
    assert made.report.utility == wanted.report.utility
    assert made.report.facts["explanation"] == wanted.report.facts["explanation"]
    assert "10 classes" in made.report.notices[0]


def test_a_model_of_a_node_too_large_for_the_driver(spark):
    options, asked = api.Options(method="flash"), schema(FEW[:2], suppression_limit=0.3)
    wanted, about = api.learn_with_report(frame(), asked, privacy=CLOSE, options=options)
    table = api.SparkTable(frame(), driver_rows=5)
    model, report = api.learn_with_report(table, asked, privacy=CLOSE, options=options)
    assert model.to_json() == wanted.to_json()
    assert report.privacy == about.privacy


def test_a_best_node_as_large_as_the_table(spark):
    options, promise = api.Options(method="flash"), [shoal.KAnonymity(1)]
    wanted = Job.open(frame(), schema(FEW), promise, options).search()
    there = SparkJob.on(api.SparkTable(frame(), driver_rows=1), schema(FEW), promise, options)
    found = there.search()
    assert (found.sizes == wanted.sizes).all()
    assert (found.node == wanted.node).all()
    there.forget()


@pytest.mark.parametrize("rows", [220, 70])
def test_learning_gives_the_same_model(spark, rows, monkeypatch):
    monkeypatch.setattr("shoal.engines.spark.mondrian.TASK_ROWS", 100)
    if rows == 70:  # as with very many classes
        monkeypatch.setattr("shoal.engines.spark.trial.SETS", 0)
    promise = [shoal.KAnonymity(12)]
    few = ("whole", "tree", "steps")
    wanted = shoal.learn(frame(), schema(few), privacy=promise)
    table = api.SparkTable(frame(), driver_rows=rows)
    assert shoal.learn(table, schema(few), privacy=promise).to_json() == wanted.to_json()


def test_centroids_of_a_far_table(spark, tmp_path):
    options = api.Options(method="mondrian", release="aggregate")
    wanted = api.anonymize(frame(), schema(), privacy=PROMISE, options=options)
    table = api.SparkTable(frame(), driver_rows=10)
    found = api.anonymize(table, schema(), privacy=PROMISE, options=options)
    assert pl.from_arrow(found.table.toArrow()).rows() == wanted.table.rows()
    assert found.report.classes == wanted.report.classes
    assert found.report.utility == wanted.report.utility


def test_modes_of_a_far_table(spark):
    options = api.Options(method="kmodes")
    table = api.SparkTable(frame(), driver_rows=40)
    found = api.anonymize(table, schema(("flat", "tree")), privacy=PROMISE, options=options)
    released = pl.from_arrow(found.table.toArrow())
    assert set(released["tree"].cast(pl.String)) <= set(frame()["tree"])  # no inner node


COUNTS = st.dictionaries(st.integers(0, 9), st.integers(1, 6), min_size=1, max_size=8)


@settings(max_examples=200, deadline=None)
@given(counts=COUNTS, k=st.integers(1, 6))
def test_the_cuts_of_a_block_are_the_naive_ones(counts, k):
    codes = np.array(sorted(counts), dtype=np.int64)
    amounts = np.array([counts[code] for code in codes.tolist()], dtype=np.int64)
    found = [int(amounts[codes < cut].sum()) for cut in median_cuts(codes, amounts, k)]
    part = [((code,), ()) for code, n in counts.items() for _ in range(n)]
    sides = candidates(part, 0, relaxed=False)
    assert found == [len(a) for a, b in sides if len(a) >= k and len(b) >= k]


@pytest.mark.parametrize("rows", [1, 100])
def test_fewer_records_than_k_are_seen_before_any_search(spark, monkeypatch, rows):
    monkeypatch.setattr(SparkJob, "_learned_far", None)
    monkeypatch.setattr(SparkJob, "_learned", None)
    table = api.SparkTable(frame(8), driver_rows=rows)
    job = SparkJob.on(table, schema(FEW), [shoal.KAnonymity(9)], api.Options(method="bfs"))
    with pytest.raises(shoal.ShoalError, match="all 8 records as one class reach 8"):
        job.search()
    job.forget()
