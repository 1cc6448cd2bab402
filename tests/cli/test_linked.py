"""Linked tables from the command line: made, released, verified, loaded into a real database."""

from __future__ import annotations

import csv
import json
import os
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import yaml
from tests.naive import linked as naive
from tests.naive.linked import Link
from tests.postgres import postgres

from shoal.cli.main import main

pytestmark = pytest.mark.local("linked tables")

TABLES = ("patients", "stays", "prescriptions")
LINKS = {
    "patients": Link(["birth_date", "sex", "zip"], key="patient_id"),
    "stays": Link(
        ["admission", "department"], key="stay_id", parent="patients", foreign="patient_id"
    ),
    "prescriptions": Link(["drug"], key="prescription_id", parent="stays", foreign="stay_id"),
}
PATIENTS = 400


@pytest.fixture(scope="module")
def hospital(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("linked") / "hospital"
    words = ["sample", "hospital", "--linked", "--records", str(PATIENTS), "--out", str(folder)]
    assert main(words) == 0
    return folder


@pytest.fixture(scope="module")
def released(hospital) -> Path:
    out = hospital.parent / "release"
    assert main(["anonymize", *words(hospital), "--out", str(out), "--quiet"]) == 0
    return out


def words(folder, schema=None, method="bestcut"):
    found = [str(folder), "--schema", str(schema or folder / "schema.yaml")]
    return [*found, "--method", method] if method else found


def read(folder):
    found = {}
    for name in TABLES:
        with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            found[name] = list(csv.DictReader(file))
    return found


def edited(hospital, tmp_path, change):
    """Return a copy of the sample with some rows changed by hand."""
    folder = tmp_path / "edited"
    folder.mkdir()
    frames = {n: pl.read_csv(hospital / f"{n}.csv", infer_schema=False) for n in TABLES}
    for name, frame in {**frames, **change(frames)}.items():
        frame.write_csv(folder / f"{name}.csv")
    return folder


def test_a_linked_sample_is_released_verified_and_its_keys_are_intact(hospital, released, run):
    rows, raw = read(released), read(hospital)
    assert not naive.key_faults(rows, LINKS)
    assert min(naive_sizes(rows).values()) >= 5
    assert {key for key, count in naive_sizes(raw).items() if count == 1}
    answer = run("verify", released, "--schema", hospital / "schema.yaml", "--json")
    found = json.loads(answer.out)
    assert (answer.code, found["holds"], found["persons"]) == (0, True, len(rows["patients"]))
    assert found["records"] == sum(map(len, rows.values()))
    assert found["smallest_class"] == min(naive_sizes(rows).values())
    assert found["trajectories"]["unique"] == 0


def naive_sizes(rows):
    """Return how many patients have each tree, by hand: the naive twin's way is quadratic."""
    drugs, stays = {}, {}
    for row in rows["prescriptions"]:
        drugs.setdefault(row["stay_id"], []).append(row["drug"])
    for row in rows["stays"]:
        own = (row["admission"], row["department"], tuple(sorted(drugs.get(row["stay_id"], []))))
        stays.setdefault(row["patient_id"], []).append(own)
    return Counter(
        (row["birth_date"], row["sex"], row["zip"], tuple(sorted(stays.get(row["patient_id"], []))))
        for row in rows["patients"]
    )


def test_a_class_has_two_diagnoses_of_two_patients_in_every_view(tmp_path, run):
    """By the naive twin, which is slow: each tree, place, way and tuple of a small release."""
    small, out = tmp_path / "small", tmp_path / "out"
    assert run("sample", "hospital", "--linked", "--records", 60, "--out", small).code == 0
    asked = [*words(small), "--suppression-limit", 1, "--out", out, "--quiet"]
    assert run("anonymize", *asked).code == 0
    model = {"model": "l-diversity", "l": 2, "column": "stays.diagnosis"}
    rows = read(out)
    assert len(rows["stays"]) > 20
    assert not naive.violating(rows, LINKS, model)
    assert min(naive.alike(rows, LINKS).values()) >= 5


def test_the_report_has_a_line_a_table(hospital, tmp_path, run):
    out, page = tmp_path / "out", tmp_path / "report.html"
    answer = run("anonymize", *words(hospital), "--out", out, "--report", page, "--json")
    made = json.loads(answer.out)
    raw, rows = read(hospital), read(out)
    lines = {line["table"]: line for line in made["tables"]}
    assert list(lines) == list(TABLES)
    for name in TABLES:
        assert lines[name]["records"] == len(raw[name])
        assert lines[name]["released"] == len(rows[name])
        assert lines[name]["suppressed"] == len(raw[name]) - len(rows[name])
        assert 0 <= lines[name]["ncp"] <= 1
    assert made["records"] == sum(map(len, raw.values()))
    assert made["released"] + made["suppressed"] == made["records"]
    assert made["persons"] == len(rows["patients"])
    assert {result["model"] for result in made["privacy"]} == {"k-anonymity", "l-diversity"}
    assert all(result["holds"] for result in made["privacy"])
    assert made["privacy"][1]["parameters"]["column"] == "stays.diagnosis"
    assert made["trajectories"]["unique_before"] > 0 == made["trajectories"]["unique"]
    assert made["risk"]["after"]["maximum"] <= 0.2
    assert made["roles"]["patients.name"]["released"] is False
    assert "new numbers" in made["roles"]["stays.patient_id"]["replaced"]
    assert made["request"]["job"] == "linked"
    assert "patients.zip" in page.read_text(encoding="utf-8")


def test_what_it_says_in_words(hospital, tmp_path, run):
    answer = run("anonymize", *words(hospital), "--out", tmp_path / "out")
    assert answer.code == 0
    assert f"patients: {PATIENTS} of {PATIENTS} rows" in answer.out
    assert "linked" in answer.out
    answer = run("verify", tmp_path / "out", "--schema", hospital / "schema.yaml")
    assert answer.out.startswith("safe: every class keeps the promise")


def test_nothing_of_the_old_keys_or_names_is_left(hospital, released):
    raw = read(hospital)
    texts = "".join((released / f"{name}.csv").read_text(encoding="utf-8") for name in TABLES)
    for row in raw["patients"]:
        assert row["patient_id"] not in texts
        assert row["name"] not in texts
    assert not any(row["stay_id"] in texts for row in raw["stays"])


def test_the_raw_tables_are_not_safe(hospital, run):
    answer = run("verify", hospital, "--schema", hospital / "schema.yaml", "--json")
    found = json.loads(answer.out)
    assert (answer.code, found["holds"]) == (1, False)
    assert found["violating_records"] == found["records"]


def test_one_changed_cell_of_a_release_is_found(hospital, released, tmp_path, run):
    folder = edited(
        released, tmp_path,
        lambda frames: {"prescriptions": frames["prescriptions"].with_columns(
            pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("arsenic")).otherwise("drug")
            .alias("drug"))},
    )  # fmt: skip
    answer = run("verify", folder, "--schema", hospital / "schema.yaml", "--json")
    assert (answer.code, json.loads(answer.out)["holds"]) == (1, False)


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(hospital, tmp_path, run):
    made = []
    for name, threads in (("a", 1), ("b", 2)):
        asked = words(hospital, method="refine")
        answer = run("anonymize", *asked, "--threads", threads, "--out", tmp_path / name, "--quiet")
        assert answer.code == 0
        made.append([(tmp_path / name / f"{table}.csv").read_bytes() for table in TABLES])
    assert made[0] == made[1]


@pytest.mark.parametrize("ending", [".parquet", ".csv.gz", ".jsonl", ".arrow"])
def test_a_table_keeps_its_format(hospital, tmp_path, run, ending):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in TABLES:
        frame = pl.read_csv(hospital / f"{name}.csv", infer_schema=False)
        place = folder / f"{name}{ending}"
        if ending == ".parquet":
            frame.write_parquet(place)
        elif ending == ".arrow":
            frame.write_ipc(place)
        elif ending == ".jsonl":
            frame.write_ndjson(place)
        else:
            frame.write_csv(place, compression="gzip")
    asked = words(folder, hospital / "schema.yaml")
    assert run("anonymize", *asked, "--out", tmp_path / "out", "--quiet").code == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == sorted(
        f"{name}{ending}" for name in TABLES
    )
    answer = run("verify", tmp_path / "out", "--schema", hospital / "schema.yaml", "--quiet")
    assert answer.code == 0


def test_a_folder_has_the_modes_that_the_umask_leaves(hospital, tmp_path, run):
    before = os.umask(0o027)
    try:
        run("anonymize", *words(hospital), "--out", tmp_path / "out", "--quiet")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o750
    assert stat.S_IMODE((tmp_path / "out" / "stays.csv").stat().st_mode) == 0o640


def drop_last(name):
    return lambda frames: {name: frames[name].head(frames[name].height - 1)}


def with_cell(name, column, text):
    def change(frames):
        first = pl.int_range(pl.len()) == 0
        cell = pl.when(first).then(pl.lit(text)).otherwise(column).alias(column)
        return {name: frames[name].with_columns(cell)}

    return change


BROKEN = {
    "a dangling key": (
        with_cell("stays", "patient_id", "nobody-at-all"),
        "table 'stays': 1 rows have a 'patient_id' that is not in 'patients'",
    ),
    "a missing parent": (
        with_cell("prescriptions", "stay_id", ""),
        "table 'prescriptions': 1 rows have no 'stay_id'",
    ),
    "a missing key": (with_cell("patients", "patient_id", ""), "1 rows have no 'patient_id'"),
    "a key twice": (
        lambda frames: {"patients": pl.concat([frames["patients"], frames["patients"].head(2)])},
        "table 'patients': 2 rows repeat a 'patient_id' of another row",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("command", ["anonymize", "verify"])
def test_broken_keys_are_refused_without_a_value(hospital, tmp_path, run, case, command):
    change, said = BROKEN[case]
    folder, out = edited(hospital, tmp_path, change), tmp_path / "out"
    asked = words(folder, hospital / "schema.yaml", None)
    more = ["--out", out] if command == "anonymize" else []
    answer = run(command, *asked, *more)
    assert answer.code == 2
    assert said in answer.err
    assert "nobody-at-all" not in answer.err
    assert "Mend the keys" in answer.err
    assert not out.exists()


def test_all_broken_keys_are_named_together(hospital, tmp_path, run):
    def change(frames):
        return {
            **BROKEN["a key twice"][0](frames),
            **BROKEN["a dangling key"][0](frames),
            **BROKEN["a missing parent"][0](frames),
        }

    answer = run(
        "verify", *words(edited(hospital, tmp_path, change), hospital / "schema.yaml", None)
    )
    for case in ("a key twice", "a dangling key", "a missing parent"):
        assert BROKEN[case][1] in answer.err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--qi", "zip"], "--qi: not with a schema of linked tables"),
        (["--engine", "spark"], "--engine: not with"),
        (["--preset", "hipaa-safe-harbor"], "--preset: not with"),
        (["--partitions", "2"], "--partitions: not with"),
        (["--attacks"], "--attacks: not with"),
        (["--keep-order"], "--keep-order: not with"),
        (["--person-file", "people.csv"], "--person-file: not with"),
        (["--suppressed", "star"], "still be linked"),
        (["--key", "project.key"], "nothing depends on a key"),
        (["--method", "flash"], "take bestcut"),
        (["--method", "mdav"], "take bestcut"),
        (["--method", "xk"], "adds false records to one table"),
        (["--threads", "0"], "must be at least 1"),
        (["--waive", "cost"], "write it as table.column"),
        (["-k", "2"], "asks for less"),
        (["-k", "5000"], "cannot be met"),
        (["--suppression-limit", "0"], "--suppression-limit"),
    ],
)
def test_what_cannot_be_done_is_refused_and_writes_nothing(hospital, tmp_path, run, more, said):
    out = tmp_path / "out"
    answer = run("anonymize", *words(hospital, method=None), *more, "--out", out)
    assert answer.code in (1, 2)
    assert said in answer.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_never_replaced(hospital, tmp_path, run):
    full, empty = tmp_path / "full", tmp_path / "empty"
    full.mkdir()
    empty.mkdir()
    (full / "mine.txt").write_text("mine")
    answer = run("anonymize", *words(hospital), "--out", full)
    assert answer.code == 2
    assert "is there already; name a new folder" in answer.err
    assert [path.name for path in full.iterdir()] == ["mine.txt"]
    assert run("anonymize", *words(hospital), "--out", empty, "--quiet").code == 0
    assert run("anonymize", *words(hospital), "--out", hospital).code == 2
    assert run("anonymize", *words(hospital), "--out", tmp_path / "no" / "such").code == 2
    assert run("anonymize", *words(hospital), "--out", "-").code == 2


def test_tables_that_are_not_there_are_named_together(hospital, tmp_path, run):
    folder = edited(hospital, tmp_path, lambda frames: {})
    (folder / "stays.csv").unlink()
    (folder / "patients.parquet").write_bytes(b"")
    answer = run("verify", *words(folder, hospital / "schema.yaml", None))
    assert answer.code == 2
    assert "no file of the table 'stays', such as stays.csv" in answer.err
    assert "patients.csv and patients.parquet: keep one file of a table" in answer.err
    answer = run("verify", *words(tmp_path / "nowhere", hospital / "schema.yaml", None))
    assert "no such folder" in answer.err


def test_columns_without_a_role_are_named_with_their_tables(hospital, tmp_path, run):
    def change(frames):
        return {
            "stays": frames["stays"].with_columns(pl.lit("x").alias("ward")),
            "patients": frames["patients"].drop("zip"),
            "prescriptions": frames["prescriptions"].drop("stay_id"),
        }

    folder = edited(hospital, tmp_path, change)
    answer = run("anonymize", *words(folder, hospital / "schema.yaml"), "--out", tmp_path / "out")
    assert answer.code == 2
    assert "table 'stays': 1 columns have no role: 'ward'" in answer.err
    assert "table 'patients': column 'zip': no such column" in answer.err
    assert "table 'prescriptions': no column 'stay_id', a key of it" in answer.err


def test_a_kept_column_that_identifies_stops_the_release_until_it_is_waived(
    hospital, tmp_path, run
):
    document = yaml.safe_load((hospital / "schema.yaml").read_text(encoding="utf-8"))
    document["tables"]["patients"]["columns"]["name"] = {"role": "neutral"}
    schema = hospital / "named.yaml"
    schema.write_text(yaml.safe_dump(document), encoding="utf-8")
    asked = ["anonymize", *words(hospital, schema), "--out", tmp_path / "out"]
    answer = run(*asked)
    assert answer.code == 2
    assert "table 'patients': column 'name' is kept but is an identifier" in answer.err
    assert not (tmp_path / "out").exists()
    assert run(*asked, "--waive", "patients.name", "--quiet").code == 0


def test_other_commands_say_who_takes_such_a_schema(hospital, run):
    answer = run("metrics", hospital / "stays.csv", hospital, "--schema", hospital / "schema.yaml")
    assert answer.code == 2
    assert "anonymize, verify and risk take it" in answer.err


def test_infer_proposes_what_hangs_on_what(hospital, run, tmp_path):
    answer = run("infer", hospital, "--out", tmp_path / "proposed.yaml", "--max-size", "2")
    assert answer.code == 0
    assert "patients: a row a person, key patient_id" in answer.out
    assert "stays: hangs on patients by patient_id, key stay_id" in answer.out
    assert run("risk", hospital, "--schema", tmp_path / "proposed.yaml").code == 0
    refused = run("infer", hospital, "--preset", "hipaa-safe-harbor")
    assert (refused.code, refused.out) == (2, "")
    assert "--preset: not with a folder of linked tables" in refused.err


def test_risk_is_that_of_all_rows_and_of_one(hospital, run):
    words = ("risk", hospital, "--schema", hospital / "schema.yaml")
    answer = run(*words)
    assert answer.code == 0
    assert "by all rows" in answer.out
    found = json.loads(run(*words, "--json").out)
    assert found["persons"] == found["tables"]["patients"]["persons"]
    assert found["prosecutor"]["maximum"] == 1.0
    gated = run(*words, "--max-risk", "0.5", "--json")
    assert (gated.code, json.loads(gated.out)["gate"]["passed"]) == (1, False)
    refused = run(*words, "--release", "other")
    assert (refused.code, refused.out) == (2, "")
    assert "--release: not with a schema of linked tables" in refused.err


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres() as address:
        yield address


DDL = """
create table patients (
    patient_id bigint primary key, birth_date text, sex text, zip text
);
create table stays (
    stay_id bigint primary key, patient_id bigint not null references patients (patient_id),
    admission text, department text, diagnosis text, stay_days integer
);
create table prescriptions (
    prescription_id bigint primary key, stay_id bigint not null references stays (stay_id),
    drug text, days integer
);
"""


@pytest.mark.slow
def test_a_release_is_loaded_into_postgresql_with_its_constraints_on(released, server):
    import psycopg

    rows = read(released)
    with psycopg.connect(server) as connection:
        connection.execute(DDL)
        for name in TABLES:  # parents first: every row is checked as it comes
            with (
                connection.cursor() as cursor,
                cursor.copy(f"copy {name} from stdin with (format csv, header true)") as copy,
            ):
                copy.write((released / f"{name}.csv").read_bytes())
        for name in TABLES:
            found = connection.execute(f"select count(*) from {name}").fetchone()
            assert found == (len(rows[name]),)
        smallest = connection.execute(
            """
            with drugs as (
                select stay_id, array_agg(drug order by drug) as drugs from prescriptions
                group by stay_id
            ), trees as (
                select patient_id,
                       array_agg(concat_ws('|', coalesce(admission, '?'), coalesce(department, '?'),
                           coalesce(array_to_string(drugs, '+', '?'), '-'))
                           order by admission, department, array_to_string(drugs, '+', '?')) as tree
                from stays left join drugs using (stay_id) group by patient_id
            ), alike as (
                select count(*) as persons from patients left join trees using (patient_id)
                group by birth_date, sex, zip, tree
            )
            select min(persons) from alike
            """
        ).fetchone()
        assert smallest == (min(naive_sizes(rows).values()),)
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            connection.execute("insert into stays values (-1, -1)")


@pytest.mark.slow
def test_tables_of_a_database_are_released(hospital, server, tmp_path, run):
    pytest.importorskip("adbc_driver_postgresql", reason="needs the extra shoal[db]")
    import psycopg

    with psycopg.connect(server) as connection:
        connection.execute("create schema raw")
        connection.execute("alter role steward set search_path to raw, public")
    with psycopg.connect(server) as connection:
        for name in TABLES:
            columns = pl.read_csv(hospital / f"{name}.csv", n_rows=0).columns
            connection.execute(
                f"create table raw.{name} ({', '.join(f'{c} text' for c in columns)})"
            )
            with (
                connection.cursor() as cursor,
                cursor.copy(f"copy raw.{name} from stdin with (format csv, header true)") as copy,
            ):
                copy.write((hospital / f"{name}.csv").read_bytes())
    asked = [server, "--schema", hospital / "schema.yaml"]
    answer = run("anonymize", *asked, "--method", "bestcut", "--out", tmp_path / "out", "--json")
    assert answer.code == 0, answer.err
    assert min(naive_sizes(read(tmp_path / "out")).values()) >= 5
    assert json.loads(answer.out)["persons"] == PATIENTS
    assert run("verify", *asked).code == 1
