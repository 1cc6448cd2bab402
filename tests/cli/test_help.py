"""Help: panels, 80 columns, examples that run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from tests.formats.arx_project import write_small_project
from tests.formats.other_tools import AGES, write_survey

from shoal.cli.help import PANELS
from shoal.cli.main import app, main

BARE = {"demo"}  # what opens a page, or needs what a test has not: run elsewhere


def leaves(group=None, path=()):
    group = group or typer.main.get_command(app)
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from leaves(each, (*path, name))
        else:
            yield (*path, name), each


LEAVES = dict(leaves())


def examples(command):
    """Return the commands of a help; a line that ends in a backslash goes on in the next."""
    text = str(getattr(command.callback, "examples", "")).replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip() and line[:1] != "#"]


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_a_help_stands_in_panels_and_fits_80_columns(run, path):
    answer = run(*path, "--help")
    assert answer.code == 0
    assert answer.out.startswith(f"Usage: shoal {' '.join(path)} [OPTIONS]")
    assert max(len(line) for line in answer.out.splitlines()) <= 80
    assert "\x1b" not in answer.out
    for each in LEAVES[path].params:
        for flag in each.opts if each.param_type_name == "option" else ():
            assert flag in answer.out or f"--[no-]{flag[2:]}" in answer.out


def test_the_panels_of_anonymize_stand_in_their_order(run):
    titles = re.findall(r"^([\w-]+):$", run("anonymize", "--help").out, re.MULTILINE)
    known = [title for title in PANELS if title in titles]
    assert titles == [*known, "Options", "Examples"]
    assert {"Input", "Roles", "Promise", "Method", "Output", "Checks", "Engine"} <= set(titles)


def test_a_help_is_coloured_where_that_is_asked_for(run, monkeypatch):
    plain = run("anonymize", "--help").out
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = run("anonymize", "--help").out
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make what the examples speak of: a table, its release, a model, new records."""
    place = tmp_path_factory.mktemp("examples")
    before = Path.cwd()
    os.chdir(place)
    try:
        schema = ("--schema", "stays.schema.yaml", "-k", "5")
        for words in (
            ("sample", "hospital", "--records", "1000", "--out", "stays.csv"),
            ("sample", "hospital", "--records", "200", "--seed", "9", "--out", "new.csv"),
            ("anonymize", "stays.csv", *schema, "--out", "release.csv", "--quiet",
             "--ledger", "releases.db"),
            ("sample", "hospital", "--linked", "--records", "500", "--out", "wards"),
            ("anonymize", "wards", "--schema", "wards/schema.yaml", "--method", "bestcut",
             "--out", "wards_release", "--quiet"),
            ("learn", "stays.csv", *schema, "--model", "model.json", "--quiet"),
            ("learn", "stays.csv", "--qi", "sex,zip", "-k", "5", "--model", "small.json",
             "--model-bytes", "64kB", "--quiet"),
            ("encode", "model.json", "new.csv", "--out", "encoded.jsonl", "--quiet"),
            ("hierarchy", "build", "stays.csv", "--column", "zip", "--mask",
             "--out", "hierarchy_zip.csv"),
            ("budget", "set", "stays.csv", "--epsilon", "1", "--ledger", "budget.db"),
        ):  # fmt: skip
            assert main(list(words)) == 0
        shutil.copy("release.csv", "second.csv")
        Path("in.jsonl").write_text("")
        write_small_project(place / "study.deid")
        (place / "ages.txt").write_text(AGES, encoding="utf-8")
        write_survey(place / "survey.sav")
    finally:
        os.chdir(before)
    return place


@pytest.mark.local("the examples are run as they stand")
@pytest.mark.parametrize("path", [p for p, c in LEAVES.items() if examples(c)], ids=" ".join)
def test_the_examples_of_a_help_run(run, path, folder, tmp_path, monkeypatch):
    place = shutil.copytree(folder, tmp_path / "run")  # no example sees what another wrote
    monkeypatch.chdir(place)
    for line in examples(LEAVES[path]):
        if "wordnet" in line and not (folder / "wordnet").is_dir():
            pytest.skip("needs WordNet's files")
        if path == ("warm",):
            pytest.skip("compiles every kernel; make run does it")
        if path == ("completion",):
            pytest.skip("lines of three shells; test_completion.py types them")
        if path in (("web",), ("serve",)):
            pytest.skip("serves until it is ended; tests/web and tests/service drive it")
        words = shlex.split(line)
        assert words[0] == "shoal"
        if "<" in words:
            source, goal = words[words.index("<") + 1], words[words.index(">") + 1]
            with open(source, "rb") as file, open(goal, "wb") as out:
                command = [sys.executable, "-m", "shoal", *words[1 : words.index("<")]]
                assert subprocess.run(command, stdin=file, stdout=out).returncode == 0
            continue
        answer = run(*words[1:])
        assert answer.code == 0, f"{line}\n{answer.err}"


@pytest.mark.parametrize("path", [p for p in LEAVES if p[0] not in BARE], ids=" ".join)
def test_every_command_has_an_example(path):
    assert examples(LEAVES[path])
