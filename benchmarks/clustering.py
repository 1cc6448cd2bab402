"""Clustering methods on real and generated tables: loss, classes, CPU seconds, memory.

`rows()` returns one mapping a run; the page that shows them is written by the script that
calls it. Tables that are not there are left out. Speed is compared with a sort of ten
million numbers in the same run.
"""

from __future__ import annotations

import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.core.privacy import KAnonymity
from shoal.core.schema import Attribute, Kind, Role, Schema, load_hierarchy
from shoal.engines.local.frequencies import frequencies
from shoal.engines.local.source import open_source
from shoal.measures.utility import grouping_of, utility_of
from shoal.methods.clustering.bestcut import bestcut
from shoal.methods.clustering.kaca import kaca
from shoal.methods.clustering.kmember import kmember
from shoal.methods.clustering.oka import oka
from shoal.methods.clustering.parallel import kmember_parallel
from shoal.methods.clustering.refine import refine
from shoal.methods.clustering.threshold import threshold
from shoal.methods.clustering.wfcm import wfcm
from shoal.methods.frequency import FrequencyTable, from_codes

DATA = Path(os.environ.get("SHOAL_DATA") or Path(__file__).resolve().parents[2] / "shared/data")
KS = (2, 5, 10, 25, 50)
SMALL = 2_000
LARGE = 3_000_000

FAST: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "bestcut": (bestcut, {}),
    "kmember": (kmember, {}),
    "refine fast": (refine, {"effort": "fast", "threads": 1}),
    "refine normal": (refine, {"effort": "normal", "threads": 1}),
    "oka": (oka, {}),
    "oka without size": (oka, {"size_factor": False}),
    "wfcm": (wfcm, {"iterations": 3}),
    "kaca": (kaca, {}),
    "threshold": (threshold, {}),
}
SLOW = {
    "kmember cm": (kmember, {"cm": True, "target": "salary-class"}),
    "kmember-parallel": (kmember_parallel, {}),
    "kmember-parallel cm": (kmember_parallel, {"cm": True, "target": "salary-class"}),
    "refine best": (refine, {"effort": "best", "threads": 1}),
}


def table_of(
    frame: pl.DataFrame, attributes: list[Attribute], sensitive: tuple[str, ...] = ()
) -> FrequencyTable:
    """Return the frequency table of a frame."""
    schema = Schema(attributes=tuple(attributes))
    source = open_source(frame)
    names = [a.name for a in attributes]
    lazy = source.scan(names, coded=names)
    return frequencies(source, lazy, schema, sensitive=list(sensitive)).table


def adult(sensitive: tuple[str, ...] = (), records: int | None = None) -> FrequencyTable:
    """Return Adult: eight quasi-identifiers, age as a number; or a sample of it."""
    folder = DATA / "adult_arx"
    frame = pl.read_csv(folder / "adult.csv.gz", separator=";")
    if records is not None:
        frame = frame.sample(records, seed=0, with_replacement=records > frame.height)
    names = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass",
             "occupation")  # fmt: skip
    attributes = [
        Attribute(
            name=name,
            role=Role.QUASI,
            kind=Kind.NUMERIC if name == "age" else Kind.CATEGORICAL,
            hierarchy=load_hierarchy(name, folder / f"adult_hierarchy_{name}.csv"),
        )
        for name in names
    ]
    target = Attribute(name="salary-class", role=Role.SENSITIVE, kind=Kind.CATEGORICAL)
    return table_of(frame, [*attributes, target], sensitive)


def restaurant() -> FrequencyTable:
    """Return the restaurant scores of seed 000, records with missing values removed."""
    path = DATA / "sf_restaurant_scores/restaurant_scores_lives_flat.csv.gz"
    quasi = ["business_name", "business_postal_code", "inspection_score", "inspection_type"]
    frame = pl.read_csv(path, infer_schema=False, columns=[*quasi, "risk_category"])
    frame = frame.filter(pl.all_horizontal(pl.all().is_not_null() & (pl.all() != "")))
    kinds = (Kind.CATEGORICAL, Kind.CATEGORICAL, Kind.NUMERIC, Kind.CATEGORICAL)
    named = zip(quasi, kinds, strict=True)
    return table_of(frame, [Attribute(name=n, role=Role.QUASI, kind=k) for n, k in named])


def diabetes() -> FrequencyTable:
    """Return hospital encounters with four numeric and five categorical quasi-identifiers."""
    path = DATA / "diabetes_130/diabetic_data.csv.gz"
    kinds = {"race": Kind.CATEGORICAL, "gender": Kind.CATEGORICAL, "age": Kind.CATEGORICAL,
             "admission_type_id": Kind.CATEGORICAL, "discharge_disposition_id": Kind.CATEGORICAL,
             "time_in_hospital": Kind.NUMERIC, "num_lab_procedures": Kind.NUMERIC,
             "num_medications": Kind.NUMERIC, "number_diagnoses": Kind.NUMERIC}  # fmt: skip
    frame = pl.read_csv(path, infer_schema=False, columns=list(kinds))
    return table_of(frame, [Attribute(name=n, role=Role.QUASI, kind=k) for n, k in kinds.items()])


def hospital(records: int) -> FrequencyTable:
    """Return a generated register of hospital stays, nearly every record distinct."""
    from shoal.samples import hospital as make

    with tempfile.TemporaryDirectory() as folder:
        files = make(Path(folder) / "stays.parquet", records=records, seed=0)
        schema = Schema.load(files.schema)
        source = open_source(files.table)
        names = [*schema.quasi]
        lazy = source.scan(names, coded=names)
        return frequencies(source, lazy, schema, sensitive=[]).table


def with_outliers(table: FrequencyTable, share: float = 0.01) -> FrequencyTable:
    """Return the table with random cells in a share of new records: far from all others."""
    chance = np.random.default_rng(0)
    extra = max(round(table.records * share), 1)
    strange = np.stack([chance.integers(0, len(d), extra) for d in table.domains], axis=1)
    codes = np.concatenate((table.codes, strange.astype(np.int32)))
    counts = np.concatenate((table.counts, np.ones(extra, dtype=np.int64)))
    return from_codes(table.domains, codes, counts)


def yardstick() -> float:
    """Return the CPU seconds of sorting ten million numbers."""
    numbers = np.random.default_rng(0).integers(0, 2**62, 10_000_000)
    started = time.process_time()
    numbers.sort()
    return time.process_time() - started


def measure(
    name: str, method: Callable[..., Any], data: FrequencyTable, **facts: Any
) -> dict[str, Any]:
    """Run a method once warm and return what it lost and what it took."""
    options, k, sort = facts.pop("options"), facts.pop("k"), facts.pop("sort")
    started = time.process_time()
    release = method(data, [KAnonymity(k)], **options)
    seconds = time.process_time() - started
    target = options.get("target")
    utility = utility_of(grouping_of(release, target=target))
    return {
        **facts, "method": name, "k": k, "records": data.records, "rows": data.rows,
        "il": utility["il"], "ncp": utility["ncp"], "dm": utility["dm"], "cm": utility["cm"],
        "classes": release.classes, "suppressed": release.suppressed, "cpu": seconds,
        "sorts": seconds / sort,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }  # fmt: skip


def warm(methods: dict[str, tuple[Callable[..., Any], dict[str, Any]]]) -> None:
    """Compile everything before the clock runs."""
    small = adult(("salary-class",), 300)
    for method, options in methods.values():
        for k in (3, 30):
            method(small, [KAnonymity(k)], **options)


def runs() -> Iterator[dict[str, Any]]:
    """Yield every run of the page."""
    if not (DATA / "adult_arx").exists():
        return
    warm(FAST | SLOW)
    sort = yardstick()
    small, full = adult(records=SMALL), adult()
    classed = adult(("salary-class",), SMALL)
    for k in KS:
        for name, (method, options) in (FAST | SLOW).items():
            table = classed if "target" in options else small
            yield measure(name, method, table, table="adult 2,000", k=k, options=options, sort=sort)
    for k in KS:
        for name, (method, options) in FAST.items():
            yield measure(name, method, full, table="adult", k=k, options=options, sort=sort)
    strange = with_outliers(full)
    for name, (method, options) in FAST.items():
        facts = {"table": "adult, 1 % outliers", "k": 10, "options": options, "sort": sort}
        yield measure(name, method, strange, **facts)
    linear = ("bestcut", "refine fast")
    wide = {"kmember", "refine normal", *linear}
    for label, make, names in (
        ("adult 3,000,000", lambda: adult(records=LARGE), set(linear)),
        ("restaurant", restaurant, wide),
        ("diabetes", diabetes, wide),
        ("hospital 300,000", lambda: hospital(300_000), wide),
        ("hospital 3,000,000", lambda: hospital(LARGE), set(linear)),
    ):
        table = make()
        for name, (method, options) in FAST.items():
            if name in names:
                yield measure(name, method, table, table=label, k=10, options=options, sort=sort)


def rows() -> list[dict[str, Any]]:
    """Return all runs."""
    return list(runs())
