"""Drawn releases as a whole job: what is verified, what is refused, what is said."""

from __future__ import annotations

import json
from datetime import date

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.core.errors import SchemaError, ShoalError, UnsafeReleaseError
from shoal.engines.drawing import cells
from shoal.engines.drawing.drawing import DRAWN


def people(n=600, seed=5):
    rng = np.random.default_rng(seed)
    born = [date(1940, 1, 1).fromordinal(int(d)) for d in rng.integers(708000, 730000, n)]
    return pl.DataFrame(
        {
            "born": [None if i % 40 == 0 else day for i, day in enumerate(born)],
            "age": rng.integers(0, 95, n),
            "fare": np.round(rng.exponential(30, n), 2),
            "zip": [f"{z:05}" for z in rng.integers(0, 400, n)],
            "sex": [[None, "f", "m", "x"][i] for i in rng.integers(0, 4, n)],
            "illness": rng.choice(["flu", "cold", "gout"], n),
        }
    )


WORDS = {
    "qi": ["born", "age", "fare", "zip", "sex"], "categorical": ["zip"], "date": ["born"],
    "sensitive": ["illness"], "k": 5, "method": "bestcut", "release": "draw", "attacks": False,
}  # fmt: skip


def drawn(table, **words):
    asked = {**WORDS, **words}
    for kind in ("categorical", "date"):
        asked[kind] = [name for name in asked[kind] if name in asked["qi"]]
    return shoal.anonymize(table, **asked)


def test_a_drawn_release_keeps_columns_types_records_and_kept_values():
    table = people()
    made = drawn(table)
    assert made.table.schema == table.schema
    assert made.table.height == table.height
    assert sorted(made.table["illness"].to_list()) == sorted(table["illness"].to_list())
    assert made.report.facts["drawn"]["note"] == DRAWN
    assert made.report.warnings[0] == DRAWN
    assert all(verdict.holds for verdict in made.report.privacy)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "jsonl", "arrow"])
def test_files_say_first_that_their_values_are_drawn(tmp_path, ending):
    out = tmp_path / f"out.{ending}"
    drawn(people(), out=str(out))
    about = json.loads((tmp_path / f"out.{ending}-metadata.json").read_text())
    assert next(iter(about.items())) == ("dc:description", DRAWN)
    assert about["url"] == out.name
    assert sorted(p.name for p in tmp_path.iterdir()) == [out.name, f"{out.name}-metadata.json"]


def test_the_same_seed_gives_the_same_bytes_whatever_the_order_of_the_records(tmp_path):
    table = people()
    one, two, three = (tmp_path / f"{i}.csv" for i in range(3))
    drawn(table, out=str(one), seed=7)
    drawn(table.sample(fraction=1, shuffle=True, seed=3), out=str(two), seed=7)
    drawn(table, out=str(three), seed=8)
    assert one.read_bytes() == two.read_bytes() != three.read_bytes()


@pytest.mark.parametrize("words", [
    {"method": "flash", "qi": ["zip", "sex"], "suppression_limit": 0.5, "suppressed": "star"},
    {"method": "mondrian"},
    {"method": "mdav", "qi": ["age", "fare"], "categorical": []},
    {"labels": "round"},
    {"keep_order": True},
    {"l": 2},
    {"k": 600},
])  # fmt: skip
def test_every_way_to_recode_can_be_drawn_from(words):
    made = drawn(people(), **words)
    assert made.table.height == 600
    assert made.table["sex" if "sex" in words.get("qi", ["sex"]) else "age"].n_unique() > 1


@pytest.mark.parametrize("table", [
    people(5), pl.DataFrame({**dict.fromkeys(people(5).columns, [None] * 5), "illness": ["a"] * 5}),
    pl.concat([people(5)] * 9),
])  # fmt: skip
def test_tables_with_little_in_them(table):
    assert drawn(table).table.height == table.height


@pytest.mark.parametrize("table", [people(0), people(1)])
def test_too_few_records_are_refused(table):
    with pytest.raises(ShoalError):
        drawn(table)


def test_a_draw_that_leaves_its_labels_is_not_published(tmp_path, monkeypatch):
    real = cells.Open.of

    def wrong(*given):
        found = real(*given)
        runs = found.runs.copy()
        runs[:] = 0, len(found.texts)  # everything is open to every label
        return cells.Open(found.texts, found.pool, runs)

    monkeypatch.setattr(cells.Open, "of", wrong)
    with pytest.raises(UnsafeReleaseError, match="do not lie in their label"):
        drawn(people(), out=str(tmp_path / "out.csv"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [{"person_file": "who.csv", "person": "zip", "qi": ["age"]}])
def test_what_does_not_go_with_drawn_values_is_refused(words):
    with pytest.raises(SchemaError, match="drawn records are nobody's"):
        drawn(people(), **words)


def test_persons_are_counted_in_marginals_and_classes():
    table = people().with_columns(who=pl.Series([i // 2 for i in range(600)]))
    made = drawn(table, person="who")
    assert "who" not in made.table.columns
    assert made.report.persons == 300


def test_labels_are_attacked_and_the_drawn_file_is_compared_with_people_who_were_not_there():
    made = drawn(people(), attacks=True, fidelity=True)
    about = made.report.facts["drawn"]
    assert made.compared.after.to_document()["records"] == 600
    found = about["reappearing"]
    assert found["members"]["unique"] > 200
    assert found["control"]["unique"] > 200
    assert found["members"]["covered_by_labels"] == 1.0
    assert 0 <= found["control"]["covered_by_labels"] <= 1
    assert found["members"]["linked_by_labels"] <= 1 / 5
    assert made.report.facts["fidelity"]["k_marginal"] > about["marginals_alone"] - 100


def test_the_report_says_it_in_its_first_line(tmp_path):
    made = drawn(people(), out=str(tmp_path / "o.csv"))
    from shoal.cli.render import summary

    assert "DRAWN" in summary(made.report, out="o.csv").splitlines()[0]
    made.report.to_document()
    from shoal.reports.of_release import of_release

    assert of_release(made.report).decision.what[0] == DRAWN
