"""The notebooks are run from top to bottom; `make notebooks` renews what they print.

A notebook is JSON, so that this needs no Jupyter: every cell of code is run in one namespace, as a
kernel does, and what it prints and what its last line says is its output.
"""

from __future__ import annotations

import ast
import io
import json
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def load(path: Path) -> dict:
    """Return a notebook."""
    return json.loads(path.read_text(encoding="utf-8"))


def ran(notebook: dict) -> dict:
    """Return a notebook with the outputs that its cells have here and now, in this folder."""
    names = {"__name__": "__main__"}
    cells = []
    for place, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            outputs = _outputs("".join(cell["source"]), names, place)
            count = 1 + sum(each["cell_type"] == "code" for each in cells)
            for each in outputs:
                if each["output_type"] == "execute_result":
                    each["execution_count"] = count
            cell = {**cell, "execution_count": count, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def _outputs(source: str, names: dict, place: int) -> list[dict]:
    tree = ast.parse(source, filename=f"cell {place}")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with redirect_stdout(printed):
        exec(compile(tree, f"cell {place}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {place}", "eval"), names)
    found: list[dict] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        found.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None and not source.rstrip().endswith(";"):
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        found.append({"data": data, "metadata": {}, "output_type": "execute_result"})
    return found


def text_of(notebook: dict) -> str:
    """Return a notebook as its file has it."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    wanted = sys.argv[1:]
    for path in NOTEBOOKS:
        if not wanted or path.stem in wanted:
            with tempfile.TemporaryDirectory() as folder, chdir(folder):
                renewed = ran(load(path))
            path.write_text(text_of(renewed), encoding="utf-8")
