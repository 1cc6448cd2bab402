"""Several releases of one table: what two give away, and what releases made to stand together cost.

    python -m benchmarks.releases ../shared/data

prints, for the hospital sample and Adult, who is alone and below k = 5 in the meet of two
releases, how long `compose` takes, and the loss of nested releases against independent ones.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from shoal.engines.base import Output
from shoal.jobs.compose import compose
from shoal.jobs.release import release
from shoal.jobs.requests import ComposeRequest, ReleaseRequest
from shoal.methods.registry import method_named
from shoal.privacy import KAnonymity
from shoal.reports.composition import Composition
from shoal.reports.release import ReleaseReport
from shoal.samples import hospital
from shoal.schema.schema import Schema

QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass",
         "occupation")  # fmt: skip


class Case(NamedTuple):
    """A table, and a folder for its releases."""

    name: str
    table: Path
    schema: Schema
    folder: Path

    def promising(self, k: int) -> Schema:
        """Return the schema with k-anonymity as its only promise."""
        return self.schema.with_promise([KAnonymity(k)], replace_promise=True)

    def release(
        self, name: str, method: str, k: int, **words: Path | int
    ) -> tuple[ReleaseReport, Path]:
        """Release the table; return the report and the class file."""
        classes = self.folder / f"{name}.classes.csv"
        made = release(
            ReleaseRequest(
                table=self.table, schema=self.promising(k), method=method_named(method),
                output=Output(out=self.folder / f"{name}.csv", class_file=classes),
                **words,  # type: ignore[arg-type]
            )
        )  # fmt: skip
        return made.report, classes

    def compose(self, *files: Path) -> tuple[Composition, float]:
        """Judge k = 5 on releases together; return what was found, and the seconds."""
        began = time.perf_counter()
        found = compose(
            ComposeRequest(table=self.table, schema=self.promising(5), class_files=files)
        )
        return found, time.perf_counter() - began


def cases(data: Path, folder: Path) -> Iterator[Case]:
    """Yield the hospital sample and, where it is, Adult."""
    files = hospital(folder / "stays.csv", 10_000)
    yield Case("hospital", files.table, Schema.load(files.schema), folder)
    adult = data / "adult_arx"
    if (adult / "adult.csv.gz").is_file():
        columns: dict[str, object] = {
            name: {"role": "quasi", "hierarchy": f"adult_hierarchy_{name}.csv"} for name in QUASI
        }
        columns["age"] = {"role": "quasi", "kind": "numeric"}
        document = {"columns": columns, "others": "drop"}
        schema = Schema.from_document(document, folder=adult)
        yield Case("Adult", adult / "adult.csv.gz", schema, folder)


def independent(case: Case) -> str:
    """Return what two independent releases with k = 5 give away."""
    files = [case.release(method, method, 5)[1] for method in ("bestcut", "mondrian")]
    case.compose(*files)  # the first call loads what it needs
    found, seconds = case.compose(*files)
    alone, below = found.alone / found.published, found.below[5] / found.published
    return f"| {case.name}, {found.records:,} | {alone:.1%} | {below:.1%} | {seconds:.2f} |"


def nested(case: Case, method: str) -> str:
    """Return the loss of nested releases against that of independent ones."""
    alone = {k: case.release(str(k), method, k) for k in (5, 10)}
    cells = []
    for first, second in ((5, 10), (10, 5)):
        report, classes = case.release("nested", method, second, nested_in=alone[first][1])
        found, _ = case.compose(alone[first][1], classes)
        ratio = (report.utility["ncp"] or 0.0) / (alone[second][0].utility["ncp"] or 1.0)
        cells.append(f"{ratio:.3f} times, {found.below[5]} below 5")
    return f"| {case.name} | `{method}` | {cells[0]} | {cells[1]} |"


def main(data: Path) -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory() as folder:
        every = list(cases(data, Path(folder)))
        print("bestcut beside mondrian, k = 5\n\n| table | alone | below 5 | compose, s |")
        print("|---|---|---|---|")
        for case in every:
            print(independent(case), flush=True)
        print("\n| table | method | k = 5, then 10 | k = 10, then 5 |\n|---|---|---|---|")
        for case in every:
            for method in ("bestcut", "refine"):
                print(nested(case, method), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
