"""Measuring a release from what is written in it."""

from __future__ import annotations

import json
import random

import polars as pl
import pytest

import shoal
from shoal import api
from shoal.cli.render import measures

COLUMNS = {
    "age": {"role": "quasi", "kind": "numeric"},
    "zip": {"role": "quasi", "kind": "categorical"},
    "dx": "sensitive",
}
SCHEMA = shoal.Schema.from_document(
    {"columns": COLUMNS, "privacy": [{"model": "k-anonymity", "k": 5},
                                     {"model": "l-diversity", "l": 2}]}
)  # fmt: skip


def people(records=400, seed=1, *, zips="abcdef"):
    chance = random.Random(seed)
    return pl.DataFrame(
        [(chance.randrange(20, 60), chance.choice(zips), chance.choice(["flu", "cold", "cough"]))
         for _ in range(records)], schema=["age", "zip", "dx"], orient="row",
    )  # fmt: skip


@pytest.fixture(scope="module")
def learned():
    return shoal.learn(people(), SCHEMA)


@pytest.mark.parametrize("safe", [False, True], ids=["plain", "safe"])
@pytest.mark.parametrize("suppressed", [None, "star", "remove"])
def test_metrics_counts_suppressed_records_as_encode_does(tmp_path, run, learned, safe, suppressed):
    batch = people(500, 2, zips="abcdefgh")  # some that the model has never seen
    batch.write_csv(tmp_path / "t.csv")
    (tmp_path / "m.json").write_text(learned.to_json())
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA.to_document()))
    flags = ["--safe"] * safe + (["--suppressed", suppressed] if suppressed else [])
    out = tmp_path / "o.csv"
    encoded = run("encode", tmp_path / "m.json", tmp_path / "t.csv", "--out", out, "--json", *flags)
    told = json.loads(encoded.out)
    assert told["suppressed"] > 0
    asked = ("metrics", tmp_path / "t.csv", out, "--schema", tmp_path / "s.json")
    found = json.loads(run(*asked, "--json").out)
    for name in ("records", "released", "suppressed"):
        assert found[name] == told[name], name
    starred = suppressed == "star" or (suppressed is None and not safe)
    assert bool(found["notices"]) == starred
    text = run(*asked).out
    assert f"{told['suppressed']:,} suppressed" in text
    assert ("count as suppressed" in text) == starred


def test_all_root_records_are_a_class_where_that_is_said(learned):
    batch = people(500, 2, zips="abcdefgh")
    done = api.encode(batch, learned)
    one = api.metrics(batch, done.table, SCHEMA, starred=True)
    assert one["suppressed"] == done.report.suppressed
    assert one["notices"] == []
    other = api.metrics(batch, done.table, SCHEMA, starred=False)
    assert other["suppressed"] == 0
    assert other["classes"] == one["classes"] + 1


def test_metrics_works_out_usefulness_and_protection():
    made = shoal.anonymize(people(), SCHEMA, method="mondrian")
    told, found = made.report.utility, api.metrics(people(), made.table, SCHEMA)["utility"]
    assert found["protection"] == pytest.approx(told["protection"])
    assert found["usefulness"] >= told["usefulness"] - 1e-9
    numbers = shoal.Schema.from_document(
        {"columns": {"age": {"role": "quasi", "kind": "numeric"}, "zip": "identifying",
                     "dx": "sensitive"}, "privacy": [{"model": "k-anonymity", "k": 5}]}
    )  # fmt: skip
    made = shoal.anonymize(people(), numbers, method="mondrian", labels="tight")
    exact = api.metrics(people(), made.table, numbers)["utility"]
    assert exact["usefulness"] == pytest.approx(made.report.utility["usefulness"])


def test_a_measure_that_is_not_known_says_why_in_words(tmp_path, run):
    table = people()
    table.write_csv(tmp_path / "t.csv")
    flags = ("--qi", "age,zip", "--numeric", "age")
    run("anonymize", tmp_path / "t.csv", *flags, "-k", 5, "--out", tmp_path / "o.csv", "--quiet")
    asked = ("metrics", tmp_path / "t.csv", tmp_path / "o.csv", *flags)
    document = json.loads(run(*asked, "--json").out)
    unknown = [name for name, value in document["utility"].items() if value is None]
    assert unknown == ["cm", "protection", "sse_loss"]
    assert all(document["notes"][name] for name in unknown)
    text = run(*asked).out
    assert "not known (needs the sensitive columns (--sensitive)" in text
    assert "usefulness" in text
    assert all("(" in line for line in text.splitlines() if "not known" in line)


def test_sensitive_values_that_the_original_does_not_hold_leave_protection_open():
    made = shoal.anonymize(people(), SCHEMA).table
    changed = made.with_columns(pl.lit("new").alias("dx"))
    assert api.metrics(people(), changed, SCHEMA)["utility"]["protection"] is None


def test_infinite_protection_is_a_word():
    table = pl.DataFrame({"age": [1] * 4 + [2] * 4, "cost": [7] * 4 + [1, 2, 3, 4]})
    schema = shoal.Schema.from_document(
        {"columns": {"age": {"role": "quasi", "kind": "numeric"},
                     "cost": {"role": "sensitive", "kind": "numeric"}}}
    )  # fmt: skip
    found = api.metrics(table, table, schema)
    assert found["utility"]["protection"] == "infinite"
    assert "infinite" in measures(found)
