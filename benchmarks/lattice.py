"""Lattice searches: Adult at several limits and promises, large tables, many columns.

python -m benchmarks.lattice             print the rows
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from tests.methods.calls import search
from tests.methods.lattice.tables import adult15_table, adult_table, perturbed, wide_table

from benchmarks.measure import DATA, cpu_seconds, peak_megabytes, yardstick
from shoal.privacy import KAnonymity, LDiversity, Promise, TCloseness
from shoal.table.frequency import FrequencyTable

TITLE = "Lattice learning"
NOTE = (
    "The whole search, from the frequency table to the recoding. ARX: CPU seconds of its search "
    "alone, warm, as measured once on a machine of the same kind; it cannot be run here.\n\n"
)

# CPU seconds of ARX, where they are known.
_ADULT: tuple[tuple[str, tuple[str, ...], list[Promise], float, float | None], ...] = (
    ("k=5", (), [KAnonymity(5)], 0.0, 0.039),
    ("k=5", (), [KAnonymity(5)], 0.05, 0.775),
    ("k=5", (), [KAnonymity(5)], 1.0, 2.18),
    ("k=2", (), [KAnonymity(2)], 0.05, None),
    (
        "k=5, l=2 on salary-class",
        ("salary-class",),
        [KAnonymity(5), LDiversity(2, column="salary-class")],
        0.05,
        0.62,
    ),
    (
        "k=5, t=0.2 on salary-class",
        ("salary-class",),
        [KAnonymity(5), TCloseness(0.2, column="salary-class")],
        0.05,
        1.83,
    ),
    (
        "k=5, l=3 on occupation",
        ("occupation",),
        [KAnonymity(5), LDiversity(3, column="occupation")],
        0.05,
        0.55,
    ),
    (
        "k=5, hierarchical t=0.2 on occupation",
        ("occupation",),
        [KAnonymity(5), TCloseness(0.2, "hierarchical", column="occupation")],
        0.05,
        1.56,
    ),
)


def rows() -> list[dict[str, Any]]:
    """Return one row a search."""
    stick = yardstick()
    folder = DATA / "adult_arx"
    found = []
    tables = {names: adult_table(folder, names) for names in {case[1] for case in _ADULT}}
    for promise, names, models, limit, other in _ADULT:
        row = _row(f"Adult, {promise}", tables[names], models, limit=limit, stick=stick)
        if other is not None:
            row |= {"ARX CPU s": other, "times faster": other / row["CPU s"]}
        found.append(row)
    for method in ("bfs", "dfs", "incognito", "datafly"):
        found.append(
            _row("Adult, k=5", tables[()], [KAnonymity(5)], limit=0.05, stick=stick, method=method)
        )
    for records in (300_000, 3_000_000):
        big = perturbed(tables[()], records)
        name = f"perturbed Adult, {records:,} records, {big.rows:,} tuples, k=5"
        found.append(_row(name, big, [KAnonymity(5)], limit=0.05, stick=stick))
    original = adult15_table(DATA)
    for limit in (0.0, 0.05):
        found.append(_once("original Adult, 15 columns, k=5", original, limit=limit, stick=stick))
    found.append(
        _once("30 columns, 2,000 records, k=5", wide_table(30, 2000), limit=0.1, stick=stick)
    )
    return found


def _row(
    what: str,
    table: FrequencyTable,
    models: Sequence[Promise],
    *,
    limit: float,
    stick: float,
    method: str = "flash",
) -> dict[str, Any]:
    def work() -> Any:
        return search(table, models, suppression_limit=limit, method=method)

    seconds = cpu_seconds(work)
    return _facts(what, work(), limit=limit, seconds=seconds, stick=stick)


def _once(what: str, table: FrequencyTable, *, limit: float, stick: float) -> dict[str, Any]:
    began = time.process_time()
    recoding = search(table, [KAnonymity(5)], suppression_limit=limit)
    seconds = time.process_time() - began
    return _facts(what, recoding, limit=limit, seconds=seconds, stick=stick)


def _facts(
    what: str, recoding: Any, *, limit: float, seconds: float, stick: float
) -> dict[str, Any]:
    facts = recoding.facts
    return {
        "what": what,
        "search": facts["search"],
        "limit": limit,
        "CPU s": seconds,
        "/ yardstick": seconds / stick,
        "nodes": f"{facts['lattice']:.3g}" if facts["lattice"] > 1e9 else facts["lattice"],
        "counted": facts["evaluated"],
        "loss": facts["loss"],
        "suppressed": recoding.suppressed,
        "optimal": "proven" if facts["optimal"] else "not proven",
        "bound": facts["bound"],
        "peak MB": round(peak_megabytes()),
    }


if __name__ == "__main__":
    for row in rows():
        print(row)
