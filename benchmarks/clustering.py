"""Clustering methods on real and generated tables: loss, classes, CPU seconds, memory.

`python -m benchmarks.clustering [part …]` runs the parts one by one and puts each in a section
of docs/benchmarks.md. Speed is compared with a sort of ten million numbers in the same run.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tests.methods.calls import (
    bestcut,
    kaca,
    kmember,
    kmember_parallel,
    mondrian,
    oka,
    refine,
    threshold,
    wfcm,
)

from benchmarks import run
from shoal.engines.local.frequencies import frequencies
from shoal.engines.local.source import open_source
from shoal.hierarchies.read import load_hierarchy
from shoal.kernels.clustering.space import FULL
from shoal.measures.utility import grouping_of, utility_of
from shoal.methods.clustering.oka import (
    adjust,
    cluster,
    first_seeds,
    loss_of,
    members_of,
    records_of,
)
from shoal.methods.clustering.space import space_of
from shoal.privacy import KAnonymity
from shoal.schema.schema import Attribute, Kind, Role, Schema
from shoal.table.domain import line_domain
from shoal.table.frequency import FrequencyTable, from_codes

TITLE = "Clustering"
NOTE = """CPU seconds on one core, compiled and warm (the median of five runs where one takes less
than a second); "sorts" is that in sorts of 10 million numbers. "peak_mb" is the highest memory of
the process so far.

"""
DATA = Path(os.environ.get("SHOAL_DATA") or Path(__file__).resolve().parents[2] / "shared/data")
KS = (2, 5, 10, 25, 50)
SMALL = 2_000
LARGE = 3_000_000

Methods = dict[str, tuple[Callable[..., Any], dict[str, Any]]]

FAST: Methods = {
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
EVERY: Methods = {**FAST, "kmember-parallel": (kmember_parallel, {"threads": 1})}


def with_penalty(target: str) -> Methods:
    """Return the methods that can spare a target column's classes."""
    options = {"cm": True, "target": target}
    return {
        "kmember cm": (kmember, options),
        "kmember-parallel cm": (kmember_parallel, {**options, "threads": 1}),
    }


SLOW: Methods = {
    **with_penalty("salary-class"),
    "kmember-parallel": EVERY["kmember-parallel"],
    "refine best": (refine, {"effort": "best", "threads": 1}),
}

LINEAR: Methods = {
    "bestcut": FAST["bestcut"],
    "refine fast": FAST["refine fast"],
    "mondrian": (mondrian, {"relaxed": False}),
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


def restaurant(records: int | None = None, sensitive: tuple[str, ...] = ()) -> FrequencyTable:
    """Return the restaurant scores of [netshiunda2020], records with missing values removed."""
    path = DATA / "sf_restaurant_scores/restaurant_scores_lives_flat.csv.gz"
    quasi = ["business_name", "business_postal_code", "inspection_score", "inspection_type"]
    frame = pl.read_csv(path, infer_schema=False, columns=[*quasi, "risk_category"])
    frame = frame.filter(pl.all_horizontal(pl.all().is_not_null() & (pl.all() != "")))
    if records is not None:
        frame = frame.sample(records, seed=0)
    kinds = (Kind.CATEGORICAL, Kind.CATEGORICAL, Kind.NUMERIC, Kind.CATEGORICAL)
    named = zip(quasi, kinds, strict=True)
    attributes = [Attribute(name=n, role=Role.QUASI, kind=k) for n, k in named]
    risk = Attribute(name="risk_category", role=Role.SENSITIVE, kind=Kind.CATEGORICAL)
    return table_of(frame, [*attributes, risk], sensitive)


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


def bootstrapped(table: FrequencyTable, records: int) -> FrequencyTable:
    """Return records drawn from a table, with replacement."""
    shares = table.counts / table.records
    counts = np.random.default_rng(0).multinomial(records, shares).astype(np.int64)
    seen = counts > 0
    return from_codes(table.domains, table.codes[seen], counts[seen])


def with_outliers(table: FrequencyTable, share: float = 0.01) -> FrequencyTable:
    """Return the table with random cells in a share of new records: far from all others."""
    chance = np.random.default_rng(0)
    extra = max(round(table.records * share), 1)
    strange = np.stack([chance.integers(0, len(d), extra) for d in table.domains], axis=1)
    codes = np.concatenate((table.codes, strange.astype(np.int32)))
    counts = np.concatenate((table.counts, np.ones(extra, dtype=np.int64)))
    return from_codes(table.domains, codes, counts)


def put(title: str, note: str, found: list[dict[str, Any]]) -> None:
    """Replace one section of the page; the others stay."""
    sections = run._sections()
    sections[title] = f"{run._stamp()}\n\n{note}{run._table(found)}"
    body = "\n".join(f"## {name}\n\n{text.strip()}\n" for name, text in sections.items())
    run.PAGE.write_text(f"{run.HEAD}\n{body}", encoding="utf-8")


def yardstick() -> float:
    """Return the CPU seconds of sorting ten million numbers."""
    numbers = np.random.default_rng(0).integers(0, 2**62, 10_000_000)
    started = time.process_time()
    numbers.sort()
    return time.process_time() - started


def measure(
    name: str, method: Callable[..., Any], data: FrequencyTable, **facts: Any
) -> dict[str, Any]:
    """Run a method, warm, and return what it lost and what it took."""
    options, k, sort = facts.pop("options"), facts.pop("k"), facts.pop("sort")
    spent: list[float] = []
    while not spent or (spent[0] < 1 and len(spent) < 5):
        started = time.process_time()
        release = method(data, [KAnonymity(k)], **options)
        spent.append(time.process_time() - started)
    seconds = statistics.median(spent)
    target = facts.pop("target", None) or options.get("target")
    utility = utility_of(grouping_of(release, target=target))
    return {
        **facts, "method": name, "k": k, "records": data.records, "rows": data.rows,
        "il": utility["il"], "ncp": utility["ncp"], "dm": utility["dm"], "cm": utility["cm"],
        "classes": release.classes, "suppressed": release.suppressed, "cpu": seconds,
        "sorts": seconds / sort,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }  # fmt: skip


def warm(methods: Methods) -> None:
    """Compile everything before the clock runs."""
    small = adult(("salary-class",), 300)
    for method, options in methods.values():
        target = {"target": "salary-class"} if "target" in options else {}
        for k in (3, 30):
            method(small, [KAnonymity(k)], **options | target)


def on(
    label: str, table: FrequencyTable, methods: Methods, ks: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Yield the runs of some methods on one table."""
    warm(methods)
    sort = yardstick()
    for k in ks:
        for name, (method, options) in methods.items():
            yield measure(name, method, table, table=label, k=k, options=options, sort=sort)


def adult_small() -> Iterator[dict[str, Any]]:
    """Yield every method on 2,000 records of Adult, as [netshiunda2020] has them."""
    small, classed = adult(records=SMALL), adult(("salary-class",), SMALL)
    plain = {n: r for n, r in (FAST | SLOW).items() if "target" not in r[1]}
    yield from on("adult 2,000", small, plain, KS)
    yield from on("adult 2,000", classed, {n: r for n, r in SLOW.items() if "target" in r[1]}, KS)


def adult_full() -> Iterator[dict[str, Any]]:
    """Yield the methods on all of Adult, and how far `refine` comes in half a minute."""
    long = {
        "refine best": SLOW["refine best"],
        "refine 30 s": (refine, {"effort": "best", "seconds": 30.0, "threads": 1}),
    }
    yield from on("adult", adult(), EVERY, KS)
    yield from on("adult", adult(("salary-class",)), with_penalty("salary-class"), KS)
    warm({"refine best": SLOW["refine best"]})
    sort = yardstick()
    for k in KS:
        for name, (method, options) in long.items():
            yield measure(name, method, adult(), table="adult", k=k, options=options, sort=sort)


def adult_large() -> Iterator[dict[str, Any]]:
    """Yield the linear methods on three million bootstrapped records."""
    yield from on("adult 3,000,000", adult(records=LARGE), LINEAR, KS)


def outliers() -> Iterator[dict[str, Any]]:
    """Yield each method's loss without and with one per cent of far outliers."""
    plain = adult()
    yield from on("adult", plain, EVERY, (10,))
    yield from on("adult, 1 % outliers", with_outliers(plain), EVERY, (10,))


def restaurants() -> Iterator[dict[str, Any]]:
    """Yield the methods on the restaurant scores of [netshiunda2020]."""
    yield from on("restaurant", restaurant(), EVERY, KS)
    risks = restaurant(sensitive=("risk_category",))
    yield from on("restaurant", risks, with_penalty("risk_category"), KS)


def others() -> Iterator[dict[str, Any]]:
    """Yield the faster methods on tables with several numeric columns."""
    quick = {name: FAST[name] for name in ("bestcut", "kmember", "refine fast", "refine normal")}
    yield from on("diabetes", diabetes(), quick, (10,))
    yield from on("hospital 300,000", hospital(300_000), quick, (10,))
    drawn = bootstrapped(hospital(300_000), LARGE)
    yield from on("hospital 300,000, drawn to 3,000,000", drawn, LINEAR, (10,))
    yield from on("hospital 3,000,000", hospital(LARGE), LINEAR, (10,))


# claim; the method it speaks of, the one it is compared with, the figure, the table; why not
CLAIMS = (
    ("[lin2008], Figure 3: OKA loses less", ("oka", "kmember", "ncp", "full"),
     "the size factor of the distance: see the guide"),
    ("[lin2008], Figure 4: OKA is faster", ("oka", "kmember", "cpu", "full"),
     "kmember here looks at few rows a step, OKA at every cluster for every row"),
    ("[netshiunda2020], Figure 4.1: the parallel one loses about the same",
     ("kmember-parallel", "kmember", "ncp", "small"),
     "seeds far apart are outliers, and clusters that grow at once compete: see below"),
    ("[netshiunda2020], Figure 4.2: on restaurant scores the parallel one loses more",
     ("kmember-parallel", "kmember", "ncp", "restaurant"), ""),
    ("[netshiunda2020], Figure 4.4: the penalty lowers the classification error",
     ("kmember cm", "kmember", "cm", "classed"), ""),
    ("[netshiunda2020], Figure 4.5: discernibility about the same",
     ("kmember-parallel", "kmember", "dm", "small"), ""),
    ("[netshiunda2020], Figure 4.6: the same on restaurant scores",
     ("kmember-parallel", "kmember", "dm", "restaurant"), ""),
    ("[netshiunda2020], Figure 4.7: the parallel one is faster",
     ("kmember-parallel", "kmember", "cpu", "small"),
     "on one core; kmember here looks at few rows a step"),
    ("[netshiunda2020], Figure 4.8: the same on restaurant scores",
     ("kmember-parallel", "kmember", "cpu", "restaurant"), "as for Figure 4.7"),
)  # fmt: skip

# claim; the figure, the tables; why not
SIZES = (400, 800, 1_200, 1_600, 2_000)
GROWTH = (
    ("[netshiunda2020], Figure 4.3: the parallel one loses more at every size", "ncp", adult, ""),
    ("[netshiunda2020], Figure 4.9: its time grows slower", "cpu", adult, "as for Figure 4.7"),
    ("[netshiunda2020], Figure 4.10: the same on restaurant scores", "cpu", restaurant,
     "as for Figure 4.7"),
)  # fmt: skip


def trends() -> Iterator[dict[str, Any]]:
    """Yield each trend that a seed claims, with the ratio that we measure for every k."""
    warm(FAST | SLOW)
    tables = {"small": adult(records=SMALL), "full": adult(),
              "restaurant": restaurant(SMALL),
              "classed": adult(("salary-class",), SMALL)}  # fmt: skip
    for claim, (first, second, figure, data), why in CLAIMS:
        row: dict[str, Any] = {"claim": claim, "measured": f"{figure}: {first} / {second}"}
        for k in KS:
            found = []
            for name in (first, second):
                method, options = (FAST | SLOW)[name]
                one = measure(
                    name, method, tables[data], k=k, options=options, sort=1.0,
                    target="salary-class" if data == "classed" else None,
                )  # fmt: skip
                found.append(one[figure])
            row[f"k={k}"] = found[0] / found[1] if found[1] else None
        yield {**row, "where it differs, why": why}


def growing() -> Iterator[dict[str, Any]]:
    """Yield what [netshiunda2020] says of growing tables at k = 15, with a ratio for every size."""
    warm({name: (FAST | SLOW)[name] for name in ("kmember", "kmember-parallel")})
    for claim, figure, table, why in GROWTH:
        row: dict[str, Any] = {"claim": claim, "measured": f"{figure}: kmember-parallel / kmember"}
        for size in SIZES:
            data = table(records=size)
            parallel, plain = (
                measure(name, method, data, k=15, options=options, sort=1.0)[figure]
                for name, (method, options) in (
                    ("kmember-parallel", SLOW["kmember-parallel"]), ("kmember", FAST["kmember"]),
                )
            )  # fmt: skip
            row[f"{size:,} records"] = parallel / plain if plain else None
        yield {**row, "where it differs, why": why}


def candidates() -> Iterator[dict[str, Any]]:
    """Yield what `auto` may choose from, on every table."""
    tables: dict[str, Callable[[], FrequencyTable]] = {
        "adult": adult,
        "restaurant": restaurant,
        "diabetes": diabetes,
        "hospital 20,000": lambda: hospital(20_000),
        "hospital 300,000": lambda: hospital(300_000),
    }
    for label, table in tables.items():
        yield from on(label, table(), LINEAR, (5, 10, 50))


def stages(table: FrequencyTable, *, k: int, size_factor: bool) -> dict[str, float]:
    """Return the NCP after each stage of OKA, and how many clusters the first leaves below k."""
    records, chance = records_of(table, space_of(table.domains)), np.random.default_rng(0)
    first, _ = cluster(records, first_seeds(records, k, chance), sized=size_factor)
    second = adjust(records, first, k=k, chance=chance, sized=size_factor)
    number = int(first.max()) + 1
    whole = len(first) * int(records.space.column[:, FULL].sum())
    losses = [
        sum(loss_of(records.codes[at], records.space) for at in members_of(label, number)) / whole
        for label in (first, second)
    ]
    return {
        "clusters": number,
        "below k": int((np.bincount(first) < k).sum()),
        "ncp after clustering": losses[0],
        "ncp after adjustment": losses[1],
    }


def oka_stages() -> Iterator[dict[str, Any]]:
    """Yield what each stage of OKA loses, with and without the size factor, k = 10.

    Once with education as a tree, once as a number ([lin2008]), by its place in the tree.
    """
    k, plain = 10, adult()
    at = [domain.name for domain in plain.domains].index("education")
    tree = plain.domains[at]
    line = line_domain(tree.name, Kind.NUMERIC, tree.labels, [float(x) for x in range(len(tree))])
    columns = (*plain.domains[:at], line, *plain.domains[at + 1 :])
    number = from_codes(columns, plain.codes, plain.counts)
    for label, table in (("adult", plain), ("adult, education a number", number)):
        best = utility_of(grouping_of(kmember(table, [KAnonymity(k)])))["ncp"]
        for sized in (True, False):
            found = stages(table, k=k, size_factor=sized)
            yield {"table": label, "size factor": sized, **found, "ncp of kmember": best}


PARTS: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
    "trends": trends,
    "sizes": growing,
    "oka": oka_stages,
    "auto": candidates,
    "small": adult_small,
    "full": adult_full,
    "outliers": outliers,
    "restaurant": restaurants,
    "others": others,
    "large": adult_large,
}


def rows() -> list[dict[str, Any]]:
    """Return the runs of all parts but those that have columns of their own."""
    if not (DATA / "adult_arx").exists():
        return []
    return [
        row
        for name, part in PARTS.items()
        if name not in ("trends", "sizes", "oka")
        for row in part()
    ]


def main(wanted: list[str]) -> None:
    """Run the named parts (all if none is named); each has a section of its own on the page."""
    for name in wanted or list(PARTS):
        print(f"{name} …", flush=True)
        put(f"{TITLE}: {name}", NOTE, list(PARTS[name]()))


if __name__ == "__main__":
    main(sys.argv[1:])
