"""Encoding: columnar and on a small machine, start-up, and the size of model files."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tests.methods.calls import mondrian, search

from benchmarks.measure import ROOT, cpu_seconds, yardstick
from benchmarks.release import ADULT, adult_schema, count
from shoal import api, edge
from shoal.methods.to_model import model_of
from shoal.model.model import RecodingModel
from shoal.model.runtime import Encoder
from shoal.privacy import KAnonymity

TITLE = "Encoding with a learned model"
NOTE = (
    "Eight quasi-identifiers of Adult. M records/s are by the clock on this machine's cores; the "
    "columnar rows also give CPU seconds.\n\n"
)
RECORDS = 3_000_000


def learn(frame: pl.DataFrame, k: int) -> dict[str, RecodingModel]:
    """Return a levels model and a Mondrian model of Adult."""
    schema = adult_schema().with_promise([KAnonymity(k)])
    table = count(frame, schema)
    levels = search(table, schema.privacy, suppression_limit=0.02)
    cut = mondrian(table, schema.privacy)
    return {
        "levels": model_of(levels, schema, method="flash", utility={}),
        "Mondrian": model_of(cut, schema, method="mondrian", utility={}),
    }


def wall_seconds(work: Callable[[], Any], *, runs: int = 5) -> float:
    """Return the median seconds by the clock; the first run only warms up."""
    work()
    spent = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        spent.append(time.perf_counter() - began)
    return statistics.median(spent)


def startup(model: Path, line: bytes) -> float:
    """Return the CPU seconds of `python -m shoal.edge encode` on one record."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    spent = []
    for _ in range(7):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "shoal.edge", "encode", str(model)],
            input=line, capture_output=True, check=True, env=environment,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(spent)


def rows() -> list[dict[str, Any]]:
    """Return one row a measurement."""
    stick = yardstick()
    frame = pl.read_csv(ADULT / "adult.csv.gz", separator=";", infer_schema=False)
    found: list[dict[str, Any]] = []

    def note(what: str, cpu: float, **more: Any) -> None:
        found.append({"what": what, "CPU s": cpu, "/ yardstick": cpu / stick, **more})

    models = learn(frame, 10)
    quasi = frame.select(models["levels"].schema.quasi)
    big = quasi[np.random.default_rng(1).integers(0, quasi.height, RECORDS)]
    coded = big.with_columns(pl.all().cast(pl.Categorical))
    for name, model in models.items():
        for kind, table in (("text", big), ("dictionary", coded)):
            work = lambda t=table, m=model: api.encode(t, m)  # noqa: E731
            rate = RECORDS / wall_seconds(work) / 1e6
            what = f"columnar encode, {name}, 8 {kind} columns, {RECORDS:,} records"
            note(what, cpu_seconds(work), **{"M records/s": rate})
    work = lambda: api.encode(coded, models["levels"], safe=True)  # noqa: E731
    rate = RECORDS / wall_seconds(work, runs=3) / 1e6
    cpu = cpu_seconds(work, runs=3)
    note("encode-safe with verification, levels, dictionary", cpu, **{"M records/s": rate})
    _small(models, quasi.to_dicts(), note)
    return found


def _small(models: dict[str, RecodingModel], records: list[Any], note: Any) -> None:
    """Measure `shoal.edge`, one record after the other, and the files."""
    kinds = {"shoal.edge": edge.load, "exported Python": lambda m: Encoder(m.to_document())}
    for name, model in models.items():
        for kind, load in kinds.items():
            encoder = load(model)

            def work(encode: Any = encoder.encode) -> None:
                for record in records:
                    encode(record)

            cpu = cpu_seconds(work)
            what = f"{kind}, {name}, {len(model.regions):,} classes, {len(records):,} records"
            note(what, cpu, **{"M records/s": len(records) / cpu / 1e6})
    with tempfile.TemporaryDirectory() as folder:
        for name, model in models.items():
            place = Path(folder) / "model.json"
            place.write_text(model.to_json(), encoding="utf-8")
            line = (pl.DataFrame(records[:1]).write_ndjson()).encode()
            size = place.stat().st_size / 1000
            what = f"python -m shoal.edge encode, one record, {name} k=10"
            note(what, startup(place, line), **{"model kB": size})


if __name__ == "__main__":
    for row in rows():
        print(row)
