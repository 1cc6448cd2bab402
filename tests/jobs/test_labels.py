"""`labels: round` through every door: schema, words, command line, models, devices, attacks."""

from __future__ import annotations

import json
import subprocess
import sys

import polars as pl
import pytest
from tests.conftest import call
from tests.naive import persons as naive_persons
from tests.naive import release as naive
from tests.naive import rounding

import shoal
from shoal import api, edge
from shoal.core.errors import SchemaError
from shoal.schema.schema import Labels

QUASI = ("birth_date", "sex", "zip", "admission", "insurance")


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    place = tmp_path_factory.mktemp("hospital")
    api.sample("hospital", out=place / "h.csv", records=1500, seed=1)
    return place / "h.csv"


def schema_of(hospital):
    return shoal.Schema.load(hospital.with_suffix(".schema.yaml"))


def test_a_schema_says_which_labels_it_wants(hospital):
    plain = schema_of(hospital)
    assert plain.labels is None
    assert "labels" not in plain.to_document()
    asked = shoal.Schema.from_document({**plain.to_document(), "labels": "round"})
    assert asked.labels is Labels.ROUND
    assert asked.has_round_labels
    assert shoal.Schema.from_document(asked.to_document()) == asked


@pytest.mark.parametrize("wrong", ["rund", 1, ["round"]])
def test_other_labels_are_refused(hospital, wrong):
    with pytest.raises(SchemaError, match="labels must be one of round, tight"):
        shoal.Schema.from_document({**schema_of(hospital).to_document(), "labels": wrong})
    with pytest.raises(SchemaError, match="must be one of round, tight"):
        api.anonymize(hospital, schema_of(hospital), labels=wrong)


@pytest.mark.parametrize("labels", ["round", "tight"])
def test_the_command_line_and_the_api_write_the_same_bytes(hospital, tmp_path, labels):
    one, two, three = (tmp_path / f"{name}.csv" for name in "abc")
    asked = schema_of(hospital)
    api.anonymize(hospital, asked, out=one, method="bestcut", labels=labels)
    in_schema = shoal.Schema.from_document({**asked.to_document(), "labels": labels})
    api.anonymize(hospital, in_schema, out=two, method="bestcut")
    flags = ("--schema", hospital.with_suffix(".schema.yaml"), "--method", "bestcut", "--labels")
    said = call("anonymize", hospital, *flags, labels, "--no-attacks", "--out", three)
    assert said.code == 0, said.err
    assert one.read_bytes() == two.read_bytes() == three.read_bytes()
    assert ("–" in one.read_text(encoding="utf-8")) == (labels == "round")
    line = next(line for line in said.out.splitlines() if line.strip().startswith("labels"))
    assert ("at nobody's value" in line) == (labels == "round")
    assert ("of one record" in line) == (labels == "tight")


def test_a_flag_beats_the_schema(hospital, tmp_path):
    asked = shoal.Schema.from_document({**schema_of(hospital).to_document(), "labels": "round"})
    made = api.anonymize(hospital, asked, method="mondrian", labels="tight")
    assert made.report.facts["printed"]["labels"] == "tight"
    assert made.report.request["schema"]["labels"] == "tight"


def test_round_labels_cost_little(tmp_path):
    api.sample("hospital", out=tmp_path / "h.csv", records=10_000, seed=0)
    lost = {
        labels: api.anonymize(
            tmp_path / "h.csv", schema_of(tmp_path / "h.csv"), k=5, replace_promise=True,
            method="bestcut", labels=labels, attacks=False,
        ).report.utility["ncp"]
        for labels in ("tight", "round")
    }  # fmt: skip
    assert lost["tight"] < lost["round"] <= 1.05 * lost["tight"]


def test_a_misspelt_flag_says_what_there_is(hospital, tmp_path):
    said = call("anonymize", hospital, "--qi", "sex", "-k", "2", "--labels", "rund",
                "--out", tmp_path / "o.csv")  # fmt: skip
    assert said.code == 2
    assert "must be one of round, tight" in said.err


def test_levels_and_centroids_are_no_intervals_and_the_report_says_so(hospital, tmp_path):
    for method, labels in (("flash", "levels"), ("mdav", "centroids")):
        flags = ("--schema", hospital.with_suffix(".schema.yaml"), "--method", method)
        said = call("anonymize", hospital, *flags, "--no-attacks", "--out", tmp_path / "o.csv")
        assert f"  labels      {labels}" in said.out
        made = api.anonymize(hospital, schema_of(hospital), method=method)
        assert made.report.facts["printed"] == {"labels": labels}


def test_round_labels_are_the_usual_ones_of_releases_models_and_linked_tables(hospital, tmp_path):
    made = api.anonymize(hospital, schema_of(hospital), method="bestcut")
    assert made.report.facts["printed"]["labels"] == "round"
    model = api.learn(hospital, schema_of(hospital), method="bestcut")
    assert model.to_document() == api.learn(
        hospital, schema_of(hospital), method="bestcut", labels="round"
    ).to_document()  # fmt: skip
    place = tmp_path / "linked"
    files = api.linked_sample(place, patients=200)
    request = shoal.LinkedRequest(tables=place, schema=shoal.LinkedSchema.load(files.schema))
    linked = shoal.release_linked(request)
    assert {line["labels"] for line in linked.report.facts["tables"]} == {"round"}
    texts = "".join(str(frame.rows()) for frame in linked.tables.values())
    assert "–" in texts
    assert "[" not in texts.replace("[(", "").replace(")]", "")


def test_a_model_with_round_labels_holds_no_day_of_anybody(hospital, tmp_path):
    model = api.learn(hospital, schema_of(hospital), method="bestcut", labels="round")
    columns = {column["name"]: column for column in model.to_document()["columns"]}
    cells = [cell for cell in columns["birth_date"]["cells"] if "low" in cell]
    assert cells
    for cell in cells:
        first, last = rounding.read_dates(cell["label"])
        assert cell["low"] == first.isoformat()
        assert cell["high"] == f"{last.isoformat()} 23:59:59.999999"
    place = tmp_path / "m.json"
    model.save(place)
    rows = naive.read(hospital)
    device, _ = edge.encode_safe(rows, place)
    api.encode(hospital, place, out=tmp_path / "o.csv", safe=True)
    here = naive.read(tmp_path / "o.csv")
    released = [[tuple(row[name] or "" for name in QUASI) for row in x] for x in (device, here)]
    assert sorted(released[0]) == sorted(released[1])
    promise = [{"model": "k-anonymity", "k": 5}]
    assert naive.broken(here, QUASI, promise, columns={}) == 0


def test_one_record_on_a_device_gets_the_round_label(hospital, tmp_path):
    model = api.learn(hospital, schema_of(hospital), method="mondrian", labels="round")
    model.save(tmp_path / "m.json")
    record = next(r for r in naive.read(hospital) if r["birth_date"])
    said = subprocess.run(
        [sys.executable, "-m", "shoal.edge", "encode", str(tmp_path / "m.json")],
        input=json.dumps(record) + "\n", capture_output=True, text=True, check=True,
        encoding="utf-8",
    )  # fmt: skip
    label = json.loads(said.stdout)["birth_date"]
    assert label in ("*", record["birth_date"]) or rounding.covers(
        label, record["birth_date"], "date"
    )


def test_attacks_and_compositions_read_round_labels(hospital, tmp_path):
    asked = schema_of(hospital)
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    api.anonymize(hospital, asked, out=one, method="bestcut", labels="round", attacks=False)
    api.anonymize(hospital, asked, out=two, method="mondrian", labels="round", attacks=False)
    found = {each.before.attack: each for each in api.attack(hospital, one, asked)}
    assert all(each.after.success <= 1 for each in found.values())
    linked = next(each for name, each in found.items() if "link" in name)
    assert 0 < linked.after.success <= 1 / 5 + 1e-9  # everybody's label covers them
    meet = call("compose", hospital, "--releases", f"{one},{two}", "--schema",
                hospital.with_suffix(".schema.yaml"), "--json")  # fmt: skip
    assert meet.code in (0, 1), meet.err
    assert json.loads(meet.out)["records"] == 1500


def test_persons_are_counted_behind_round_labels(tmp_path):
    rows = [{"age": str(20 + i % 37), "who": f"p{i % 60}", "s": "abc"[i % 3]} for i in range(240)]
    table = tmp_path / "t.csv"
    pl.DataFrame(rows).write_csv(table)
    person_file = tmp_path / "inside.csv"
    promise = [{"model": "k-anonymity", "k": 10},
               {"model": "l-diversity", "l": 2, "column": "s"}]  # fmt: skip
    asked = shoal.Schema.from_document({
        "columns": {"age": {"role": "quasi", "kind": "numeric"}, "who": {"role": "person"},
                    "s": {"role": "sensitive"}},
        "privacy": promise,
    })  # fmt: skip
    for method in ("bestcut", "kmember"):
        out = tmp_path / f"{method}.csv"
        api.anonymize(table, asked, out=out, method=method, labels="round",
                      person_file=person_file)  # fmt: skip
        released = naive.read(out)
        who = [row["person"] for row in naive.read(person_file)]
        for model in promise:
            groups = naive_persons.classes_of(released, ["age"], who, model.get("column"))
            assert not naive_persons.failing(groups, model)
        assert any("–" in row["age"] for row in released)
        person_file.unlink()


def test_trajectories_are_alike_by_their_round_labels(tmp_path):
    rows = [
        {"age": str(20 + (7 * i) % 37), "who": f"p{i // 2}", "s": "abc"[i % 3]} for i in range(160)
    ]
    table = tmp_path / "t.csv"
    pl.DataFrame(rows).write_csv(table)
    asked = shoal.Schema.from_document({
        "columns": {"age": {"role": "quasi", "kind": "numeric"},
                    "who": {"role": "person", "release": "pseudonym"}, "s": {"role": "sensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 3}],
    })  # fmt: skip
    out = tmp_path / "o.csv"
    api.anonymize(table, asked, out=out, method="bestcut", labels="round")
    released = naive.read(out)
    assert all("–" in row["age"] or row["age"].isdigit() for row in released)
    assert any("–" in row["age"] for row in released)
    by_person = {}
    for row in released:
        by_person.setdefault(row["who"], []).append(row["age"])
    alike = [tuple(sorted(ages)) for ages in by_person.values()]
    assert min(alike.count(each) for each in alike) >= 3
