"""Persons with a unique trajectory before and after a release: the picture of the guide to persons.

    python -m benchmarks.trajectories ../shared/data/diabetes_130/diabetic_data.csv.gz

releases the table four ways and writes docs/images/trajectories.svg. With the name of a method
behind it, it releases the table by that method instead, and prints loss, suppressed records, CPU
seconds, and how many persons share the rarest trajectory, counted without shoal.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import polars as pl

import shoal

ROOT = Path(__file__).resolve().parent.parent
PERSON = "patient_nbr"
QUASI = [
    "race", "gender", "age", "weight", "admission_type_id", "discharge_disposition_id",
    "time_in_hospital", "payer_code", "medical_specialty",
]  # fmt: skip
WORDS: dict[str, object] = {"qi": QUASI, "missing": ["?"]}
TIGHT: dict[str, object] = {"method": "bestcut", "labels": "tight", **WORDS}
WIDTH, LINE, LEFT, RIGHT = 720, 34, 300, 90


def unique(table: pl.DataFrame) -> tuple[int, int]:
    """Return the persons with a trajectory that nobody shares, and all persons."""
    found = shoal.risk(table, person=PERSON, release_person="pseudonym", **WORDS).trajectories
    return found.unique, found.persons


def linked(table: pl.DataFrame, **words: object) -> pl.DataFrame:
    """Return a release of records with the person put back beside each of them."""
    made = shoal.anonymize(table, k=5, keep_order=True, **TIGHT, **words)
    return made.table.with_columns(table[PERSON])


def bars(table: pl.DataFrame) -> list[tuple[str, int, int]]:
    """Return a line of the picture for each way to release the table."""
    whole = shoal.anonymize(
        table, k=5, person=PERSON, release_person="pseudonym", suppression_limit=0.009, **TIGHT,
    )  # fmt: skip
    return [
        ("the table as it is", *unique(table)),
        ("k = 5 records, linked again", *unique(linked(table))),
        ("k = 5 persons a class, linked again", *unique(linked(table, person=PERSON))),
        ("k = 5 persons with one trajectory", *unique(whole.table)),
    ]


def drawn(lines: list[tuple[str, int, int]]) -> str:
    """Return the picture as SVG."""
    height = LINE * len(lines) + 40
    room = WIDTH - LEFT - RIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="14">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        '<text x="10" y="22" font-weight="bold">Persons whose trajectory nobody shares</text>',
    ]
    for i, (name, alone, persons) in enumerate(lines):
        top = 36 + LINE * i
        wide = room * alone / persons
        parts += [
            f'<text x="{LEFT - 10}" y="{top + 17}" text-anchor="end">{name}</text>',
            f'<rect x="{LEFT}" y="{top}" width="{room}" height="24" fill="#e8edf2"/>',
            f'<rect x="{LEFT}" y="{top}" width="{wide:.1f}" height="24" fill="#2f6f9f"/>',
            f'<text x="{LEFT + room + 10}" y="{top + 17}">{alone:,}</text>',
        ]
    return "\n".join([*parts, "</svg>\n"])


def measured(table: pl.DataFrame, method: str) -> str:
    """Release trajectories by a method, warm; return what it loses and takes."""
    words: dict[str, object] = {**TIGHT, "method": method, "person": PERSON, "k": 5}
    words["release_person"] = "pseudonym"
    shoal.anonymize(table.head(3000), suppression_limit=0.5, **words)
    began = time.process_time()
    made = shoal.anonymize(table, suppression_limit=0.0088, **words)
    spent = time.process_time() - began
    of_person: dict[str, list[tuple[str | None, ...]]] = {}
    for who, *cells in made.table.select(PERSON, *QUASI).iter_rows():
        of_person.setdefault(who, []).append(tuple(str(cell) for cell in cells))
    alike = Counter(tuple(sorted(rows)) for rows in of_person.values())
    found, searched = made.report, made.report.facts["cpu_seconds"]["learn"]
    return (
        f"{method}: NCP {found.utility['ncp']:.4f}, {found.suppressed} records suppressed, "
        f"{min(alike.values())} persons share the rarest trajectory, {spent:.1f} CPU s, of which "
        f"the search {searched:.1f}"
    )


def main() -> None:
    """Measure, draw and print."""
    table = pl.read_csv(sys.argv[1], infer_schema=False)
    if len(sys.argv) > 2:
        print(measured(table, sys.argv[2]))
        return
    lines = bars(table)
    place = ROOT / "docs/images/trajectories.svg"
    place.write_text(drawn(lines), encoding="utf-8")
    for name, alone, persons in lines:
        print(f"{alone:>7,} of {persons:,} persons alone: {name}")


if __name__ == "__main__":
    main()
