"""The import table of the design: imports go one way, and light rooms stay light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "src"
SOURCES = sorted(ROOT.rglob("*.py"))

# The light rooms, from the ground up: each may import those before it, and of packages none
# (PyYAML inside one function of core.documents, and only there).
LIGHT = ("core", "hierarchies", "privacy", "schema", "reports", "model", "edge")
_GROUND = set(LIGHT[:-1])

# What each room may import, beside the standard library and itself.
ROOMS: dict[str, tuple[set[str], set[str]]] = {
    # room: (rooms of shoal, packages)
    **{room: (set(LIGHT[:at]), {"yaml"} if at == 0 else set()) for at, room in enumerate(LIGHT)},
    "kernels": ({"core", "privacy"}, {"numpy", "numba", "llvmlite"}),
    "methods": (_GROUND | {"kernels"}, {"numpy"}),
    "measures": (_GROUND | {"kernels", "methods"}, {"numpy"}),
    "dp": (_GROUND, {"opendp", "numpy", "polars", "psycopg"}),
    "samples": (_GROUND, {"numpy", "polars"}),
    "engines": (
        _GROUND | {"kernels", "methods", "measures", "edge"},
        {"numpy", "polars", "pyarrow", "pyspark"},
    ),
    "pipeline": (_GROUND | {"kernels", "methods", "measures", "engines"}, {"numpy", "polars"}),
    "spark": (_GROUND | {"methods", "measures", "engines", "pipeline"}, {"polars"}),
    "xk": (_GROUND | {"methods", "engines"}, set()),
    "statistics": (_GROUND | {"dp", "engines"}, set()),
    "models": (_GROUND | {"edge", "engines", "spark"}, set()),
    "know": (_GROUND | {"methods", "measures", "engines", "spark"}, set()),
    "api": (
        _GROUND
        | {"kernels", "methods", "measures", "engines", "samples", "dp", "edge", "pipeline"}
        | {"spark", "xk", "know", "statistics", "models"},
        {"numpy", "polars"},
    ),
    "cli": (_GROUND | {"api"}, {"typer", "rich"}),
    "web": (_GROUND | {"api"}, {"nicegui"}),
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
