"""The notebooks run and print what stands in them; `make notebooks` renews it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys

import pytest
from tests.docs import notebooks

NEEDS = {"03-training-on-a-release": "sklearn", "05-spark": "pyspark"}


ANSWER = """
import sys
from pathlib import Path
from tests.docs import notebooks

written = notebooks.load(Path(sys.argv[1]))
sys.exit(notebooks.ran(written) != written)
"""


@pytest.mark.slow
@pytest.mark.local("the notebooks choose their engine")
@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_stands_in_it(path, tmp_path, monkeypatch):
    needed = NEEDS.get(path.stem)
    if needed is not None and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    monkeypatch.chdir(tmp_path)
    if needed == "pyspark":
        if shutil.which("java") is None:
            pytest.skip("there is no Java")
        _runs_in_a_process_of_its_own(path)
        return
    written = notebooks.load(path)
    assert notebooks.ran(written) == written


def _runs_in_a_process_of_its_own(path):
    """Run it where no test has a session: a process has one, with the settings of the first."""
    places = os.pathsep.join(map(str, (notebooks.ROOT, notebooks.ROOT / "src")))
    done = subprocess.run(
        [sys.executable, "-c", ANSWER, str(path)], env={**os.environ, "PYTHONPATH": places},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]


def test_each_is_in_the_listing_of_the_tutorials():
    page = (notebooks.ROOT / "docs/tutorials/README.md").read_text(encoding="utf-8")
    assert len(notebooks.NOTEBOOKS) >= 3
    for path in notebooks.NOTEBOOKS:
        assert f"../../examples/notebooks/{path.name}" in page
        assert path.read_text(encoding="utf-8") == notebooks.text_of(notebooks.load(path))


def test_cells_share_their_names_and_the_last_line_is_the_output():
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": None, "outputs": []}
    sources = [["a = 1\n", "print(a)"], ["a + 1"], ["a;"]]
    made = notebooks.ran({"cells": [{**cell, "source": each} for each in sources]})
    first, second, third = (each["outputs"] for each in made["cells"])
    assert first == [{"name": "stdout", "output_type": "stream", "text": ["1\n"]}]
    assert second[0]["data"] == {"text/plain": ["2"]}
    assert second[0]["execution_count"] == 2
    assert third == []
    assert json.loads(notebooks.text_of(made)) == made
