"""The tutorials are run: every command, in order, and what it prints is compared."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from shoal.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))


def steps(page: str) -> list[tuple[str, list[str]]]:
    """Return each command of a page with the lines that should follow it."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def matches(printed: list[str], expected: list[str]) -> bool:
    """Compare line by line; … stands for anything, and alone on a line for any lines."""
    open_end = expected[-1:] == ["  …"]
    lines = expected[:-1] if open_end else expected
    pattern = "\n".join(re.escape(line).replace("…", ".*") for line in lines)
    return re.fullmatch(pattern + r"(\n.*)*" * open_end, "\n".join(printed)) is not None


def test_there_are_tutorials() -> None:
    assert TUTORIALS


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_prints_what_it_says(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for command, expected in steps(path.read_text(encoding="utf-8")):
        program, *arguments = shlex.split(command)
        assert program == "shoal"
        main(arguments)
        captured = capsys.readouterr()
        errors = [line for line in captured.err.splitlines() if "compiling" not in line]
        printed = captured.out.splitlines() + errors
        assert matches(printed, expected), f"{command}\n" + "\n".join(printed)
