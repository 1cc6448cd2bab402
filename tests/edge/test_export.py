"""Exports: one file, readable, with nothing missing. What they do is in tests/golden."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.core.errors import MethodError
from shoal.edge.export import TARGETS, _body, _quoted, export
from shoal.model.model import RecodingModel

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
MODEL = GOLDEN / "mondrian.model.json"


def test_an_unknown_target_is_refused():
    with pytest.raises(MethodError, match="no such target; there are python, micropython"):
        export(MODEL, "cobol")


@pytest.mark.parametrize("to", TARGETS)
def test_a_file_says_what_it_is(to):
    text = export(MODEL, to)
    fingerprint = json.loads(MODEL.read_text(encoding="utf-8"))["fingerprint"]
    assert fingerprint in text[:600]
    assert "written by shoal" in text.split("\n")[0]


@pytest.mark.parametrize("to", ["python", "micropython"])
def test_python_files_are_python_3_8_and_import_only_json(to):
    tree = ast.parse(export(MODEL, to), feature_version=(3, 8))
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module)
        if isinstance(node, ast.Call):
            assert "strict" not in [keyword.arg for keyword in node.keywords]  # not in 3.8's zip
    extra = {"__future__"} if to == "python" else set()
    assert modules == {"json", "sys"} | extra


def test_imports_for_type_checkers_are_left_out_like_all_others():
    source = (
        '"""What it is."""\n\nfrom __future__ import annotations\n\nfrom typing import (\n'
        "    TYPE_CHECKING,\n)\n\nif TYPE_CHECKING:\n    from shoal import edge\n\n"
        "NAME = 'from here'\n\n\ndef call():\n    import sys\n\n    return sys\n"
    )
    assert _body(source) == (
        "NAME = 'from here'\n\n\ndef call():\n    import sys\n\n    return sys"
    )


@pytest.mark.parametrize("text", ["plain", "it's", "back\\slash \\n", "\u2028 é \U0001f469"])
def test_a_model_becomes_a_literal_of_python(text):
    assert ast.literal_eval(_quoted(json.dumps(text, ensure_ascii=False))) == json.dumps(
        text, ensure_ascii=False
    )


@pytest.mark.parametrize("to", ["python", "micropython"])
def test_the_runtime_stands_in_it_as_it_is(to):
    text = export(MODEL, to)
    for name in ("core/keys", "model/column", "model/runtime", "model/lines"):
        source = (GOLDEN.parents[1] / f"src/shoal/{name}.py").read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                assert ast.get_source_segment(source, node) in text
    assert "shoal.core" not in text
    assert "TYPE_CHECKING" not in text


def test_a_model_object_and_a_document_export_alike():
    document = json.loads(MODEL.read_text(encoding="utf-8"))
    assert export(RecodingModel.load(MODEL), "javascript") == export(document, "javascript")
    assert f"{len(document['regions'])} classes learned from 400 records" in export(MODEL, "python")


def test_a_python_file_runs_alone(tmp_path):
    (tmp_path / "encoder.py").write_text(export(MODEL, "python"), encoding="utf-8")
    given = (GOLDEN / "lines.jsonl").read_bytes()
    wanted = (GOLDEN / "mondrian.expected.jsonl").read_bytes().decode().split("\n")
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-X", "utf8", str(tmp_path / "encoder.py")],
        input=given.replace(b"\r", b" "), capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    found = done.stdout.decode().split("\n")
    assert found == [line for line in wanted if not line.startswith("!")]
    assert b"lines rejected" in done.stderr


def test_a_javascript_file_runs_alone(tmp_path):
    (tmp_path / "encoder.js").write_text(export(MODEL, "javascript"), encoding="utf-8")
    given = (GOLDEN / "lines.jsonl").read_bytes()
    wanted = (GOLDEN / "mondrian.expected.jsonl").read_bytes().decode().split("\n")
    try:
        done = subprocess.run(
            ["node", str(tmp_path / "encoder.js")],
            input=given.replace(b"\r", b" "), capture_output=True, check=True, timeout=60,
        )  # fmt: skip
    except FileNotFoundError:
        pytest.skip("node is not installed")
    assert done.stdout.decode().split("\n") == [x for x in wanted if not x.startswith("!")]
    assert b"lines rejected" in done.stderr


def test_records_in_javascript_keep_what_is_not_recoded():
    quickjs = pytest.importorskip("quickjs", reason="the package quickjs is not installed")
    context = quickjs.Context()
    context.eval(export(MODEL, "javascript"))
    found = context.eval(
        "JSON.stringify(shoal.encode({age: -0, born: null, grade: 'low', place: 'Malmö', "
        "job: 'nurse', zip: '99', note: [1], name: 'nobody', other: 1}))"
    )
    assert json.loads(found)["note"] == [1]
    assert "name" not in json.loads(found)
    assert "other" not in json.loads(found)
