"""k counts records, not people: where people have several records, it is said."""

from __future__ import annotations

import json
import random
from collections import defaultdict

import polars as pl
import pytest

import shoal
from shoal import api
from shoal.engines.local import recode, source
from shoal.engines.local.persons import people_of_classes

QUASI = ("age", "sex", "place")


def visits(records=600, people=150, seed=3):
    """Visits of a few people: everything but the number of the visit repeats."""
    chance = random.Random(seed)
    who = [chance.randrange(people) for _ in range(records)]
    missing = [chance.random() < 0.05 for _ in range(records)]
    mark = ["?", "", None]
    return pl.DataFrame(
        {
            "visit_id": [f"V{i:05}" for i in range(records)],
            "patient_id": [
                chance.choice(mark) if none else f"P{p}"
                for p, none in zip(who, missing, strict=True)
            ],
            "age": [20 + p % 9 for p in who],
            "sex": ["FM"[p % 2] for p in who],
            "place": [["Bonn", "Oslo", "Rome"][p % 3] for p in who],
            "dx": [chance.choice(["I21", "J18", "S72", "E04"]) for _ in range(records)],
        }
    )


def schema(**more):
    columns = {
        **dict.fromkeys(("visit_id", "patient_id"), "identifying"),
        **dict.fromkeys(("sex", "place"), "quasi"),
        "age": {"role": "quasi", "kind": "numeric"},
        "dx": "sensitive",
    }
    document = {"columns": columns, "missing": ["?"], "privacy": [{"model": "k-anonymity", "k": 8}]}
    return shoal.Schema.from_document({**document, **more})


def naive(table, released, k):
    """Count the classes of a release by hand: (classes, their records, those of one person)."""
    people, sizes = defaultdict(set), defaultdict(int)
    for who, key in zip(table["patient_id"].to_list(), released, strict=True):
        sizes[key] += 1
        people[key] |= set() if who in (None, "", "?") else {who}
    few = [key for key in sizes if len(people[key]) < k]
    return (
        len(few),
        sum(sizes[key] for key in few),
        sum(len(people[key]) <= 1 for key in sizes),
    )


def told(found):
    return found["classes"], found["class_records"], found["single"]


@pytest.mark.parametrize(
    ("method", "few"),
    [
        ("auto", (2, 52, 0)),
        ("mondrian", (2, 52, 0)),
        ("flash", (2, 52, 0)),
        ("mondrian-relaxed", (13, 158, 0)),
    ],
)
def test_anonymize_says_how_many_classes_belong_to_fewer_than_k_people(method, few):
    table = visits()
    options = {"method": method}
    report = api.anonymize(table, schema(), **options).report
    found = report.repeats
    assert (found["column"], found["k"]) == ("patient_id", 8)
    assert report.warnings[0].startswith("k counts records, not people: 'patient_id' repeats")
    assert found["values"] == len(set(table["patient_id"]) - {None, "", "?"})
    assert told(found) == few
    assert report.to_document()["repeats"] == found


@pytest.mark.local("keeps the order of the records")
@pytest.mark.parametrize("method", ["mondrian", "mondrian-relaxed", "kmember"])
def test_the_number_is_that_of_a_count_by_hand(method):
    table = visits()
    options = {"method": method, "keep_order": True}
    release = api.anonymize(table, schema(), **options)
    released = release.table.select(QUASI).rows()
    assert told(release.report.repeats) == naive(table, released, 8)


@pytest.mark.local("keeps the order of the records")
def test_suppressed_records_count_only_where_they_are_released():
    rare = pl.Series("place", [f"Z{i}" for i in range(12)])
    table = visits(400, 90)
    table = table.with_columns(place=pl.concat([rare, table["place"][12:]]))
    asked = schema(suppression_limit=0.1)
    for suppressed in ("remove", "star"):
        options = {"method": "flash", "keep_order": True, "suppressed": suppressed}
        release = api.anonymize(table, asked, **options)
        assert release.report.suppressed
        if suppressed == "star":
            released = release.table.select(QUASI).rows()
            assert told(release.report.repeats) == naive(table, released, 8)
        else:
            assert release.report.repeats["class_records"] <= release.report.released


@pytest.mark.local("larger than memory")
def test_a_table_larger_than_memory_gives_the_same_numbers(tmp_path, monkeypatch):
    visits().write_csv(tmp_path / "t.csv")
    options = {"method": "mondrian-relaxed"}
    whole = api.anonymize(tmp_path / "t.csv", schema(), **options).report.repeats
    monkeypatch.setattr(source, "KEEP_BYTES", 0)
    monkeypatch.setattr(recode, "BATCH", 50)
    out = tmp_path / "o.csv"
    assert api.anonymize(tmp_path / "t.csv", schema(), out=out, **options).report.repeats == (whole)


def test_learn_verify_and_risk_say_so_too():
    table = visits()
    _, report = api.learn_with_report(table, schema())
    assert "'patient_id' repeats" in report.warnings[0]
    by_hand = naive(table, table.select(QUASI).rows(), 8)
    verified = api.verify(table, schema())
    assert told(verified.repeats) == by_hand
    assert "'patient_id' repeats" in verified.warnings[0]
    risk = api.risk(table, schema())
    assert told(risk.to_document()["repeats"]) == by_hand
    assert risk.to_document()["warnings"] == list(risk.warnings)


def test_nothing_is_said_where_nobody_repeats():
    table = visits().with_columns(patient_id=pl.col("visit_id"))
    assert api.anonymize(table, schema()).report.repeats is None
    assert api.verify(table, schema()).repeats is None
    assert api.risk(table, schema()).warnings == ()


@pytest.mark.local("xk")
def test_xk_says_so_too(tmp_path):
    done = api.release_xk(visits(), schema(privacy=[]), k=8, out=tmp_path / "o.csv", xk=8)
    assert "'patient_id' repeats" in done.warnings[0]
    assert done.to_document()["repeats"]["classes"] > 0


@pytest.mark.local("command line")
def test_records_are_not_called_people(tmp_path, run):
    visits().write_csv(tmp_path / "t.csv")
    out, page = tmp_path / "o.csv", tmp_path / "r.html"
    flags = ("--qi", ",".join(QUASI), "--missing", "?", "--identifying", "patient_id,visit_id")
    answer = run("anonymize", tmp_path / "t.csv", *flags, "-k", 8, "--out", out, "--report", page)
    lines = answer.out.splitlines()
    assert lines[1].startswith("  WARNING     k counts records, not people")
    assert "re-identified" not in answer.out
    assert "of records, not of people" in answer.out
    assert "Records are counted, not people" in page.read_text()
    answer = run("risk", tmp_path / "t.csv", *flags)
    assert "re-identified" not in answer.out
    assert answer.out.splitlines()[1].startswith("  WARNING       k counts records")
    answer = run("verify", tmp_path / "t.csv", *flags, "-k", 8, "--json")
    assert json.loads(answer.out)["repeats"]["column"] == "patient_id"


@pytest.mark.local("one function")
def test_counting_stops_at_k_people_and_does_not_depend_on_batches():
    import numpy as np

    labels = np.array([0, 0, 0, 1, 1, -1, 2, 2])
    who = pl.Series(["a", "b", "c", "a", "a", "z", None, None])
    whole = people_of_classes([(labels, who)], 4, 2)
    parts = [(labels[i : i + 1], who[i : i + 1]) for i in range(8)]
    assert whole.tolist() == people_of_classes(parts, 4, 2).tolist() == [2, 1, 0, 0]


@pytest.mark.local("a real table")
def test_diabetes_has_hundreds_of_classes_of_fewer_than_five_patients(data):
    quasi = ("race,gender,age,weight,admission_type_id,discharge_disposition_id,time_in_hospital,"
             "payer_code,medical_specialty")  # fmt: skip
    columns = {**dict.fromkeys(quasi.split(","), "quasi"), "patient_nbr": "identifying"}
    asked = shoal.Schema.from_document(
        {"columns": columns, "others": "drop", "missing": ["?"],
         "privacy": [{"model": "k-anonymity", "k": 5}]}
    )  # fmt: skip
    table = data / "diabetes_130" / "diabetic_data.csv.gz"
    few, records, single = told(api.anonymize(table, asked, method="bestcut").report.repeats)
    assert few > 500  # 587 with the bestcut of the first release
    assert records >= 5 * few
    assert single
