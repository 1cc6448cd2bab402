"""Releases of centroids: typed where the goal has types, verified, and carried by models."""

from __future__ import annotations

import json
import random

import polars as pl
import pytest
from tests.on_spark import ARROW, read_parquet

import shoal
from shoal import api
from shoal.core.errors import MethodError
from shoal.schema.schema import Schema

SCHEMA = Schema.from_document(
    {
        "columns": {
            "age": {"role": "quasi", "kind": "numeric"},
            "job": {"role": "quasi", "kind": "categorical", "hierarchy": {"tree": {
                "*": {"hand": ["smith", "baker"], "head": ["judge", "clerk"]}}}},
            "ill": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 4}],
    }
)  # fmt: skip


def people(records=80):
    chance = random.Random(4)
    jobs = ["smith", "baker", "judge", "clerk"]
    return pl.DataFrame(
        {
            "age": [chance.randint(18, 80) for _ in range(records)],
            "job": [chance.choice(jobs) for _ in range(records)],
            "ill": [chance.choice(["flu", "cold"]) for _ in range(records)],
        }
    )


@pytest.mark.parametrize("method", ["mdav", "sa-mondrian", "mondrian", "refine"])
def test_a_frame_gets_numbers_back(method):
    options = {"method": method, "release": "aggregate", "seed": 1}
    made = api.anonymize(people(), SCHEMA, **options)
    assert made.table.schema["age"] == pl.Float64
    assert made.table["age"].mean() == pytest.approx(people()["age"].mean(), abs=0.01)
    assert set(made.table["job"].cast(pl.String)) <= {"smith", "baker", "judge", "clerk", "hand",
                                                      "head", "*"}  # fmt: skip
    assert made.table.group_by("age", "job").len()["len"].min() >= 4
    assert 0 < made.report.utility["sse_loss"] < 100


FIVE = Schema.from_document(
    {
        "columns": {"job": {"role": "quasi", "kind": "categorical", "hierarchy": {"tree": {
            "*": {"craft": ["smith", "baker", "joiner", "cook", "tailor"], "head": ["judge"]}}}}},
        "privacy": [{"model": "k-anonymity", "k": 6}],
    }
)  # fmt: skip


@pytest.mark.parametrize("method", ["mdav-generic", "kmodes"])
def test_mdav_generic_and_kmodes_release_the_mode(method):
    crafts = pl.DataFrame({"job": ["smith", "baker", "joiner", "cook", "tailor", "cook"]})
    made = api.anonymize(crafts, FIVE, method=method)
    assert set(made.table["job"]) == {"cook"}  # the semantic centroid is craft
    other = api.anonymize(crafts, FIVE, method="s-mdav")
    assert set(other.table["job"]) == {"craft"}


@pytest.mark.parametrize("ending", ["parquet", ARROW, "jsonl"])
def test_files_of_every_kind_hold_the_same_centroids(tmp_path, ending):
    options = {"method": "mdav"}
    for each in ("csv", ending):
        api.anonymize(people(), SCHEMA, out=tmp_path / f"o.{each}", **options)
        assert api.verify(tmp_path / f"o.{each}", SCHEMA).holds
    reader = {"parquet": read_parquet, "arrow": pl.read_ipc, "jsonl": pl.read_ndjson}[ending]
    typed = reader(tmp_path / f"o.{ending}")
    assert ending == "jsonl" or typed.schema["age"] == pl.Float64
    plain = pl.read_csv(tmp_path / "o.csv")
    assert typed["age"].cast(pl.Float64).to_list() == plain["age"].cast(pl.Float64).to_list()
    assert typed["job"].cast(pl.String).to_list() == plain["job"].to_list()


def test_suppressed_records_as_stars_need_texts():
    rare = pl.concat([people(), people(3).with_columns(pl.lit("rash").alias("ill"))])
    models = [shoal.KAnonymity(3), shoal.AlphaKAnonymity(alpha=0.7, k=3, column="ill")]
    options = {"method": "mdav", "suppressed": "star"}
    schema = Schema.from_document({**SCHEMA.to_document(), "suppression_limit": 1.0})
    made = api.anonymize(rare, schema, privacy=models, **options, replace_promise=True)
    assert made.report.released == rare.height
    if made.report.suppressed:
        assert made.table.schema["age"] != pl.Float64


def test_a_model_carries_centroids():
    model = shoal.learn(people(400), SCHEMA, method="sa-mondrian")
    encoded = shoal.encode(people(400), model, safe=True).table
    direct = api.anonymize(people(400), SCHEMA, method="sa-mondrian").table
    known = set(direct.select(pl.col("age").cast(pl.Float64), pl.col("job").cast(pl.String)).rows())
    texts = encoded.select(pl.col("age").cast(pl.String).cast(pl.Float64),
                           pl.col("job").cast(pl.String))  # fmt: skip
    assert set(texts.rows()) <= known
    assert api.verify(encoded, SCHEMA).holds


def test_unknown_ways_to_release_are_refused():
    with pytest.raises(MethodError, match="--release"):
        api.anonymize(people(), SCHEMA, release="blur")


@pytest.mark.local("attacks")
def test_an_attacker_takes_the_nearest_centroid(tmp_path):
    people().write_csv(tmp_path / "t.csv")
    api.anonymize(people(), SCHEMA, out=tmp_path / "o.csv", method="mdav")
    links = []
    for centroids in (False, True):
        found = api.attack(tmp_path / "t.csv", tmp_path / "o.csv", SCHEMA, everything=True,
                           centroids=centroids)  # fmt: skip
        links.append(next(each for each in found if each.to_document()["attack"] == "linkage"))
    blind, near = links
    assert blind.after.success < near.after.success <= 1 / 4 + 1e-9
    assert near.after.success > 0.1


def test_the_summary_speaks_of_the_squared_error(run, tmp_path):
    people().write_csv(tmp_path / "t.csv")
    answer = run("anonymize", tmp_path / "t.csv", "--qi", "age,job", "--sensitive", "ill", "-k", 4,
                 "--method", "mdav", "--out", tmp_path / "o.csv")  # fmt: skip
    assert answer.code == 0, answer
    assert "of the variation" in answer.out


@pytest.mark.local("attacks and the comparison of risks after a release")
def test_the_summary_compares_centroids_with_the_table(run, tmp_path):
    people().write_csv(tmp_path / "t.csv")
    answer = run("anonymize", tmp_path / "t.csv", "--qi", "age,job", "--sensitive", "ill", "-k", 4,
                 "--method", "mdav", "--out", tmp_path / "o.csv")  # fmt: skip
    assert answer.code == 0, answer
    assert "prosecutor, highest" in answer.out
    assert "linkage" in answer.out


def test_persist_can_be_reached(tmp_path, run):
    place = tmp_path / "t.csv"
    place.write_text("n\n" + "\n".join(["1", "2", "3", "4", "5", "6", "100"]) + "\n")
    made = {}
    for flag in ("--persist", "--no-persist"):
        answer = run("anonymize", place, "--qi", "n", "--numeric", "n", "-k", 2, "--method",
                     "sa-mondrian", flag, "--out", tmp_path / "o.csv", "--no-attacks",
                     "--json")  # fmt: skip
        assert answer.code == 0, answer.err
        made[flag] = json.loads(answer.out)["classes"]
    # The widest gap leaves one record alone: only who persists cuts elsewhere.
    assert made == {"--persist": 3, "--no-persist": 1}
    refused = run("anonymize", place, "--qi", "n", "-k", 2, "--method", "mdav", "--no-persist",
                  "--out", tmp_path / "p.csv")  # fmt: skip
    assert refused.code == 2
    assert "--persist" in refused.err
