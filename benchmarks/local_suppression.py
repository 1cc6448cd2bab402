"""Local suppression on five keys of Adult: how many cells are blank, by two readings of a blank.

`python -m benchmarks.local_suppression` measures and puts a section into docs/benchmarks.md; with
`--dry` it only prints. Ours: a blank is a value of its own. For comparison only: a blank matches
everything, as in sdcMicro [templ2015]; such a release is judged by our reading, too.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks import clustering
from shoal.methods.catalogue import LocalSuppression
from shoal.methods.judging import failing_classes
from shoal.methods.method import Setting
from shoal.privacy import KAnonymity
from shoal.table.blanks import blanked
from shoal.table.frequency import FrequencyTable, from_codes

TITLE = "Local suppression"
NOTE = """Adult, 30,162 records; keys: age, sex, race, marital status and education, all alike
important. "below k, ours": records whose released tuple, blanks and all, has fewer than k records:
their blanks stand for what nobody else has. "at least": records that k-anonymity cannot leave as
they are, each of which needs a blank. "matches everything" is a greedy search of the benchmark's
own: record by record the first column (then two, …) that gives k matches, as often as one is short.
sdcMicro itself, asked elsewhere, blanked 3,065 cells in 11.3 s at k = 3, with five keys that are
not named.

"""
KEYS = ("age", "sex", "race", "marital-status", "education")
Row = tuple[int, ...]


class Matches:
    """How many rows match a tuple where blanks (-1) match everything."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.width = len(rows[0])
        every = range(self.width)
        self.sets = [frozenset(c) for n in range(self.width + 1) for c in combinations(every, n)]
        self.counts: Counter[tuple[frozenset[int], frozenset[int], Row]] = Counter()
        self.held: Counter[frozenset[int]] = Counter()
        for row, n in Counter(rows).items():
            self.add(row, n)

    def add(self, row: Row, n: int) -> None:
        """Count a tuple n times more."""
        own = frozenset(j for j, code in enumerate(row) if code < 0)
        self.held[own] += n
        for more in self.sets:
            if own <= more:
                self.counts[own, more, _without(row, more)] += n

    def of(self, row: Row) -> int:
        """Return how many rows match a tuple."""
        own = frozenset(j for j, code in enumerate(row) if code < 0)
        found = 0
        for other, n in self.held.items():
            if n:
                both = own | other
                found += self.counts[other, both, _without(row, both)]
        return found


def _without(row: Row, gone: frozenset[int]) -> Row:
    return tuple(-1 if j in gone else code for j, code in enumerate(row))


def matching(rows: list[Row], k: int) -> list[Row]:
    """Blank cells until every row has k matches, blanks matching everything."""
    known = Matches(rows)
    found = list(rows)
    short = [i for i, row in enumerate(found) if known.of(row) < k]
    while short:
        for i in short:
            row = found[i]
            if known.of(row) >= k:
                continue
            blank = next(b for gone in known.sets if known.of(b := _without(row, gone)) >= k)
            known.add(row, -1)
            known.add(blank, 1)
            found[i] = blank
        short = [i for i, row in enumerate(found) if known.of(row) < k]
    return found


def table_of_keys() -> FrequencyTable:
    """Return Adult with the five keys alone."""
    table = clustering.adult()
    at = [[domain.name for domain in table.domains].index(name) for name in KEYS]
    return from_codes(tuple(table.domains[j] for j in at), table.codes[:, at], table.counts)


def measured(table: FrequencyTable, k: int) -> list[dict[str, Any]]:
    """Return the rows of the page for one k."""
    least = int(table.counts[table.counts < k].sum())
    found = []
    for effort in ("fast", "normal", "best"):
        began = time.process_time()
        made = LocalSuppression(effort=effort).search(table, [KAnonymity(k)], Setting(threads=1))
        spent = time.process_time() - began
        if failing_classes(made, [KAnonymity(k)]).any():
            raise AssertionError("the promise is broken")
        cells = sum(blanked(made).values())
        found.append(_row(k, f"a value of its own, {effort}", cells, least, 0, spent))
    rows = [tuple(row) for row in np.repeat(table.codes, table.counts, axis=0).tolist()]
    began = time.process_time()
    other = matching(rows, k)
    spent = time.process_time() - began
    cells = sum(code < 0 for row in other for code in row)
    broken = sum(n for n in Counter(other).values() if n < k)
    return [*found, _row(k, "matches everything (comparison)", cells, least, broken, spent)]


def _row(k: int, blank: str, cells: int, least: int, broken: int, spent: float) -> dict[str, Any]:
    return {
        "k": k, "a blank is": blank, "blank cells": f"{cells:,}", "at least": f"{least:,}",
        "below k, ours": f"{broken:,}", "CPU s": round(spent, 2),
    }  # fmt: skip


def main(wanted: list[str]) -> None:
    """Measure and write."""
    table = table_of_keys()
    measured(from_codes(table.domains, table.codes[:50], table.counts[:50]), 2)  # compiles
    found = [row for k in (3, 5, 10) for row in measured(table, k)]
    for row in found:
        print(row, flush=True)
    if "--dry" not in wanted:
        clustering.put(TITLE, NOTE, found)


if __name__ == "__main__":
    main(sys.argv[1:])
