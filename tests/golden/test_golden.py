"""The same lines through every runtime: byte-equal, odd values and rejections included."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.golden.generate import encoded, lines, models

from shoal import api, edge
from shoal.edge.export import export
from shoal.model.column import Rejected
from shoal.model.lines import plain, scan
from shoal.model.model import RecodingModel

HERE = Path(__file__).parent
COMPACT = {"ensure_ascii": False, "separators": (",", ":")}
ROOT = HERE.parents[1]
NAMES = sorted(place.name.partition(".")[0] for place in HERE.glob("*.model.json"))
NODE_RUN = """
const shoal = require(process.argv[1]);
const lines = require("fs").readFileSync(process.argv[2], "utf8").split("\\n").slice(0, -1);
const out = lines.map((line) => {
  try { return shoal.encodeLine(line); }
  catch (problem) {
    if (!(problem instanceof shoal.Rejected)) throw problem;
    return "!" + problem.message;
  }
});
require("fs").writeFileSync(1, out.join("\\n") + "\\n");
"""
PYTHON_RUN = """
import sys
sys.path.insert(0, sys.argv[1])
import exported
encoder = exported.Encoder(exported.MODEL)
for line in open(sys.argv[2], encoding="utf-8", newline="\\n"):
    try:
        out = exported.encode_line(encoder, line[:-1])[0]
    except exported.Rejected as problem:
        out = "!" + str(problem)
    sys.stdout.buffer.write((out + "\\n").encode())
"""


def document(name):
    return json.loads((HERE / f"{name}.model.json").read_text(encoding="utf-8"))


def expected(name):
    return (HERE / f"{name}.expected.jsonl").read_bytes().decode().split("\n")[:-1]


def given():
    return (HERE / "lines.jsonl").read_bytes().decode().split("\n")[:-1]


def run_node(folder, text, goal):
    (folder / "exported.js").write_text(text, encoding="utf-8")
    try:
        done = subprocess.run(
            ["node", "-e", NODE_RUN, str(folder / "exported.js"), str(goal)],
            capture_output=True,
            timeout=120,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("node is not installed")
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8").split("\n")[:-1]


def run_quickjs(text, wanted):
    quickjs = pytest.importorskip("quickjs", reason="the package quickjs is not installed")
    context = quickjs.Context()
    context.set_memory_limit(16 * 2**20)
    context.eval(text)
    encode = context.eval(
        "(line) => { try { return shoal.encodeLine(line); } catch (e) "
        "{ if (!(e instanceof shoal.Rejected)) throw e; return '!' + e.message; } }"
    )
    return [encode(line) for line in wanted]


def run_python(folder, text, goal):
    (folder / "exported.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", PYTHON_RUN, str(folder), str(goal)],
        capture_output=True,
        timeout=120,
        check=True,
    )
    return done.stdout.decode("utf-8").split("\n")[:-1]


@pytest.fixture(scope="session")
def micropython(tmp_path_factory):
    """Return MicroPython's module for Node; npm brings it into a folder beside .venv's."""
    home = ROOT / ".venv" if (ROOT / ".venv").is_dir() else tmp_path_factory.mktemp("npm")
    folder = Path(os.environ.get("SHOAL_NPM", home / "npm"))
    module = folder / "node_modules/@micropython/micropython-webassembly-pyscript/micropython.mjs"
    if not module.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            subprocess.run(
                [
                    "npm",
                    "install",
                    "--no-save",
                    "--no-audit",
                    "--no-fund",
                    "--prefix",
                    str(folder),
                    "@micropython/micropython-webassembly-pyscript",
                ],
                capture_output=True,
                timeout=180,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            pytest.skip("npm cannot bring MicroPython here (no npm, or no registry)")
    return module


def run_micropython(module, folder, text, goal):
    (folder / "exported_micro.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [
            "node",
            str(ROOT / "tests/edge/micropython_run.mjs"),
            str(module),
            str(folder / "exported_micro.py"),
            str(goal),
        ],
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8").split("\n")[:-1]


def test_there_is_a_model_of_each_kind():
    assert NAMES == [
        "centroids",
        "clusters",
        "cuts",
        "levels",
        "masks",
        "mondrian",
        "near",
        "rules",
    ]
    assert {document(name)["on_unseen"] for name in NAMES} == {"suppress", "nearest"}
    assert any(line.startswith("!") for line in expected("mondrian"))


@pytest.mark.slow  # compiles the kernels of three methods
def test_the_golden_models_are_what_learning_gives_today():
    for name, model in models().items():
        assert model.to_json() == (HERE / f"{name}.model.json").read_text(encoding="utf-8"), name


@pytest.mark.parametrize("name", NAMES)
def test_the_plain_encoder(name):
    assert encoded(document(name), given()) == expected(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_fast_encoder_on_plain_records(name):
    """Records as dicts, numbers as texts: what json.loads would do to 20 digits is not ours."""
    encoder = edge.load(document(name))
    for line, wanted in zip(given(), expected(name), strict=True):
        try:
            found = {key: plain(token) for key, token in scan(line).items() if key != "note"}
            released = encoder.encode(found)
        except Rejected:
            continue
        wanted = json.loads(wanted)
        quasi = encoder.names
        assert [released[n] for n in quasi] == [wanted[n] for n in quasi]


def columns_of(name):
    """Return the columns that the model recodes, as a table, and the lines that must come out."""
    model = RecodingModel.from_document(document(name))
    rows, wanted = [], []
    for line, released in zip(given(), expected(name), strict=True):
        if not released.startswith("!"):
            found, kept = scan(line), json.loads(released)
            rows.append({n: plain(found[n]) for n in model.schema.quasi})
            cells = [json.dumps({n: kept[n]}, **COMPACT)[1:-1] for n in model.schema.quasi]
            assert all(cell in released for cell in cells)
            wanted.append("{" + ",".join(cells) + "}\n")
    frame = pl.DataFrame(rows, schema=dict.fromkeys(model.schema.quasi, pl.String))
    return model, frame, "".join(wanted).encode()


@pytest.mark.parametrize("name", NAMES)
def test_an_engine_writes_the_same_bytes(name, tmp_path):
    model, frame, wanted = columns_of(name)
    api.encode(frame, model, out=tmp_path / "o.jsonl")
    assert (tmp_path / "o.jsonl").read_bytes() == wanted


@pytest.mark.local("exported files")
@pytest.mark.parametrize("name", NAMES)
def test_the_exported_python_file(name, tmp_path):
    text = export(document(name), "python")
    assert run_python(tmp_path, text, HERE / "lines.jsonl") == expected(name)


@pytest.mark.local("exported files")
@pytest.mark.parametrize("name", NAMES)
def test_the_exported_javascript_file_in_node_and_quickjs(name, tmp_path):
    text = export(document(name), "javascript")
    assert run_node(tmp_path, text, HERE / "lines.jsonl") == expected(name)
    assert run_quickjs(text, given()) == expected(name)


@pytest.mark.local("exported files")
@pytest.mark.parametrize("name", NAMES)
def test_the_exported_micropython_file(name, tmp_path, micropython):
    text = export(document(name), "micropython")
    assert run_micropython(micropython, tmp_path, text, HERE / "lines.jsonl") == expected(name)


@pytest.mark.slow
@pytest.mark.local("exported files")
@pytest.mark.parametrize("name", ["cuts", "clusters"])
def test_ten_thousand_random_records_through_every_runtime(name, tmp_path, micropython):
    wanted = lines(records=10_000, seed=7)
    goal = tmp_path / "random.jsonl"
    goal.write_text("\n".join(wanted) + "\n", encoding="utf-8")
    made = encoded(document(name), wanted)
    assert run_python(tmp_path, export(document(name), "python"), goal) == made
    text = export(document(name), "javascript")
    assert run_node(tmp_path, text, goal) == made
    assert run_quickjs(text, wanted) == made
    micro = export(document(name), "micropython")
    assert run_micropython(micropython, tmp_path, micro, goal) == made
