"""The main job: reading, Mondrian, writing, verifying; from 30,162 to 3,000,000 records."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tests.methods.calls import mondrian

from benchmarks.measure import DATA, USUAL, cpu_seconds, run_command, yardstick
from shoal.engines.local.frequencies import frequencies
from shoal.engines.local.source import open_source
from shoal.privacy import KAnonymity
from shoal.schema.flags import schema_from_flags
from shoal.schema.schema import Kind, Role, Schema
from shoal.table.frequency import FrequencyTable

TITLE = "The main job (Mondrian)"
ADULT = DATA / "adult_arx"


def adult_schema() -> Schema:
    """Return the usual eight quasi-identifiers of Adult, age numeric, with their hierarchies."""
    return schema_from_flags({Role.QUASI: USUAL}, {Kind.NUMERIC: ["age"]}, hierarchies=ADULT)


def count(table: Any, schema: Schema) -> FrequencyTable:
    source = open_source(table)
    return frequencies(source, source.scan(USUAL, coded=USUAL), schema, sensitive=()).table


def perturbed(frame: pl.DataFrame, records: int, *, share: float, seed: int = 1) -> pl.DataFrame:
    """Draw records with replacement; redraw a share of the cells from the values that occur."""
    rng = np.random.default_rng(seed)
    drawn = frame[rng.integers(0, frame.height, records)]
    columns = []
    for name in drawn.columns:
        redrawn = rng.random(records) < share
        values = frame[name].unique().sort()
        other = values[rng.integers(0, values.len(), records)]
        columns.append(pl.select(pl.when(pl.Series(redrawn)).then(other).otherwise(drawn[name])
                                 .alias(name)).to_series())  # fmt: skip
    return pl.DataFrame(columns)


def rows() -> list[dict[str, Any]]:
    """Return one row a measurement."""
    stick = yardstick()
    frame = pl.read_csv(ADULT / "adult.csv.gz", separator=";", infer_schema=False)
    schema = adult_schema()
    found = []

    def note(what: str, cpu: float, **more: Any) -> None:
        found.append({"what": what, "CPU s": cpu, "/ yardstick": cpu / stick, **more})

    small = count(frame, schema)
    for k in (2, 5, 10, 25, 50):
        cpu = cpu_seconds(lambda k=k: mondrian(small, [KAnonymity(k)]))  # type: ignore[misc]
        note(f"learn, Adult, 30,162 records, k={k}", cpu)
    large = count(perturbed(frame, 3_000_000, share=0.2), schema)
    cpu = cpu_seconds(lambda: mondrian(large, [KAnonymity(10)]), runs=3)
    note(f"learn, 3,000,000 records, {large.rows:,} distinct tuples, k=10", cpu)
    with tempfile.TemporaryDirectory() as folder:
        _commands(Path(folder), frame, note)
    return found


def _commands(folder: Path, frame: pl.DataFrame, note: Any) -> None:
    flags = ["--qi", ",".join(USUAL), "--numeric", "age", "--hierarchies", str(ADULT), "-k", "10",
             "--method", "mondrian", "--labels", "tight", "--json",
             "--out", str(folder / "out.csv")]  # fmt: skip
    run_command(["anonymize", str(ADULT / "adult.csv.gz"), *flags])
    done = run_command(["anonymize", str(ADULT / "adult.csv.gz"), *flags])
    ncp = json.loads(done.output)["utility"]["ncp"]
    note("whole command, Adult, k=10", done.cpu, MB=done.megabytes, NCP=ncp)
    rng = np.random.default_rng(1)
    frame[rng.integers(0, frame.height, 3_000_000)].write_csv(folder / "big.csv", separator=";")
    done = run_command(["anonymize", str(folder / "big.csv"), *flags])
    note("whole command, 3,000,000 bootstrapped records, CSV to CSV", done.cpu, MB=done.megabytes)
    done = run_command(["--help"])
    note("shoal --help", done.cpu, MB=done.megabytes)
    cold = {"NUMBA_CACHE_DIR": str(folder / "cache")}
    done = run_command(["anonymize", str(ADULT / "adult.csv.gz"), *flags], environment=cold)
    note("first run ever (compiles its kernels), Adult", done.cpu, MB=done.megabytes)


if __name__ == "__main__":
    for row in rows():
        print(row)
