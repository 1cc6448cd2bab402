"""Spark: seed 003's figures, and ten million hospital records beside the local engine.

`python -m benchmarks.run spark` writes the section and the plots in docs/images/.
SHOAL_SPARK_RECORDS chooses another size than ten million; 0 leaves that part out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.measure import DATA, ROOT, USUAL
from shoal import api, samples
from shoal.core.flags import schema_from_flags
from shoal.core.privacy import KAnonymity, LDiversity, PrivacyModel, TCloseness
from shoal.core.schema import Kind, Role, Schema
from shoal.engines.spark.session import session

TITLE = "Spark"
IMAGES = ROOT / "docs" / "images"
ADULT = DATA / "adult_arx"
SIZES = (1000, 2000, 4000, 8000, 16000, 32000)
EXPONENTS = (0.5, 1.0, 1.5, 2.0)
PARTS = (1, 4, 16, 64)
MASTER = "local[2]"
EXECUTORS = "local-cluster[1,2,2560]"
PROMISES: dict[str, list[PrivacyModel]] = {
    "k": [KAnonymity(5)],
    "l": [KAnonymity(5), LDiversity(2, column="salary-class")],
    "t": [KAnonymity(5), TCloseness(0.3, column="salary-class")],
}
NOTE = """Seed 003 had a cluster of up to 256 executors; this machine has 2 cores, so the figures
show the shape of its claims, not its speed-ups. *Seq* is the local engine, *FP* counts on Spark
and searches on the driver, *CP* learns on k-means parts and *CP-R* on random parts, on the
executors. Seconds are wall seconds of one warm run, reading included; the machine was not idle.

![Learning time over records](images/spark-records.svg)
![Learning time over Zipf exponents](images/spark-zipf.svg)
![Learning time over partitions](images/spark-parts-time.svg)
![Utility over partitions](images/spark-parts-utility.svg)

"""
CLAIMS = {
    "records": "grows with the records; t above l above k; FP pays only with many executors",
    "zipf": "falls as the exponent grows, for every promise",
    "time": "both CPs far below FP; CPs do not degrade with many partitions",
    "utility": "CP near FP, CP-R clearly worse the more partitions",
}


def rows() -> list[dict[str, Any]]:
    """Return one row a measurement."""
    spark = session(MASTER, {"spark.driver.memory": "2g"})
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        _learn(adult(1000), adult_schema(), PROMISES["k"], far=True)  # starts Spark's workers
        found += over_records()
        found += over_exponents(place)
        found += over_parts()
    spark.stop()
    return found + ten_million()


def adult(records: int) -> pl.DataFrame:
    """Draw Adult records; above its size, with replacement."""
    whole = pl.read_csv(ADULT / "adult.csv.gz", separator=";", infer_schema=False)
    return whole.sample(records, seed=1, with_replacement=records > whole.height)


def adult_schema() -> Schema:
    return schema_from_flags(
        {Role.QUASI: USUAL, Role.SENSITIVE: ["salary-class"]}, {Kind.NUMERIC: ["age"]},
        hierarchies=ADULT,
    )  # fmt: skip


def _learn(
    table: Any, schema: Schema, promise: Sequence[PrivacyModel], *, far: bool, **options: Any
) -> tuple[float, Any]:
    """Return the seconds of learning without making a model, and the report."""
    began = time.perf_counter()
    chosen = api.Options(**{"method": "flash", **options})
    asked = api.SparkTable(table) if far else table
    _, report = api.learn_with_report(asked, schema, privacy=promise, options=chosen)
    return time.perf_counter() - began, report


def over_records() -> list[dict[str, Any]]:
    """Figure 1: learning time over the number of records."""
    found, lines = [], {}
    for name, promise in PROMISES.items():
        for far in (False, True):
            label = f"{'FP-2' if far else 'Seq'} {name}"
            times = []
            for records in SIZES:
                spent, _ = _learn(adult(records), adult_schema(), promise, far=far)
                times.append(spent)
                found.append({"figure": "1", "what": label, "x": records, "seconds": spent,
                              "paper": CLAIMS["records"]})  # fmt: skip
            lines[label] = list(zip(SIZES, times, strict=True))
    plot("spark-records", "Learning time (s) over records", lines, log=True)
    return found


def over_exponents(place: Path) -> list[dict[str, Any]]:
    """Figure 2: learning time over the exponent of Zipf's law; 16 columns, 32,000 records."""
    found, lines = [], {}
    tables = {}
    for exponent in EXPONENTS:
        out = place / f"zipf{exponent}.csv"
        samples.zipf(out, 32000, attributes=16, exponent=exponent, seed=1)
        tables[exponent] = (out, Schema.load(out.with_suffix(".schema.yaml")))
    for name in PROMISES:
        times = []
        for exponent, (out, schema) in tables.items():
            secret = schema.sensitive[0]
            promise = {
                "k": [KAnonymity(3)],
                "l": [KAnonymity(3), LDiversity(2, column=secret)],
                "t": [KAnonymity(3), TCloseness(0.5, column=secret)],
            }[name]
            spent, report = _learn(out, schema, promise, far=True, search={"seconds": 20})
            times.append(spent)
            found.append({"figure": "2", "what": f"FP-2 {name}", "x": exponent, "seconds": spent,
                          "NCP": report.utility["ncp"], "paper": CLAIMS["zipf"]})  # fmt: skip
        lines[f"FP-2 {name}"] = list(zip(EXPONENTS, times, strict=True))
    plot("spark-zipf", "Learning time (s) over Zipf exponent", lines)
    return found


def over_parts() -> list[dict[str, Any]]:
    """Figures 4 and 5: FP, CP and CP-R on 1,000 records, over the number of partitions."""
    found: list[dict[str, Any]] = []
    times: dict[str, list[tuple[float, float]]] = {}
    losses: dict[str, list[tuple[float, float]]] = {}
    table, schema = adult(1000), adult_schema()
    for name in ("k", "t"):
        for label, how in (("FP", None), ("CP", "kmeans"), ("CP-R", "random")):
            for parts in PARTS:
                options = {} if how is None else {"partitions": parts, "partition_by": how}
                spent, report = _learn(table, schema, PROMISES[name], far=True, **options)
                key = f"{label} {name}"
                ncp = report.utility["ncp"]
                times.setdefault(key, []).append((parts, spent))
                losses.setdefault(key, []).append((parts, ncp))
                claim = f"{CLAIMS['time']}; {CLAIMS['utility']}"
                found.append({"figure": "4, 5", "what": key, "x": parts, "seconds": spent,
                              "NCP": ncp, "paper": claim})  # fmt: skip
    plot("spark-parts-time", "Learning time (s) over partitions", times, log=True)
    plot("spark-parts-utility", "Information lost (NCP) over partitions", losses, log=True)
    return found


def ten_million() -> list[dict[str, Any]]:
    """Release ten million hospital records: Spark with executors of their own, and locally."""
    records = int(os.environ.get("SHOAL_SPARK_RECORDS", "10000000"))
    if not records:
        return []
    found = []
    with tempfile.TemporaryDirectory() as folder:
        table = Path(os.environ.get("SHOAL_SPARK_TABLE", Path(folder) / "hospital.parquet"))
        if not table.exists():
            samples.hospital(table, records, seed=1)
        for engine in ("spark", "local"):
            out = Path(folder) / f"out-{engine}.parquet"
            more = ["--engine", "spark", "--master", EXECUTORS] if engine == "spark" else []
            told, peak, driver = measured(
                ["anonymize", str(table), "--schema", str(table.with_suffix(".schema.yaml")),
                 "-k", "10", "--method", "mondrian", "--json", "--quiet", "--no-attacks",
                 "--out", str(out), *more]
            )  # fmt: skip
            for stage, spent in told["seconds"].items():
                if spent >= 0.05:
                    found.append({"what": f"{records:,} hospital records, {engine}: {stage}",
                                  "seconds": spent})  # fmt: skip
            found.append({"what": f"{records:,} hospital records, {engine}: whole command",
                          "seconds": told["wall"], "MB": peak, "MB of the driver": driver,
                          "NCP": told["utility"]["ncp"]})  # fmt: skip
    return found


def measured(arguments: Sequence[str]) -> tuple[dict[str, Any], float, float]:
    """Run a command; return what it said, and the peak megabytes of all and of its driver."""
    submit = "--driver-memory 640m --conf spark.executor.memory=2g pyspark-shell"
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
    return told, watch.peak, watch.driver


class Watch(threading.Thread):
    """Looks at the memory of a process and of all that it started."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.process = process
        self.peak = self.driver = 0.0
        self.done = False

    def run(self) -> None:
        while not self.done:
            whole = driver = 0.0
            for megabytes, is_driver in self._tree(self.process, is_driver=True):
                whole += megabytes
                driver += megabytes if is_driver else 0.0
            self.peak, self.driver = max(self.peak, whole), max(self.driver, driver)
            time.sleep(0.3)

    def _tree(self, process: int, *, is_driver: bool) -> list[tuple[float, bool]]:
        place = Path(f"/proc/{process}")
        try:
            words = (place / "cmdline").read_bytes()
            status = (place / "status").read_text()
            children = "".join(
                (task / "children").read_text() + " " for task in (place / "task").iterdir()
            )
        except OSError:
            return []
        # An executor and what it starts are not the driver's.
        is_driver = is_driver and b"CoarseGrainedExecutorBackend" not in words
        kilobytes = [line.split()[1] for line in status.splitlines() if line.startswith("RssAnon")]
        found = [(float(kilobytes[0]) / 1000 if kilobytes else 0.0, is_driver)]
        for child in children.split():
            found += self._tree(int(child), is_driver=is_driver)
        return found


COLOURS = ("#1b6ca8", "#d1495b", "#3a7d44", "#8d5a97", "#e09f3e", "#5c6b73")


def plot(
    name: str, title: str, lines: dict[str, list[tuple[float, float]]], *, log: bool = False
) -> None:
    """Draw lines into docs/images/NAME.svg; with `log`, the horizontal axis doubles."""
    import math

    wide, high, left, top = 640, 320, 60, 36
    across = (lambda x: math.log2(x)) if log else float
    xs = sorted({x for points in lines.values() for x, _ in points})
    most = max(y for points in lines.values() for _, y in points) * 1.08 or 1.0
    first, last = across(xs[0]), across(xs[-1])

    def at(x: float, y: float) -> str:
        place = left + (across(x) - first) / ((last - first) or 1) * (wide - left - 150)
        return f"{place:.1f},{top + (1 - y / most) * (high - top - 40):.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{wide}" height="{high}" fill="white"/>',
        f'<text x="{left}" y="20" font-size="14">{title}</text>',
    ]
    for step in range(5):
        y = most * step / 4
        a, b = at(xs[0], y), at(xs[-1], y)
        parts.append(f'<polyline points="{a} {b}" stroke="#ddd" fill="none"/>')
        parts.append(f'<text x="{left - 8}" y="{a.split(",")[1]}" text-anchor="end">{y:.2g}</text>')
    for x in xs:
        place = at(x, 0).split(",")[0]
        parts.append(f'<text x="{place}" y="{high - 18}" text-anchor="middle">{x:g}</text>')
    for number, (label, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        dash = ' stroke-dasharray="5 3"' if number >= 3 else ""
        drawn = " ".join(at(x, y) for x, y in points)
        parts.append(
            f'<polyline points="{drawn}" stroke="{colour}" fill="none" stroke-width="2"{dash}/>'
        )
        y = top + 10 + 18 * number
        parts.append(f'<text x="{wide - 135}" y="{y}" fill="{colour}">{label}</text>')
    IMAGES.mkdir(parents=True, exist_ok=True)
    (IMAGES / f"{name}.svg").write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


if __name__ == "__main__":
    for row in rows():
        print(row)
