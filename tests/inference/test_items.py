"""Which columns hold sets: told from addresses, names, numbers and prose."""

from __future__ import annotations

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.jobs.test_transactions import MIXED, shop

import shoal
from shoal.cli.main import main
from shoal.inference.items import SEPARATORS, propose_sets, set_form
from shoal.schema.schema import Kind, Role

pytestmark = pytest.mark.local("columns of sets")

ROWS = [cell.split("|") for cell in shop(200)["items"].unique().sort() if cell]


def written(rows, separator):
    return [json.dumps(row) if separator == "json" else separator.join(row) for row in rows]


@pytest.mark.parametrize("separator", SEPARATORS)
def test_every_way_to_write_a_set_is_found(separator):
    found = set_form(written(ROWS, separator))
    assert found is not None
    assert found.separator == separator
    assert found.items == len({item for row in ROWS for item in row})
    assert found.mean == pytest.approx(sum(map(len, ROWS)) / len(ROWS))


@pytest.mark.parametrize(
    "cells",
    [
        ["Rome, Italy", "Pisa, Italy", "Bonn, Germany", "Kiel, Germany"] * 4,
        [f"{n}, Long Street, Town {n % 3}, Land" for n in range(40)],
        [f"Doe, {name}" for name in ["Ann", "Bob", "Cy", "Dan", "Eve", "Fay", "Gus", "Hal"]],
        [f"{n:,}" for n in range(1_000_000, 1_300_000, 7_001)],
        [f"{n},{n + 1},{n + 2}" for n in range(30)],
        ["the cat, black", "a dog, brown, sat; then left", "so, it is said, and done"] * 5,
        [f"2026-01-{n:02}" for n in range(1, 29)],
        [f"[{n}, {n + 1}]" for n in range(30)],
        [f"({n}, a)" for n in range(30)],
        ["a|b", "b|a", "a"],
        ["a", "b", "c", "d"] * 5,
        ["a||b", "b||a", "||", "a|b|c", "b|c", "c|a", "a|c|b", "b", "c"],
        ["", " "] * 10,
        [],
        [json.dumps({"a": n}) for n in range(20)],
        [json.dumps([n, n + 1]) for n in range(20)],
    ],
)
def test_what_holds_no_sets_is_not_taken_for_one(cells):
    assert set_form(cells) is None


def test_the_same_item_twice_in_many_cells_is_no_set():
    cells = ["a|a|b", "b|a|b", "a|b", "c|c", "b|c|c", "c|a|c|a", "a|c", "b|b", "c|b|b"]
    assert set_form(cells) is None


@settings(max_examples=60)
@given(st.lists(st.text(alphabet='ab,;|[]" ', max_size=12), max_size=30))
def test_any_text_is_judged_without_a_fault(cells):
    found = set_form(cells)
    if found is not None:
        assert found.separator in SEPARATORS
        assert found.items > 0
        assert found.mean > 1


def test_the_proposed_schema_releases_the_table():
    found = shoal.infer(MIXED)
    assert found.verdicts["items"].kind is Kind.SET
    assert found.verdicts["items"].role is Role.QUASI
    assert found.schema.sets == ("items",)
    assert found.schema.attribute("age").kind is Kind.NUMERIC
    release = shoal.anonymize(MIXED, found.schema)
    assert release.report.smallest_class >= 5
    assert shoal.verify(release.table, found.schema).holds


def test_a_separator_that_is_not_the_usual_one_is_written_into_the_schema():
    table = pl.DataFrame({"items": [";".join(row) for row in ROWS], "n": [1, 2] * (len(ROWS) // 2)
                          + [1] * (len(ROWS) % 2)})  # fmt: skip
    found = shoal.infer(table)
    entry = found.schema_document()["columns"]["items"]
    assert entry == {"role": "quasi", "kind": "set", "set_sep": ";"}
    assert "set_sep" in found.schema_text()
    usual = shoal.infer(pl.DataFrame({"items": written(ROWS, "|")}))
    assert "set_sep" not in usual.schema_document()["columns"]["items"]


def test_of_two_columns_the_one_with_more_items_is_recoded_as_sets():
    few = [[item for item in row if item < "i08"] or ["i00"] for row in ROWS]
    table = pl.DataFrame({"few": written(few, "|"), "many": written(ROWS, "|")})
    found = shoal.infer(table)
    assert found.schema.sets == ("many",)
    assert found.verdicts["few"].kind is Kind.CATEGORICAL


def test_what_hides_people_stays_identifying():
    mails = [[f"{item}@example.org" for item in row] for row in ROWS]
    found = shoal.infer(pl.DataFrame({"contacts": written(mails, ";")}))
    assert found.verdicts["contacts"].role is Role.IDENTIFYING
    assert found.verdicts["contacts"].kind is not Kind.SET


def test_no_item_is_told(tmp_path, capsys):
    path = tmp_path / "shop.csv"
    shop(200).write_csv(path)
    found = shoal.infer(path)
    texts = [found.schema_text(), repr(found), json.dumps(found.to_document())]
    assert not any("i05" in text for text in texts)
    assert "sets: items between '|'" in found.verdicts["items"].why
    assert main(["infer", str(path)]) == 0
    assert "i05" not in capsys.readouterr().out


def test_a_table_without_sets_keeps_its_verdicts():
    found = shoal.infer(pl.DataFrame({"age": list(range(40)), "sex": list("mf") * 20}))
    assert propose_sets(found.columns, found.verdicts) == found.verdicts
    assert found.schema.sets == ()
