"""Parts of tables that stay on Spark: the same classes and records as where they are at hand."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.spark.tables import PROMISE, frame
from tests.engines.spark.tables import schema as wide
from tests.engines.spark.test_methods import SPREADS, broken, place, schema

import shoal
from shoal import api
from shoal.core.errors import InputError, MethodError, NoSolutionError
from shoal.engines.local.recode import Recoder
from shoal.engines.spark.arrange import PLACES, dealt
from shoal.engines.spark.dividing import nearest
from shoal.engines.spark.piles import ROWS
from shoal.pipeline import Job, Options, fit
from shoal.spark import SparkJob

__all__ = ["place"]  # the fixture

METHODS = ("mondrian", "kmember", "oka", "mdav", "refine", "bestcut", "flash")
RELEASED = ("oka", "mdav", "flash")  # methods whose records themselves are compared


@pytest.fixture(scope="module")
def counted(spark, place):
    """The table as both engines count it; on Spark it stays where it is."""
    found = {}
    for name in ("k", "distinct"):
        here = Job.open(place, schema(name), None, api.Options())
        there = SparkJob.on(api.SparkTable(place, driver_rows=5), schema(name), None, api.Options())
        assert there.far is not None
        found[name] = (here, there)
    return found


def ask(job, name, method):
    fitted, models, _ = fit(schema(name), None, job.source.columns, where="t", options=Options())
    options = api.Options(
        method=method, partitions=2, partition_by="random", seed=2, search={"effort": 1}
    )
    return replace(job, schema=fitted, models=tuple(models), options=options)


def classes(recoding):
    """Return what each class releases, and to how many."""
    labels = [recoding.labels(j) for j in range(recoding.low.shape[1])]
    return [*zip(*labels, recoding.sizes.tolist(), strict=True)]


@pytest.mark.parametrize("name", SPREADS)
def test_methods_find_the_same_classes_in_parts_and_they_hold(counted, name):
    from pyspark.sql import functions as F

    first, second = counted["k" if name == "k" else "distinct"]
    asked, wanted = [], []
    for method in METHODS:
        here, there = ask(first, name, method), ask(second, name, method)
        try:
            recoding = here.search()
        except (MethodError, NoSolutionError) as error:  # not made for this promise
            with pytest.raises(type(error)):
                there.search()
            continue
        found = there.search()
        assert classes(found) == classes(recoding)
        assert found.suppressed == recoding.suppressed
        assert found.facts == recoding.facts
        mine = Recoder(here.source, here.lazy, here.schema, here.counted, recoding)
        rows = pl.concat([part.whole() for part in mine.parts()]).cast(pl.String).rows()
        assert broken(rows, name) == 0
        if name == "distinct" and method in RELEASED:
            made = there.recoder(found).frame()
            asked.append(made.select(F.lit(len(wanted)).alias("at"), "*"))
            wanted.append(rows)
        else:
            for kept in there.found.kept:
                kept.unpersist()
    if not asked:
        return
    assert len(asked) == len(RELEASED)
    made = pl.from_arrow(reduce(lambda a, b: a.union(b), asked).toArrow())
    for number, rows in enumerate(wanted):
        assert made.filter(pl.col("at") == number).drop("at").rows() == rows


@pytest.fixture(scope="module")
def far(spark):
    return SparkJob.on(api.SparkTable(frame(), driver_rows=60), wide(), PROMISE, api.Options())


def test_parts_are_chosen_where_nobody_says_how_many(far, monkeypatch):
    from shoal.engines.spark import recode

    job = replace(far, options=api.Options(method="mondrian-relaxed", partition_by="random"))
    found = job.search()
    assert 1 < found.facts["partitions"] <= 4
    rows = [pl.from_arrow(job.recoder(found).frame().toArrow()).rows()]
    monkeypatch.setattr(recode, "LARGE", 0)  # large classes are sorted by Spark
    rows.append(pl.from_arrow(job.recoder(found).frame().toArrow()).rows())
    assert rows[0] == rows[1]
    assert len(rows[0]) == 240
    report = job.report(found, None)
    assert "4 parts" in report.notices[0]
    assert report.records == 240
    job.forget()


def test_parts_that_do_not_exist_are_refused(far):
    for options in (api.Options(partitions=0), api.Options(partitions=2, partition_by="luck")):
        with pytest.raises(MethodError, match="--partition"):
            replace(far, options=options).search()


def test_what_all_parts_together_do_not_keep_is_said(spark):
    table = pl.DataFrame({"flat": ["a", "b"] * 20, "s": ["x"] * 39 + ["y"]})
    asked = shoal.Schema.from_document({"columns": {"flat": "quasi", "s": "sensitive"}})
    there = api.SparkTable(table, driver_rows=1)
    options = api.Options(method="flash", partitions=2, partition_by="random")
    with pytest.raises(NoSolutionError, match="l-diversity"):
        api.anonymize(there, asked, privacy=[shoal.LDiversity(3)], options=options)


@settings(max_examples=60, deadline=None)
@given(
    pieces=st.lists(
        st.tuples(st.integers(0, 3), st.integers(-1, 4), st.integers(1, 3)), min_size=1
    ),
    salt=st.integers(0, 5),
)
def test_records_are_dealt_out_by_their_own_values(pieces, salt):
    known = pl.DataFrame(pieces, schema=["key0", PLACES, ROWS], orient="row")
    records = [key for key, _, n in pieces for _ in range(n)]
    table = pl.DataFrame({"key0": records, "id": [f"{i * 7919 % 5}" for i in range(len(records))]})
    found = {}
    for seed in (salt, salt + 1):  # in any order, records of the same values go to the same classes
        mixed = table.sample(fraction=1, shuffle=True, seed=seed)
        label = dealt(mixed.to_arrow(), known.sort("key0", PLACES), ["key0"], ["id"])
        found[seed] = sorted(zip(*mixed.get_columns(), label.tolist(), strict=True))
        counted = mixed.with_columns(pl.Series(PLACES, label)).group_by("key0", PLACES).len()
        wanted = known.group_by("key0", PLACES).agg(pl.col(ROWS).sum())
        assert sorted(counted.rows()) == sorted(wanted.rows())
    assert found[salt] == found[salt + 1]
    more = pl.concat([table, table.head(1)])
    with pytest.raises(InputError, match="change"):
        dealt(more.to_arrow(), known.sort("key0", PLACES), ["key0"], ["id"])


def test_a_point_has_the_same_centre_whoever_stands_beside_it():
    chance = np.random.default_rng(5)
    points, centres = chance.integers(0, 9, (500, 6)) / 8, chance.integers(0, 9, (7, 6)) / 8
    whole = nearest(points, centres)
    assert [int(nearest(points[i : i + 1], centres)[0]) for i in range(500)] == whole.tolist()
    away = ((points[:, None] - centres) ** 2).sum(axis=2)
    assert (away[np.arange(500), whole] <= away.min(axis=1) + 1e-12).all()
