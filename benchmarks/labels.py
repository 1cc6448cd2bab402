"""What tight and round labels cost and give away: the tables of the guide to labels.

    python -m benchmarks.labels ../shared/data

releases the hospital sample and Adult (k = 5) with both labels, and lets somebody with a register
of 100,000 people, a tenth of whom are in the table, prove who is in it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

import shoal
from shoal import api
from shoal.core.grids import MOST_CELLS

METHODS = ("bestcut", "mondrian", "refine")
ADULT = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
    "occupation",
)  # fmt: skip
DATES = ("birth_date", "admission")
STEPS = (1, 3, 12, 24, 60, 120, 240, 600, 1200)  # months of a cell


class Register(NamedTuple):
    """A register, who of it is in the table, and where their dates stand."""

    people: pl.DataFrame
    is_member: NDArray[np.bool_]
    days: dict[str, NDArray[np.float64]]


def register_of(place: Path) -> Register:
    """Return 100,000 people; every tenth, by chance, is in the table."""
    api.sample("hospital", out=place / "register.csv", records=100_000, seed=3)
    people = pl.read_csv(place / "register.csv", infer_schema_length=0)
    is_member = np.zeros(people.height, dtype=bool)
    is_member[np.random.default_rng(0).permutation(people.height)[:10_000]] = True
    days = {
        name: np.array([np.nan if t is None else _day(t) for t in people[name]]) for name in DATES
    }
    return Register(people, is_member, days)


def _day(text: str) -> float:
    return float(date.fromisoformat(text).toordinal())


def _month(text: str) -> int:
    return int(text[:4]) * 12 + int(text[5:7]) - 1


def _first(month: int) -> float:
    return float(date(month // 12, month % 12 + 1, 1).toordinal())


def months_of(label: str) -> tuple[int, int]:
    """Return the first month of a round label, and the one behind its last."""
    begin, _, end = label.partition("–")
    ends = []
    for text, last in ((begin, 0), (end or begin, 1)):
        year, quarter = int(text[:4]) * 12, text[5:6] == "Q"
        if len(text) == 4:
            ends.append(year + 12 * last)
        elif quarter:
            ends.append(year + 3 * (int(text[6]) - 1 + last))
        else:
            ends.append(_month(text) + last)
    return ends[0], ends[1]


def zones(label: str) -> Iterator[tuple[float, float]]:
    """Yield the days, first and last, between which somebody of the class must have a date.

    Of a tight interval these are its ends. Of a round one: what no shorter interval would cover.
    """
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        yield from ((_day(low), _day(low)), (_day(high), _day(high)))
    elif label != "*" and not (len(label) == 10 and label.count("-") == 2):
        begin, end = months_of(label)
        inner, outer = end, begin
        for step in STEPS:
            last, first = -(-end // step) * step, begin // step * step
            later = max((begin // step + 1) * step, last - MOST_CELLS * step)
            earlier = min(-(-end // step) * step - step, first + MOST_CELLS * step)
            if begin < later and last - later < end - begin:
                inner = min(inner, later)
            if earlier < end and earlier - first < end - begin:
                outer = max(outer, earlier)
        yield from ((_first(begin), _first(inner) - 1), (_first(outer), _first(end) - 1))


def covers(register: Register, name: str, label: str | None, masked: bool) -> NDArray[np.bool_]:
    """Say who of the register fits a label."""
    if label is None:
        return register.people[name].is_null().to_numpy()
    everybody = np.ones(register.people.height, dtype=bool)
    if label == "*":
        return everybody
    if name in DATES:
        if label.startswith("["):
            low, high = (_day(text) for text in label[1:-1].split(", "))
        elif len(label) == 10 and label.count("-") == 2:
            low = high = _day(label)
        else:
            low, high = _first(months_of(label)[0]), _first(months_of(label)[1]) - 1
        return (register.days[name] >= low) & (register.days[name] <= high)
    texts = register.people[name]
    if masked:
        return texts.str.starts_with(label.rstrip("*")).fill_null(value=False).to_numpy()
    parts = BELOW.get(name, {}).get(label, (label,))
    return texts.is_in(parts).fill_null(value=False).to_numpy()


BELOW: dict[str, dict[str, tuple[str, ...]]] = {}


def proven(register: Register, release: pl.DataFrame, quasi: list[str]) -> tuple[int, int]:
    """Return how many people are proven to be in the table, and how many of them are."""
    found: set[int] = set()
    known: dict[tuple[str, str | None], NDArray[np.bool_]] = {}
    for row in release.select(quasi).unique(maintain_order=True).iter_rows():
        fits = np.ones(register.people.height, dtype=bool)
        for name, label in zip(quasi, row, strict=True):
            if (name, label) not in known:
                known[name, label] = covers(register, name, label, name == "zip")
            fits &= known[name, label]
        who = np.flatnonzero(fits)
        for name, label in zip(quasi, row, strict=True):
            if name in DATES and label is not None:
                days = register.days[name][who]
                for low, high in zones(label):
                    there = who[(days >= low) & (days <= high)]
                    if len(there) == 1:
                        found.add(int(there[0]))
    return len(found), int(register.is_member[sorted(found)].sum())


def hospital(place: Path) -> None:
    """Print the table of the hospital sample."""
    register = register_of(place)
    table = register.people.filter(pl.Series(register.is_member))
    schema = shoal.Schema.load(place / "register.schema.yaml")
    for attribute in schema.attributes:
        tree = attribute.hierarchy
        if isinstance(tree, shoal.Hierarchy):
            BELOW[attribute.name] = {
                tree.labels[node]: tree.labels[tree.first[node] : node + 1]
                for node in range(len(tree))
            }
    print("| hospital sample, k = 5 | NCP | ends of one record | proven members |")
    print("|---|---:|---:|---:|")
    for method in METHODS:
        for labels in ("tight", "round"):
            made = shoal.anonymize(
                table, schema, k=5, replace_promise=True, method=method, labels=labels,
                attacks=False,
            )  # fmt: skip
            claimed, right = proven(register, made.table, list(schema.quasi))
            assert claimed == right  # a proof is never wrong
            line(f"{method}, {labels}", made.report, f"{claimed / 10_000:.1%}")


def adult(data: Path) -> None:
    """Print the table of Adult."""
    table = data / "adult_arx" / "adult.csv.gz"
    print("\n| Adult, k = 5 | NCP | ends of one record | tuples that must exist |")
    print("|---|---:|---:|---:|")
    for method in METHODS:
        for labels in ("tight", "round"):
            report = shoal.anonymize(
                table, qi=list(ADULT), hierarchies=data / "adult_arx", separator=";", k=5,
                method=method, labels=labels, attacks=False,
            ).report  # fmt: skip
            line(f"{method}, {labels}", report, f"{report.facts['printed']['tuples']:,}")


def line(name: str, report: shoal.ReleaseReport, last: str) -> None:
    printed = report.facts["printed"]
    own, ends = printed["ends_of_one"], printed["ends"]
    print(f"| {name} | {report.utility['ncp']:.4f} | {own:,} of {ends:,} | {last} |", flush=True)


def main() -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory() as place:
        hospital(Path(place))
    adult(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
