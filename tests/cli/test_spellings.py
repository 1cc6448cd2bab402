"""Spellings of one sensitive value are one value: `HIV`, `HIV ` and `hiv` do not satisfy --l 3."""

from __future__ import annotations

import json

import polars as pl
import pytest

from shoal import api, edge
from shoal.core.errors import NoSolutionError
from shoal.schema.schema import Schema

QI = ("--qi", "q", "--sensitive", "dx")
SAID = "differ from another one only by case, accents or spaces"


def write(place, values):
    place.write_text("q,dx\n" + "".join(f"a,{value}\n" for value in values), encoding="utf-8")
    return place


@pytest.mark.parametrize("kind", [(), ("--categorical", "dx")])
def test_hiv_with_a_space_is_not_a_second_value(run, tmp_path, kind):
    table = write(tmp_path / "t.csv", ["HIV", "HIV ", "\u00a0HIV", "\ufeffHIV", "HIV\u200b"])
    assert run("verify", table, *QI, *kind, "--l", 2).code == 1
    answer = run("anonymize", table, *QI, *kind, "--l", 2, "--out", tmp_path / "o.csv")
    assert answer.code == 1
    assert "reach 1" in answer.err


def test_composed_and_decomposed_accents_are_one_value(run, tmp_path):
    table = write(tmp_path / "t.csv", ["Me\u0301nie\u0300re", "M\u00e9ni\u00e8re"])
    assert run("verify", table, *QI, "--l", 2).code == 1


def test_hiv_spellings_satisfy_l_3_no_longer_when_case_is_folded(run, tmp_path):
    values = ["HIV", "HIV ", "hiv", "h i v"] * 2
    table, out, model = write(tmp_path / "t.csv", values), tmp_path / "o.csv", tmp_path / "m.json"
    promise = (*QI, "-k", 2, "--l", 3)

    kept = run("anonymize", table, *promise, "--out", out, "--no-attacks")
    assert kept.code == 0
    assert f"3 values of column 'dx' {SAID}" in kept.out
    assert "--fold-case joins them" in kept.out
    assert sorted(out.read_text().splitlines()[1:]) == sorted(f"a,{value}" for value in values)
    judged = run("verify", table, *promise)
    assert judged.code == 0
    assert SAID in judged.out
    assert run("learn", table, *promise, "--model", model).code == 0
    safe = run("encode", model, table, "--safe", "--out", out)
    assert safe.code == 0
    assert SAID in safe.out

    assert run("verify", table, *promise, "--fold-case").code == 1
    gone = tmp_path / "gone.csv"
    assert run("anonymize", table, *promise, "--fold-case", "--out", gone).code == 1
    assert run("learn", table, *promise, "--fold-case", "--model", tmp_path / "n.json").code == 1
    assert run("encode", model, table, "--safe", "--fold-case", "--out", gone).code == 1
    assert not gone.exists()
    assert run("encode", model, table, "--fold-case", "--out", gone).code == 2


def test_fold_case_stands_in_the_schema_and_in_the_model(run, tmp_path):
    table = write(tmp_path / "t.csv", ["HIV", "hiv", "flu", "gout"] * 3)
    model, out = tmp_path / "m.json", tmp_path / "o.csv"
    promise = (*QI, "-k", 2, "--l", 3)
    assert run("learn", table, *promise, "--fold-case", "--model", model).code == 0
    assert json.loads(model.read_text())["schema"]["fold_case"] is True
    batch = write(tmp_path / "b.csv", ["HIV", "hiv", "Hiv", "flu"] * 3)
    assert run("encode", model, batch, "--safe", "--out", out).code == 1
    records = pl.read_csv(batch).to_dicts()
    assert not edge.verify(records, model).holds
    assert edge.encode_safe(records, model)[0] == []

    document = {"columns": {"q": "quasi", "dx": "sensitive"}, "fold_case": True,
                "privacy": [{"model": "l-diversity", "l": 3}]}  # fmt: skip
    schema = Schema.from_document(document)
    assert Schema.from_document(schema.to_document()).fold_case
    with pytest.raises(NoSolutionError):
        api.anonymize(pl.DataFrame(records), schema)


def test_fold_case_must_be_true_or_false():
    with pytest.raises(ValueError, match="fold_case must be true or false"):
        Schema.from_document({"columns": {"q": "quasi"}, "fold_case": "yes"})
