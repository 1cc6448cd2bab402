"""Each conclusion of [veltmann2022] beside what is measured: every k, both orders, persist or not.

`python -m benchmarks.semantic_conclusions` writes its section of docs/benchmarks.md. Adult's trees
are WordNet's where a dictionary is there (see `benchmarks.semantic`), otherwise those of adult_arx.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from benchmarks import clustering, semantic
from benchmarks.measure import DATA, ROOT
from shoal.hierarchies.read import load_hierarchy
from shoal.hierarchies.tree import Hierarchy
from shoal.table.frequency import FrequencyTable

TITLE = "Semantic microaggregation: conclusions"
NOTE = """Loss (100 · SSE/SST) and, in brackets, global risk in percent; CPU seconds of all nine
searches. "order" says which of the two columns comes first: it decides where columns are equally
far apart. Without `persist` a column is given up after one or two cuts, as the paper's text has it.
The samples are 10,000 random records each, not the paper's own. {data} With WordNet's trees, which
are the paper's, Adult stands in "Semantic microaggregation" above: there SA-MDAV loses 1.98 times
what SA-Mondrian loses at k = 10. Verdicts on Adult depend on the trees.

| the paper says | measured | verdict |
|---|---|---|
{verdicts}

"""
METHODS = ("sa-mondrian", "mondrian-categorical", "sa-mdav", "sa-mdav-static", "s-mdav",
           "mondrian-unordered")  # fmt: skip
CUTS = METHODS[:2]
KS = tuple(semantic.KS)
SAMPLE, SEEDS = 10_000, (1, 2)
Losses = Mapping[tuple[str, str], list[float]]


def adult() -> tuple[pl.DataFrame, dict[str, Hierarchy], str]:
    """Return Adult's two columns, their trees, and whose these are."""
    frame = pl.read_csv(DATA / "adult_arx/adult.csv.gz", separator=";")
    names, folder = ("occupation", "native-country"), semantic.dictionary()
    if folder is not None:
        return frame, {n: semantic.of_wordnet(n, folder) for n in names}, "WordNet"
    place = DATA / "adult_arx"
    return (
        frame,
        {n: load_hierarchy(n, place / f"adult_hierarchy_{n}.csv") for n in names},
        "adult_arx",
    )


def analytics() -> tuple[pl.DataFrame, pl.DataFrame, dict[str, Hierarchy]]:
    """Return the analytics data, all of it and without records that lack a value, and trees."""
    names = ("os", "country")
    trees = {n: load_hierarchy(n, ROOT / f"examples/analytics/{n}.yaml") for n in names}
    place = DATA / "analytics/analytics_raw.csv.gz"
    frame = pl.read_csv(place, infer_schema=False, columns=list(names))
    return frame, frame.filter(pl.all_horizontal(pl.all() != "(not set)")), trees


def rows_of(title: str, frame: pl.DataFrame, trees: Mapping[str, Hierarchy]) -> list[Any]:
    """Measure every method on one table, in both orders of its columns."""
    found = []
    for names in (tuple(trees), tuple(trees)[::-1]):
        table = semantic.table_with(frame, {name: trees[name] for name in names})
        for method in METHODS:
            if names != tuple(trees) and method not in (*CUTS, "sa-mdav"):
                continue
            for persist in (True, False) if method in CUTS else (None,):
                row = _row(method, table, persist)
                found.append({"table": title, "method": method, "order": names[0], **row})
    return found


def _row(method: str, table: FrequencyTable, persist: bool | None) -> dict[str, Any]:
    options = {} if persist is None else {"persist": persist}
    each = [semantic.measure(method, table, k, **options) for k in KS]
    cells = {f"k = {one['k']}": (one["loss %"], one["risk %"]) for one in each}
    return {"persist": persist, **cells, "CPU s": round(sum(e["learn, CPU s"] for e in each), 4)}


def losses_of(rows: list[Any], which: int = 0, *, persist: bool = True) -> Losses:
    """Return the losses (or risks) by table and method: first order, with persist or without."""
    first = {row["table"]: row["order"] for row in reversed(rows)}
    return {
        (row["table"], row["method"]): [row[f"k = {k}"][which] for k in KS]
        for row in rows
        if row["order"] == first[row["table"]] and row["persist"] in (persist, None)
    }


def verdicts(rows: list[Any]) -> list[tuple[str, str, str]]:
    """Return what the paper says, what is measured, and whether that agrees."""
    losses, risks = losses_of(rows), losses_of(rows, 1)
    tables = list(dict.fromkeys(row["table"] for row in rows))
    small = [name for name in tables if name.startswith("sample")]
    first, second, third = METHODS[:3]

    def times(of: Losses, names: list[str], one: str, other: str, share: float = 1.0) -> str:
        won = {
            name: sum(a < share * b for a, b in zip(of[name, one], of[name, other], strict=True))
            for name in names
        }
        return ", ".join(f"{name} {n}" for name, n in won.items())

    def counted(said: str, one: str, other: str, names: list[str], ok: Callable[[int], bool],
                share: float = 1.0, of: Losses = losses) -> tuple[str, str, str]:  # fmt: skip
        told = times(of, names, one, other, share)
        agree = [ok(int(part.rsplit(" ", 1)[1])) for part in told.split(", ")]
        word = "confirmed" if all(agree) else "contradicted" if not any(agree) else "in part"
        return said, f"of nine k: {told}", word

    def at(name: str, k: int) -> list[float]:
        return [losses[name, method][KS.index(k)] for method in (first, second, third)]

    most = len(KS) // 2
    large = [name for name in tables if name not in small]
    tens = {name: at(name, 10) for name in large}
    spread = max(max(at("analytics", k)) / min(at("analytics", k)) for k in KS)
    ratio = tens["adult"][2] / tens["adult"][0]
    cpu = {
        (r["table"], r["method"]): r["CPU s"] for r in reversed(rows) if r["persist"] is not False
    }
    slower = {name: cpu[name, third] / cpu[name, first] for name in tables}
    return [
        counted("The order of the hierarchy loses less than half of a random order (samples).",
                second, "mondrian-unordered", small, lambda n: n == len(KS), 0.5),
        counted("SA-Mondrian mostly loses less than simple Mondrian.", first, second, tables,
                lambda n: n > most),
        counted("SA-Mondrian loses less than SA-MDAV for most k.", first, third, tables,
                lambda n: n > most),
        counted("Simple Mondrian loses less than SA-MDAV for most k.", second, third, tables,
                lambda n: n > most),
        _threes("At k = 3 SA-MDAV loses less than both Mondrians.", losses, large),
        _threes("The same, without persist.", losses_of(rows, persist=False), large),
        ("SA-MDAV loses less than simple Mondrian on analytics at k = 10.",
         f"{tens['analytics'][2]:.4g} against {tens['analytics'][1]:.4g}",
         "confirmed" if tens["analytics"][2] < tens["analytics"][1] else "contradicted"),
        ("On Adult at k = 10 SA-MDAV loses almost twice what SA-Mondrian loses.",
         f"{ratio:.2f} times", "confirmed" if 1.75 <= ratio <= 2.25 else "contradicted"),
        ("On analytics all three stay close to each other.",
         f"up to {spread:.2f} times", "confirmed" if spread < 1.25 else "contradicted"),
        counted("Releases of SA-Mondrian have no greater risk than those of SA-MDAV.", first, third,
                tables, lambda n: n > most, of=risks),
        ("SA-MDAV takes longer than SA-Mondrian.",
         ", ".join(f"{n} {times:.1f} times" for n, times in slower.items()),
         "confirmed" if min(slower.values()) > 1 else "in part"),
    ]  # fmt: skip


def _threes(said: str, losses: Losses, tables: list[str]) -> tuple[str, str, str]:
    """Compare SA-MDAV with the Mondrians at k = 3."""
    at = KS.index(3)
    pairs = {t: (losses[t, METHODS[2]][at], min(losses[t, m][at] for m in CUTS)) for t in tables}
    won = [own < other for own, other in pairs.values()]
    word = "confirmed" if all(won) else "in part" if any(won) else "contradicted"
    return said, "; ".join(f"{t}: {a:.4g} against {b:.4g}" for t, (a, b) in pairs.items()), word


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as the page has it."""
    persist = {True: "yes", False: "no", None: ""}[row["persist"]]
    cells = {
        name: f"{cell[0]:.3g} ({cell[1]:.2f})" for name, cell in row.items() if name[:3] == "k ="
    }
    return {**row, "persist": persist, **cells}


def main(wanted: list[str]) -> None:
    """Measure and write."""
    census, census_trees, whose = adult()
    raw, full, trees = analytics()
    rows = rows_of("adult", census, census_trees) + rows_of("analytics", full, trees)
    for number, seed in enumerate(SEEDS, start=1):
        rows += rows_of(f"sample {number}", full.sample(SAMPLE, seed=seed), trees)
    was, kept = ([frame[n].n_unique() for n in trees] for frame in (raw, full))
    data = (
        f"The analytics data has {was[0]} operating systems and {was[1]} countries ({kept[0]} and "
        f"{kept[1]} in records that lack neither; the paper's has 14 and 193), and {full.height:,} "
        f"such records. Trees of Adult: {whose}."
    )
    lines = "\n".join("| " + " | ".join(each) + " |" for each in verdicts(rows))
    note = NOTE.format(data=data, verdicts=lines)
    print(note)
    if "--dry" not in wanted:
        clustering.put(TITLE, note, [shown(row) for row in rows])


if __name__ == "__main__":
    main(sys.argv[1:])
