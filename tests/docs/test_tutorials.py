"""The tutorials are run: every command, in order, and what it prints is compared."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.tutorials import TUTORIALS, renewed

from shoal.cli.main import main


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


@pytest.mark.local("frames in memory")
@pytest.mark.parametrize("path", [p for p in TUTORIALS if ">>> " in p.read_text("utf-8")],
                         ids=lambda path: path.stem)  # fmt: skip
def test_python_prints_what_a_tutorial_says(path: Path, tmp_path: Path, monkeypatch) -> None:
    page = path.read_text(encoding="utf-8")
    if "sklearn" in page:
        pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(page, {}, path.stem, str(path), 0)
    assert len(test.examples) > 10
    found: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=found.append)
    assert not found, "".join(found) + "make tutorials renews it"


def test_renewing_replaces_what_is_printed_and_nothing_else() -> None:
    page = "Text\n```python\n>>> 1 + 1\n3\n>>> for i in (1, 2):\n...     print(i)\n1\n\n```\n2\n"
    good = "Text\n```python\n>>> 1 + 1\n2\n>>> for i in (1, 2):\n...     print(i)\n1\n2\n\n```\n2\n"
    assert renewed(page, "page") == good
    assert renewed(good, "page") == good
    with pytest.raises(SystemExit, match="line 2 raises"):
        renewed("Text\n>>> 1 / 0\n", "page")


def in_a_shell(command: str) -> tuple[str, str]:
    """Run a line of a shell script; return what it prints."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "PATH": path, "SHOAL": str(TUTORIALS[0].parents[2])},
        capture_output=True,
        text=True,
    )
    return done.stdout, done.stderr


def headings(page: str) -> set[str]:
    """Return the anchors of a page: of its headings, in small letters, with dashes."""
    found = re.findall(r"^##* (.*)$", page, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in found}


def test_ten_tasks_are_listed_and_each_is_a_part_of_a_tutorial_that_is_run() -> None:
    listing = (TUTORIALS[0].parent / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (data steward|data scientist|pipeline engineer) \|.*$", listing, re.M)
    links = re.findall(r"\]\((0\d[\w-]*\.md)#([\w-]+)\)", listing)
    assert len(rows) == len(links) >= 10
    assert set(rows) == {"data steward", "data scientist", "pipeline engineer"}
    assert {name for name, _ in links} == {path.name for path in TUTORIALS}
    for name, anchor in links:
        page = (TUTORIALS[0].parent / name).read_text(encoding="utf-8")
        assert anchor in headings(page), f"{name}#{anchor}"
        part = re.split(r"^## ", page, flags=re.MULTILINE)
        (section,) = [each for each in part if headings(f"## {each.splitlines()[0]}") == {anchor}]
        assert "\n$ " in section or "\n>>> " in section


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_prints_what_it_says(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for command, expected in steps(path.read_text(encoding="utf-8")):
        if re.search(r"[|;<>&]", command):
            out, err = in_a_shell(command)
        else:
            program, *arguments = shlex.split(command)
            assert program == "shoal"
            main(arguments)
            out, err = capsys.readouterr()
        errors = [line for line in err.splitlines() if "compiling" not in line]
        printed = out.splitlines() + errors
        assert matches(printed, expected), f"{command}\n" + "\n".join(printed)
