"""Several releases of one table: what two give away, and what releases made to stand together cost.

    python -m benchmarks.releases ../shared/data

prints, for the hospital sample and Adult, who is alone and below k = 5 in the meet of two
releases, how long `compose` takes, and the loss of nested releases against independent ones.

    python -m benchmarks.releases ../shared/data floor

prints how little any union of the classes of `refine` for k = 5 could lose at k = 10.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from shoal.engines.base import Output
from shoal.jobs.compose import compose
from shoal.jobs.release import release
from shoal.jobs.requests import ComposeRequest, ReleaseRequest
from shoal.methods.clustering.clusters import box_losses
from shoal.methods.clustering.regroup import Atoms, regroup
from shoal.methods.registry import method_named
from shoal.privacy import KAnonymity
from shoal.reports.composition import Composition
from shoal.reports.release import ReleaseReport
from shoal.samples import hospital
from shoal.schema.schema import Labels, Schema
from shoal.table.recoding import join_boxes

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


def least(atoms: Atoms, k: int) -> float:
    """Return a loss that no grouping of the atoms into groups of k records is below.

    Whatever the groups are, let each atom of a group point to the next one, and the last to the
    first: nobody is pointed to twice. The box of the group covers that of both, so the group loses
    at least what its atoms lose in the boxes that each has together with the one it points to; and
    where that is summed both ways round, half of it. An atom of fewer than k records cannot point
    to itself. Of all such ways to point, an assignment finds the one that loses least.
    """
    number = len(atoms.sizes)
    price = np.empty((number, number))
    for i in range(number):
        both = join_pairs(atoms, i)
        price[i] = box_losses(atoms.space, *both) * ((atoms.sizes[i] + atoms.sizes) / 2)
        if atoms.sizes[i] < k:
            price[i, i] = 1e18  # dearer than everything else together
    return float(price[linear_sum_assignment(price)].sum())


def join_pairs(atoms: Atoms, one: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the boxes that one atom has together with each."""
    return np.minimum(atoms.low[one], atoms.low), np.maximum(atoms.high[one], atoms.high)


def floor(case: Case) -> str:
    """Return the least loss of a nested release, and the one found, against an independent one."""
    tight = case._replace(schema=replace(case.schema, labels=Labels.TIGHT))
    alone = {k: tight.release(f"tight{k}", "refine", k) for k in (5, 10)}
    known: list[tuple[Atoms, float]] = []

    def spy(atoms: Atoms, label: NDArray[np.int64], *, seed: int) -> NDArray[np.int64]:
        found = regroup(atoms, label, seed=seed)
        boxes = join_boxes(atoms.low, atoms.high, found, int(found.max()) + 1)
        lost = box_losses(atoms.space, *boxes) * np.bincount(found, weights=atoms.sizes)
        known.append((atoms, float(lost.sum())))
        return found

    with patch("shoal.methods.nested.regroup", spy):
        report, _ = tight.release("tight", "refine", 10, nested_in=alone[5][1])
    ((atoms, lost),) = known
    ratio = (report.utility["ncp"] or 0.0) / (alone[10][0].utility["ncp"] or 1.0)
    return f"| {case.name} | {ratio:.3f} times | {ratio * least(atoms, 10) / lost:.3f} times |"


def main(data: Path, *, of_floor: bool) -> None:
    """Print both tables, or the third."""
    with tempfile.TemporaryDirectory() as folder:
        every = list(cases(data, Path(folder)))
        if of_floor:
            print("refine, k = 5, then 10, tight labels\n\n| table | found | no union loses less |")
            print("|---|---|---|")
            for case in every:
                print(floor(case), flush=True)
            return
        print("bestcut beside mondrian, k = 5\n\n| table | alone | below 5 | compose, s |")
        print("|---|---|---|---|")
        for case in every:
            print(independent(case), flush=True)
        print("\n| table | method | k = 5, then 10 | k = 10, then 5 |\n|---|---|---|---|")
        for case in every:
            for method in ("bestcut", "refine"):
                print(nested(case, method), flush=True)


if __name__ == "__main__":
    place = sys.argv[1] if len(sys.argv) > 1 else "../shared/data"
    main(Path(place), of_floor=sys.argv[2:] == ["floor"])
