"""Tables that change, released again and again: judged by code that shares nothing with shoal."""

from __future__ import annotations

import csv
import io
import random
import tempfile
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import m_invariance as naive

from shoal import api
from shoal.core.errors import NoSolutionError
from shoal.jobs.ledger import releases
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("a release over time follows persons in the order of the input")

QUASI = ("age", "zip", "sex")
ILLS = ["flu", "cold", "gout", "ästhma", "", " flu", "NA"]


def schema_of(labels):
    return Schema.from_document(
        {
            "columns": {
                "who": {"role": "person"},
                "age": {"role": "quasi", "kind": "numeric"},
                "zip": {"role": "quasi", "kind": "categorical", "hierarchy": {"mask": {}}},
                "sex": {"role": "quasi", "kind": "categorical"},
                "ill": "sensitive",
            },
            "missing": ["NA", "-"],
            "suppression_limit": 1.0,
            "labels": labels,
        }
    )


def person(number, chance):
    ages = [None, *range(20, 60)]
    return {
        "who": None if chance.random() < 0.03 else f"p{number}",
        "age": chance.choice(ages),
        "zip": chance.choice(["13", "14", "15", "23", "24", "25", None]),
        "sex": chance.choices(["f", "m", "-", None], [5, 5, 1, 1])[0],
        "ill": chance.choices([*ILLS, None], [6, 5, 4, 2, 1, 1, 1, 1])[0],
    }


def history(chance, steps):
    """Yield a table that grows, shrinks, changes and is shuffled."""
    people = [person(number, chance) for number in range(chance.randrange(8, 70))]
    number = 1000
    for _ in range(steps):
        chance.shuffle(people)
        yield pl.DataFrame(people, schema=dict.fromkeys(("who",), pl.String) | {
            "age": pl.Int64, "zip": pl.String, "sex": pl.String, "ill": pl.String
        })  # fmt: skip
        people = [each for each in people if chance.random() > 0.15]
        for each in people:
            if chance.random() < 0.1:
                each["ill"] = chance.choice(ILLS)
        for _ in range(chance.randrange(15)):
            number += 1
            people.append(person(number, chance))


def cell(text, missing=("", "NA", "-")):
    plain = (text or "").strip()
    return None if plain in missing else plain


def written(release, persons):
    """Return the rows of a release as texts, and who is behind each."""
    table = list(csv.DictReader(io.StringIO(release.read_text(encoding="utf-8"))))
    lines = persons.read_text(encoding="utf-8").splitlines()[1:]
    assert len(lines) == len(table)
    people = [next(csv.reader([line]))[0] or None for line in lines]
    return [
        {**row, "ill": cell(row["ill"]), "person": who}
        for row, who in zip(table, people, strict=True)
    ]


def released(table, folder, step, schema, **words):
    out, people = folder / f"{step}.csv", folder / f"{step}.p.csv"
    false, by_class = folder / f"{step}.f.csv", folder / f"{step}.c.csv"
    done = api.anonymize(
        table, schema, out=out, person_file=people, false_records=false,
        counterfeit_table=by_class, after=folder / "l.db", **words,
    )  # fmt: skip
    return done.report, written(out, people), pl.read_csv(false), pl.read_csv(by_class)


def check_nothing_is_lost(table, report, rows, false, by_class):
    facts = report.facts["over_time"]
    assert report.records == table.height
    assert report.released + sum(facts["held_back"].values()) == table.height
    assert report.suppressed == sum(facts["held_back"].values())
    marked = [row for place, row in enumerate(rows, 1) if place in set(false["false_row"])]
    assert all(row["person"] is None for row in marked)
    assert len(marked) == facts["counterfeits"] == len(rows) - report.released
    declared = Counter(tuple(map(str, row[:-1])) for row in by_class.rows() for _ in range(row[-1]))
    assert sum(declared.values()) == facts["counterfeits"]
    known = {
        (who, cell(ill)) for who, ill in table.select("who", "ill").iter_rows() if who is not None
    }
    assert {(row["person"], row["ill"]) for row in rows if row["person"]} <= known


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    m=st.integers(2, 3),
    k=st.integers(1, 4),
    fake=st.sampled_from(["fill", "none"]),
    labels=st.sampled_from(["tight", "round"]),
)
def test_everybody_keeps_their_signature(seed, m, k, fake, labels):
    chance = random.Random(seed)
    words = {"k": k, "m": m, "counterfeits": fake}
    made = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for step, table in enumerate(history(chance, 3)):
            try:
                found = released(table, folder, step, schema_of(labels), **words)
            except NoSolutionError:
                assert not (folder / f"{step}.csv").exists()
                continue
            report, rows, false, by_class = found
            assert naive.faults(rows, QUASI, "ill", m=m, k=k) == []
            check_nothing_is_lost(table, report, rows, false, by_class)
            assert fake == "fill" or not false.height
            made.append(rows)
        assert naive.is_invariant(made, QUASI, "ill")
        left = naive.left_over(made, QUASI, "ill")
        assert all(len(values) >= m for values in left.values())
        if made:
            assert len(releases(folder / "l.db")) == len(made)


@pytest.mark.parametrize("seed", range(3))
def test_the_same_seed_gives_the_same_bytes_whatever_the_ledger_and_the_order(seed, tmp_path):
    schema = schema_of("tight")
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        for step, table in enumerate(history(random.Random(seed), 2)):
            turned = table if name == "one" else table.reverse()
            released(turned, tmp_path / name, step, schema, k=2, m=2, seed=4)
    for ending in ("csv", "p.csv", "f.csv", "c.csv"):
        for step in range(2):
            one, other = (tmp_path / n / f"{step}.{ending}" for n in ("one", "other"))
            assert one.read_bytes() == other.read_bytes()
