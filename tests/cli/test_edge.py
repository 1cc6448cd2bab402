"""The commands `edge …`."""

from __future__ import annotations

import pytest
from tests.conftest import start


@pytest.fixture
def model(tmp_path, run):
    table, place = tmp_path / "t.csv", tmp_path / "m.json"
    table.write_text("age\n" + "".join(f"{20 + i % 4}\n" for i in range(60)))
    flags = ("--qi", "age", "--numeric", "age", "-k", 4, "--model", place, "--quiet")
    assert run("learn", table, *flags).code == 0
    return place


@pytest.mark.parametrize("target", ["python", "micropython", "javascript"])
def test_export_writes_one_file(tmp_path, run, model, target):
    out = tmp_path / "encoder"
    answer = run("edge", "export", model, "--to", target, "--out", out)
    assert answer == (0, f"written: {out}\n", "")
    assert out.stat().st_size > 1000


def test_what_is_exported_needs_nothing_else(tmp_path, run, model):
    out = tmp_path / "encoder.py"
    run("edge", "export", model, "--to", "python", "--out", out)
    process = start(python=("-S", "-E", str(out)), stdin=-1)
    encoded, complaint = process.communicate('{"age": 21}\n', timeout=60)
    assert process.returncode == 0, complaint
    assert "age" in encoded


def test_an_unknown_target_is_refused_and_the_model_is_never_overwritten(tmp_path, run, model):
    before = model.read_bytes()
    answer = run("edge", "export", model, "--to", "cobol", "--out", tmp_path / "x")
    assert answer.code == 2
    assert "python, micropython" in answer.err
    assert run("edge", "export", model, "--to", "python", "--out", model).code == 2
    assert model.read_bytes() == before
    assert not (tmp_path / "x").exists()
