"""Differentially private statistics: ten million rows through the local engine, and the ledger."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.measure import yardstick
from shoal.dp.accounting import Accounting, Loss, open_account
from shoal.dp.budget import Budget
from shoal.dp.ledgers import open_ledger
from shoal.engines.local.source import open_source

TITLE = "Differentially private statistics"
NOTE = (
    "One question each, opening and reading the file included (median of three). CPU seconds are "
    "those of all threads together; the error bar is the half-width at 95 % and epsilon 0.5.\n\n"
)
ROWS = 10_000_000


def table(folder: Path, records: int = ROWS) -> dict[str, Path]:
    """Write the same random register as Parquet and as CSV."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "age": rng.integers(0, 100, records),
            "cost": np.round(rng.gamma(2.0, 400.0, records), 2),
            "sex": rng.choice(["F", "M"], records),
            "person": rng.integers(0, records // 3, records),
        }
    )
    frame.write_parquet(folder / "register.parquet")
    frame.write_csv(folder / "register.csv")
    return {kind: folder / f"register.{kind}" for kind in ("parquet", "csv")}


def rows() -> list[dict[str, Any]]:
    """Return one row a question."""
    stick = yardstick()
    found: list[dict[str, Any]] = []
    cost = {"bounds": (0, 5000), "epsilon": 0.5}
    asked: list[tuple[str, str, Callable[[Budget], Any]]] = [
        ("parquet", "count", lambda b: b.count(epsilon=0.5)),
        ("parquet", "sum", lambda b: b.sum("cost", **cost)),
        ("parquet", "mean", lambda b: b.mean("cost", **cost)),
        ("parquet", "variance", lambda b: b.variance("cost", **cost)),
        ("parquet", "median", lambda b: b.quantile("cost", alpha=0.5, **cost)),
        ("parquet", "maximum", lambda b: b.max("cost", **cost)),
        ("parquet", "histogram", lambda b: b.histogram("cost", **cost)),
        ("parquet", "mean by sex", lambda b: b.mean("cost", by="sex", groups=["F", "M"], **cost)),
        ("parquet", "mean, 2 rows a person",
         lambda b: b.mean("cost", entity="person", max_rows=2, **cost)),
        ("csv", "count", lambda b: b.count(epsilon=0.5)),
        ("csv", "sum", lambda b: b.sum("cost", **cost)),
        ("csv", "mean", lambda b: b.mean("cost", **cost)),
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        files = table(Path(folder))
        for kind, name, question in asked:
            wall, cpu, answer = _timed(files[kind], question)
            found.append(
                {
                    "what": f"{name}, {ROWS:,} rows, {kind}",
                    "CPU s": cpu,
                    "/ yardstick": cpu / stick,
                    "wall s": wall,
                    "error bar": answer.within,
                    "in": answer.unit,
                }
            )
        charge = _charge(Path(folder) / "ledger.sqlite")
        found.append({"what": "one charge, SQLite ledger", "wall s": charge})
    return found


def _timed(path: Path, question: Callable[[Budget], Any]) -> tuple[float, float, Any]:
    spent, answer = [], None
    for _ in range(3):
        began, busy = time.perf_counter(), time.process_time()
        source = open_source(path)
        with Budget(source.scan(source.columns), epsilon=1.0) as budget:
            answer = question(budget)
        spent.append((time.perf_counter() - began, time.process_time() - busy))
    walls, cpus = zip(*spent, strict=True)
    return sorted(walls)[1], sorted(cpus)[1], answer


def _charge(place: Path, times: int = 100) -> float:
    with open_ledger(place) as ledger:
        ledger.open(open_account("register", Accounting.PURE, epsilon=1000.0))
        began = time.perf_counter()
        for _ in range(times):
            ledger.charge("register", Loss.of(epsilon=1.0), {})
        return (time.perf_counter() - began) / times


if __name__ == "__main__":
    for row in rows():
        print(row)
