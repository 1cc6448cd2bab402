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
COMPLEX = 21  # cyclomatic complexity: where radon's grade D begins


class House(NamedTuple):
    """The figures; lists name the places."""

    files: int
    lines: int
    code_lines: int  # without docstrings, comments, imports and blank lines
    import_cycles: list[str]
    spark_imports_local: list[str]
    asks_what_a_table_is: list[str]
    judging_loops: list[str]
    long_functions: list[str]
    complex_blocks: list[str]
    complex_kernels: list[str]
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
        code_lines=sum(_code_lines(texts[path], tree) for path, tree in trees.items()),
        import_cycles=_cycles({_module(path): _imports(tree) for path, tree in trees.items()}),
        spark_imports_local=[
            f"{_name(path)}: {module}"
            for path, tree in trees.items()
            if "engines/spark" in _name(path)
            for module in _imports(tree)
            if module.startswith("shoal.engines.local")
        ],
        asks_what_a_table_is=[
            _name(p)
            for p, t in texts.items()
            if re.search(r"isinstance\([^)]*SparkTable|__module__\.startswith\(.pyspark", t)
            and not _name(p).startswith(("engines/spark/", "jobs/documents"))
        ],
        judging_loops=[_name(p) for p, t in texts.items() if "better.worse(" in t],
        long_functions=[
            f"{_name(path)}:{f.lineno} {f.name}"
            for path, f in functions
            if _length(f) > LONG_FUNCTION and "kernels/" not in _name(path)
        ],
        complex_blocks=[
            f"{_name(path)}:{f.lineno} {f.name}"
            for path, f in functions
            if complexity(f) >= COMPLEX and not _name(path).startswith("kernels/")
        ],
        complex_kernels=[
            f"{_name(path)}:{f.lineno} {f.name}"
            for path, f in functions
            if complexity(f) >= COMPLEX and _name(path).startswith("kernels/")
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


def _module(path: Path) -> str:
    parts = ("shoal", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _code_lines(text: str, tree: ast.Module) -> int:
    left = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            left |= {*range(node.lineno, (node.end_lineno or 0) + 1)}
        elif isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
            node
        ):
            left |= {*range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)}
    lines = enumerate(text.split("\n"), start=1)
    plain = (line.strip() for number, line in lines if number not in left)
    return sum(bool(line) and not line.startswith("#") for line in plain)


def complexity(function: ast.FunctionDef) -> int:
    """Return the cyclomatic complexity of a body, counted as radon does.

    Nested functions are blocks of their own, and an assertion counts once, whatever it asks.
    """
    found, waiting = 1, list(function.body)
    while waiting:
        node: ast.AST = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        if isinstance(node, ast.Assert):
            found += 1
            continue
        if isinstance(node, ast.Try):
            found += len(node.handlers) + bool(node.orelse)
        elif isinstance(node, ast.BoolOp):
            found += len(node.values) - 1
        elif isinstance(node, (ast.If, ast.IfExp)):
            found += 1
        elif isinstance(node, (ast.For, ast.While)):
            found += 1 + bool(node.orelse)
        elif isinstance(node, ast.comprehension):
            found += 1 + len(node.ifs)
        waiting += ast.iter_child_nodes(node)
    return found


def _cycles(imports: dict[str, set[str]]) -> list[str]:
    """Return the modules that import themselves through others, imports in functions counted."""
    graph = {module: names & set(imports) - {module} for module, names in imports.items()}
    cycles = []
    for start in graph:
        seen: set[str] = set()
        waiting = list(graph[start])
        while waiting:
            module = waiting.pop()
            if module not in seen:
                seen.add(module)
                waiting += graph[module]
        if start in seen:
            cycles.append(start)
    return cycles


def _imports(tree: ast.Module) -> set[str]:
    """Return the modules that are imported, inside functions too."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
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
