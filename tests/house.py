"""What can be counted of the source: `make house` prints it, `test_house.py` holds the limits."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "shoal"
LONG_FUNCTION, MANY_PARAMETERS, LONG_FILE = 60, 8, 450


class House(NamedTuple):
    """The figures; lists name the places."""

    files: int
    lines: int
    spark_imports_local: list[str]
    asks_what_a_table_is: list[str]
    long_functions: list[str]
    many_parameters: list[str]
    long_files: list[str]
    any_in_source: int
    mirrored: float
    test_lines_per_line: float


def measure() -> House:
    """Count."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    lines = sum(text.count("\n") for text in texts.values())
    tests = sorted((ROOT / "tests").rglob("*.py"))
    tested = {path.stem for path in tests}
    own = [path for path in texts if path.stem not in ("__init__", "__main__")]
    functions = [(path, f) for path, tree in trees.items() for f in _functions(tree)]
    return House(
        files=len(texts),
        lines=lines,
        spark_imports_local=[
            f"{_name(path)}: {module}"
            for path, tree in trees.items()
            if "engines/spark" in _name(path)
            for module in _imports(tree)
            if module.startswith("shoal.engines.local")
        ],
        asks_what_a_table_is=[_name(p) for p, t in texts.items() if "is_on_spark(" in t],
        long_functions=[
            f"{_name(path)}:{f.lineno} {f.name}"
            for path, f in functions
            if _length(f) > LONG_FUNCTION and "kernels/" not in _name(path)
        ],
        many_parameters=[
            f"{_name(path)}:{f.lineno} {f.name}"
            for path, f in functions
            if _parameters(f) > MANY_PARAMETERS and not _name(path).startswith(("kernels/", "cli/"))
        ],
        long_files=[_name(path) for path, text in texts.items() if text.count("\n") > LONG_FILE],
        any_in_source=sum(len(re.findall(r"\bAny\b", text)) for text in texts.values()),
        mirrored=sum(f"test_{path.stem}" in tested for path in own) / len(own),
        test_lines_per_line=sum(p.read_text(encoding="utf-8").count("\n") for p in tests) / lines,
    )


def _name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _length(function: ast.FunctionDef) -> int:
    """Return the lines of a body, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def _parameters(function: ast.FunctionDef) -> int:
    given = function.args
    return len([*given.posonlyargs, *given.args, *given.kwonlyargs])


def _imports(tree: ast.Module) -> set[str]:
    """Return the modules that are imported, inside functions too."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def main() -> None:
    """Print the figures, and the first places of each list."""
    for name, value in measure()._asdict().items():
        if isinstance(value, list):
            print(f"{name:<22}{len(value)}")
            print("".join(f"    {place}\n" for place in value[:12]), end="")
        else:
            print(f"{name:<22}{value:,.3g}" if isinstance(value, float) else f"{name:<22}{value:,}")


if __name__ == "__main__":
    main()
