"""The command line as a whole: its help, and what it says when something breaks."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

import shoal
from shoal.cli.faults import own_place

GROUPS = [(), ("budget",), ("edge",), ("hierarchy",)]


@pytest.mark.parametrize("words", GROUPS, ids=["shoal", "budget", "edge", "hierarchy"])
def test_bare_shoal_prints_the_same_help_as_help(run, words):
    bare = run(*words)
    assert bare == run(*words, "--help")
    assert bare.code == 0
    assert bare.out.startswith("Usage: shoal")
    assert len(bare.out.splitlines()) > 5


@pytest.fixture
def broken(monkeypatch):
    """Break a library deep below our own code; its message quotes a value."""

    def verify(*_, **__):
        return traceback.format_list([None])

    monkeypatch.setattr("shoal.jobs.verify.verify", verify)


def verify(run, tmp_path):
    (tmp_path / "t.csv").write_text("age\n1\n")
    return run("verify", tmp_path / "t.csv", "--qi", "age", "-k", 1)


def test_an_unexpected_error_names_the_last_line_of_our_code(run, tmp_path, broken):
    answer = verify(run, tmp_path)
    assert answer.code == 3
    line = Path(shoal.__file__).parent / "cli" / "verify.py"
    assert "at cli/verify.py:" in answer.err
    number = int(answer.err.partition("cli/verify.py:")[2].split(";")[0])
    assert "job.verify(" in line.read_text().splitlines()[number - 1]
    assert answer.err.count("\n") == 1
    assert "Traceback" not in answer.err
    assert "traceback.py" not in answer.err


@pytest.mark.parametrize("value", ["", "0"])
def test_shoal_debug_prints_the_traceback_only_when_it_is_on(
    run, tmp_path, broken, monkeypatch, value
):
    monkeypatch.setenv("SHOAL_DEBUG", value)
    assert "Traceback" not in verify(run, tmp_path).err
    monkeypatch.setenv("SHOAL_DEBUG", "1")
    answer = verify(run, tmp_path)
    assert answer.code == 3
    assert "Traceback (most recent call last)" in answer.err
    assert answer.err.splitlines()[-1].startswith("shoal: a bug of ours: ")


@pytest.mark.parametrize(
    ("package", "file"),
    [
        ("/opt/env/lib/shoal", "/opt/env/lib/shoal/engines/local/write.py"),
        (r"C:\Users\me\env\Lib\site-packages\shoal",
         r"c:\Users\me\env\Lib\site-packages\shoal\engines\local\write.py"),
    ],
    ids=["posix", "windows"],
)  # fmt: skip
def test_the_place_of_an_error_is_ours_and_without_the_machines_paths(package, file):
    other = "C:\\Python\\Lib\\json\\__init__.py" if "\\" in file else "/usr/lib/json/__init__.py"
    beside = package + "-extras/engines/own.py"
    frames = [traceback.FrameSummary(name, number, "f", lookup_line=False)
              for number, name in enumerate([other, file, beside, other], 1)]  # fmt: skip
    assert own_place(frames, package) == "engines/local/write.py:2"
    assert own_place([frames[0]], package) == "a place outside shoal"


def released(run, tmp_path, *flags):
    (tmp_path / "t.csv").write_text("age\n" + "1\n" * 9)
    answer = run("anonymize", tmp_path / "t.csv", "--qi", "age", "-k", 2, *flags)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]
    return answer


@pytest.fixture
def no_work(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("it was to be refused before the work")

    monkeypatch.setattr("shoal.jobs.search.Opened.search", refuse)


@pytest.mark.parametrize("name", ["r.docx", "r", "r.html.gz"])
def test_a_report_that_no_program_reads_is_refused_before_the_work(run, tmp_path, no_work, name):
    place = tmp_path / name
    answer = released(run, tmp_path, "--out", tmp_path / "o.csv", "--report", place)
    assert answer.code == 2
    assert "a report is one of .html" in answer.err


@pytest.mark.local("Spark writes other files")
def test_an_out_that_is_only_read_says_what_can_be_written(run, tmp_path, no_work):
    answer = released(run, tmp_path, "--out", tmp_path / "o.sas7bdat")
    assert answer.code == 2
    assert "shoal writes: .csv" in answer.err
    assert "reads" not in answer.err
