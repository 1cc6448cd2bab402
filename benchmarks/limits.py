"""Ratios to the limit: whole commands against Polars reading and writing the same file.

`SHOAL_LIMITS=adult,stays` chooses tables, `SHOAL_LIMITS_JOBS=learn,infer` jobs, `SHOAL_BENCH_RUNS`
how often each is run, `SHOAL_LIMITS_GROWTH` the sizes of the last lines.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from benchmarks.measure import ROOT, USUAL, Command, run_command
from benchmarks.release import ADULT, perturbed

TITLE = "Close to the limit"
RUNS = int(os.environ.get("SHOAL_BENCH_RUNS", "5"))
RECORDS = 3_000_000
STAYS = int(os.environ.get("SHOAL_LIMITS_STAYS", str(RECORDS)))
GROWTH = (30_000, 300_000, 3_000_000, 10_000_000, 30_000_000)
PART = 3_000_000  # records that are drawn at a time
NOTE = f"""Whole processes, kernels compiled before, the median of {RUNS} runs (of Polars: at least
3), CPU seconds of all threads. The limit is Polars in a process of its own, in the same run: it
reads the file and writes it again in the same format, or groups it by its quasi-identifiers.
`ratio` is to reading and writing. Adult: 8 quasi-identifiers and a sensitive column, drawn with
replacement, 3.2 % of the cells redrawn (320,000 distinct tuples of 3,000,000 records); stays:
`shoal sample hospital`, {STAYS:,} records, all tuples distinct. Mondrian; k = 10, of stays k = 5
and l = 2.

"""

_LIMIT = """
import sys, polars as pl
job, path, out, names = sys.argv[1:5]
is_csv = path.endswith(".csv")
if is_csv:
    lazy = pl.scan_csv(path, infer_schema=False, separator=sys.argv[5])
else:
    lazy = pl.scan_parquet(path)
if job == "group":
    lazy.group_by(names.split(",")).len().collect(engine="streaming")
elif is_csv:
    lazy.sink_csv(out)
else:
    lazy.sink_parquet(out)
"""


class Table(NamedTuple):
    """A table in two formats, and what the commands are told of it."""

    name: str
    folder: Path
    separator: str
    quasi: Sequence[str]
    flags: Sequence[str]

    def file(self, kind: str) -> str:
        """Return the table in one format."""
        return str(self.folder / f"{self.name}.{kind}")


def adult_table(folder: Path, records: int, name: str = "adult") -> Table:
    """Write Adult, drawn with replacement and a little redrawn."""
    table = Table(
        name, folder, ";", USUAL,
        ["--qi", ",".join(USUAL), "--numeric", "age", "--sensitive", "salary-class",
         "--hierarchies", str(ADULT), "-k", "10"],
    )  # fmt: skip
    if not Path(table.file("csv")).exists():
        frame = pl.read_csv(ADULT / "adult.csv.gz", separator=";", infer_schema=False)
        with Path(table.file("csv")).open("wb") as file:
            for start in range(0, records, PART):
                seed = 1 + start // PART
                drawn = perturbed(frame, min(PART, records - start), share=0.032, seed=seed)
                drawn.write_csv(file, separator=";", include_header=start == 0)
        if records <= PART:
            drawn.write_parquet(table.file("parquet"))
    return table


def stays_table(folder: Path, records: int) -> Table:
    """Write a register of hospital stays."""
    table = Table(
        "stays", folder, ",", ("birth_date", "sex", "zip", "admission", "insurance"),
        ["--schema", str(folder / "stays.schema.yaml")],
    )  # fmt: skip
    if not Path(table.file("parquet")).exists():
        run_command(["sample", "hospital", "--records", str(records), "--out", table.file("csv")])
        pl.read_csv(table.file("csv"), infer_schema=False).write_parquet(table.file("parquet"))
    return table


def limit(job: str, table: Table, kind: str) -> Command:
    """Let Polars read and write a table, or group it."""
    out = str(table.folder / f"limit.{kind}")
    words = ["-c", _LIMIT, job, table.file(kind), out, ",".join(table.quasi), table.separator]
    found = _median(lambda: measured([sys.executable, *words]), max(RUNS, 3))
    Path(out).unlink(missing_ok=True)
    return found


def measured(words: Sequence[str]) -> Command:
    """Run a program in a process of its own and measure it, whatever its exit code says."""
    program = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000)\n"
        "print((done.stderr.decode().strip().splitlines() or [''])[-1])\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, check=True, text=True,
        env={**environment, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    first, _, last = done.stdout.partition("\n")
    code, cpu, megabytes = first.split()
    if int(code) not in (0, 1):  # 1: what was read is not safe, and that is an answer
        raise RuntimeError(f"{' '.join(words[:4])}: {last}")
    return Command(float(cpu), float(megabytes), "")


def shoal(*words: str) -> Command:
    """Run a command several times."""
    return _median(lambda: measured([sys.executable, "-m", "shoal", *words]))


def _median(work: Any, runs: int = RUNS) -> Command:
    found = [work() for _ in range(runs)]
    return Command(
        statistics.median(each.cpu for each in found),
        statistics.median(each.megabytes for each in found), "",
    )  # fmt: skip


class Job(NamedTuple):
    """A command on a table."""

    name: str
    words: Sequence[str]


def jobs(table: Table, kind: str) -> list[Job]:
    """Return the commands in an order in which each finds what it needs."""
    given = table.file(kind)
    place = table.folder / f"out-{table.name}"
    release, model = f"{place}.{kind}", f"{place}.json"
    encoded, safe = f"{place}-encoded.{kind}", f"{place}-safe.{kind}"
    flags = [*table.flags]
    search = [*flags, "--method", "mondrian", "--quiet"]
    return [
        Job("anonymize", ["anonymize", given, *search, "--out", release]),
        Job("verify", ["verify", release, *flags]),
        Job("learn", ["learn", given, *search, "--model", model]),
        Job("encode", ["encode", model, given, "--out", encoded]),
        Job("encode --safe", ["encode", model, given, "--out", safe, "--safe"]),
        Job("risk", ["risk", given, *(flags[:-2] if "-k" in flags else flags)]),
        Job("drift", ["drift", model, given]),
        Job("infer", ["infer", given, "--out", f"{place}.inferred.yaml"]),
    ]


def rows() -> list[dict[str, Any]]:
    """Return a row a command, and rows that say how `anonymize` grows."""
    wanted = os.environ.get("SHOAL_LIMITS", "adult,stays").split(",")
    kept = os.environ.get("SHOAL_LIMITS_FOLDER")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(kept or made)
        found: list[dict[str, Any]] = []
        if "adult" in wanted:
            found += _ratios(adult_table(folder, RECORDS), ("csv", "parquet"))
        if "stays" in wanted:
            found += _ratios(stays_table(folder, STAYS), ("parquet",))
        return [*found, *_growth(folder)]


def _ratios(table: Table, kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
    only = [name for name in os.environ.get("SHOAL_LIMITS_JOBS", "").split(",") if name]
    for kind in kinds:
        own, group = limit("write", table, kind), limit("group", table, kind)
        about = f"{table.name}, {kind}"
        yield _row(f"Polars reads and writes {about}", own)
        yield _row(f"Polars groups {about}", group)
        for job in jobs(table, kind):
            if not only or job.name in only:
                yield _row(f"{job.name} {about}", shoal(*job.words), own)


def _row(what: str, spent: Command, own: Command | None = None) -> dict[str, Any]:
    ratio = {} if own is None else {"ratio": spent.cpu / own.cpu}
    row = {"what": what, "cpu": spent.cpu, "MB": spent.megabytes, **ratio}
    print("  ", row, flush=True)
    return row


def _growth(folder: Path) -> Iterator[dict[str, Any]]:
    sizes = os.environ.get("SHOAL_LIMITS_GROWTH")
    wanted = GROWTH if sizes is None else [int(size) for size in sizes.split(",") if size]
    for records in wanted:
        table = adult_table(folder, records, f"adult-{records}")
        own = limit("write", table, "csv")
        job = jobs(table, "csv")[0]
        yield _row(f"anonymize {records:,} records of adult, csv", shoal(*job.words), own)
        for path in folder.glob(f"*adult-{records}.*"):
            path.unlink()


if __name__ == "__main__":
    for row in rows():
        print(row)
