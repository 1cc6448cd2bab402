"""Every method under every promise on Spark: the same records as the local engine's, and safe.

Counting, recoding and sorting are Spark's work, the search is the same code. So a table is
counted once by both engines, every search runs on what Spark counted, and the releases of all
methods under one promise come back by one job, each of them once.
"""

from __future__ import annotations

import random
from functools import reduce

import polars as pl
import pytest
from tests.engines.open_job import classes_of, open_job, with_question
from tests.laws.test_release_laws import FACTS, KINDS
from tests.naive import release as naive

import shoal
from shoal import api
from shoal.core.errors import MethodError, NoSolutionError
from shoal.engines.base import Output

QUASI = {"q0": "whole", "q1": "tree"}
SPREADS = {
    "k": {},
    "distinct": {"model": "l-diversity", "l": 2, "kind": "distinct"},
    "entropy": {"model": "l-diversity", "l": 2, "kind": "entropy"},
    "recursive": {"model": "l-diversity", "l": 2, "kind": "recursive", "c": 3.0},
    "equal": {"model": "t-closeness", "t": 0.5, "distance": "equal"},
    "ordered": {"model": "t-closeness", "t": 0.5, "distance": "ordered"},
    "chi2": {"model": "t-closeness", "t": 0.6, "distance": "chi2"},
    "hierarchical": {"model": "t-closeness", "t": 0.5, "distance": "hierarchical"},
    "supersets": {"model": "(n,t)-closeness", "n": 12, "t": 0.5, "distance": "equal"},
    "alpha": {"model": "(alpha,k)-anonymity", "k": 3, "alpha": 0.6},
}
METHODS = [(method.name, None) for method in api.methods()] + [("mondrian", "aggregate")]


def promise(name):
    spread = {**SPREADS[name], "column": "s"} if SPREADS[name] else None
    return [{"model": "k-anonymity", "k": 3}, *([spread] if spread else [])]


def schema(name):
    columns = {column: {"role": "quasi", **KINDS[kind][0]} for column, kind in QUASI.items()}
    columns |= {"s": {"role": "sensitive", **KINDS["tree"][0]}, "id": {"role": "neutral"}}
    return shoal.Schema.from_document(
        {"columns": columns, "privacy": promise(name), "waive": ["id"]}
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    chance = random.Random(7)
    rows = []
    for number in range(30):
        row = {column: chance.choice([*KINDS[kind][1], None]) for column, kind in QUASI.items()}
        rows.append({**row, "s": chance.choice(KINDS["tree"][1][:5]), "id": f"n{number % 27}"})
    table = pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))
    table.write_csv(tmp_path_factory.mktemp("methods") / "t.csv")
    return tmp_path_factory.getbasetemp() / "methods0" / "t.csv"


@pytest.fixture(scope="module")
def counted(spark, place):
    """The table as both engines count it, with and without the sensitive column."""
    found = {}
    for name in ("k", "distinct"):
        here = open_job(place, schema(name))
        there = open_job(api.SparkTable(place), schema(name))
        assert (there.counts.table.codes == here.counts.table.codes).all()
        assert (there.counts.table.counts == here.counts.table.counts).all()
        assert (there.counts.table.sensitive == here.counts.table.sensitive).all()
        found[name] = (here, there)
    return found


def ask(job, name, method, release):
    """Return the job with another question."""
    return with_question(job, schema(name), method, release=release)


@pytest.fixture(scope="module")
def seen():
    """The releases that were compared already: methods often agree."""
    return []


@pytest.mark.sampled
@pytest.mark.parametrize("name", SPREADS)
def test_every_method_releases_the_same_records_and_they_hold(counted, seen, name):
    from pyspark.sql import functions as F

    first, second = counted["k" if name == "k" else "distinct"]
    asked, wanted, done = [], [], 0
    for method, release in METHODS:
        here, there = ask(first, name, method, release), ask(second, name, method, release)
        try:
            classes = classes_of(there)
        except (MethodError, NoSolutionError) as error:  # not made for this promise
            with pytest.raises(type(error)):
                classes_of(here)
            continue
        done += 1
        mine = here.records._recoder(classes, Output(out="texts.csv"), star=False)
        rows = pl.concat([chunk.whole() for chunk in mine.chunks()]).cast(pl.String).rows()
        assert broken(rows, name) == 0
        if rows not in seen:
            made = there.records._recoder(classes, star=False).frame()
            asked.append(made.select(F.lit(len(wanted)).alias("at"), "*"))
            wanted.append(rows)
            seen.append(rows)
    assert done >= len(METHODS) - 4
    if not asked:
        return
    made = pl.from_arrow(reduce(lambda a, b: a.union(b), asked).toArrow())
    for number, rows in enumerate(wanted):
        assert made.filter(pl.col("at") == number).drop("at").rows() == rows


def broken(rows, name):
    columns = [*QUASI, "s", "id"]
    facts = {"s": FACTS["tree"], **{column: FACTS[kind] for column, kind in QUASI.items()}}
    texts = [{c: "" if v is None else v for c, v in zip(columns, r, strict=True)} for r in rows]
    return naive.broken(texts, tuple(QUASI), promise(name), columns=facts)
