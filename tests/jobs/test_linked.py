"""Releasing linked tables: all files or none, verified as they are written, told in a report."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.core.errors import (
    InputError,
    MethodError,
    NoSolutionError,
    OutputError,
    PrivacyError,
    SchemaError,
    UnsafeReleaseError,
)
from shoal.engines.base import Output
from shoal.engines.local.linked import LinkedRecords, OpenTables
from shoal.jobs import linked
from shoal.jobs.linked import check_folder, release_linked, verify_linked
from shoal.jobs.linked_requests import LinkedRequest, LinkedVerifyRequest
from shoal.methods.registry import method_named
from shoal.schema.linked import LinkedSchema

pytestmark = pytest.mark.local("linked tables")

SOURCE = Path(__file__).resolve().parents[2] / "src"
DOCUMENT = {
    "tables": {
        "patients": {"key": "id", "columns": {"name": "identifying", "age": "quasi"}},
        "stays": {
            "key": "stay", "parent": "patients",
            "columns": {"ward": "quasi", "illness": "sensitive", "days": "neutral"},
        },
        "drugs": {"parent": "stays", "columns": {"drug": "quasi"}},
    },
    "privacy": [
        {"model": "k-anonymity", "k": 3},
        {"model": "l-diversity", "l": 2, "column": "stays.illness"},
    ],
    "suppression_limit": 0.3,
}  # fmt: skip
SCHEMA = LinkedSchema.from_document(DOCUMENT)
PERSONS = 24


def tables():
    """Return patients with none to two stays, and a drug in every other stay."""
    patients, stays, drugs = [], [], []
    for i in range(PERSONS):
        patients.append((f"patient-{i}", f"Name {i}", 20 + 3 * (i % 12)))
        for n in range(i % 3):
            stay = f"stay-{len(stays)}"
            illness = ("flu", "gout", "asthma")[(i // 3 + n) % 3]
            stays.append((stay, patients[-1][0], f"w{(i + n) % 4}", illness, 1 + i % 5))
            if n % 2:
                drugs.append((stay, ("aspirin", "ibuprofen")[i % 2]))
    return {
        "patients": pl.DataFrame(patients, schema=["id", "name", "age"], orient="row"),
        "stays": pl.DataFrame(
            stays, schema=["stay", "id", "ward", "illness", "days"], orient="row"
        ),
        "drugs": pl.DataFrame(drugs, schema=["stay", "drug"], orient="row"),
    }


def request(found=None, **words):
    asked = {"tables": found or tables(), "schema": SCHEMA, "method": method_named("bestcut")}
    return LinkedRequest(**{**asked, **words})


def verified(found, schema=SCHEMA):
    return verify_linked(LinkedVerifyRequest(tables=found, schema=schema))


def test_tables_in_memory_come_back_as_they_came():
    made = release_linked(request())
    assert all(isinstance(frame, pl.DataFrame) for frame in made.tables.values())
    assert verified(made.tables).holds
    assert made.schema is SCHEMA
    assert made.tables["stays"].columns == ["stay", "id", "ward", "illness", "days"]
    assert "name" not in made.tables["patients"].columns


@pytest.mark.parametrize(
    ("turn", "kind"),
    [(lambda f: pd.DataFrame(f.to_dicts()), pd.DataFrame), (lambda f: f.to_arrow(), pa.Table)],
)
def test_frames_of_other_libraries_come_back_as_such(turn, kind):
    made = release_linked(request({name: turn(frame) for name, frame in tables().items()}))
    assert all(isinstance(frame, kind) for frame in made.tables.values())
    assert verified(made.tables).holds


def test_a_folder_gets_what_memory_gets(tmp_path):
    out = tmp_path / "out"
    made = release_linked(request(output=Output(out=out)))
    assert made.tables is None
    inside = release_linked(request()).tables
    for name, frame in inside.items():
        found = pl.read_csv(out / f"{name}.csv", infer_schema=False)
        assert found.equals(frame.cast(pl.String))


def test_the_report_adds_up():
    made = release_linked(request())
    report = made.report
    lines = {line["table"]: line for line in report.facts["tables"]}
    assert [(line["key"], line["parent"]) for line in lines.values()] == [
        ("id", None), ("stay", "patients"), (None, "stays"),
    ]  # fmt: skip
    assert report.records == sum(frame.height for frame in tables().values())
    assert report.released == sum(frame.height for frame in made.tables.values())
    assert report.released + report.suppressed == report.records
    for name, line in lines.items():
        assert line["released"] == made.tables[name].height
        assert line["utility"]["ncp"] == line["ncp"]
    cells = {"patients": 1, "stays": 1, "drugs": 1}
    whole = sum(line["ncp"] * line["records"] * cells[name] for name, line in lines.items())
    assert report.utility["ncp"] == pytest.approx(whole / report.records)
    assert report.utility["il"] == pytest.approx(whole)
    assert set(report.columns) == {"patients.age", "stays.ward", "drugs.drug"}
    assert report.persons == made.tables["patients"].height
    assert report.risk_before.persons == PERSONS
    assert report.risk_after.smallest_class == report.smallest_class >= 3
    assert {"read", "learn", "encode", "verify", "write", "total"} <= set(report.seconds)
    assert report.request["job"] == "linked"
    json.dumps(made.to_dict(), allow_nan=False)


def test_what_a_report_says_has_no_value_of_the_data():
    made = release_linked(request())
    text = json.dumps(made.to_dict()) + repr(made) + made._repr_html_()
    for frame in tables().values():
        for column in ("id", "stay", "name", "ward", "illness", "drug"):
            if column in frame.columns:
                assert not [
                    v for v in frame[column].to_list() if f'"{v}"' in text or f"{v} " in text
                ]


def test_auto_says_what_it_chose():
    made = release_linked(request(method=method_named("auto")))
    assert made.report.method == "refine"
    assert any("auto chose refine, normal effort" in text for text in made.report.notices)


def test_columns_that_nobody_named_are_told_where_they_are_left_out():
    document = {**DOCUMENT, "tables": {**DOCUMENT["tables"]}}
    document["tables"]["drugs"] = {"parent": "stays", "columns": {}, "others": "drop"}
    made = release_linked(request(schema=LinkedSchema.from_document(document)))
    assert "table 'drugs': left out, because nobody gave them a role: 'drug'" in made.report.notices
    assert made.tables["drugs"].columns == ["stay"]


def test_persons_who_are_left_out_are_told():
    found = tables()
    rare = pl.DataFrame({"stay": [f"s{i}" for i in range(9)], "id": ["patient-0"] * 9,
                         "ward": ["w1"] * 9, "illness": ["flu"] * 9, "days": [1] * 9})  # fmt: skip
    # Nobody has no stay but one patient.
    one = found["stays"].select("id").unique()["id"].to_list()
    found["patients"] = pl.concat(
        [found["patients"].filter(pl.col("id").is_in(one)), found["patients"].head(1)]
    )
    made = release_linked(request(found))
    assert made.report.facts["trajectories"]["persons_left_out"] == 1
    assert any("1 persons are left out altogether" in text for text in made.report.notices)
    found["stays"] = pl.concat([found["stays"], rare.cast(found["stays"].schema)])
    made = release_linked(request(found))
    assert made.report.facts["trajectories"]["persons_left_out"] == 0


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        ({"schema": SCHEMA.with_promise([shoal.KAnonymity(99)])}, NoSolutionError, "cannot be met"),
        ({"method": method_named("flash")}, MethodError, "take bestcut"),
        ({"method": method_named("mdav")}, MethodError, "releases centroids"),
        ({"threads": 0}, SchemaError, "at least 1"),
        (
            {"schema": LinkedSchema.from_document({"tables": DOCUMENT["tables"]})},
            PrivacyError, "no promise was given",
        ),
        (
            {
                "schema": LinkedSchema.from_document(
                    {
                        "tables": {"patients": {"key": "id", "columns": {"age": "neutral"},
                                                "others": "drop"}},
                        "privacy": [{"model": "k-anonymity", "k": 2}],
                    }
                )
            },
            InputError, "no quasi-identifier",
        ),
        (
            {"schema": SCHEMA.with_promise([shoal.LDiversity(4, column="stays.illness")])},
            NoSolutionError, "l-diversity",
        ),
        (
            {"schema": SCHEMA.with_promise(
                [shoal.AlphaKAnonymity(0.9, 3, values=("measles",), column="stays.illness")]
            )},
            SchemaError, "(alpha,k)-anonymity",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_promised_is_refused(tmp_path, words, error, said):
    out = tmp_path / "out"
    with pytest.raises(error) as caught:
        release_linked(request(output=Output(out=out), **words))
    assert said in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_too_much_suppression_says_which_limit_it_takes():
    found = tables()
    more = (
        found["stays"]
        .head(4)
        .with_columns(stay=pl.Series(["x1", "x2", "x3", "x4"]), id=pl.lit("patient-2"))
    )
    found["stays"] = pl.concat([found["stays"], more])
    with pytest.raises(NoSolutionError, match="--suppression-limit"):
        release_linked(request(found, schema=SCHEMA.with_promise([], suppression_limit=0.0)))


def test_nothing_is_published_that_does_not_hold(tmp_path, monkeypatch):
    """A search that leaves everybody as they are: the verifier sees it in the written files."""

    def unsafe(self, found):
        frames = released(self, found)
        return {**frames, "patients": frames["patients"].with_columns(
            pl.Series("age", [str(i) for i in range(frames["patients"].height)]))}  # fmt: skip

    released = LinkedRecords.released
    monkeypatch.setattr(LinkedRecords, "released", unsafe)
    with pytest.raises(UnsafeReleaseError, match="k-anonymity"):
        release_linked(request(output=Output(out=tmp_path / "out")))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UnsafeReleaseError):
        release_linked(request())


@pytest.mark.parametrize(("table", "below"), [("patients", "stays"), ("stays", "drugs")])
def test_nothing_is_published_with_a_dangling_key(tmp_path, monkeypatch, table, below):
    def broken(self, found):
        frames = released(self, found)
        key = "id" if table == "patients" else "stay"
        return {**frames, table: frames[table].filter(pl.col(key) != frames[below][key][0])}

    released = LinkedRecords.released
    monkeypatch.setattr(LinkedRecords, "released", broken)
    with pytest.raises(UnsafeReleaseError, match="nothing was published"):
        release_linked(request(output=Output(out=tmp_path / "out")))
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_published_if_records_are_lost_on_the_way(tmp_path, monkeypatch):
    def lost(self):
        found = verify(self)
        return shoal.Verification(
            **{name: getattr(found, name) for name in found.__slots__} | {"records": 3}
        )

    verify = OpenTables.verify
    monkeypatch.setattr(OpenTables, "verify", lost)
    with pytest.raises(UnsafeReleaseError, match="3 records were written where"):
        release_linked(request(output=Output(out=tmp_path / "out")))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(linked, "write_tables", full)
    with pytest.raises(OutputError, match="cannot be written"):
        release_linked(request(output=Output(out=tmp_path / "out")))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_appears_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    out = tmp_path / "out"

    def late(self):
        out.mkdir()
        (out / "mine.txt").write_text("mine")
        return verify(self)

    verify = OpenTables.verify
    monkeypatch.setattr(OpenTables, "verify", late)
    with pytest.raises(OutputError):
        release_linked(request(output=Output(out=out)))
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in out.iterdir()] == ["mine.txt"]


KILLED = """
import sys, time
from pathlib import Path
from shoal.engines.local.linked import OpenTables
from shoal.jobs.linked import release_linked
from tests.jobs.test_linked import request
from shoal.engines.base import Output
def stuck(self):
    print("verifying", flush=True)
    time.sleep(60)
OpenTables.verify = stuck
release_linked(request(output=Output(out=Path(sys.argv[1]))))
"""


def test_a_kill_leaves_no_release_and_the_next_run_tidies_up(tmp_path):
    out = tmp_path / "out"
    paths = [str(SOURCE), str(SOURCE.parent)]
    running = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(out)], stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )  # fmt: skip
    assert running.stdout.readline() == b"verifying\n"
    running.send_signal(signal.SIGKILL)
    running.wait()
    time.sleep(0.1)
    assert not out.exists()
    assert len(list(tmp_path.iterdir())) == 1
    release_linked(request(output=Output(out=out)))
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_places_are_checked_before_any_work(tmp_path):
    check_folder(tmp_path / "new")
    empty = tmp_path / "empty"
    empty.mkdir()
    check_folder(empty)
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(empty)
    for place in (tmp_path / "file", tmp_path, tmp_path / "link", tmp_path / "no" / "where"):
        with pytest.raises(OutputError):
            check_folder(place)


def test_the_same_request_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        release_linked(request(output=Output(out=tmp_path / name), method=method_named("refine")))
    for table in tables():
        one, two = ((tmp_path / name / f"{table}.csv").read_bytes() for name in ("a", "b"))
        assert one == two


def test_verify_warns_of_what_a_promise_does_not_say():
    found = verified(tables())
    assert not found.holds
    assert any("still in the table: 'name'" in text for text in found.warnings)
    void = LinkedSchema.from_document(
        {"tables": DOCUMENT["tables"], "privacy": [{"model": "k-anonymity", "k": 1}]}
    )
    assert any("nothing is promised" in text for text in verified(tables(), void).warnings)
    with pytest.raises(PrivacyError, match="no promise was given"):
        verified(tables(), LinkedSchema.from_document({"tables": DOCUMENT["tables"]}))


def test_the_surface_has_it():
    assert shoal.release_linked is release_linked
    assert shoal.verify_linked is verify_linked
    assert shoal.LinkedSchema is LinkedSchema
    assert shoal.LinkedRequest is LinkedRequest
    assert shoal.LinkedVerifyRequest is LinkedVerifyRequest


def test_patients_and_stays_of_a_real_hospital_register(data):
    """71,518 patients with 101,766 stays: nobody is unique by all their stays any more."""
    place = data / "diabetes_130" / "diabetic_data.csv.gz"
    if not place.is_file():
        pytest.skip("diabetes_130 is not in the data folder")
    whole = pl.read_csv(place, infer_schema=False)
    quasi = ["age", "weight", "admission_type_id", "discharge_disposition_id", "time_in_hospital",
             "payer_code", "medical_specialty"]  # fmt: skip
    people = whole.group_by("patient_nbr").agg(pl.col("race", "gender").first())
    stays = whole.select("encounter_id", "patient_nbr", *quasi)
    schema = LinkedSchema.from_document(
        {
            "tables": {
                "patients": {"key": "patient_nbr", "columns": {"race": "quasi", "gender": "quasi"}},
                "stays": {
                    "key": "encounter_id", "parent": "patients",
                    "columns": dict.fromkeys(quasi, "quasi"),
                },
            },
            "privacy": [{"model": "k-anonymity", "k": 5}],
            "suppression_limit": 0.01,
            "missing": ["?"],
            "labels": "tight",
        }
    )  # fmt: skip
    found = {"patients": people, "stays": stays}
    made = release_linked(request(found, schema=schema))
    assert made.report.facts["trajectories"]["unique_before"] == 39_799
    assert made.report.suppressed <= 900
    assert made.report.utility["ncp"] <= 0.17
    patients, stays = (made.tables[name] for name in ("patients", "stays"))
    own = stays.with_columns(
        pl.concat_str(pl.col(quasi).fill_null("\x00"), separator="|").alias("t")
    )
    trees = own.group_by("patient_nbr").agg(pl.col("t").sort().str.join("\n"))
    joined = patients.join(trees, on="patient_nbr", how="left")
    assert joined.group_by("race", "gender", "t").len()["len"].min() >= 5
    assert stays["patient_nbr"].is_in(patients["patient_nbr"].implode()).all()
