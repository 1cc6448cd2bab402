"""Methods for sets of items, on groceries: `python -m benchmarks.transactions`.

Writes the table of docs/guides/transactions.md; with `second`, that of a made-up table without a
hierarchy. With `large`: 1,000,000 baskets of 10,000 items.
"""

from __future__ import annotations

import csv
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import shoal
from shoal.methods.registry import method_named

GUIDE = Path(__file__).resolve().parents[1] / "docs" / "guides" / "transactions.md"
DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
METHODS = (
    ("itemsets, within an aisle", "itemsets", {}),
    ("… everywhere the same", "itemsets", {"local": False}),
    ("… across aisles", "itemsets", {"across": True}),
    ("apriori", "apriori", {}), ("… with local choice, hierarchy only", "apriori", {"local": True}),
    ("lra", "lra", {}), ("vpa", "vpa", {}), ("pcta", "pcta", {}),
    ("coat", "coat", {}), ("disassociation", "disassociation", {"size": 60}),
)  # fmt: skip
PLAIN = ("itemsets", "pcta", "coat", "disassociation")  # take no hierarchy
GOALS = ((5, 2), (10, 2), (50, 2), (5, 3))
SLOW = ("pcta", "coat")  # they list every rare triple anew


def zipf(records: int, items: int, seed: int = 0) -> pl.DataFrame:
    """Return made-up baskets: items as unequal as words, some of them bought together."""
    chance = np.random.default_rng(seed)
    sizes = 1 + chance.geometric(0.12, records).clip(max=60)
    weights = 1 / np.arange(1, items + 1)
    drawn = chance.choice(items, int(sizes.sum()), p=weights / weights.sum())
    row = np.repeat(np.arange(records), sizes)
    near = chance.random(drawn.size) < 0.2
    drawn[1:][near[1:]] = (drawn[:-1][near[1:]] + 1) % items
    flat = pl.DataFrame({"row": row, "item": drawn})
    return flat.unique().sort("row", "item").group_by("row", maintain_order=True).agg(
        pl.col("item").cast(pl.String).alias("items")
    ).select("items")  # fmt: skip


def groceries(folder: Path) -> tuple[pl.DataFrame, Path]:
    """Return the baskets, and the hierarchy file of their items."""
    lines = (DATA / "groceries" / "groceries.txt").read_text().splitlines()
    with (DATA / "groceries" / "groceries_hierarchy.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    tree = folder / "hierarchy_items.csv"
    tree.write_text("".join(";".join([*row, "*"]) + "\n" for row in rows))
    return pl.DataFrame({"items": [line.split(",") for line in lines]}), tree


def measured(table: pl.DataFrame, tree: Path | None, k: int, m: int) -> list[str]:
    """Return a line a method."""
    lines = []
    for title, name, parameters in METHODS:
        if (m > 2 and name in SLOW) or (tree is None and (name not in PLAIN or "across" in title)):
            continue
        before = time.process_time()
        release = shoal.anonymize(
            table, qi=["items"], set=["items"], k=k, m=m,
            hierarchies=None if tree is None else {"items": tree},
            method=method_named(name, parameters), attacks=False,
        )  # fmt: skip
        spent = time.process_time() - before
        found = release.report.facts["sets"]
        lines.append(
            f"| {k} | {m} | {title} | {found['ncp']:.4f} | {found['kept_occurrences']:.1%} | "
            f"{found['suppressed_occurrences']:.1%} | {found['query_error']:.2f} | "
            f"{_share(found['frequent_recall'])} | {spent:.1f} |"
        )
        print(lines[-1], flush=True)
    return lines


def _share(found: float | None) -> str:
    return "not known" if found is None else f"{found:.0%}"


def large() -> None:
    """Release 1,000,000 baskets of 10,000 items; say what it took."""
    table = zipf(1_000_000, 10_000)
    before = time.process_time()
    release = shoal.anonymize(
        table, qi=["items"], set=["items"], k=10, m=2, method=method_named("itemsets", {}),
        attacks=False,
    )  # fmt: skip
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    found = release.report.facts["sets"]
    print(
        f"1,000,000 baskets, 10,000 items, k = 10, m = 2: NCP {found['ncp']:.5f}, "
        f"{time.process_time() - before:.0f} s of CPU, {peak:.1f} GB at most",
        release.report.seconds,
    )


def write(mark: str, title: str, lines: list[str]) -> None:
    """Replace a table of the guide."""
    head = [
        title, "",
        "| k | m | method | NCP | occurrences as they were | suppressed | error of queries | "
        "frequent sets kept | CPU s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    start, _, rest = GUIDE.read_text().partition(f"<!-- {mark} -->\n")
    end = rest[rest.index("<!-- end -->") :]
    body = "\n".join([*head, *lines])
    GUIDE.write_text(f"{start}<!-- {mark} -->\n{body}\n{end}")


def main() -> None:
    """Write the tables of the guide."""
    if "large" in sys.argv:
        large()
        return
    if "second" in sys.argv:
        table = zipf(5_000, 150)
        title = "Made up: 5,000 baskets, 150 items as unequal as words, no hierarchy; all verified."
        write("second", title, [line for m in (1, 2) for line in measured(table, None, 5, m)])
        return
    with tempfile.TemporaryDirectory() as folder:
        table, tree = groceries(Path(folder))
        goals = GOALS[: int(sys.argv[1])] if len(sys.argv) > 1 else GOALS
        lines = [line for k, m in goals for line in measured(table, tree, k, m)]
    title = "Groceries: 9,835 baskets, 169 items, three levels; every release verified."
    write("transactions", title, lines)


if __name__ == "__main__":
    main()
