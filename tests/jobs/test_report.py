"""Reports of what jobs gave: every kind of result, every format, all or nothing."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import date
from importlib.util import find_spec

import polars as pl
import pytest
from tests.reports.reports import report as account

import shoal
from shoal.core.errors import OutputError, SchemaError
from shoal.formats.database import Database
from shoal.formats.spark_table import SparkTable
from shoal.jobs import report as job
from shoal.jobs.report import (
    ReportRequest,
    check_report,
    digest_of,
    name_of,
    report,
    write_report,
)

FRAME = pl.DataFrame({"age": [30, 31, 40, 41], "ill": list("abab")})
DAY = date(2026, 1, 31)


def test_a_report_is_one_of_four_kinds_of_files(tmp_path):
    for name in ("report.html", "report.HTM", "report.md", "report.json"):
        check_report(tmp_path / name)
    for name in ("report.docx", "report"):
        with pytest.raises(OutputError, match=r"one of \.html"):
            check_report(tmp_path / name)
        with pytest.raises(OutputError, match=r"one of \.html"):
            write_report(account(), tmp_path / name)
    page = tmp_path / "report.html"
    with pytest.raises(OutputError):
        check_report(page, inputs=(page,))
    write_report(account(), page)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(OutputError):
        write_report(account(), page, inputs=(page,))


def test_a_pdf_without_what_writes_it_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(job, "find_spec", lambda name: None)
    with pytest.raises(OutputError, match=r"shoal\[report\]"):
        check_report(tmp_path / "r.pdf")


@pytest.mark.parametrize("ending", ["html", "md", "json", "pdf"])
def test_the_same_result_gives_the_same_bytes(tmp_path, ending):
    if ending == "pdf" and find_spec("typst") is None:
        pytest.skip("shoal[report] is not installed")
    table, bytes_of = tmp_path / "t.csv", []
    FRAME.write_csv(table)
    for _ in range(2):
        out = tmp_path / "o.csv"
        made = shoal.anonymize(table, qi=["age"], sensitive=["ill"], k=2, out=out, pictures=True)
        asked = ReportRequest(table=table, release=out, day=DAY)
        write_report(report(made, asked), tmp_path / f"r.{ending}")
        bytes_of.append((tmp_path / f"r.{ending}").read_bytes())
    assert bytes_of[0] == bytes_of[1]


def test_files_are_hashed_and_versions_named(tmp_path):
    table = tmp_path / "t.csv"
    FRAME.write_csv(table)
    digest = hashlib.sha256(table.read_bytes()).hexdigest()
    assert digest_of(table) == digest_of(str(table)) == digest
    assert digest_of(SparkTable(str(table))) == digest
    assert digest_of(FRAME) is digest_of("nowhere.csv") is digest_of(tmp_path) is None
    about = ReportRequest(table=table, release=tmp_path / "none", day=DAY).about()
    assert about.hashes == {"input": digest}
    assert about.table == "t.csv"
    assert {"shoal", "Python", "polars", "numpy"} <= set(about.versions)
    assert ReportRequest(table=table, audience="external").about().hashes == {}


def test_a_table_is_called_without_its_folders():
    assert name_of("/home/somebody/t.csv") == "t.csv"
    assert name_of(Database(uri="postgresql://u:secret@h/d", table="stays")) == "stays"
    assert name_of(SparkTable("hdfs://h/x/t.parquet")) == "t.parquet"
    assert name_of(FRAME) is None


def test_every_result_has_a_report(tmp_path):
    verified = shoal.verify(FRAME.with_columns(age=pl.lit("x")), qi=["age"], k=2)
    assert report(verified).kind == "verification"
    assert report(shoal.risk(FRAME, qi=["age"])).kind == "risk"
    assert report(account()).kind == "release"
    model = shoal.learn(FRAME, qi=["age"], k=2)
    safe = model.encode_safe(FRAME)
    assert report(safe, ReportRequest(schema=model.schema)).kind == "batch"
    with pytest.raises(SchemaError, match="not verified"):
        report(model.encode(FRAME))


def test_an_audience_that_there_is_not_is_refused():
    with pytest.raises(SchemaError, match="internal or external"):
        ReportRequest(audience="friends").about()


def test_attacks_are_in_the_report_of_a_release():
    made = shoal.anonymize(FRAME, qi=["age"], sensitive=["ill"], k=2, attacks=True)
    found = report(made)
    assert {each.question for each in found.risk.attacks} == {
        "singling out", "linkability", "inference",
    }  # fmt: skip
    assert found.risk.attackers[0].before == 1.0


def run_all(run, tmp_path, *more):
    """Write a report by every command that can, and return the documents."""
    table = tmp_path / "t.csv"
    pl.DataFrame({"age": [*range(20)] * 2, "ill": ["a", "b"] * 20}).write_csv(table)
    flags = ("--qi", "age", "--sensitive", "ill")
    at = {name: tmp_path / f"{name}.json" for name in ("a", "v", "r", "e")}
    out, model = tmp_path / "o.csv", tmp_path / "m.json"
    common = ("--report-date", "2026-01-31", "--recipient", "them", *more)
    answers = [
        run("anonymize", table, *flags, "-k", 5, "--out", out, "--report", at["a"], *common),
        run("verify", out, *flags, "-k", 5, "--report", at["v"], *common),
        run("risk", out, *flags, "--report", at["r"], *common),
        run("learn", table, *flags, "-k", 5, "--model", model),
        run("encode", model, table, "--safe", "--out", tmp_path / "b.csv", "--report", at["e"],
            *common),
    ]  # fmt: skip
    assert [answer.code for answer in answers] == [0] * 5, [answer.err for answer in answers]
    return {name: json.loads(path.read_text("utf-8")) for name, path in at.items()}


def test_every_command_writes_its_report(run, tmp_path):
    found = run_all(run, tmp_path)
    assert {name: each["kind"] for name, each in found.items()} == {
        "a": "release", "v": "verification", "r": "risk", "e": "batch",
    }  # fmt: skip
    assert all(each["decision"]["recipient"] == "them" for each in found.values())
    assert all(each["making"]["request"] is not None for each in found.values())
    assert "model" in found["e"]["making"]["hashes"]
    outside = run_all(run, tmp_path, "--report-for", "external")
    assert all(each["making"]["request"] is None for each in outside.values())


def test_a_release_that_does_not_pass_a_profile_is_not_written(run, tmp_path):
    table, out, page = tmp_path / "t.csv", tmp_path / "o.csv", tmp_path / "r.html"
    pl.DataFrame({"age": [*range(20)] * 4}).write_csv(table)
    asked = ("anonymize", table, "--qi", "age", "--profile", "cms-cell-size", "--out", out)
    answer = run(*asked, "-k", 5, "--report", page)
    assert answer.code == 1
    assert "profile cms-cell-size of 2024-01-26" in answer.err
    assert "nothing was written" in answer.err
    assert not out.exists()
    assert not page.exists()
    assert run(*asked, "-k", 11, "--report", page).code == 0
    assert "passed: classes of at least 11" in page.read_text("utf-8")
    assert "2024-01-26" in page.read_text("utf-8")


def test_records_of_people_who_have_several_do_not_pass_unless_persons_are_counted(run, tmp_path):
    table, out = tmp_path / "t.csv", tmp_path / "o.csv"
    pl.DataFrame({"age": [1] * 60, "who": [f"p{i % 20}" for i in range(60)]}).write_csv(table)
    asked = (
        "anonymize",
        table,
        "--qi",
        "age",
        "--profile",
        "cms-cell-size",
        "-k",
        11,
        "--out",
        out,
    )
    answer = run(*asked, "--identifying", "who")
    assert answer.code == 1
    assert "--person" in answer.err
    assert not out.exists()
    assert run(*asked, "--person", "who").code == 0


def test_risk_has_profiles_as_gates(run, tmp_path):
    table = tmp_path / "t.csv"
    pl.DataFrame({"age": [1] * 11 + [2] * 11}).write_csv(table)
    found = run("risk", table, "--qi", "age", "--profile", "cms-cell-size", "--json")
    assert found.code == 0
    assert json.loads(found.out)["profile"]["passed"] is True
    pl.DataFrame({"age": [1] * 11 + [2] * 10}).write_csv(table)
    answer = run("risk", table, "--qi", "age", "--profile", "cms-cell-size")
    assert answer.code == 1
    assert re.search(r"profile +cms-cell-size, of 2024-01-26: NOT passed", answer.out)
    assert run("risk", table, "--qi", "age", "--profile", "nothing").code == 2
    xk = run("anonymize", table, "--qi", "age", "-k", 2, "--method", "xk", "--profile",
             "us-schools", "--out", tmp_path / "o.csv")  # fmt: skip
    assert xk.code == 2
