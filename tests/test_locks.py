"""The two lock files: hashes for everything, the same versions in both, and no host named."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
RUN, FULL = "requirements-run.lock", "requirements.lock"


def pins(name: str) -> dict[str, set[str]]:
    """Return the hashes of each pinned version, by name, version and marker."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    return {
        line.split(" --hash=")[0].strip(): set(re.findall(r"--hash=(sha256:[0-9a-f]{64})", line))
        for line in text.splitlines()
        if line.strip()
    }


def packages(name: str) -> set[str]:
    return {re.split(r"[=<>;\[ ]", pin)[0].lower() for pin in pins(name)}


@pytest.mark.parametrize("name", [RUN, FULL])
def test_every_line_is_a_version_with_its_hashes_and_names_no_host(name):
    assert pins(name)
    for pin, hashes in pins(name).items():
        assert re.match(r"[a-z0-9._-]+==\S+( ; .+)?$", pin), pin
        assert hashes, pin
    assert not re.search(r"://|--index|--find-links", (ROOT / name).read_text(encoding="utf-8"))


def test_running_takes_the_versions_that_are_tested():
    run, full = pins(RUN), pins(FULL)
    assert {pin: hashes for pin, hashes in full.items() if pin in run} == run


def test_running_takes_what_the_package_needs_and_no_test_tool():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = {re.split(r"[=<>\[ ]", each)[0].lower() for each in project["project"]["dependencies"]}
    assert needed <= packages(RUN)
    assert packages(RUN).isdisjoint({"pytest", "mypy", "ruff", "pyspark", "pandas", "hypothesis"})
    assert packages(RUN) < packages(FULL)
