"""What `make run` prints, and the block of README that shows it: `make readme` renews it."""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path

from shoal.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"(?<=```text\n).*?(?=```)", re.DOTALL)


def commands() -> list[list[str]]:
    """Return the commands of `make run`, as they stand in the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    recipe = makefile.split("\nrun:", 1)[1].split("\n\n", 1)[0].replace("$(OUT)", "out")
    return [shlex.split(line)[1:] for line in recipe.splitlines() if "$(BIN)/shoal" in line]


def printed(arguments: list[str]) -> list[str]:
    """Run one command here and return the lines that it prints."""
    with redirect_stdout(StringIO()) as out:
        code = main(arguments)
    if code:
        raise SystemExit(f"shoal {shlex.join(arguments)}: exit code {code}")
    return out.getvalue().splitlines()


def shown(anonymized: list[str], verified: list[str]) -> str:
    """Return what README shows: the release down to its risks, and the verdict without warnings."""
    end = next(at for at, line in enumerate(anonymized) if line.startswith("  risk after"))
    return "\n".join([*anonymized[: end + 1], "…", *_without_warnings(verified), ""])


def _without_warnings(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield "…" if line.startswith("  WARNING") else line


def run() -> str:
    """Run the commands of `make run` in a folder of their own; return what README shows."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("out").mkdir()
        _, anonymized, verified = [printed(arguments) for arguments in commands()]
    return shown(anonymized, verified)


if __name__ == "__main__":
    page = README.read_text(encoding="utf-8")
    output = run()
    README.write_text(BLOCK.sub(lambda _: output, page, count=1), encoding="utf-8")
