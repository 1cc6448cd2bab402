"""The import table of the design: imports go one way, and light rooms stay light."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "src"
SOURCES = sorted(ROOT.rglob("*.py"))

# The light rooms, from the ground up: each may import those before it, and of packages none
# (PyYAML inside one function of core.documents, Polars inside one of core.rows and typst inside
# one of reports.pdf, and only there).
LIGHT = ("core", "hierarchies", "privacy", "schema", "reports", "model", "edge")
_GROUND = set(LIGHT[:-1])
_INSIDE = {"core": {"yaml", "polars"}, "reports": {"typst"}}

# What each room may import, beside the standard library and itself.
ROOMS: dict[str, tuple[set[str], set[str]]] = {
    # room: (rooms of shoal, packages)
    **{room: (set(LIGHT[:at]), _INSIDE.get(room, set())) for at, room in enumerate(LIGHT)},
    "kernels": ({"core", "privacy"}, {"numpy", "numba", "llvmlite"}),
    "table": (_GROUND, {"numpy"}),
    "methods": (_GROUND | {"kernels", "table"}, {"numpy"}),
    "measures": (
        _GROUND | {"kernels", "table", "methods"},
        {"numpy", "scipy", "sklearn", "threadpoolctl"},
    ),
    "inference": (_GROUND | {"kernels"}, {"numpy"}),
    "dp": (_GROUND, {"opendp", "numpy", "polars", "psycopg"}),
    "samples": (_GROUND, {"numpy", "polars"}),
    "formats": (
        _GROUND | {"kernels"},
        {"numpy", "polars", "pyarrow", "duckdb", "fastexcel", "xlsxwriter", "pyreadstat"}
        | {"zstandard", "pymysql", "adbc_driver_postgresql"},
    ),
    "engines": (
        _GROUND | {"kernels", "table", "methods", "measures", "inference", "formats", "edge"},
        {"numpy", "polars", "pyarrow", "pyspark"},
    ),
    "jobs": (
        _GROUND
        | {"kernels", "table", "methods", "measures", "inference", "dp", "formats", "engines"}
        | {"edge"},
        {"polars", "cryptography"},
    ),
    "api": (
        _GROUND
        | {"methods", "measures", "inference", "formats", "engines", "samples", "edge", "jobs"},
        set(),
    ),
    "side_by_side": (_GROUND | {"methods", "jobs"}, set()),
    "sklearn": (
        _GROUND | {"api", "methods", "formats"},
        {"sklearn", "numpy", "polars"},
    ),
    "cli": (_GROUND | {"api", "jobs", "methods", "formats", "web", "service"}, {"typer", "rich"}),
    "web": (
        _GROUND | {"api", "jobs", "methods", "formats"},
        {"nicegui", "fastapi", "starlette", "uvicorn", "polars"},
    ),
    "service": (
        _GROUND | {"api", "jobs", "formats", "web"},
        {"starlette", "uvicorn"},
    ),
}


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def imports_of(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            found += [
                f"{module}.{alias.name}" if module == "shoal" else module for alias in node.names
            ]
    return found


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_each_room_imports_only_what_the_table_allows(path: Path) -> None:
    room = room_of(module_of(path))
    if room in ("", "__main__"):
        return
    rooms, packages = ROOMS[room]
    for name in imports_of(path):
        top = name.split(".")[0]
        if top == "shoal":
            other = room_of(name)
            assert other in {room, *rooms, "", "__version__"}, f"{module_of(path)} imports {name}"
        else:
            assert top in packages or top in sys.stdlib_module_names, (
                f"{module_of(path)} imports {name}"
            )


def test_there_are_no_import_cycles() -> None:
    graph = {
        module_of(path): {name for name in imports_of(path) if name.startswith("shoal")}
        for path in SOURCES
    }
    known = set(graph)
    edges = {
        module: {name if name in known else name.rpartition(".")[0] for name in names} & known
        for module, names in graph.items()
    }
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, f"cycle: {' → '.join((*trail, module))}"
        if module in done:
            return
        for other in sorted(edges[module] - {module}):
            visit(other, (*trail, module))
        done.add(module)

    for module in sorted(graph):
        visit(module, ())


def test_the_light_rooms_need_nothing_but_the_standard_library() -> None:
    modules = [module_of(path) for path in SOURCES if room_of(module_of(path)) in LIGHT]
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    program += "".join(f"import {module}\n" for module in modules)
    subprocess.run([sys.executable, "-S", "-E", "-c", program], check=True, timeout=60)


def test_importing_shoal_loads_nothing_heavy() -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "import shoal, shoal.cli.main\n"
        "heavy = {'numpy', 'numba', 'polars', 'rich', 'yaml'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_the_documented_names_exist() -> None:
    import shoal

    for name in shoal.__all__:
        assert getattr(shoal, name) is not None


def test_type_checkers_see_the_documented_names_and_no_others(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    good = (
        "import polars as pl\nimport shoal\n"
        "frame = pl.DataFrame()\n"
        "model = shoal.learn('t.csv', shoal.Schema(attributes=()), privacy=[])\n"
        "model.encode_safe(frame, k=5).table.height\n"
        "made = shoal.anonymize(frame, qi=['a'], sensitive='s', k=5, l=2, l_kind='entropy')\n"
        "made.table.height\n"
        "shoal.anonymize('t.csv', 'schema.yaml', method=shoal.Refine(effort='best'), out='o')\n"
        "shoal.verify(made.table, {'columns': {}}, t=0.2).holds\n"
        "schema: shoal.Schema = shoal.infer(frame).schema\n"
    )
    sample.write_text(good + "model.to_json()\n")
    asked = [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", str(tmp_path / "c")]
    env = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run([*asked, sample], capture_output=True, text=True, check=False, env=env)
    assert not done.stdout, done.stdout
    wrong = {
        "shoal.anonymize(frame, k='five')": 'No overload variant of "anonymize" matches argument',
        "shoal.anonymize(frame, privcy=[])": 'types "DataFrame", "list[Never]"',
        "shoal.verify(frame, qi=3)": 'Argument "qi" to "verify" has incompatible type "int"',
        "shoal.risk(frame, 3)": 'Argument 2 to "risk" has incompatible type "int"',
        "shoal.learn(frame, l_kind='most')": 'Argument "l_kind" to "learn" has incompatible type',
        "shoal.Refine(efort='best')": 'Unexpected keyword argument "efort"',
    }
    sample.write_text(good.replace("privacy=", "privcy=") + "shoal.lern\n" + "\n".join(wrong))
    done = subprocess.run([*asked, sample], capture_output=True, text=True, check=False, env=env)
    assert 'Unexpected keyword argument "privcy"' in done.stdout
    assert 'has no attribute "lern"' in done.stdout
    assert not [text for text in wrong.values() if text not in done.stdout], done.stdout
