"""Releases over time: what m-invariance costs, and what the intersection of releases finds.

    python -m benchmarks.over_time ../shared/data

releases a table five times: between two releases 10 % of the people come, 5 % leave, and the
sensitive value of 2 % changes. It prints, for the hospital sample and Adult (occupation), each
release over time beside an independent one that promises the same of itself (`bestcut`, k = 5 and
as many different values), and how many people the intersection of all five finds.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from shoal.engines.base import Output
from shoal.jobs.compose import intersect
from shoal.jobs.release import release
from shoal.jobs.requests import ComposeRequest, ReleaseRequest
from shoal.methods.registry import method_named
from shoal.privacy import KAnonymity, LDiversity, MUniqueness, Promise
from shoal.reports.composition import Intersected
from shoal.reports.release import ReleaseReport
from shoal.samples import hospital
from shoal.schema.schema import Schema

RELEASES, COME, LEAVE, CHANGE = 5, 0.10, 0.05, 0.02
K = 5
QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")


class Case(NamedTuple):
    """A table that changes."""

    name: str
    tables: list[pl.DataFrame]
    schema: Schema
    column: str

    def promising(self, *promise: Promise) -> Schema:
        """Return the schema with another promise."""
        return replace(self.schema, privacy=(KAnonymity(K), *promise), suppression_limit=0.5)


class Made(NamedTuple):
    """A series of releases: the reports, the CPU seconds of each, and what the attack finds."""

    reports: list[ReleaseReport]
    seconds: list[float]
    found: Intersected


def history(every: pl.DataFrame, first: int, column: str, seed: int = 0) -> list[pl.DataFrame]:
    """Return a table five times: people come, go, and change."""
    chance = np.random.default_rng(seed)
    tables, begun = [every.head(first)], first
    for _ in range(RELEASES - 1):
        before = tables[-1]
        stays = before.filter(pl.Series(chance.random(before.height) >= LEAVE))
        changes = pl.Series(chance.random(stays.height) < CHANGE)
        drawn = every[column][chance.integers(0, every.height, stays.height)]
        changed = pl.when(changes).then(drawn).otherwise(pl.col(column)).alias(column)
        number = round(COME * before.height)
        come = every.slice(begun, number)
        tables.append(pl.concat([stays.with_columns(changed), come]))
        begun += number
    return tables


def cases(data: Path, folder: Path) -> Iterator[Case]:
    """Yield the hospital sample and, where it is, Adult."""
    files = hospital(folder / "stays.csv", 15_000)
    stays = pl.read_csv(files.table, infer_schema=False)
    known = Schema.load(files.schema).with_person(["patient_id"])
    left = ("department", "stay_days", "cost")
    known = replace(known, attributes=tuple(a for a in known.attributes if a.name not in left))
    yield Case("hospital", history(stays, 10_000, "diagnosis"), known, "diagnosis")
    adult = data / "adult_arx"
    if (adult / "adult.csv.gz").is_file():
        columns: dict[str, object] = {
            name: {"role": "quasi", "hierarchy": f"adult_hierarchy_{name}.csv"} for name in QUASI
        }
        columns |= {"age": {"role": "quasi", "kind": "numeric"}, "who": "person"}
        columns["occupation"] = "sensitive"
        schema = Schema.from_document({"columns": columns, "others": "drop"}, folder=adult)
        every = pl.read_csv(adult / "adult.csv.gz", separator=";", infer_schema=False)
        people = every.sample(fraction=1, shuffle=True, seed=0).with_row_index("who")
        people = people.with_columns(pl.col("who").cast(pl.String))
        yield Case("Adult", history(people, 20_000, "occupation"), schema, "occupation")


def made(case: Case, folder: Path, m: int, counterfeits: str | None) -> Made:
    """Release a table five times: over time, or (None) independently; attack the releases."""
    folder.mkdir()
    unique = MUniqueness(m, column=case.column)
    reports, seconds, outputs = [], [], []
    for number, table in enumerate(case.tables):
        output = Output(out=folder / f"{number}.csv", person_file=folder / f"{number}.p.csv")
        request = ReleaseRequest(
            table=table, schema=case.promising(LDiversity(m, column=case.column)),
            method=method_named("bestcut"), output=output,
        )  # fmt: skip
        if counterfeits is not None:
            request = replace(
                request, schema=case.promising(unique), method=method_named("auto"),
                after=folder / "series.db", counterfeits=counterfeits,
            )  # fmt: skip
        began = time.process_time()
        reports.append(release(request).report)
        seconds.append(time.process_time() - began)
        outputs.append(output)
    asked = ComposeRequest(
        table=case.tables[-1], schema=case.promising(unique),
        releases=tuple(each.out for each in outputs),
        person_files=tuple(str(each.person_file) for each in outputs),
    )  # fmt: skip
    return Made(reports, seconds, intersect(asked)[case.column])


def rows(case: Case, folder: Path, m: int) -> Iterator[str]:
    """Yield a line of the table for each way to release."""
    ways = (("independent", None), ("over time", "fill"), ("over time, none", "none"))
    for name, counterfeits in ways:
        done = made(case, folder / f"{case.name}-{m}-{counterfeits}", m, counterfeits)
        facts = [each.facts.get("over_time") for each in done.reports]
        false = [each["counterfeits"] if isinstance(each, dict) else 0 for each in facts]
        ncp = " ".join(f"{each.utility['ncp'] or 0:.3f}" for each in done.reports)
        held = " ".join(f"{each.suppressed:,}" for each in done.reports)
        seconds = f"{max(done.seconds):.1f}"
        yield (
            f"| {case.name}, m = {m} | {name} | {ncp} | {' '.join(map(str, false))} | {held} | "
            f"{done.found.certain[1]:,} of {done.found.persons:,} | {done.found.narrowed:,} | "
            f"{done.found.fewest[1]} | {seconds} |"
        )


def main(data: Path) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(
            "| table | releases | NCP | counterfeits | held back | certain by all | narrowed | "
            "fewest values | CPU s, at most |\n|---|---|---|---|---|---|---|---|---|"
        )
        for case in cases(data, folder):
            for row in rows(case, folder, 2):
                print(row, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
