"""Every method under every promise: loss and CPU seconds, a row a table and promise.

`python -m benchmarks.promises [part …]` measures parts and puts each in a section of
docs/benchmarks.md; with `--dry` it only prints. Tables that are absent are left out.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from benchmarks import clustering
from benchmarks.measure import DATA
from shoal.engines.base import Search
from shoal.engines.counts import CountsHere
from shoal.hierarchies.tree import Hierarchy
from shoal.jobs.auto import choose
from shoal.measures.utility import grouping_of, utility_of
from shoal.methods.catalogue import (
    Auto,
    BestCut,
    Kaca,
    KMember,
    KMemberParallel,
    Mondrian,
    Oka,
    Refine,
)
from shoal.methods.judging import failing_classes
from shoal.methods.method import Method, Setting
from shoal.privacy import (
    AlphaKAnonymity,
    BetaLikeness,
    KAnonymity,
    LDiversity,
    Promise,
    TCloseness,
)
from shoal.schema.schema import Attribute, Kind, Role, Schema
from shoal.table.domain import line_domain, tree_domain
from shoal.table.frequency import FrequencyTable, from_codes

TITLE = "Every promise"
NOTE = """NCP, and in brackets CPU seconds on one core, compiled and warm. Every release was judged
anew, without the search. Labels are tight. `auto` includes the time to choose.

"""
QUICK: tuple[Method, ...] = (BestCut(), Mondrian(), KMember())
PAPERS: tuple[Method, ...] = (KMemberParallel(), Oka(), Kaca())
OURS: tuple[Method, ...] = (Refine(effort="fast"), Refine(), Refine(effort="best"), Auto())
ALL = (*QUICK, *PAPERS, *OURS)
FAST = (*QUICK, *OURS)
Case = tuple[str, Callable[[], FrequencyTable], Sequence[Promise], tuple[Method, ...]]


def promises(column: str, entropy: float = 1.5, c: float = 4.0) -> Iterator[list[Promise]]:
    """Yield k alone, and each kind of further promise beside it."""
    k = KAnonymity(10)
    yield [k]
    yield [k, LDiversity(2, column=column)]
    yield [k, LDiversity(entropy, "entropy", column=column)]
    yield [k, LDiversity(2, "recursive", c=c, column=column)]
    for t in (0.1, 0.2, 0.3):
        yield [k, TCloseness(t, column=column)]
    yield [k, AlphaKAnonymity(0.8, 10, column=column)]
    yield [k, BetaLikeness(0.5, column=column)]


@cache
def adult(records: int | None = None, secret: str | None = "salary-class") -> FrequencyTable:
    """Return Adult with its income as the sensitive column, or records of it."""
    return clustering.adult(() if secret is None else (secret,), records)


@cache
def by_occupation() -> FrequencyTable:
    """Return Adult with seven quasi-identifiers and the occupation as the sensitive column."""
    table = adult(None, None)
    at = [d.name for d in table.domains].index("occupation")
    rest = [j for j in range(len(table.domains)) if j != at]
    return from_codes(
        tuple(table.domains[j] for j in rest), table.codes[:, rest], table.counts,
        sensitive_domains=(table.domains[at],), sensitive=table.codes[:, [at]],
    )  # fmt: skip


@cache
def restaurant() -> FrequencyTable:
    """Return the restaurant scores."""
    return clustering.restaurant()


@cache
def diabetes() -> FrequencyTable:
    """Return the hospital encounters."""
    return clustering.diabetes()


@cache
def hospital() -> FrequencyTable:
    """Return the generated register of hospital stays."""
    return clustering.hospital(20_000)


@cache
def census_survey() -> FrequencyTable:
    """Return the excerpt of the American Community Survey with all of its columns."""
    path = DATA / "nist_national2019/national2019.csv.gz"
    frame = pl.read_csv(path, infer_schema=False)
    numeric = {"AGEP", "PINCP", "NOC", "NPF", "POVPIP", "DENSITY", "WGTP", "PWGTP"}
    names = [name for name in frame.columns if name and not name.startswith("_")]
    frame = frame.with_columns(
        pl.when(pl.col(name) == "N").then(None).otherwise(pl.col(name)).alias(name)
        for name in names
        if name in numeric
    )
    return clustering.table_of(
        frame.select(names),
        [
            Attribute(
                name=name,
                role=Role.QUASI,
                kind=Kind.NUMERIC if name in numeric else Kind.CATEGORICAL,
            )
            for name in names
        ],
    )


def wide(columns: int, records: int) -> FrequencyTable:
    """Return a generated table of many columns without hierarchies that go with each other."""
    chance = np.random.default_rng(columns)
    hidden = chance.integers(0, 6, records)
    codes, domains = [], []
    for j in range(columns):
        size = int(chance.integers(2, 8))
        own = (hidden * (j + 1)) % size
        drawn = chance.integers(0, size, records)
        codes.append(np.where(chance.random(records) < 0.7, own, drawn))
        values = [f"v{i}" for i in range(size)]
        domains.append(
            tree_domain(
                f"c{j}", Kind.CATEGORICAL, values, Hierarchy.flat(f"c{j}", values),
                missing=False, weight=1.0,
            )
        )  # fmt: skip
    return from_codes(
        tuple(domains), np.stack(codes, axis=1).astype(np.int32), np.ones(records, dtype=np.int64)
    )


def even() -> FrequencyTable:
    """Return one column of sixty evenly spaced numbers."""
    places = np.arange(60.0)
    line = line_domain("x", Kind.NUMERIC, [str(int(x)) for x in places], list(places))
    codes = np.arange(60, dtype=np.int32)[:, None]
    return from_codes((line,), codes, np.ones(60, dtype=np.int64))


def samples() -> Iterator[Case]:
    """Yield 5,000 records of Adult under every promise."""
    for promise in promises("salary-class"):
        yield "adult 5,000", lambda: adult(5_000), promise, ALL


def whole() -> Iterator[Case]:
    """Yield all of Adult under every promise."""
    for promise in promises("salary-class"):
        # As in a release: what no promise asks for is not in the table that is searched.
        table = adult if len(promise) > 1 else cache(lambda: adult(None, None))
        yield "adult", table, promise, FAST
    for promise in promises("occupation", entropy=6.0, c=2.0):
        yield "adult, occupation", by_occupation, promise, FAST


def others() -> Iterator[Case]:
    """Yield the other tables under k alone."""
    for name, table, ks in (
        ("restaurant", restaurant, (10, 50)),
        ("diabetes", diabetes, (10, 100)),
        ("hospital 20,000", hospital, (10,)),
        ("census survey", census_survey, (10,)),
    ):
        for k in ks:
            yield name, table, [KAnonymity(k)], FAST
    for columns, records in ((20, 1_000), (69, 2_000)):
        shape = f"{columns} flat columns, {records:,}"
        yield shape, cache(lambda c=columns, n=records: wide(c, n)), [KAnonymity(10)], FAST
    yield "60 evenly spaced numbers", even, [KAnonymity(4)], ALL


PARTS: dict[str, Callable[[], Iterator[Case]]] = {
    "samples": samples,
    "whole": whole,
    "others": others,
}


def name_of(method: Method) -> str:
    """Return what a method is called on the page."""
    effort = f" {method.effort}" if isinstance(method, Refine) else ""
    return method.name + effort


def searched(table: FrequencyTable, promise: Sequence[Promise], method: Method) -> Any:
    """Return what a method finds, `auto` by its own choice."""
    setting = Setting(threads=1)
    if isinstance(method, Auto):
        counts = CountsHere(Schema(attributes=()), table, _no_partitions)
        search = Search(
            method=method, release="generalize", promise=tuple(promise), setting=setting
        )
        method = choose(counts, search, learns=False).method
    return method.search(table, promise, setting)


def _no_partitions(*_: Any) -> Any:
    raise NotImplementedError


def measured(case: Case) -> dict[str, Any]:
    """Return one row of the page."""
    name, table, promise, methods = case
    data = table()
    row: dict[str, Any] = {"table": name, "promise": ", ".join(_words(each) for each in promise)}
    for method in methods:
        began = time.process_time()
        found = searched(data, promise, method)
        spent = time.process_time() - began
        if failing_classes(found, promise).any():
            raise AssertionError(f"{name}, {promise}: {method} breaks the promise")
        ncp = utility_of(grouping_of(found))["ncp"]
        left = f", {found.suppressed:,} suppressed" if found.suppressed else ""
        row[name_of(method)] = f"{ncp:.4f} ({spent:.2f}{left})"
    return row


def _words(promise: Promise) -> str:
    if isinstance(promise, KAnonymity):
        return f"k = {promise.k}"
    shown = {key: value for key, value in promise.shown().items() if key not in ("column", "k")}
    return f"{promise.name} {' '.join(str(value) for value in shown.values())}"


def warm() -> None:
    """Compile everything before the clock runs."""
    small = clustering.adult(("salary-class",), 300)
    for promise in promises("salary-class"):
        for method in ALL:
            searched(small, [replace(promise[0], k=3), *promise[1:]], method)


def main(wanted: list[str]) -> None:
    """Measure the named parts (all if none is named)."""
    is_dry = "--dry" in wanted
    warm()
    for name in [each for each in wanted if each in PARTS] or list(PARTS):
        found = []
        for case in PARTS[name]():
            found.append(measured(case))
            print(found[-1], flush=True)
        if not is_dry:
            clustering.put(f"{TITLE}: {name}", NOTE, found)


if __name__ == "__main__":
    main(sys.argv[1:])
