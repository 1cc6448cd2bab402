"""Numeric microaggregation on the papers' tables: 100 · SSE/SST and CPU seconds."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
from tests.methods.calls import mdav, vmdav
from tests.methods.calls import refine_centroids as refine

from benchmarks.measure import DATA, ROOT
from shoal.methods.microaggregation.points import points_of
from shoal.privacy import KAnonymity
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain
from shoal.table.frequency import FrequencyTable, from_codes
from shoal.table.recoding import Recoding

TITLE = "Numeric microaggregation"
NOTE = """Loss is 100 · SSE/SST on standardized columns. `mark` is the figure to reach: for mdav the
one of the literature, for refine an upper bound; `peer` is the CPU time of sdcMicro's MDAV on
the same table. refine best runs for 60 seconds. Rows without a loss are compile times.

"""
KS = (3, 5, 10)
EIA = ("UTILITYID", "RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES",
       "OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES")  # fmt: skip
ADULT = (0, 2, 4, 10, 11, 12)
FILES = {
    "census": "census_casc/CASCrefmicrodata.csv",
    "tarragona": "tarragona/Tarragona.csv",
    "eia": "eia/EIA.csv",
    "adult": "adult/adult.data.gz",
}
MARKS = {
    ("mdav", "census"): (5.6922, 9.0884, 14.1559),
    ("mdav", "tarragona"): (16.9326, 22.4619, 33.1929),
    ("mdav", "eia"): (0.4829, 1.6667, 3.8397),
    ("mdav", "adult"): (0.8824, 1.5648, 2.7273),
    ("refine normal", "census"): (5.24, 8.18, 12.31),
    ("refine normal", "tarragona"): (14.91, 20.92, 30.82),
    ("refine normal", "eia"): (0.374, 0.90, 2.03),
    ("refine normal", "adult"): (None, 1.30, None),
    ("refine best", "census"): (4.90, 7.60, 11.75),
    ("refine best", "tarragona"): (15.0, 20.8, 31.2),
    ("refine best", "eia"): (0.371, 0.762, 2.02),
}
PEER = (5.5, 3.5, 1.9)
METHODS: dict[str, tuple[Callable[..., Recoding], dict[str, Any]]] = {
    "mdav": (mdav, {}),
    "vmdav": (vmdav, {}),
    "refine fast": (refine, {"effort": "fast", "threads": 1}),
    "refine normal": (refine, {"effort": "normal", "threads": 1}),
    "refine best": (refine, {"effort": "best", "seconds": 60.0, "threads": 1}),
}


def table_of(name: str) -> FrequencyTable:
    """Return one of the numeric tables, coded."""
    path = DATA / FILES[name]
    if name == "adult":
        frame = pl.read_csv(path, has_header=False, infer_schema=False)
        frame = frame.select(pl.all().str.strip_chars())
        frame = frame.filter(pl.all_horizontal(pl.all().is_not_null() & (pl.all() != "?")))
        frame = frame.select([frame.columns[i] for i in ADULT]).cast(pl.Float64)
    else:
        frame = pl.read_csv(path)
        frame = frame.select(EIA) if name == "eia" else frame
    codes, domains = [], []
    for column in frame.columns:
        places, own = np.unique(frame[column].to_numpy(), return_inverse=True)
        codes.append(own)
        texts = [str(place) for place in places]
        domains.append(line_domain(column, Kind.NUMERIC, texts, list(places)))
    ones = np.ones(frame.height, dtype=np.int64)
    return from_codes(tuple(domains), np.stack(codes, axis=1).astype(np.int32), ones)


def loss(recoding: Recoding) -> float:
    """Return 100 · SSE/SST of the groups."""
    table = recoding.table
    points = points_of(table)
    whole = points - np.average(points, axis=0, weights=table.counts)
    own, count = points[recoding.row], recoding.count[:, None]
    total = np.zeros((recoding.classes, points.shape[1]))
    np.add.at(total, recoding.label, own * count)
    gaps = own - (total / recoding.sizes[:, None])[recoding.label]
    return 100 * float((gaps**2 * count).sum() / (whole**2 * table.counts[:, None]).sum())


def first_call(name: str) -> float:
    """Return the CPU seconds that a method's first call spends in the compiler."""
    program = (
        "import time, numpy as np\n"
        "from benchmarks.microaggregation import METHODS, small\n"
        "from shoal.privacy import KAnonymity\n"
        f"method, options = METHODS[{name!r}]\n"
        "table, spent = small(), []\n"
        "for _ in range(2):\n"
        "    began = time.process_time()\n"
        "    method(table, [KAnonymity(3)], **options)\n"
        "    spent.append(time.process_time() - began)\n"
        "print(spent[0] - spent[1])\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        more = {"NUMBA_CACHE_DIR": folder, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, **more},
            capture_output=True,
            check=True,
            text=True,
        )
    return float(done.stdout)


def small() -> FrequencyTable:
    """Return a hundred random records."""
    places = np.arange(100.0)
    domain = line_domain("c", Kind.NUMERIC, [str(place) for place in places], list(places))
    codes = np.random.default_rng(0).permutation(100).astype(np.int32)[:, None]
    return from_codes((domain,), codes, np.ones(100, dtype=np.int64))


def measure(name: str, label: str, table: FrequencyTable, k: int) -> dict[str, Any]:
    """Run a method, warm; return what it lost and what it took."""
    method, options = METHODS[name]
    spent: list[float] = []
    for _ in range(1 if "seconds" in options else 3):
        began = time.process_time()
        found = method(table, [KAnonymity(k)], **options)
        spent.append(time.process_time() - began)
    cpu = statistics.median(spent)
    marks = MARKS.get((name, label))
    peer = PEER[KS.index(k)] if (name, label) == ("mdav", "adult") else None
    return {
        "table": label, "records": table.records, "method": name, "k": k, "loss": loss(found),
        "mark": marks[KS.index(k)] if marks else None, "classes": found.classes,
        "smallest": int(found.sizes.min()), "cpu": cpu, "peer": peer,
    }  # fmt: skip


def runs() -> Iterator[dict[str, Any]]:
    """Yield every row of the page."""
    for name in ("mdav", "vmdav", "refine normal"):
        yield {"table": "first call", "method": name, "cpu": first_call(name)}
    for name in ("mdav", "vmdav", "refine fast"):  # warm up
        METHODS[name][0](small(), [KAnonymity(3)], **METHODS[name][1])
    for label, path in FILES.items():
        if not (DATA / path).exists():
            continue
        table = table_of(label)
        for name in METHODS:
            if (name, label) != ("refine best", "adult"):
                for k in KS:
                    yield measure(name, label, table, k)


def rows() -> list[dict[str, Any]]:
    """Return all runs."""
    return list(runs())
