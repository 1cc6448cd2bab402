"""The command `demo`: every step, with the command that does it."""

from __future__ import annotations

import shlex
import sys
import webbrowser

import pytest

from shoal.jobs import demo as job


@pytest.fixture
def opened(monkeypatch):
    pages: list[str] = []
    monkeypatch.setattr(webbrowser, "open", pages.append)
    monkeypatch.setattr(job, "has_screen", lambda: True)
    return pages


def test_it_prints_each_command_before_what_the_command_prints(tmp_path, run, opened):
    folder = tmp_path / "new folder"
    done = run("demo", "--out", folder)
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line for line in lines if line.startswith("$ ")] == [
        f"$ cd {shlex.quote(str(folder))}",
        *(f"$ shoal {shlex.join(step.arguments)}" for step in job.STEPS),
    ]
    assert "safe: every class keeps the promise" in lines
    assert (folder / "report.html").read_text().startswith("<!")
    assert f"For people who decide about the release: {folder / 'report.html'}" in lines
    assert opened == []  # standard output is no terminal here


def test_its_commands_can_be_typed_one_by_one(tmp_path, run, monkeypatch):
    run("demo", "--out", tmp_path / "demo")
    (tmp_path / "typed").mkdir()
    monkeypatch.chdir(tmp_path / "typed")
    for step in job.STEPS:
        assert run(*step.arguments).code == 0
    for name in ("stays.csv", "schema.yaml", "release.csv"):
        assert (tmp_path / "typed" / name).read_bytes() == (tmp_path / "demo" / name).read_bytes()


@pytest.mark.parametrize(("flags", "count"), [((), 1), (("--no-open",), 0)])
def test_the_report_is_opened_on_a_terminal_with_a_screen(
    tmp_path, monkeypatch, opened, flags, count
):
    from shoal.cli.main import main

    monkeypatch.setattr(job, "STEPS", ())
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert main(["demo", "--out", str(tmp_path), *flags]) == 0
    assert opened == [(tmp_path / "report.html").as_uri()] * count


def test_it_stops_at_a_step_that_fails_and_opens_nothing(tmp_path, run, monkeypatch, opened):
    steps = [job.STEPS[0], job.Step("?", ("verify", "stays.csv", "--qi", "zip", "-k", "5"))]
    monkeypatch.setattr(job, "STEPS", [*steps, job.STEPS[1]])
    done = run("demo", "--out", tmp_path)
    assert done.code == 1
    assert "NOT safe" in done.out
    assert "$ shoal infer" not in done.out


def test_it_replaces_nothing(tmp_path, run):
    (tmp_path / "mine.txt").write_text("mine")
    done = run("demo", "--out", tmp_path)
    assert done.code == 2
    assert "new or empty folder" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
