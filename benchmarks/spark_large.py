"""Spark: ten million hospital records, beside the local engine.

SHOAL_SPARK_RECORDS chooses another size than ten million, SHOAL_SPARK_TABLE a table that is there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT
from benchmarks.watch import Watch
from shoal import api, samples
from shoal.privacy import KAnonymity
from shoal.schema.schema import Schema

TITLE = "Spark: ten million records"
LEARNED = 200_000  # records that the model for encoding is learned from
EXECUTORS = "local-cluster[1,2,2560]"
NOTE = """Parquet, nearly all records with a tuple of their own; Mondrian, k = 10, and encoding by
a model of 200,000 other records. Spark has an executor of its own with both cores. *seconds* are
wall seconds, *cpu* the CPU seconds of all processes. *MB* are the peak of the resident private
memory of all processes, *MB of the driver* that of the driver's Python and Java (which is also the
master and the worker of this small cluster), looked at three times a second.

"""


def rows() -> list[dict[str, Any]]:
    """Release ten million hospital records: Spark with executors of their own, and locally."""
    records = int(os.environ.get("SHOAL_SPARK_RECORDS", "10000000"))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        table = Path(os.environ.get("SHOAL_SPARK_TABLE", Path(folder) / "hospital.parquet"))
        if not table.exists():
            samples.hospital(table, records, seed=1)
        for engine in ("spark", "local"):
            out = Path(folder) / f"out-{engine}.parquet"
            more = ["--engine", "spark", "--master", EXECUTORS] if engine == "spark" else []
            told, watch = measured(
                ["anonymize", str(table), "--schema", str(table.with_suffix(".schema.yaml")),
                 "-k", "10", "--replace-promise", "--method", "mondrian", "--labels", "tight",
                 "--json", "--quiet", "--no-attacks", "--out", str(out), *more]
            )  # fmt: skip
            for stage, spent in told["seconds"].items():
                if spent >= 0.05:
                    found.append({"what": f"{records:,} hospital records, {engine}: {stage}",
                                  "seconds": spent})  # fmt: skip
            found.append({"what": f"{records:,} hospital records, {engine}: whole command",
                          "seconds": told["wall"], "NCP": told["utility"]["ncp"],
                          "cpu": sum(watch.cpu.values()), "MB": watch.peak,
                          "MB of the driver": watch.driver})  # fmt: skip
        found += encoded(table, Path(folder), records)
    return found


def encoded(table: Path, folder: Path, records: int) -> list[dict[str, Any]]:
    """Encode the same records, safely, by a model that was learned from other ones."""
    learned = folder / "learned.parquet"
    samples.hospital(learned, LEARNED, seed=2)
    schema = Schema.load(learned.with_suffix(".schema.yaml"))
    model = folder / "model.json"
    promised = schema.with_promise([KAnonymity(10)], replace_promise=True)
    api.write_model(api.learn(learned, promised), model)
    found = []
    for engine in ("spark", "local"):
        out = folder / f"encoded-{engine}.parquet"
        more = ["--engine", "spark", "--master", EXECUTORS] if engine == "spark" else []
        told, watch = measured(
            ["encode", str(model), str(table), "--safe", "--json", "--out", str(out), *more]
        )
        assert told["verification"]["holds"]
        found.append({"what": f"{records:,} hospital records, {engine}: encode --safe, verified",
                      "seconds": told["wall"], "cpu": sum(watch.cpu.values()), "MB": watch.peak,
                      "MB of the driver": watch.driver})  # fmt: skip
    return found


def measured(arguments: Sequence[str]) -> tuple[dict[str, Any], Watch]:
    """Run a command; return what it said, and what was seen of its processes."""
    submit = "--driver-memory 480m --conf spark.executor.memory=2g pyspark-shell"
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT / "src"), "PYSPARK_SUBMIT_ARGS": submit,
    }  # fmt: skip
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal", *arguments], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    watch = Watch(process.pid)
    watch.start()
    output, _ = process.communicate()
    watch.done = True
    watch.join()
    told = json.loads(output)
    told["wall"] = time.perf_counter() - began
    return told, watch
