"""The options of a report: refused before any work, and nothing is written unasked."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from shoal.cli.options.report import ReportOptions
from shoal.core.errors import OutputError, SchemaError


@pytest.mark.parametrize("report", ["o.csv", "r.docx", "none/r.html", "t.csv"])
def test_a_place_that_cannot_be_a_report_is_refused(tmp_path, monkeypatch, report):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("age\n1\n")
    with pytest.raises(OutputError):
        ReportOptions(report=report).check("t.csv", "o.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize(
    ("words", "where"),
    [
        ({"report": "r.html", "report_for": "friends"}, "--report-for"),
        ({"report": "r.html", "report_date": "tomorrow"}, "--report-date"),
        ({"by": "me"}, "--by"),
        ({"report_for": "external"}, "--report-for"),
        ({"recipient": "them"}, "--recipient"),
    ],
)
def test_words_that_cannot_be_meant_are_refused(tmp_path, monkeypatch, words, where):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SchemaError) as caught:
        ReportOptions(**words).check()
    assert caught.value.facts["where"] == where


def test_what_people_say_goes_into_the_report():
    asked = ReportOptions(
        report="r.html", by="A", purpose="B", recipient="C", report_date="2026-01-31"
    ).asked(table="t.csv", profile="cms-cell-size")
    assert asked == {
        "audience": "internal", "by": "A", "purpose": "B", "recipient": "C",
        "day": date(2026, 1, 31), "table": "t.csv", "profile": "cms-cell-size",
    }  # fmt: skip


def test_nothing_is_written_unasked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ReportOptions().write(None, {})
    assert list(tmp_path.iterdir()) == []
