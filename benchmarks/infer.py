"""Knowing a table: roles, quasi-identifier sets, risk and attacks.

The baseline of the set search is the plain way: one Polars group-by for every subset,
timed on a sample of subsets and multiplied by their number.
"""

from __future__ import annotations

import tempfile
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.measure import DATA, USUAL, cpu_seconds, peak_megabytes, yardstick
from shoal.engines.local.attack import Attacker
from shoal.engines.local.infer import infer
from shoal.engines.local.risk import risk
from shoal.engines.local.source import open_source
from shoal.measures.risk.question import RiskQuestion
from shoal.privacy import KAnonymity
from shoal.samples import hospital
from shoal.schema.schema import Schema

TITLE = "Know the table first: infer, risk, attacks"
NOTE = (
    "Sets are exact; `baseline` is one Polars group-by a subset, extrapolated from up to four "
    "subsets of each size.\n\n"
)

_HEADER = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
)


def adult15() -> pl.DataFrame:
    """Return the original Adult table without records that miss a value."""
    path = DATA / "adult" / "adult.data.gz"
    frame = pl.read_csv(path, has_header=False, new_columns=_HEADER.split(), infer_schema=False)
    frame = frame.with_columns(pl.all().str.strip_chars()).drop_nulls()
    return frame.filter(~pl.any_horizontal(pl.all() == "?"))


def baseline(frame: pl.DataFrame, max_size: int) -> float:
    """Return the estimated CPU seconds of counting every subset with a group-by."""
    coded = frame.with_columns(pl.all().cast(pl.String).cast(pl.Categorical).to_physical())
    random = np.random.default_rng(0)
    seconds = 0.0
    for size in range(1, min(max_size, frame.width) + 1):
        number = comb(frame.width, size)
        names = [
            list(random.choice(frame.columns, size=size, replace=False))
            for _ in range(min(4, number))
        ]

        def count(names: list[list[str]] = names) -> None:
            for each in names:
                coded.lazy().group_by(each).len().select(pl.col("len").sum()).collect()

        seconds += cpu_seconds(count, runs=1) / len(names) * number
    return seconds


def rows() -> list[dict[str, Any]]:
    """Return one row a measurement."""
    stick = yardstick()
    found: list[dict[str, Any]] = []

    def note(what: str, cpu: float, **more: Any) -> None:
        found.append({"what": what, "CPU s": cpu, "/ yardstick": cpu / stick, **more})

    adult = adult15()
    _sets(note, "Adult, 15 columns", adult, max_size=15)
    encounters = DATA / "diabetes_130" / "diabetic_data.csv.gz"
    if encounters.is_file():
        frame = pl.read_csv(encounters, infer_schema=False)
        _sets(note, "diabetes_130, 50 columns", frame, max_size=4)
    cpu = cpu_seconds(lambda: risk(open_source(adult), RiskQuestion(quasi=USUAL)), runs=3)
    note("risk, Adult, 8 columns, special uniques of every size", cpu)
    with tempfile.TemporaryDirectory() as folder:
        _attacks(note, Path(folder))
    return found


def _sets(note: Any, what: str, frame: pl.DataFrame, *, max_size: int) -> None:
    result = infer(open_source(frame), max_size=max_size)
    cpu = cpu_seconds(lambda: infer(open_source(frame), max_size=max_size), runs=3)
    total = sum(comb(frame.width, size) for size in range(1, max_size + 1))
    note(
        f"infer, {what}, max size {max_size}", cpu,
        subsets=total, counted=result.search.counted, sets=len(result.search.sets),
        **{"baseline / CPU s": baseline(frame, max_size) / cpu, "peak MB": peak_megabytes()},
    )  # fmt: skip


def _attacks(note: Any, folder: Path) -> None:
    from shoal import api

    files = hospital(folder / "stays.csv", 10_000, seed=1)
    schema = Schema.load(files.schema).with_promise([KAnonymity(5)], replace_promise=True)
    release = open_source(api.anonymize(files.table, schema).table)
    original = open_source(files.table)
    attack = Attacker(original, release, schema)
    found = attack.three_questions()
    cpu = cpu_seconds(lambda: Attacker(original, release, schema).three_questions(), runs=3)
    note(
        "three questions, 10,000 stays, 2,000 targets, k=5", cpu,
        **{"linked before": found[1].before.success, "linked after": found[1].after.success},
    )  # fmt: skip


if __name__ == "__main__":
    for row in rows():
        print(row)
