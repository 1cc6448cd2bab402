"""How far from the optimum: bounds, and the best partitions found, for others to beat.

`python -m benchmarks.optimum [--seek] [census:3 …]` measures `refine --effort best` on the papers'
tables and puts it beside a bound from below and the best partition that is known:
benchmarks/partitions/*.csv, the group of each record in the order of the table. `--seek` looks for
better ones: an integer program over the groups that the bound's search has made.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import clustering
from benchmarks.measure import DATA
from benchmarks.microaggregation import FILES, KS, loss, table_of
from shoal.measures import optimum
from shoal.methods.catalogue import RefineCentroids
from shoal.methods.clustering.clusters import Clusters
from shoal.methods.clustering.repair import recode
from shoal.methods.clustering.space import space_of
from shoal.methods.method import Setting
from shoal.privacy import KAnonymity
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding

TITLE = "How far from the optimum"
NOTE = """100 · SSE/SST of numbers, columns standardized. "best found": the partitions in
benchmarks/partitions. "least": no grouping of k loses less (a linear program by column generation,
as with `anonymize --bound`); exact: it was solved to its end. Gaps are what `refine --effort best`
and the best found lose above it, at most; "above the best found": what `refine` loses more.

"""
FOLDER = Path(__file__).parent / "partitions"
TABLES = ("census", "tarragona", "eia")
SECONDS = 120.0
SEEK = 30.0


def place_of(name: str, k: int) -> Path:
    """Return the file of the best partition found."""
    return FOLDER / f"{name}-{k}.csv"


def order_of(name: str, table: FrequencyTable) -> NDArray[np.int64]:
    """Return the row of the frequency table of each record of the file."""
    import polars as pl

    from benchmarks.microaggregation import EIA

    frame = pl.read_csv(DATA / FILES[name])
    frame = frame.select(EIA) if name == "eia" else frame
    codes = [np.unique(frame[c].to_numpy(), return_inverse=True)[1] for c in frame.columns]
    rows = {tuple(row): at for at, row in enumerate(table.codes.tolist())}
    return np.array([rows[tuple(row)] for row in np.stack(codes, axis=1).tolist()])


def recoding_of_groups(table: FrequencyTable, row: Any, label: Any, k: int) -> Recoding:
    """Return the recoding of records in groups."""
    ones = np.ones(len(row), dtype=np.int64)
    clusters = Clusters(np.asarray(row), np.asarray(label), ones)
    return recode(table, [KAnonymity(k)], clusters, space=space_of(table.domains), join=False)


def kept(name: str, k: int, table: FrequencyTable) -> Recoding | None:
    """Return the best partition found so far."""
    place = place_of(name, k)
    if not place.exists():
        return None
    labels = np.array(place.read_text(encoding="utf-8").split(), dtype=np.int64)
    return recoding_of_groups(table, order_of(name, table), labels, k)


def keep(name: str, k: int, table: FrequencyTable, found: Recoding) -> None:
    """Write a partition: the group of each record of the file."""
    FOLDER.mkdir(exist_ok=True)
    left: dict[int, list[int]] = {}
    for row, label, n in zip(found.row, found.label, found.count, strict=True):
        left.setdefault(int(row), []).extend([int(label)] * int(n))
    labels = [left[row].pop(0) for row in order_of(name, table).tolist()]
    place_of(name, k).write_text("\n".join(map(str, labels)) + "\n", encoding="utf-8")


def sought(pairs: Any, program: Any, least: float, lost: float) -> list[Any] | None:
    """Return groups by an integer program over those that are known and not too dear."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csc_array

    prices = program.solved()[1]
    every = [
        group
        for group, cost in program.groups.items()
        if cost - sum(prices[row] * n for row, n in group) <= lost - least
    ]
    places = [row for group in every for row, _ in group]
    records = [float(n) for group in every for _, n in group]
    starts = np.cumsum([0, *map(len, every)])
    held = csc_array((records, places, starts), shape=(len(program.counts), len(every)))
    found = milp(
        [program.groups[group] for group in every], integrality=np.ones(len(every)),
        bounds=Bounds(0, np.inf),
        constraints=LinearConstraint(held, program.counts, program.counts),
        options={"time_limit": SEEK, "mip_rel_gap": 1e-4},
    )  # fmt: skip
    if found.x is None or found.fun >= lost:
        return None
    return [group for group, times in zip(every, found.x, strict=True) for _ in range(round(times))]


def measured(name: str, k: int, *, seeks: bool) -> dict[str, Any]:
    """Return one row of the page, and keep what is better than what was known."""
    table = table_of(name)
    began = time.process_time()
    made = RefineCentroids(effort="best").search(table, [KAnonymity(k)], Setting(threads=1))
    spent = time.process_time() - began
    best = min([made, *filter(None, [kept(name, k, table)])], key=loss)
    pairs = optimum._Squares(table)
    released = optimum._groups(best)
    lost = sum(map(pairs.cost, released))
    began = time.process_time()
    program = optimum._Program(pairs, k, released)
    least, is_exact = optimum._raised(program, time.perf_counter() + SECONDS)
    bounded = time.process_time() - began
    groups = sought(pairs, program, least, lost) if seeks else None
    if groups is not None:
        row = [row for group in groups for row, n in group for _ in range(n)]
        label = [at for at, group in enumerate(groups) for _, n in group for _ in range(n)]
        best = min(best, recoding_of_groups(table, row, label, k), key=loss)
    keep(name, k, table, best)
    low = least / lost * loss(optimum_of(table, released, k))
    return {
        "table": name, "k": k, "refine best": round(loss(made), 4), "CPU s": round(spent, 1),
        "best found": round(loss(best), 4), "least": round(low, 4), "exact": is_exact,
        "refine's gap %": round(100 * (loss(made) / low - 1), 2),
        "gap of the best found %": round(100 * (loss(best) / low - 1), 2),
        "above the best found %": round(100 * (loss(made) / loss(best) - 1), 2),
        "bound, CPU s": round(bounded, 1),
    }  # fmt: skip


def optimum_of(table: FrequencyTable, groups: list[Any], k: int) -> Recoding:
    """Return groups of tuples as a recoding."""
    row = [row for group in groups for row, n in group for _ in range(n)]
    label = [at for at, group in enumerate(groups) for _, n in group for _ in range(n)]
    return recoding_of_groups(table, row, label, k)


def main(wanted: list[str]) -> None:
    """Measure and write."""
    found = []
    cases = [(name, k) for name in TABLES for k in KS]
    named = [each for each in cases if f"{each[0]}:{each[1]}" in wanted]
    for name, k in named or cases:
        if (DATA / FILES[name]).exists():
            found.append(measured(name, k, seeks="--seek" in wanted))
            print(found[-1], flush=True)
    if "--dry" not in wanted:
        clustering.put(TITLE, NOTE, found)


if __name__ == "__main__":
    main(sys.argv[1:])
