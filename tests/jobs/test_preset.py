"""HIPAA Safe Harbor from a table to a release: what is written, refused and reported."""

from __future__ import annotations

import json
import random
from datetime import date

import polars as pl
import pytest

from shoal import KAnonymity
from shoal.cli.main import main
from shoal.core.errors import MethodError, UnsafeReleaseError
from shoal.engines.base import Output
from shoal.inference.safe_harbor import remains
from shoal.jobs.documents import request_document, request_from
from shoal.jobs.preset import plan_preset, release_preset
from shoal.jobs.requests import ReleaseRequest
from shoal.schema.safe_harbor import SMALL_ZIPS, TopAge, Year, Zip3

pytestmark = pytest.mark.local("a preset needs the local engine")

DAY = date(2026, 11, 18)
ROWS = 200


def patients(**more):
    draw = random.Random(3)
    zips = ["75275", "2134", "82190", "75275-1234", None, "SW1A 1AA"]
    return pl.DataFrame(
        {
            "patient_id": [f"P{i:05d}" for i in range(ROWS)],
            "name": [f"{draw.choice(['Ada', 'Bob'])} Smith{i}" for i in range(ROWS)],
            "email": [f"u{i}@x.org" for i in range(ROWS)],
            "zip": [draw.choice(zips) for _ in range(ROWS)],
            "birth_date": [f"{draw.randint(1925, 2010)}-05-1{i % 10}" for i in range(ROWS)],
            "admitted": [f"{draw.randint(1, 12)}/{i % 15 + 13}/2015" for i in range(ROWS)],
            "age": [draw.choice([draw.randint(0, 89), 92, 101, -1]) for _ in range(ROWS)],
            "age_text": [draw.choice(["92", "90+", "45", "80-99"]) for _ in range(ROWS)],
            "sex": [draw.choice("mf") for _ in range(ROWS)],
            "notes": [f"seen by the doctor on day {i} for long" for i in range(ROWS)],
            "diagnosis": [draw.choice(["flu", "cold", "hiv"]) for _ in range(ROWS)],
            **more,
        }
    )


def made(table, k=1, identifying=(), **output):
    plan = plan_preset(table, "hipaa-safe-harbor", as_of=DAY, identifying=identifying)
    schema = plan.schema.with_promise([KAnonymity(k)], suppression_limit=0.5)
    request = ReleaseRequest(table=table, schema=schema, output=Output(**output))
    assert request_from(request_document(ReleaseRequest(table="t.csv", schema=schema))).schema
    return release_preset(plan, request)


def test_what_is_released_is_what_the_rule_leaves():
    table = made(patients()).table
    assert set(table.columns) == {
        "zip", "birth_date", "admitted", "age", "age_text", "sex", "diagnosis",
    }  # fmt: skip
    assert set(table["zip"]) == {"752", "021", "000", None}
    assert set(table["admitted"]) == {"2015"}
    assert "<=1936" in set(table["birth_date"])
    assert all(y == "<=1936" or int(y) > 1936 for y in table["birth_date"])
    assert all(a is None or a == "90+" or 0 <= int(a) <= 89 for a in table["age"])
    assert None in set(table["age"])
    assert set(table["age_text"]) == {"90+", "45", "80+"}


def test_k_is_promised_on_top():
    found = made(patients(), k=5)
    assert found.report.smallest_class >= 5
    assert not [w for w in found.report.warnings if "nothing is promised" in w]
    assert [w for w in made(patients()).report.warnings if "nothing is promised" in w]


def test_the_checklist_has_a_line_for_each_kind():
    report = made(patients()).report
    lines = {line["letter"]: line for line in report.checklist}
    assert "".join(lines) == "ABCDEFGHIJKLMNOPQR"
    assert lines["A"]["columns"] == {"name": "removed"}
    assert lines["B"]["columns"]["zip"].startswith("three digits")
    assert set(lines["C"]["columns"]) == {"birth_date", "admitted", "age", "age_text"}
    assert lines["D"]["status"] == "none found"
    assert all(lines[letter]["status"] == "a person must look" for letter in "PQR")
    assert "notes" in lines["R"]["columns"]
    assert any("not k-anonymity" in notice for notice in report.notices)


def test_dates_in_several_forms_are_not_passed_on():
    forms = ["2020-01-05", "1/5/20", "5 Jan 2020", "05.01.2020"]
    found = made(patients(visit=[forms[i % 4] for i in range(ROWS)])).table
    assert "visit" not in found.columns


def test_one_hidden_identifier_among_labels_stops_the_release(tmp_path):
    wards = ["north"] * (ROWS - 1) + ["north 12/31/1999"]
    plan = plan_preset(patients(), "hipaa-safe-harbor", as_of=DAY)
    schema = plan.schema.with_promise([KAnonymity(1)])
    request = ReleaseRequest(
        table=patients(diagnosis=wards), schema=schema, output=Output(out=tmp_path / "o.csv")
    )
    with pytest.raises(UnsafeReleaseError, match="'diagnosis' still shows dates") as caught:
        release_preset(plan, request)
    assert "1999" not in str(caught.value)
    assert not (tmp_path / "o.csv").exists()


def test_further_columns_are_removed_and_other_presets_refused():
    assert "sex" not in made(patients(), identifying=["sex"]).table.columns
    with pytest.raises(MethodError, match="no such preset"):
        plan_preset(patients(), "gdpr")


@pytest.mark.parametrize(
    ("label", "technique", "shown"),
    [
        ("75275", Zip3(), True), ("[752, 821]", Zip3(), True), ("000", Zip3(), False),
        ("75*", Zip3(), False), ("91", TopAge(), True), ("[85, 90+]", TopAge(), False),
        ("<=1936", Year(as_of="2026-01-01"), False), ("1936", Year(as_of="2026-01-01"), True),
        ("[<=1936, 1950]", Year(as_of="2026-01-01"), False), ("a@b.org", None, True),
        ("078-05-1120", None, True), ("31 Dec 1999", None, True), ("[10, 20)", None, False),
    ],
)  # fmt: skip
def test_a_last_look_at_labels(label, technique, shown):
    assert (remains(label, technique) is not None) is shown


def test_the_command_of_the_guide(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    patients().write_csv("patients.csv")
    command = ["anonymize", "patients.csv", "--preset", "hipaa-safe-harbor", "--out", "release.csv"]
    assert main([*command, "--report", "report.html", "--no-attacks"]) == 0
    assert "(B)         places smaller than a state: zip: three digits" in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text()
    assert "HIPAA Safe Harbor" in page
    assert "a person must look" in page
    text = (tmp_path / "release.csv").read_text()
    assert not any(f"\n{area}," in text for area in SMALL_ZIPS if area != "000")
    assert main([*command, "--json", "--no-attacks", "-k", "2"]) == 0
    assert len(json.loads(capsys.readouterr().out)["checklist"]) == 18
    assert main([*command, "--qi", "age"]) == 2
    assert "decides about every column" in capsys.readouterr().err
