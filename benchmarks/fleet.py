"""What a model of cuts is like on a device, and what a collector makes of its records."""

from __future__ import annotations

import csv
import json
import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from benchmarks.measure import run_command
from benchmarks.release import ADULT, adult_schema
from shoal import api, edge
from shoal.edge.settle import settle
from shoal.model.model import RecodingModel
from shoal.privacy import KAnonymity

TITLE = "Models of regions on a device"
NOTE = (
    "Mondrian, k = 5, plain CPython, records as dicts, fresh ones that learning has not seen "
    "(hospital: another seed; Adult: the other 40 %). Memory: what the process grew by while it "
    "encoded. Settled: `shoal settle` on the first 12,065 encoded records.\n\n"
)
K = 5


def measured(model: Path, fresh: Path) -> dict[str, Any]:
    """Return the figures of one model."""
    began = time.process_time()
    encoder = edge.load(model)
    loaded = time.process_time() - began
    with fresh.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    speeds = []
    for _ in range(2):
        began = time.process_time()
        for row in rows:
            encoder.encode(row)
        speeds.append(round(len(rows) / (time.process_time() - began)))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    outside = sum(encoder.find(encoder.values(row)) < 0 for row in rows)
    settled = settle([encoder.encode(row) or {} for row in rows[:12_065]], model)
    return {
        "kB": model.stat().st_size // 1000,
        "classes": len(RecodingModel.load(model).regions),
        "CPU s to load": round(loaded, 3),
        "records/s, first touch": speeds[0],
        "records/s, again": speeds[1],
        "MB grown": round(grown, 2),
        "% outside": round(100 * outside / len(rows), 3),
        "settled: % suppressed": round(100 * settled.suppressed / settled.records, 3),
        "smallest class": settled.verification.smallest_class if settled.verification else None,
    }


def rows() -> list[dict[str, Any]]:
    """Return a row a table: learned on one sample, encoded on another."""
    found = []
    with TemporaryDirectory() as folder:
        place = Path(folder)
        for name, made in (("hospital", _hospital), ("Adult", _adult)):
            table, fresh, schema = made(place)
            model = place / f"{name}.json"
            learned = api.learn(str(table), schema=str(schema), k=K, method="mondrian")
            model.write_text(learned.to_json(), encoding="utf-8")
            facts = {"what": f"{name}, {learned.records:,} records"}
            found.append({**facts, **measured(model, fresh)})
    return found


def _hospital(place: Path) -> tuple[Path, Path, Path]:
    table, fresh = place / "hospital.csv", place / "fresh.csv"
    for out, records, seed in ((table, 200_000, 0), (fresh, 20_000, 1)):
        words = ["hospital", "--records", str(records), "--seed", str(seed), "--out", str(out)]
        run_command(["sample", *words])
    return table, fresh, place / "hospital.schema.yaml"


def _adult(place: Path) -> tuple[Path, Path, Path]:
    """Return 60 % of the records to learn from, and the others."""
    frame = pl.read_csv(ADULT / "adult.csv.gz", separator=";", infer_schema=False)
    order = np.random.default_rng(1).permutation(frame.height)
    cut = frame.height * 6 // 10
    table, fresh, schema = place / "adult.csv", place / "adult-fresh.csv", place / "adult.json"
    frame[order[:cut]].write_csv(table)
    frame[order[cut:]].write_csv(fresh)
    about = adult_schema().with_promise([KAnonymity(K)]).to_document()
    schema.write_text(json.dumps(about), encoding="utf-8")
    return table, fresh, schema
