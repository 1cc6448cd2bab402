"""Releases by persons: what they lose and take beside those by records, each class counted anew.

    python -m benchmarks.run persons

also writes the table of the guide to persons.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import shoal
from benchmarks.measure import DATA, ROOT, run_command

TITLE = "Persons with several records"
NOTE = """101,766 hospital stays of 71,518 patients (`diabetes_130`), nine quasi-identifiers, `?`
is missing. *records*: without a person column, *persons*: with `--person patient_nbr`. Bad classes
have fewer than k patients, or break l = 2 or t = 0.3 on `diag_1` by their different (patient,
value) pairs, counted from the released table by code that shares nothing with shoal. Labels are
tight, *round* is the same release with round ones. CPU seconds are those of the search, warm,
*search* is their ratio; *command* is that of all of `shoal anonymize`, from a CSV file to a
verified one.

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
    asked = {"qi": QUASI, "sensitive": [SECRET], "missing": ["?"], "method": method,
             "labels": "tight", **words}  # fmt: skip
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
                 "--missing", "?", "--method", method, "-k", "5", "--labels", "tight",
                 "--out", str(Path(folder) / "out.csv")]  # fmt: skip
        spent = [
            min(run_command([*words, role, PERSON]).cpu for _ in range(2))
            for role in ("--identifying", "--person")
        ]
    return spent[1] / spent[0]


def large(method: str = "bestcut", records: int = 3_000_000, persons: int = 500_000) -> None:
    """Print what the whole command takes on many records, with persons and without.

    python -c "from benchmarks.persons import large; large()"

    The records are those of `diabetes_130`, drawn anew; each is about a person drawn by chance.
    """
    table = stays()
    chance = np.random.default_rng(0)
    drawn = table.select([*QUASI, SECRET])[chance.integers(table.height, size=records)]
    drawn = drawn.with_columns(pl.Series(PERSON, chance.integers(persons, size=records)))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "stays.csv"
        drawn.write_csv(place)
        del drawn
        for role in ("--identifying", "--person"):
            words = ["anonymize", str(place), "--qi", ",".join(QUASI), "--sensitive", SECRET,
                     "--missing", "?", "--method", method, "-k", "5", role, PERSON, "--json",
                     "--out", str(Path(folder) / "out.csv")]  # fmt: skip
            done = run_command(words)
            found = json.loads(done.output)
            print(
                f"{method} {role}: {done.cpu:.1f} CPU s, {done.megabytes:.0f} MB, NCP "
                f"{found['utility']['ncp']:.4f}, {found['persons']} persons, smallest class "
                f"{found['smallest_class']}", flush=True,
            )  # fmt: skip


def stays() -> pl.DataFrame:
    """Return the columns that are used."""
    place = DATA / "diabetes_130" / "diabetic_data.csv.gz"
    return pl.read_csv(place, infer_schema=False).select([*QUASI, SECRET, PERSON])


def rows() -> list[dict[str, Any]]:
    """Return one row a method and promise; put them into the guide, too."""
    table = stays()
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
        made, _ = released(table, method, promise, person=PERSON, labels="round")
        row["NCP, round"] = made.report.utility["ncp"]
        if promise == {"k": 5}:
            row["command"] = command_ratio(table, method)
        found.append(row)
        print(found[-1], flush=True)
    write_guide(found, GUIDE)
    return found


def picture() -> None:
    """Draw the class in which one patient is most alone, by records, and theirs by persons.

    python -c "from benchmarks.persons import picture; picture()"
    """
    table = stays()
    asked = {"qi": QUASI, "sensitive": [SECRET], "missing": ["?"], "method": "bestcut", "k": 5,
             "labels": "tight"}  # fmt: skip
    shown = []
    number = "number"
    for words in ({}, {"person": PERSON}):
        made = shoal.anonymize(table, keep_order=True, **asked, **words).table
        seen = made.select(QUASI).with_columns(table[PERSON]).with_row_index(number)
        by = seen.group_by(QUASI).agg(pl.col(PERSON), pl.col(number))
        few = by.with_columns(people=pl.col(PERSON).list.n_unique())
        if not shown:  # the largest of those with one patient alone
            own = few.filter(pl.col("people") == 1).sort(pl.col(number).list.len(), number)[-1]
            target, alone = own[number][0][0], few.filter(pl.col("people") == 1).height
        else:
            own = few.filter(pl.col(number).list.contains(target))
        shown.append(own[PERSON][0].to_list())
    (ROOT / "docs/images/one-patient.svg").write_text(_drawn(shown, alone), encoding="utf-8")
    print([(len(each), len({*each})) for each in shown], alone)


def _drawn(classes: list[list[str]], alone: int) -> str:
    """Return two classes as squares, a colour a patient."""
    colours = [
        "#2f6f9f",
        "#c8553d",
        "#588b8b",
        "#e0a458",
        "#7a5c9e",
        "#8a8f98",
        "#3b7d3b",
        "#a08a2c",
    ]
    titles = [
        f"k = 5 counted by records: one of {alone} classes with one patient alone",
        "k = 5 counted by persons: the class of the same stay",
    ]
    parts = []
    for i, (title, people) in enumerate(zip(titles, classes, strict=True)):
        top = 10 + 100 * i
        names = list(dict.fromkeys(people))
        said = f"{len(people)} records, {len(names)} patient{'s' if len(names) > 1 else ''}"
        parts.append(f'<text x="10" y="{top + 16}" font-weight="bold">{title}</text>')
        parts.append(f'<text x="10" y="{top + 72}">{said}</text>')
        for n, who in enumerate(sorted(people, key=names.index)):
            at = names.index(who)
            parts.append(
                f'<rect x="{10 + 34 * n}" y="{top + 26}" width="28" height="28" rx="4" '
                f'fill="{colours[at % len(colours)]}"/>'
                f'<text x="{24 + 34 * n}" y="{top + 45}" fill="#fff" text-anchor="middle">'
                f"{chr(97 + at)}</text>"
            )
    wide = max(560, 20 + 34 * max(map(len, classes)))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} 200" '
        'font-family="sans-serif" font-size="14">',
        f'<rect width="{wide}" height="200" fill="#fff"/>', *parts, "</svg>\n",
    ])  # fmt: skip


def write_guide(found: list[dict[str, Any]], place: Path) -> None:
    """Put the rows into the guide."""
    lines = [
        "| method | promise | NCP by records | classes that break it | NCP by persons | "
        "classes that break it | search takes | NCP by persons, round labels |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['method']} | {row['promise']} | {row['NCP, records']:.4f} | "
        f"{row['bad classes, records']:,} | {row['NCP, persons']:.4f} | "
        f"{row['bad classes, persons']:,} | {row['search']:.1f} times as long | "
        f"{row['NCP, round']:.4f} |"
        for row in found
    ]
    begin, end = MARKS
    text = place.read_text(encoding="utf-8")
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    table = "\n".join(lines)
    place.write_text(f"{before}{begin}\n{table}\n{end}{after}", encoding="utf-8")
