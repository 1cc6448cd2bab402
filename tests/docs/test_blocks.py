"""The Python and YAML on the pages: every block is run, or read, as a reader would do it.

Commands are in test_commands, tutorials in test_tutorials, requests in test_requests, messages in
test_mistakes; the reference of Python names is docstrings, which run as doctests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.docs import commands
from tests.docs.test_links import DOCS, ROOT

from shoal import api
from shoal.core.documents import parse_yaml

FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
SITE = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
PAGES = [path for path in SITE if path.parent.name != "tutorials" and path.name != "api.md"]
KNOWN = {"", "sh", "console", "python", "pycon", "yaml", "json", "javascript", "text"}
"""Languages of blocks; "" and text are drawings."""
NEEDS = {"differential-privacy": "opendp"}
ELSEWHERE = {"spark": "tests/engines/spark", "mistakes": "tests/docs/test_mistakes.py"}


def blocks(path: Path, language: str) -> list[str]:
    """Return the blocks of a page in a language."""
    return [block for name, block in FENCE.findall(path.read_text("utf-8")) if name == language]


def linked(folder: Path) -> dict[str, object]:
    api.linked_sample("hospital", patients=120)
    return {}


def stays(folder: Path) -> dict[str, object]:
    (folder / "stays.csv").unlink()
    (folder / "stays.schema.yaml").unlink()
    api.sample("hospital", "stays.csv", records=300, seed=1)
    return {}


def patients(folder: Path) -> dict[str, object]:
    (folder / "patients.csv").unlink()
    api.sample("hospital", "patients.csv", records=300, seed=1)
    text = blocks(DOCS / "reference" / "requests.md", "yaml")[0]
    (folder / "request.yaml").write_text(text)
    return {}


PREPARED: dict[str, Callable[[Path], dict[str, object]]] = {
    "persons": linked, "reports": stays, "requests": patients,
}  # fmt: skip


def test_every_block_says_what_it_is():
    for path in SITE:
        named = {name for name, _ in FENCE.findall(path.read_text("utf-8"))}
        assert named <= KNOWN, path


@pytest.mark.nightly
@pytest.mark.local("frames in memory")
@pytest.mark.parametrize(
    "path", [path for path in PAGES if blocks(path, "python") and path.stem not in ELSEWHERE],
    ids=lambda path: path.stem,
)  # fmt: skip
def test_the_python_of_a_page_runs(path, tmp_path, monkeypatch):
    if path.stem in NEEDS:
        pytest.importorskip(NEEDS[path.stem])
    monkeypatch.chdir(tmp_path)
    commands.make_files(tmp_path)
    frame = pl.read_csv("patients.csv", schema_overrides={"zip": pl.String})
    names = {"frame": frame, "new_frame": frame.head(100)}
    names |= PREPARED.get(path.stem, lambda folder: {})(tmp_path)
    for number, block in enumerate(blocks(path, "python")):
        exec(compile(block, f"{path.name}, block {number}", "exec"), names)


@pytest.mark.parametrize(
    "path", [path for path in PAGES if blocks(path, "yaml") or blocks(path, "json")],
    ids=lambda path: path.stem,
)  # fmt: skip
def test_the_documents_of_a_page_can_be_read(path):
    for block in blocks(path, "yaml"):
        assert isinstance(parse_yaml(block, where="page"), dict)
    for block in blocks(path, "json"):
        assert isinstance(json.loads(block), dict)
