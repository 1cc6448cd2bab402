"""Commands as a person or a script meets them: exit codes, JSON, notices, kinds of tables."""

from __future__ import annotations

import json
import os

import polars as pl
import pytest
from tests.conftest import start
from tests.naive import release as naive
from tests.on_spark import ARROW, PACKED, read_parquet

import shoal
from shoal import api

TEXT = (
    "name,age,zip,dx,pay\n"
    + "".join(f"Zq{i},{300 + i % 9},Z{i % 3},D{i % 4},{i * 7}\n" for i in range(60))
)  # fmt: skip
FLAGS = ("--qi", "age,zip", "--numeric", "age", "--sensitive", "dx")
REPORT = {
    "method": str, "records": int, "released": int, "suppressed": int, "classes": int,
    "smallest_class": int, "privacy": list, "utility": dict, "seconds": dict,
}  # fmt: skip
UTILITY = {
    "il", "ncp", "dm", "cm", "aecs", "entropy", "height", "class-entropy", "height-utility",
    "precision", "sse_loss", "loss",
}  # fmt: skip


@pytest.fixture
def table(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text(TEXT)
    return place


def schema_document(**more):
    columns = {"name": "identifying", "age": {"role": "quasi", "kind": "numeric"}, "zip": "quasi",
               "dx": "sensitive", "pay": "neutral"}  # fmt: skip
    return {"columns": columns, **more}


@pytest.fixture
def schema_file(tmp_path):
    place = tmp_path / "s.json"
    place.write_text(json.dumps(schema_document()))
    return place


def assert_report(document):
    for key, kind in REPORT.items():
        assert isinstance(document[key], kind), key
    assert set(document["utility"]) >= UTILITY
    assert {"read", "learn", "encode", "verify", "write", "total"} <= set(document["seconds"])
    for entry in document["privacy"]:
        assert {"model", "parameters", "holds", "value"} <= set(entry)
    assert document["released"] + document["suppressed"] >= document["records"]


@pytest.mark.parametrize("method", ["auto", *(method.name for method in api.methods())])
def test_anonymize_prints_exactly_one_json_document(tmp_path, table, run, method):
    out = tmp_path / "o.csv"
    answer = run(
        "anonymize", table, *FLAGS, "-k", 5, "--l", 2, "--method", method, "--out", out, "--json"
    )
    assert answer.code == 0, answer.err
    assert answer.err == ""
    document = json.loads(answer.out)
    assert_report(document)
    rows = naive.read(out)
    groups = naive.classes(rows, ("age", "zip"))
    assert document["records"] == 60
    assert document["released"] == len(rows)
    assert document["classes"] == len(groups)
    assert document["smallest_class"] == min(map(len, groups.values()))
    by_name = {entry["model"]: entry for entry in document["privacy"]}
    assert by_name["k-anonymity"]["parameters"] == {"k": 5}
    assert by_name["k-anonymity"]["value"] == document["smallest_class"]
    assert all(entry["holds"] for entry in document["privacy"])


def test_learn_prints_exactly_one_json_document(tmp_path, table, run):
    goal = tmp_path / "m.json"
    answer = run("learn", table, *FLAGS, "-k", 5, "--model", goal, "--json")
    assert answer.code == 0
    assert answer.err == ""
    assert_report(json.loads(answer.out))
    assert shoal.RecodingModel.load(goal).records == 60


def test_the_summary_is_for_people(tmp_path, table, run):
    out = tmp_path / "o.csv"
    answer = run("anonymize", table, *FLAGS, "-k", 5, "--out", out)
    assert answer.code == 0
    for word in ("60", "classes", "smallest", "suppressed", "loss", "risk before", "risk after"):
        assert word in answer.out
    assert run("anonymize", table, *FLAGS, "-k", 5, "--out", out, "--quiet") == (0, "", "")


def test_a_warm_run_does_not_say_that_it_compiles(tmp_path, table, run):
    out = tmp_path / "o.csv"
    for _ in range(2):
        answer = run("anonymize", table, *FLAGS, "-k", 5, "--out", out)
    assert answer.err == ""


@pytest.mark.local("a process of its own")
def test_a_cold_run_says_that_it_compiles(tmp_path, table):
    process = start(
        "anonymize", table, *FLAGS, "-k", 5, "--method", "flash", "--out", tmp_path / "o.csv",
        env={"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
    )  # fmt: skip
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "compil" in said


def test_the_report_is_one_page_that_needs_nothing_else(tmp_path, table, run):
    page = tmp_path / "r.html"
    run("anonymize", table, *FLAGS, "-k", 5, "--out", tmp_path / "o.csv", "--report", page)
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "http" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "src=" not in text


@pytest.mark.parametrize(
    "argv",
    [("frobnicate",), ("anonymize",), ("anonymize", "t.csv", "--wat"), ("verify",),
     ("anonymize", "t.csv", "--qi", "age", "-k", "2"), ("sample", "nosuch", "--out", "x.csv"),
     ("anonymize", "t.csv", "--schema", "s.yaml", "--qi", "age", "-k", "2", "--out", "o.csv"),
     ("anonymize", "t.csv", "-k", "2", "--out", "o.csv"), ("metrics", "t.csv"),
     ("anonymize", "nosuch.csv", "--qi", "age", "-k", "2", "--out", "o.csv"),
     ("hierarchy", "show", "nosuch.csv"), ("hierarchy", "check", "nosuch.csv")],
)  # fmt: skip
def test_a_question_that_cannot_be_asked(tmp_path, monkeypatch, table, run, argv):
    monkeypatch.chdir(tmp_path)
    answer = run(*argv)
    assert answer.code == 2
    assert answer.err.startswith("shoal: ")
    assert answer.err.count("\n") == 1
    assert sorted(os.listdir()) == ["t.csv"]


@pytest.mark.parametrize(
    "flags",
    ["--l-kind recursive", "--t-distance ordered", "--c 2", "--n 5", "--utility nonsense",
     "--threads 0", "--threads -1", "--method nosuch", "--suppression-limit 1.5",
     "--suppression-limit -0.1", "--target nosuch", "--suppressed nosuch",
     "--l 2 --l-kind recursive", "--l 2 --c 2", "--t 0.2 --t-distance nosuch", "--l 2.5",
     "--t 1.5", "--alpha 0", "--t 0.2 --t-distance hierarchical", "--sep ;;", "--l nan"],
)  # fmt: skip
def test_an_option_that_would_be_ignored_or_cannot_be_meant_is_refused(tmp_path, table, run, flags):
    answer = run("anonymize", table, *FLAGS, "-k", 5, *flags.split(), "--out", tmp_path / "o.csv")
    assert answer.code == 2, answer
    assert answer.err.count("\n") == 1
    assert not (tmp_path / "o.csv").exists()


# Columns that nobody named.


def test_flags_leave_unnamed_columns_out_and_say_so(tmp_path, table, run):
    out = tmp_path / "o.csv"
    answer = run("anonymize", table, *FLAGS, "-k", 5, "--out", out)
    assert out.read_text().splitlines()[0] == "age,zip,dx"
    assert "'name'" in answer.out + answer.err
    assert "'pay'" in answer.out + answer.err
    assert "--neutral" in answer.out + answer.err
    found = json.loads(run("anonymize", table, *FLAGS, "-k", 5, "--out", out, "--json").out)
    assert any("'pay'" in notice for notice in found["notices"])
    named = run("anonymize", table, *FLAGS, "--neutral", "pay", "--identifying", "name", "-k", 5,
                "--out", out)  # fmt: skip
    assert out.read_text().splitlines()[0] == "age,zip,dx,pay"
    assert "--neutral" not in named.out + named.err


def test_a_schema_must_name_every_column(tmp_path, table, run):
    document = schema_document()
    del document["columns"]["pay"], document["columns"]["name"]
    place, out = tmp_path / "s.json", tmp_path / "o.csv"
    place.write_text(json.dumps(document))
    answer = run("anonymize", table, "--schema", place, "-k", 5, "--out", out)
    assert answer.code == 2
    assert "'pay'" in answer.err
    assert "'name'" in answer.err
    assert "others" in answer.err
    for others, header in (("drop", "age,zip,dx"), ("keep", "name,age,zip,dx,pay")):
        place.write_text(json.dumps({**document, "others": others}))
        waived = ("--waive", "name") if others == "keep" else ()
        assert run("anonymize", table, "--schema", place, "-k", 5, "--out", out, *waived).code == 0
        assert out.read_text().splitlines()[0] == header


def test_all_faults_of_a_schema_come_together(tmp_path, table, run):
    place = tmp_path / "s.json"
    place.write_text(
        json.dumps({"columns": {"age": {"role": "zzz"}, "zip": {"role": "quasi", "weight": -1},
                    "dx": {"role": "neutral", "hierarchy": {"mask": {}}}}, "wat": 1,
                    "privacy": [{"model": "k-anonymity", "k": 0}]})
    )  # fmt: skip
    answer = run("anonymize", table, "--schema", place, "--out", tmp_path / "o.csv")
    assert answer.code == 2
    for word in ("'age'", "'zip'", "'dx'", "'wat'", "k must be"):
        assert word in answer.err


def test_identifying_columns_never_leave(tmp_path, table, run, schema_file):
    out = tmp_path / "o.csv"
    run("anonymize", table, "--schema", schema_file, "-k", 5, "--out", out)
    assert "Zq" not in out.read_text()
    assert out.read_text().splitlines()[0] == "age,zip,dx,pay"


# Kinds of tables.


@pytest.mark.parametrize("ending", ["csv", PACKED, "tsv", "parquet", "jsonl", ARROW, "CSV"])
def test_every_format_in_and_out(tmp_path, table, run, schema_file, ending):
    first, second = tmp_path / f"a.{ending}", tmp_path / "b.csv"
    flags = ("--schema", schema_file, "-k", 5, "--quiet")
    assert run("anonymize", table, *flags, "--out", first) == (0, "", "")
    assert run("anonymize", table, *flags, "--out", second).code == 0
    assert run("verify", first, "--schema", schema_file, "-k", 5, "--quiet") == (0, "", "")
    readers = {"parquet": read_parquet, "jsonl": pl.read_ndjson, "arrow": pl.read_ipc}
    reader = readers.get(ending)
    if reader is not None:
        frame = reader(first).with_columns(pl.all().cast(pl.String))
        assert frame.equals(pl.read_csv(second, infer_schema=False))


@pytest.mark.parametrize("ending", ["parquet", "jsonl", ARROW])
def test_a_file_name_is_no_pattern(tmp_path, run, schema_file, ending):
    frame = pl.read_csv(TEXT.encode())
    place = tmp_path / f"t[1]*.{ending}"
    {"parquet": frame.write_parquet, "jsonl": frame.write_ndjson, "arrow": frame.write_ipc}[ending](
        place
    )
    out = tmp_path / "o.csv"
    answer = run("anonymize", place, "--schema", schema_file, "-k", 5, "--out", out, "--quiet")
    assert answer == (0, "", "")


def test_gzip_is_known_by_an_ending_in_capitals_too(tmp_path, run, schema_file):
    import gzip

    place, out = tmp_path / "T.CSV.GZ", tmp_path / "o.csv"
    place.write_bytes(gzip.compress(TEXT.encode()))
    answer = run("anonymize", place, "--schema", schema_file, "-k", 5, "--out", out, "--quiet")
    assert answer == (0, "", "")


def frames():
    frame = pl.read_csv(TEXT.encode()).with_columns(pl.col("age").cast(pl.Float64))
    yield "polars", frame
    yield "lazy", frame.lazy()
    yield "pandas", frame.to_pandas()
    yield "arrow", frame.to_arrow()


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "arrow"])
def test_the_kind_of_table_that_comes_in_goes_out(kind):
    table = dict(frames())[kind]
    schema = shoal.Schema.from_document(schema_document())
    made = shoal.anonymize(table, schema, privacy=[shoal.KAnonymity(5)]).table
    assert type(made) is type(table)
    reference = shoal.anonymize(
        dict(frames())["polars"], schema, privacy=[shoal.KAnonymity(5)]
    ).table
    as_polars = {"polars": lambda x: x, "lazy": lambda x: x.collect(), "pandas": pl.from_pandas,
                 "arrow": pl.from_arrow}[kind](made)  # fmt: skip
    assert as_polars.columns == ["age", "zip", "dx", "pay"]
    assert as_polars.cast(pl.String).equals(reference.cast(pl.String))
    assert shoal.verify(made, schema, privacy=[shoal.KAnonymity(5)]).holds


@pytest.mark.parametrize(
    "values",
    [["a", "b"], [True, False], [1, 2], [1.5, float("nan")], [None, 1.5], ["", None]],
    ids=["text", "truth", "whole", "nan", "null", "empty text"],
)
@pytest.mark.parametrize("role", ["sensitive", "neutral"])
def test_a_kept_column_keeps_its_type_and_its_values(values, role):
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "kept": values * 2}, strict=False)
    schema = shoal.Schema.from_document({"columns": {"age": "quasi", "kept": role}})
    made = shoal.anonymize(frame, schema, privacy=[shoal.KAnonymity(2)]).table
    assert made["kept"].dtype == frame["kept"].dtype
    assert sorted(map(repr, made["kept"].to_list())) == sorted(map(repr, values * 2))


def test_the_callers_tables_stay_as_they_are():
    schema = shoal.Schema.from_document(schema_document())
    for kind, table in frames():
        before = table.collect().clone() if kind == "lazy" else None
        copy = {"polars": lambda x: x.clone(), "pandas": lambda x: x.copy(deep=True),
                "arrow": lambda x: x.slice(0), "lazy": lambda x: x}[kind](table)  # fmt: skip
        shoal.anonymize(table, schema, privacy=[shoal.KAnonymity(5)])
        shoal.verify(table, schema, privacy=[shoal.KAnonymity(5)])
        after = table.collect() if kind == "lazy" else table
        assert after.equals(before if kind == "lazy" else copy)


def test_the_documented_names_stay_callable():
    # A room of the house that is called like a function would hide it once it is imported.
    import shoal.methods.registry

    for name in shoal.__all__:
        assert name == "__version__" or callable(getattr(shoal, name)), name


# Numbers that are known.


def test_violators_and_classes_of_adult(adult, run):
    def found(quasi, k):
        answer = run("verify", adult.table, "--qi", quasi, "-k", k, "--json")
        return json.loads(answer.out)

    pair = "occupation,native-country"
    assert found(pair, 2)["violating_records"] == 84
    assert found(pair, 5)["violating_records"] == 497
    assert found(adult.flags[1], 2)["classes"] == 18_109


def age_width(label):
    low, _, high = label.strip("[]").partition(", ")
    return int(high) - int(low) if high else 0


def label_costs(folder, column):
    """Height of each label of a hierarchy file, as a share of the whole height."""
    (place,) = folder.glob(f"*hierarchy_{column}.csv")
    rows = [line.split(";") for line in place.read_text().splitlines()]
    return {label: level / (len(row) - 1) for row in rows for level, label in enumerate(row)}


def test_adult_at_k_10(tmp_path, adult, run):
    out = tmp_path / "o.csv"
    answer = run(
        "anonymize", adult.table, *adult.flags, "--method", "mondrian", "-k", 10, "--out", out,
        "--labels", "tight", "--json",
    )  # fmt: skip
    document = json.loads(answer.out)
    assert document["records"] == document["released"] == 30_162
    rows = naive.read(out, separator=";")
    quasi = adult.flags[1].split(",")
    assert naive.broken(rows, quasi, [{"model": "k-anonymity", "k": 10}], columns={}) == 0
    ages = [int(row["age"]) for row in naive.read(adult.table, separator=";")]
    span = max(ages) - min(ages)
    costs = {name: label_costs(adult.hierarchies, name) for name in quasi if name != "age"}
    total = sum(
        (age_width(row[name]) / span if name == "age" else costs[name][row[name]])
        for row in rows
        for name in quasi
    )
    assert document["utility"]["il"] == pytest.approx(total)
    assert document["utility"]["ncp"] == pytest.approx(total / len(rows) / len(quasi))
    assert document["utility"]["ncp"] < 0.19
