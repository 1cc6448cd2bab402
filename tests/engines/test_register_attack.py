"""Labels read closely, and a register, on the hospital sample and Adult."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.conftest import call

import shoal
from shoal import api
from shoal.core.errors import InputError, MethodError
from shoal.engines.local.attack import Attacker
from shoal.engines.local.source import open_source
from shoal.jobs.requests import AttackRequest
from shoal.jobs.risk import attack
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("attacks")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A register of 4,000 people, of whom 500 are in a table, and its schema."""
    place = tmp_path_factory.mktemp("register")
    made = api.sample("hospital", out=place / "register.csv", records=4_000, seed=3)
    people = pl.read_csv(made.table, infer_schema=False)
    chosen = np.random.default_rng(0).permutation(people.height)[:500]
    people[np.sort(chosen)].write_csv(place / "table.csv")
    return place, Schema.load(made.schema)


def released(files, labels, **words):
    place, schema = files
    out = place / f"{labels}.csv"
    if not out.exists():
        api.anonymize(
            place / "table.csv", schema, k=5, replace_promise=True, method="bestcut",
            labels=labels, attacks=False, out=out, class_file=place / f"{labels}.classes.csv",
        )  # fmt: skip
    return out


def results(files, labels):
    place, schema = files
    close = Attacker(
        open_source(place / "table.csv"), open_source(released(files, labels)).as_labels(), schema
    )
    found = close.closely(open_source(place / "register.csv"), "patient_id")
    return {each.attack: each for each in found}


def test_tight_labels_prove_who_is_there_and_round_ones_hardly_anybody(files):
    tight, round_ = results(files, "tight"), results(files, "round")
    name = "membership by a register"
    for found in (tight, round_):
        proof = found[name].after
        assert proof.control == 0.0  # a proof is never wrong
        assert proof.detail["proven_right"] in (None, 1.0)
        assert found["downcoding"].after.detail["child_right"] in (None, 1.0)
    assert tight[name].after.success > 0.2
    assert round_[name].after.detail["proven_of_the_register"] <= 0.005
    assert tight["values that labels print"].after.detail["ends"] > 100
    assert round_["values that labels print"].after.detail["ends"] == 0
    assert round_["downcoding"].after.detail["forced_cells"] == 0
    assert tight[name].before.success == 1.0


def test_a_register_without_some_columns_proves_less_and_never_wrongly(files):
    place, schema = files
    close = Attacker(
        open_source(place / "table.csv"), open_source(released(files, "tight")).as_labels(), schema
    )
    people = pl.read_csv(place / "register.csv", infer_schema=False)
    proven = []
    for names in (schema.quasi, ("birth_date", "sex"), ("sex",)):
        register = open_source(people.select("patient_id", *names))
        found = close.closely(register, "patient_id")[-1].after
        assert found.detail["proven_right"] in (None, 1.0)
        proven.append(found.success)
    assert proven == sorted(proven, reverse=True)
    assert proven[0] > proven[2] == 0
    with pytest.raises(InputError, match="has no column"):
        close.closely(open_source(people.select("patient_id")), "patient_id")


def test_what_is_inferred_is_scored_and_hardly_holds_for_others(files):
    found = results(files, "tight")["inference of a value"].after
    assert found.baseline < found.success
    assert found.control < found.success
    assert found.detail["sure_claims"] <= found.detail["likely_claims"]


@pytest.mark.parametrize(("method", "ends", "tuples"), [("bestcut", 7_044, 3_760)])
def test_the_ends_of_adult_are_those_of_the_trial(adult, tmp_path, method, ends, tuples):
    out = tmp_path / "o.csv"
    answer = call("anonymize", adult.table, *adult.flags, "--method", method, "-k", 5,
                  "--labels", "tight", "--no-attacks", "--out", out)  # fmt: skip
    assert answer.code == 0, answer.err
    quasi = adult.flags[1].split(",")
    schema = Schema.from_document(
        {"columns": {n: {"role": "quasi", "kind": "numeric" if n == "age" else "categorical"}
                     for n in quasi}}
    )  # fmt: skip
    close = Attacker(open_source(adult.table), open_source(out).as_labels(), schema)
    found = close._reader(close._released)
    assert found._counts == (ends, tuples)


def test_persons_are_proven_by_any_of_their_records(tmp_path):
    chance = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "who": [i // 2 for i in range(200)],
            "age": chance.integers(18, 90, 200),
            "ill": chance.choice(["flu", "cold", "gout"], 200),
        }
    )
    frame.write_csv(tmp_path / "t.csv")
    more = pl.DataFrame({"who": range(500, 700), "age": chance.integers(18, 90, 200), "ill": "x"})
    pl.concat([frame, more.with_columns(pl.col("who").cast(pl.Int64))]).write_csv(
        tmp_path / "r.csv"
    )
    schema = Schema.from_document(
        {"columns": {"who": "person", "age": {"role": "quasi", "kind": "numeric"},
                     "ill": "sensitive"}}
    )  # fmt: skip
    people = tmp_path / "p.csv"
    api.anonymize(tmp_path / "t.csv", schema, k=3, labels="tight", method="bestcut",
                  attacks=False, out=tmp_path / "o.csv", person_file=people)  # fmt: skip
    request = AttackRequest(
        table=tmp_path / "t.csv", release=tmp_path / "o.csv", schema=schema, person_file=people,
        register=tmp_path / "r.csv",
    )  # fmt: skip
    found = {each.attack: each.after for each in attack(request)}
    proof = found["membership by a register"]
    assert proof.targets == 100
    assert proof.control == 0.0
    assert found["values that labels print"].targets == 100


def test_releases_are_laid_over_each_other_by_their_class_files(files):
    place, schema = files
    paths = [released(files, labels).with_suffix(".classes.csv") for labels in ("tight", "round")]
    answer = call(
        "risk", place / "table.csv", "--schema", place / "register.schema.yaml", "--release",
        released(files, "tight"), "--class-files", ",".join(map(str, paths)),
    )  # fmt: skip
    assert answer.code == 0, answer.err
    assert "intersection of releases" in answer.out
    assert "knows in which class of each" in answer.out
    with pytest.raises(MethodError, match="at least"):
        AttackRequest(table="t", release="r", schema=schema, class_files=("a",)).check()
    with pytest.raises(MethodError, match="not both"):
        AttackRequest(
            table="t", release="r", schema=schema, beside=("b",), class_files=("a", "b")
        ).check()


def test_a_register_without_its_key_is_refused(files):
    place, schema = files
    close = Attacker(
        open_source(place / "table.csv"), open_source(released(files, "tight")).as_labels(), schema
    )
    with pytest.raises((InputError, shoal.ShoalError)):
        close.closely(open_source(place / "register.csv"), "nobody")
