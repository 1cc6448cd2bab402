"""README's first command prints what README shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from shoal.cli.main import main

ROOT = Path(__file__).resolve().parents[2]


def commands() -> list[list[str]]:
    """Return the commands of `make run`, as they stand in the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    recipe = makefile.split("\nrun:", 1)[1].split("\n\n", 1)[0].replace("$(OUT)", "out")
    return [shlex.split(line)[1:] for line in recipe.splitlines() if "$(BIN)/shoal" in line]


def test_make_run_prints_what_readme_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    for arguments in commands():
        assert main(arguments) == 0
    printed = capsys.readouterr().out.splitlines()
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"```text\n(.*?)```", page, re.DOTALL)
    assert shown is not None
    at = 0
    for line in shown[1].splitlines():
        if line != "…":
            at = printed.index(line, at)
