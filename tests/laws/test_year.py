"""A hospital sample that grows for a year: five releases, judged by code that shares nothing."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.naive import m_invariance as naive

from shoal import api
from shoal.jobs.compose import intersect
from shoal.jobs.requests import ComposeRequest
from shoal.privacy import KAnonymity, LDiversity, MUniqueness
from shoal.samples import hospital
from shoal.schema.schema import Schema

pytestmark = [
    pytest.mark.slow,
    pytest.mark.local("a release over time follows persons in the order of the input"),
]

FIRST, RELEASES, K, M = 2_000, 5, 5, 2
COME, LEAVE, CHANGE = 0.10, 0.05, 0.02
VALUE, LEFT = "diagnosis", ("department", "stay_days", "cost")


@pytest.fixture(scope="module")
def year(tmp_path_factory):
    """Return the table of each quarter, and the schema without columns that link records."""
    files = hospital(tmp_path_factory.mktemp("year") / "stays.csv", 3_500)
    every, chance = pl.read_csv(files.table, infer_schema=False), np.random.default_rng(7)
    tables, begun = [every.head(FIRST)], FIRST
    for _ in range(RELEASES - 1):
        now = tables[-1]
        come = every.slice(begun, round(COME * now.height))
        begun += come.height
        now = now.filter(pl.Series(chance.random(now.height) >= LEAVE))
        other = every[VALUE][chance.integers(0, every.height, now.height)]
        changes = pl.Series(chance.random(now.height) < CHANGE)
        now = now.with_columns(pl.when(changes).then(other).otherwise(VALUE).alias(VALUE))
        tables.append(pl.concat([now, come]))
    schema = Schema.load(files.schema).with_person(["patient_id"])
    kept = tuple(each for each in schema.attributes if each.name not in LEFT)
    return tables, replace(schema, attributes=kept, suppression_limit=0.5)


def released(year, folder, promise, **words):
    """Release every table; return the rows of each release as they were written, and the files."""
    tables, schema = year
    schema = replace(schema, privacy=(KAnonymity(K), promise))
    made, files = [], []
    for number, table in enumerate(tables):
        out, people = folder / f"{number}.csv", folder / f"{number}.people.csv"
        api.anonymize(table, schema, out=out, person_file=people, attacks=False, **words)
        with out.open(newline="") as file, people.open(newline="") as keys:
            rows = list(csv.DictReader(file))
            who = [line[0] or None for line in list(csv.reader(keys))[1:]]
        made.append([{**row, "person": each} for row, each in zip(rows, who, strict=True)])
        files.append((out, str(people)))
    return made, files


def attacked(year, files):
    """Return what `compose` finds of all releases."""
    schema = replace(year[1], privacy=(KAnonymity(K), MUniqueness(M, column=VALUE)))
    outs, people = zip(*files, strict=True)
    asked = ComposeRequest(
        table=year[0][-1], schema=schema, releases=outs, person_files=people,
    )  # fmt: skip
    return intersect(asked)[VALUE]


def test_five_releases_over_a_year_give_nobody_away(year, tmp_path):
    promise = MUniqueness(M, column=VALUE)
    made, files = released(year, tmp_path, promise, after=tmp_path / "series.db")
    quasi = year[1].quasi
    for rows in made:
        assert naive.faults(rows, quasi, VALUE, m=M, k=K) == []
    assert naive.is_invariant(made, quasi, VALUE)
    left = naive.left_over(made, quasi, VALUE)
    assert min(len(values) for values in left.values()) >= M
    ever = {who for table in year[0] for who in table["patient_id"].to_list()}
    assert len(left) > 0.95 * len(ever)  # hardly anybody is held back for good
    last = {row["person"] for row in made[-1]}
    assert len(last) > 0.85 * year[0][-1].height
    found = attacked(year, files)
    assert found.certain == (0, 0)
    assert found.fewest[1] >= M
    assert found.narrowed == 0


def test_without_it_the_intersection_finds_people(year, tmp_path):
    words = {"method": "bestcut"}
    made, files = released(year, tmp_path, LDiversity(M, column=VALUE), **words)
    quasi = year[1].quasi
    assert not naive.is_invariant(made, quasi, VALUE)
    left = naive.left_over(made, quasi, VALUE)
    certain = sum(len(values) == 1 for values in left.values())  # of some, no value is left
    assert certain > 0.2 * len(left)
    found = attacked(year, files)
    assert found.certain == (0, certain)
    assert found.fewest[1] == 0
