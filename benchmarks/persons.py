"""Releases by persons: what they lose and take beside those by records, each class counted anew.

    python -m benchmarks.run persons

also writes the table of the guide to persons.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import polars as pl

import shoal
from benchmarks.measure import DATA, ROOT, run_command

TITLE = "Persons with several records"
NOTE = """101,766 hospital stays of 71,518 patients (`diabetes_130`), nine quasi-identifiers, `?`
is missing. *records*: without a person column, *persons*: with `--person patient_nbr`. Bad classes
have fewer than k patients, or break l = 2 or t = 0.3 on `diag_1` by their different (patient,
value) pairs, counted from the released table by code that shares nothing with shoal. CPU seconds
are those of the search, warm, *search* is their ratio; *command* is that of all of
`shoal anonymize`, from a CSV file to a verified one.

"""
PERSON, SECRET = "patient_nbr", "diag_1"
QUASI = [
    "race", "gender", "age", "weight", "admission_type_id", "discharge_disposition_id",
    "time_in_hospital", "payer_code", "medical_specialty",
]  # fmt: skip
PLAN = (
    ("bestcut", {"k": 5}), ("bestcut", {"k": 10}), ("bestcut", {"k": 50}),
    ("refine", {"k": 5}), ("refine", {"k": 10}), ("refine", {"k": 50}), ("kmember", {"k": 10}),
    ("bestcut", {"k": 5, "l": 2}), ("bestcut", {"k": 5, "t": 0.3}),
    ("refine", {"k": 5, "l": 2}),
)  # fmt: skip
GUIDE = ROOT / "docs" / "guides" / "persons.md"
MARKS = "<!-- benchmarks.persons -->", "<!-- end -->"


def few(table: pl.DataFrame, k: int) -> int:
    """Return how many classes have fewer than k patients."""
    people = table.group_by(QUASI).agg(pl.col(PERSON).n_unique())[PERSON]
    return int((people < k).sum())


def plain(table: pl.DataFrame) -> int:
    """Return how many classes do not have two values of two different patients.

    Of patients and their values, two and two can be matched unless one of either is in every pair.
    """
    counts = table.group_by(QUASI).agg(pl.col(PERSON, SECRET).n_unique())
    return counts.filter((pl.col(PERSON) < 2) | (pl.col(SECRET) < 2)).height


def far(table: pl.DataFrame, t: float) -> int:
    """Return how many classes are further than t from the whole, by (patient, value) pairs."""
    whole = table.select(PERSON, SECRET).unique().group_by(SECRET).len("all")
    whole = whole.with_columns(usual=pl.col("all") / pl.col("all").sum())
    cells = table.unique().group_by([*QUASI, SECRET]).len("pairs").join(whole, on=SECRET)
    share = pl.col("pairs") / pl.col("pairs").sum().over(QUASI)
    apart = (pl.col("share") - pl.col("usual")).abs().sum() + 1 - pl.col("usual").sum()
    found = cells.with_columns(share=share).group_by(QUASI).agg(apart.alias("apart"))
    return found.filter(pl.col("apart") / 2 > t * (1 + 1e-9)).height


def bad(table: pl.DataFrame, promise: dict[str, Any]) -> int:
    """Return how many classes break a part of the promise; of several parts the sum."""
    found = few(table, promise["k"])
    if "l" in promise:
        found += plain(table)
    return found + far(table, promise["t"]) if "t" in promise else found


def released(table: pl.DataFrame, method: str, promise: dict[str, Any], **words: Any) -> Any:
    """Release the table; return what was made, and the CPU seconds of the search."""
    asked = {"qi": QUASI, "sensitive": [SECRET], "missing": ["?"], "method": method, **words}
    shoal.anonymize(table.head(3000), k=promise["k"], **asked)  # warm
    made = shoal.anonymize(table, keep_order=True, **promise, **asked)
    assert made.report.suppressed == 0
    return made, made.report.facts["cpu_seconds"]["learn"]


def command_ratio(table: pl.DataFrame, method: str) -> float:
    """Return how much more CPU the whole command takes with persons, k = 5."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "stays.csv"
        table.write_csv(place)
        words = ["anonymize", str(place), "--qi", ",".join(QUASI), "--sensitive", SECRET,
                 "--missing", "?", "--method", method, "-k", "5",
                 "--out", str(Path(folder) / "out.csv")]  # fmt: skip
        spent = [
            min(run_command([*words, role, PERSON]).cpu for _ in range(2))
            for role in ("--identifying", "--person")
        ]
    return spent[1] / spent[0]


def rows() -> list[dict[str, Any]]:
    """Return one row a method and promise; put them into the guide, too."""
    place = DATA / "diabetes_130" / "diabetic_data.csv.gz"
    table = pl.read_csv(place, infer_schema=False).select([*QUASI, SECRET, PERSON])
    found = []
    for method, promise in PLAN:
        row: dict[str, Any] = {
            "method": method, "promise": ", ".join(f"{n} = {x}" for n, x in promise.items()),
        }  # fmt: skip
        cpu = []
        for name, words in (("records", {}), ("persons", {"person": PERSON})):
            made, searched = released(table, method, promise, **words)
            seen = made.table.select([*QUASI, SECRET]).with_columns(table[PERSON])
            row[f"NCP, {name}"] = made.report.utility["ncp"]
            row[f"bad classes, {name}"] = bad(seen, promise)
            row[f"CPU s, {name}"] = searched
            cpu.append(searched)
        row["search"] = cpu[1] / cpu[0]
        if promise == {"k": 5}:
            row["command"] = command_ratio(table, method)
        found.append(row)
        print(found[-1], flush=True)
    write_guide(found, GUIDE)
    return found


def write_guide(found: list[dict[str, Any]], place: Path) -> None:
    """Put the rows into the guide."""
    lines = [
        "| method | promise | NCP by records | classes that break it | NCP by persons | "
        "classes that break it | search takes |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['method']} | {row['promise']} | {row['NCP, records']:.4f} | "
        f"{row['bad classes, records']:,} | {row['NCP, persons']:.4f} | "
        f"{row['bad classes, persons']:,} | {row['search']:.1f} times as long |"
        for row in found
    ]
    begin, end = MARKS
    text = place.read_text(encoding="utf-8")
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    table = "\n".join(lines)
    place.write_text(f"{before}{begin}\n{table}\n{end}{after}", encoding="utf-8")
