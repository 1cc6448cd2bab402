"""Renew what the Python examples of the tutorials print: `make tutorials`.

Read the difference before it is committed: the text around an example may no longer fit.
"""

from __future__ import annotations

import doctest
import tempfile
from contextlib import chdir
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("[0-9]*.md"))


class _Recorder(doctest.DocTestRunner):
    """Notes what each example prints in place of comparing it."""

    def __init__(self) -> None:
        super().__init__(verbose=False)
        self.printed: dict[int, str] = {}
        self.failed: list[int] = []

    def report_success(self, out, test, example, got) -> None:
        self.printed[example.lineno] = got

    def report_failure(self, out, test, example, got) -> None:
        self.printed[example.lineno] = got

    def report_unexpected_exception(self, out, test, example, exc_info) -> None:
        self.failed.append(example.lineno + 1)


def renewed(page: str, name: str) -> str:
    """Return a page with the output that its Python examples print here and now."""
    test = doctest.DocTestParser().get_doctest(page, {}, name, name, 0)
    runner = _Recorder()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        runner.run(test, out=lambda _: None)
    if runner.failed:
        raise SystemExit(f"{name}: the example at line {runner.failed[0]} raises")
    lines = page.splitlines(keepends=True)
    for example in reversed(test.examples):
        start = example.lineno + example.source.count("\n")
        end = start + example.want.count("\n")
        lines[start:end] = [runner.printed[example.lineno]]
    return "".join(lines)


if __name__ == "__main__":
    for path in TUTORIALS:
        before = path.read_text(encoding="utf-8")
        path.write_text(renewed(before, path.name), encoding="utf-8")
