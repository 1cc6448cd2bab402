"""What an installation takes, and where it goes: writes the table of docs/guides/installing.md.

python -m venv /tmp/base && /tmp/base/bin/pip install --no-compile .
python -m benchmarks.install /tmp/base
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "guides" / "installing.md"
BETWEEN = re.compile(r"(<!-- base install -->\n).*?(<!-- end of base install -->)", re.DOTALL)
WHAT = {
    "llvmlite": "the compiler of the kernels: one library, LLVM",
    "polars": "tables, with its library `_polars_runtime_32`",
    "numpy": "arrays, with OpenBLAS",
    "numba": "what makes kernels of Python",
    "shoal": "this package",
}
OF = {"_polars_runtime_32": "polars", "numpy.libs": "numpy"}
LEFT_OUT = ("pip", "setuptools")  # of the environment, not of the installation


def sizes(folder: Path) -> dict[str, int]:
    """Return the bytes of each package in a folder of packages, without what Python compiles."""
    found: dict[str, int] = {}
    for entry in folder.iterdir():
        name = OF.get(entry.name, entry.name)
        if entry.name.startswith(LEFT_OUT) or entry.name == "__pycache__":
            continue
        files = [entry] if entry.is_file() else entry.rglob("*")
        taken = sum(f.lstat().st_size for f in files if f.is_file() and f.suffix != ".pyc")
        found[name] = found.get(name, 0) + taken
    return found


def table(found: dict[str, int]) -> str:
    """Return the rows of the page."""
    rows = ["| package | MB | what it is for |", "|---|---|---|"]
    rest = dict(found)
    for name, what in sorted(WHAT.items(), key=lambda each: -found.get(each[0], 0)):
        rows.append(f"| {name} | {rest.pop(name, 0) / 1e6:.0f} | {what} |")
    rows.append(f"| the rest | {sum(rest.values()) / 1e6:.0f} | Typer, Rich, PyYAML and theirs |")
    rows.append(f"| together | {sum(found.values()) / 1e6:.0f} | |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    (packages,) = Path(sys.argv[1]).glob("lib/python3*/site-packages")
    page = PAGE.read_text(encoding="utf-8")
    made = table(sizes(packages))
    PAGE.write_text(
        BETWEEN.sub(lambda found: found[1] + "\n" + made + "\n" + found[2], page), "utf-8"
    )
    print(made)
