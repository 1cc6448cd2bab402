"""Parts of tables that stay on Spark: the same classes and records as where they are at hand."""

from __future__ import annotations

import pickle
from functools import reduce

import numpy as np
import polars as pl
import pytest
from tests.engines.open_job import classes_of, open_job, recoding_of, with_question
from tests.engines.spark.tables import PROMISE, frame
from tests.engines.spark.tables import counted as small
from tests.engines.spark.tables import schema as wide
from tests.engines.spark.tasks import shuffled
from tests.engines.spark.test_methods import SPREADS, broken, place, schema

import shoal
from shoal import api
from shoal.core.errors import MethodError, NoSolutionError
from shoal.engines.base import Output
from shoal.engines.counts import ClassesHere
from shoal.engines.spark.chunks import PART, ROWS, chunk_arrays, chunk_of
from shoal.engines.spark.coding import Packing
from shoal.engines.spark.distributed import LABELS, ClassHistograms
from shoal.engines.spark.distributed_partitions import (
    PARTITION_ROWS,
    GroupClasses,
    _joined_histograms,
    _learner,
    _sender,
    partitions_for,
)
from shoal.engines.spark.dividing import RandomDraw
from shoal.engines.spark.partitions import LearningTask
from shoal.jobs.account import Judged, account
from shoal.methods.catalogue import Mondrian
from shoal.methods.method import Setting

__all__ = ["place"]  # the fixture

METHODS = ("mondrian", "kmember", "oka", "mdav", "refine", "bestcut", "flash")
RELEASED = ("oka", "mdav", "flash")  # methods whose records themselves are compared


@pytest.fixture(scope="module")
def counted(spark, place):
    """The table as both engines count it; on Spark it stays where it is."""
    found = {}
    for name in ("k", "distinct"):
        here = open_job(place, schema(name))
        there = open_job(api.SparkTable(place, driver_rows=5), schema(name))
        assert there.counts.is_distributed
        found[name] = (here, there)
    return found


def ask(job, name, method):
    own = {"effort": "fast"} if method == "refine" else {}
    return with_question(
        job, schema(name), method, own, partitions=2, partition_by="random", seed=2
    )


def classes(recoding):
    """Return what each class releases, and to how many."""
    labels = [recoding.labels(j) for j in range(recoding.low.shape[1])]
    return [*zip(*labels, recoding.sizes.tolist(), strict=True)]


@pytest.mark.sampled
@pytest.mark.parametrize("name", SPREADS)
def test_methods_find_the_same_classes_in_parts_and_they_hold(counted, name):
    from pyspark.sql import functions as F

    first, second = counted["k" if name == "k" else "distinct"]
    asked, wanted = [], []
    for method in METHODS:
        here, there = ask(first, name, method), ask(second, name, method)
        try:
            recoding = recoding_of(here)
        except (MethodError, NoSolutionError) as error:  # not made for this promise
            with pytest.raises(type(error)):
                classes_of(there)
            continue
        parted = classes_of(there)
        found = parted.recoding
        assert classes(found) == classes(recoding)
        assert found.suppressed == recoding.suppressed
        assert found.facts == recoding.facts
        mine = here.records._recoder(ClassesHere(recoding), Output(out="texts.csv"), star=False)
        rows = pl.concat([chunk.whole() for chunk in mine.chunks()]).cast(pl.String).rows()
        assert broken(rows, name) == 0
        if name == "distinct" and method in RELEASED:
            made = there.records._recoder(parted, star=False).frame()
            asked.append(made.select(F.lit(len(wanted)).alias("at"), "*"))
            wanted.append(rows)
        else:
            for kept in parted.found.persisted:
                kept.unpersist()
    if not asked:
        return
    assert len(asked) == len(RELEASED)
    made = pl.from_arrow(reduce(lambda a, b: a.union(b), asked).toArrow())
    for number, rows in enumerate(wanted):
        assert made.filter(pl.col("at") == number).drop("at").rows() == rows


@pytest.fixture(scope="module")
def far(spark):
    return open_job(api.SparkTable(frame(), driver_rows=60), wide(), PROMISE)


def test_parts_are_chosen_where_nobody_says_how_many(far, monkeypatch):
    from shoal.engines.spark import recode

    asked = far.request.schema
    job = with_question(far, asked, "mondrian-relaxed", partition_by="random")
    search, found = job.search(learns=True)
    assert 1 < found.recoding.facts["partitions"] <= 4
    rows = [released(job, found)]
    monkeypatch.setattr(recode, "LARGE", 0)  # large classes are sorted by Spark
    rows.append(released(job, found))
    assert rows[0] == rows[1]
    assert len(rows[0]) == 240
    sizes = found.recoding.sizes
    report = account(job, search, found, Judged((), len(sizes), int(sizes.min())))
    assert "4 parts" in report.notices[0]
    assert report.records == 240
    job.counts.close()


def released(job, classes):
    made = job.records._recoder(classes, star=False).frame()
    return pl.from_arrow(made.toArrow()).rows()


def test_parts_that_do_not_exist_are_refused(far):
    for options in ({"partitions": 0}, {"partitions": 2, "partition_by": "luck"}):
        with pytest.raises(MethodError, match="--partition"):
            api.learn(far.request.table, far.request.schema, **options)


def test_what_all_parts_together_do_not_keep_is_said(spark):
    table = pl.DataFrame({"flat": ["a", "b"] * 20, "s": ["x"] * 39 + ["y"]})
    asked = shoal.Schema.from_document({"columns": {"flat": "quasi", "s": "sensitive"}})
    there = api.SparkTable(table, driver_rows=1)
    options = {"method": "flash", "partitions": 2, "partition_by": "random"}
    with pytest.raises(NoSolutionError, match="l-diversity"):
        api.anonymize(there, asked, privacy=[shoal.LDiversity(3)], **options)


def test_a_table_has_as_many_partitions_as_the_driver_needs():
    assert partitions_for(0, 10) == 1
    assert partitions_for(10, 10) == 1
    assert partitions_for(11, 10) == 2
    assert partitions_for(10, 0) == 10
    assert partitions_for(3 * PARTITION_ROWS, 10**9) == 3


def group(part, label):
    codes, counts = np.zeros((2, 1), dtype=np.int32), np.arange(1, 3)
    found = ClassHistograms(np.array(label), codes, counts)
    return GroupClasses(part, codes, codes, None, found, False, {})


def test_classes_of_groups_are_numbered_one_group_after_the_other():
    found = _joined_histograms([group(0, [0, 1]), group(3, [-1, 1])], [0, 2, 4])
    assert found.label.tolist() == [0, 1, -1, 3]
    assert found.counts.tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize("must_hold", [True, False])
def test_a_task_sends_keys_with_their_classes_and_then_the_classes(must_hold):
    table = small()
    packing = Packing(tuple(len(d) for d in (*table.domains, *table.sensitive_domains)))
    rows = np.concatenate((table.codes, table.sensitive), axis=1)
    chunk = chunk_of({**packing.named(packing.pack(rows)), ROWS: table.counts})
    divider = RandomDraw(2, seed=1)
    task = LearningTask(
        domains=table.domains, sensitive_domains=table.sensitive_domains,
        whole=tuple(table.reference(s) for s in range(len(table.sensitive_domains))),
        models=(shoal.KAnonymity(3),), method=Mondrian(), setting=Setting(),
    )  # fmt: skip
    sent = shuffled(_sender(packing, divider, {0: 0, 1: 1})(iter([chunk])))
    records = 0
    for part, batches in sorted(sent.items()):
        *keyed, last = _learner(task, packing, 10, must_hold=must_hold)(iter(batches))
        histograms, found = pickle.loads(last.column("found")[0].as_py())
        labels = np.concatenate([each for b in keyed for (each,) in chunk_arrays(b, [LABELS])])
        counts = np.concatenate([each for b in keyed for (each,) in chunk_arrays(b, [ROWS])])
        assert found.part == last.column("part")[0].as_py() == 10 + part
        assert (
            np.bincount(labels, counts).tolist()
            == np.bincount(found.histograms.label, found.histograms.counts).tolist()
        )
        assert len(found.low) == labels.max() + 1
        assert [h.sum() for h in histograms] == [counts.sum()] * len(table.domains)
        records += counts.sum()
    assert records == table.records


def test_a_partition_that_does_not_hold_by_itself_has_no_classes():
    table = small()
    packing = Packing(tuple(len(d) for d in (*table.domains, *table.sensitive_domains)))
    rows = np.concatenate((table.codes, table.sensitive), axis=1)[:1]
    chunk = chunk_of({PART: np.int32(0), **packing.named(packing.pack(rows)),
                      ROWS: table.counts[:1]})  # fmt: skip
    task = LearningTask(
        domains=table.domains, sensitive_domains=table.sensitive_domains,
        whole=tuple(table.reference(s) for s in range(len(table.sensitive_domains))),
        models=(shoal.KAnonymity(1000),), method=Mondrian(), setting=Setting(),
    )  # fmt: skip
    (only,) = _learner(task, packing, 0, must_hold=True)(iter([chunk]))
    histograms, found = pickle.loads(only.column("found")[0].as_py())
    assert found is None
    assert all(histogram.sum() == table.counts[0] for histogram in histograms)
