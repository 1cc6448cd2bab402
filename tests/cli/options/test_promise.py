"""The promise on a command line, beside the one that a schema makes."""

from __future__ import annotations

import json
import random

import polars as pl
import pytest

import shoal
from shoal.core.errors import PrivacyError
from shoal.model.model import RecodingModel

K5, L2 = shoal.KAnonymity(5), shoal.LDiversity(2)


@pytest.fixture
def place(tmp_path):
    """A table whose classes of five have one diagnosis each, and a schema with k = 5 and l = 2."""
    rows = [(20 + i % 10, f"D{i % 10}") for i in range(200)]
    random.Random(1).shuffle(rows)
    pl.DataFrame(rows, schema=["age", "dx"], orient="row").write_csv(tmp_path / "t.csv")
    document = {
        "columns": {"age": {"role": "quasi", "kind": "numeric"}, "dx": "sensitive"},
        "privacy": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2}],
    }
    (tmp_path / "s.json").write_text(json.dumps(document))
    return tmp_path


def judged(answer):
    return {entry["model"]: entry["parameters"] for entry in json.loads(answer.out)["privacy"]}


def test_verify_keeps_the_schemas_l_beside_a_flag_for_k(place, run):
    table, schema = place / "t.csv", ("--schema", place / "s.json", "--json")
    answer = run("verify", table, *schema, "-k", 5)
    assert answer.code == 1  # k alone would hold
    assert set(judged(answer)) == {"k-anonymity", "l-diversity"}
    replaced = run("verify", table, *schema, "-k", 5, "--replace-promise")
    assert replaced.code == 0
    assert set(judged(replaced)) == {"k-anonymity"}


def test_learn_with_schema_and_k_as_in_the_readme_keeps_the_schemas_l(place, run):
    model = place / "m.json"
    flags = ("--schema", place / "s.json", "-k", 5, "--model", model, "--json")
    assert judged(run("learn", place / "t.csv", *flags))["l-diversity"]["l"] == 2
    assert RecodingModel.load(model).privacy == (K5, L2)


def test_anonymize_keeps_both_and_the_stricter_flag_wins(place, run):
    flags = ("--schema", place / "s.json", "--out", place / "o.csv", "--json")
    found = judged(run("anonymize", place / "t.csv", *flags, "-k", 8, "--t", 0.6))
    assert found["k-anonymity"]["k"] == 8
    assert found["l-diversity"]["l"] == 2
    assert found["t-closeness"]["t"] == 0.6


@pytest.mark.parametrize("command", ["anonymize", "learn", "verify", "recommend"])
@pytest.mark.parametrize(("flag", "kept"), [(("-k", 3), "k=5"), (("--l", 1), "l=2")])
def test_a_looser_flag_is_refused_with_a_message_that_names_both(place, run, command, flag, kept):
    more = {"anonymize": ("--out", place / "o.csv"), "learn": ("--model", place / "m.json")}
    before = sorted(place.iterdir())
    args = (place / "t.csv", "--schema", place / "s.json", *more.get(command, ()))
    answer = run(command, *args, *flag)
    assert answer.code == 2
    for word in (kept, f"{flag[0].strip('-')}={flag[1]}", "--replace-promise"):
        assert word in answer.err
    assert sorted(place.iterdir()) == before
    if command != "recommend":  # k alone is no question for xk without -k
        assert run(command, *args, *flag, "--replace-promise").code == 0


def test_replace_promise_needs_something_to_put_in_its_place(place, run):
    answer = run("verify", place / "t.csv", "--schema", place / "s.json", "--replace-promise")
    assert answer.code == 2
    assert "-k 5" in answer.err


def test_privacy_of_the_api_is_kept_beside_the_schemas_promise(place):
    table, schema = place / "t.csv", shoal.Schema.load(place / "s.json")
    names = ["k-anonymity", "l-diversity"]
    assert [r.model.name for r in shoal.verify(table, schema, privacy=[K5]).privacy] == names
    made = shoal.anonymize(table, schema, privacy=[K5])
    assert [r.model.name for r in made.report.privacy] == names
    assert shoal.learn(table, schema, privacy=[K5]).privacy == (K5, L2)
    alone = shoal.learn(table, schema, privacy=[shoal.KAnonymity(3)], replace_promise=True)
    assert alone.privacy == (shoal.KAnonymity(3),)
    for ask in (shoal.verify, shoal.anonymize, shoal.learn):
        with pytest.raises(PrivacyError, match=r"k=5.*k=3"):
            ask(table, schema, privacy=[shoal.KAnonymity(3)])
