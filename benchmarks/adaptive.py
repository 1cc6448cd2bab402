"""xk-anonymity: is what was predicted what came out? For all eight techniques, by script.

    python benchmarks/adaptive.py             the table of prediction and outcome
    python benchmarks/adaptive.py --speed     1,000,000 records

Data are looked for in $SHOAL_DATA or beside the project; tables that are absent are left out.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.engines.local.xk import Applied, Choices, apply, recommend
from shoal.hierarchies.read import load_hierarchy, read_hierarchy
from shoal.hierarchies.tree import Hierarchy
from shoal.methods.xk.pipeline import COMBINATIONS, Techniques
from shoal.samples import hospital
from shoal.schema.schema import Attribute, Kind, Role, Schema

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("SHOAL_DATA", HERE.parents[1] / "shared" / "data"))


@dataclass(frozen=True)
class Case:
    """A table, its quasi-identifiers (most important first) and what is asked."""

    name: str
    table: Callable[[], pl.DataFrame]
    quasi: tuple[str, ...]
    sensitive: str
    k: int
    diversity: int

    def schema(self) -> Schema:
        """Return the schema; every other column is neutral, and waived: nothing is published."""
        frame = self.table()
        quasi = [_quasi(name, self.name.partition(" ")[0]) for name in self.quasi]
        rest = [
            Attribute(name=name, role=Role.SENSITIVE if name == self.sensitive else Role.NEUTRAL)
            for name in frame.columns
            if name not in self.quasi
        ]
        return Schema(attributes=(*quasi, *rest), waive=tuple(a.name for a in rest))

    def apply(self, techniques: Techniques, **options: Any) -> Applied:
        """Carry out what is recommended for these techniques."""
        choices = Choices(techniques=techniques, diversity=self.diversity, **options)
        return apply(self.table(), self.schema(), self.k, choices=choices)


def _quasi(name: str, source: str) -> Attribute:
    path = DATA / "adult_arx" / f"adult_hierarchy_{name}.csv"
    if source == "adult":
        kind = Kind.NUMERIC if name == "age" else Kind.CATEGORICAL
        return Attribute(
            name=name, role=Role.QUASI, kind=kind, hierarchy=load_hierarchy(name, path)
        )
    if name in ("age", "birth_year"):  # five-year groups, as in the paper
        fives = read_hierarchy(name, {"intervals": {"width": [5, 10]}}, folder=HERE)
        return Attribute(name=name, role=Role.QUASI, kind=Kind.NUMERIC, hierarchy=fives)
    tree = None
    if name == "os":
        systems = analytics()["os"].drop_nulls().unique().sort().to_list()
        groups = [(x, "mobile" if x in _MOBILE else "desktop or other", "*") for x in systems]
        tree = Hierarchy.from_rows(name, groups)
    return Attribute(name=name, role=Role.QUASI, kind=Kind.CATEGORICAL, hierarchy=tree)


_MOBILE = ("Android", "iOS", "Windows Phone", "BlackBerry", "Tizen", "Firefox OS", "Samsung")


@cache
def adult() -> pl.DataFrame:
    """Return the Adult table, 30,162 records."""
    path = DATA / "adult_arx" / "adult.csv.gz"
    return pl.read_csv(path, separator=";", infer_schema=False)


@cache
def analytics() -> pl.DataFrame:
    """Return the web analytics table, 244,398 records."""
    return pl.read_csv(DATA / "analytics" / "analytics_raw.csv.gz", infer_schema=False)


@cache
def stays(records: int = 50_000) -> pl.DataFrame:
    """Return hospital stays with the birth year and the zip's first digit, no identifiers."""
    with tempfile.TemporaryDirectory() as folder:
        files = hospital(f"{folder}/stays.csv", records=records, seed=7)
        frame = pl.read_csv(files.table, infer_schema=False)
    return frame.select(
        pl.col("birth_date").str.slice(0, 4).alias("birth_year"),
        "sex",
        pl.col("zip").str.slice(0, 1).alias("region"),
        "insurance", "diagnosis", "department", "stay_days", "cost",
    )  # fmt: skip


CASES = (
    Case("adult", adult, ("sex", "race", "workclass", "age"), "occupation", 5, 2),
    Case("adult", adult, ("sex", "race", "marital-status", "education"), "occupation", 5, 2),
    Case("adult", adult, ("sex", "race", "marital-status", "age"), "education", 10, 3),
    Case("analytics", analytics, ("country", "os"), "user_rating", 5, 2),
    Case("analytics", analytics, ("device", "os", "gender", "age"), "channel", 5, 2),
    Case("analytics", analytics, ("device", "user_type", "country", "age"), "channel", 5, 3),
    Case("hospital", stays, ("sex", "insurance", "birth_year"), "diagnosis", 5, 2),
    Case("hospital", stays, ("sex", "region", "insurance", "birth_year"), "diagnosis", 5, 3),
)
"""Tables that keep most of their records: what the paper's rules were made for."""

HARD_CASES = (
    Case(
        "adult (hard)",
        adult,
        ("sex", "race", "marital-status", "education", "workclass", "native-country", "age"),
        "occupation",
        5,
        2,
    ),
    Case(
        "analytics (hard)",
        analytics,
        ("device", "os", "country", "hour_of_day", "age"),
        "channel",
        5,
        2,
    ),
)
"""Tables that lose a large share of records: the paper's range is left, the bounds are not."""


def cases(*, hard: bool = True) -> Iterator[Case]:
    """Yield the cases whose data are there."""
    for case in (*CASES, *(HARD_CASES if hard else ())):
        if case.name.startswith("hospital") or DATA.is_dir():
            yield case


def rows(*, hard: bool = True) -> list[dict[str, Any]]:
    """Return prediction and outcome of every case and technique, a row each."""
    found = []
    for case in cases(hard=hard):
        for techniques in COMBINATIONS:
            started = time.process_time()
            outcome = case.apply(techniques).outcome
            expected = outcome.prediction
            low, high = expected.bounds
            found.append({
                "table": case.name, "records": outcome.records, "qi": len(case.quasi),
                "k": case.k, "l": case.diversity, "xk": outcome.xk, "with": outcome.technique,
                "range": f"{expected.low}-{expected.high}",
                "precision": round(outcome.precision, 3), "in range": outcome.is_in_range,
                "bounds": f"{low:.2f}-{high:.2f}",
                "in bounds": outcome.is_in_bounds,
                "max loss": expected.data_loss, "loss": round(outcome.data_loss, 3),
                "within": outcome.is_within_loss,
                "added": outcome.added, "suppressed": outcome.suppressed,
                "seconds": round(time.process_time() - started, 2),
            })  # fmt: skip
    return found


def speed(records: int = 1_000_000, *, repeats: int = 3) -> list[dict[str, Any]]:
    """Return the CPU and wall seconds for a bootstrapped Adult table, and of a yardstick."""
    frame = adult()
    index = np.random.default_rng(3).integers(0, frame.height, records)
    large = frame[index]
    # Ages of their own keep small pairs in the table, which a bootstrap alone would not have.
    shift = np.random.default_rng(4).integers(0, 60, records)
    large = large.with_columns((pl.col("age").cast(pl.Int64) + pl.Series(shift)).alias("age"))
    fives = read_hierarchy("age", {"intervals": {"width": [5, 10]}}, folder=HERE)
    quasi = ("sex", "race", "marital-status", "education", "workclass")
    attributes = [
        *(Attribute(name=n, role=Role.QUASI, kind=Kind.CATEGORICAL) for n in quasi),
        Attribute(name="age", role=Role.QUASI, kind=Kind.NUMERIC, hierarchy=fives),
        Attribute(name="occupation", role=Role.SENSITIVE),
        *(Attribute(name=n, role=Role.NEUTRAL) for n in ("native-country", "salary-class")),
    ]
    schema = Schema(attributes=tuple(attributes))
    choices = Choices(techniques=Techniques.parse("gcs"), diversity=2)
    numbers = np.random.default_rng(5).integers(0, 2**62, 10_000_000)
    jobs: dict[str, Callable[[], Any]] = {
        "numpy.sort of 10M int64": lambda: np.sort(numbers),
        "recommend": lambda: recommend(large, schema, 5, choices=choices),
        "apply gcs, verified": lambda: apply(large, schema, 5, choices=choices),
    }
    found = []
    for name, job in jobs.items():
        times = []
        for _ in range(repeats):
            cpu, wall = time.process_time(), time.perf_counter()
            job()
            times.append((time.process_time() - cpu, time.perf_counter() - wall))
        cpu, wall = min(times)
        found.append(
            {"job": name, "records": records, "cpu s": round(cpu, 2), "wall s": round(wall, 2)}
        )
    return found


def _text(table: list[dict[str, Any]]) -> str:
    lines = [list(table[0]), *([str(cell) for cell in row.values()] for row in table)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )


if __name__ == "__main__":
    if "--speed" in sys.argv:
        print(_text(speed()))
    else:
        table = rows()
        print(_text(table))
        easy = [row for row in table if "hard" not in row["table"]]
        for name, part in (("usual cases", easy), ("all cases", table)):
            keys = ("in range", "within", "in bounds")
            counted = ", ".join(f"{key} {sum(bool(row[key]) for row in part)}" for key in keys)
            print(f"{name}: {len(part)} outcomes, {counted}")
