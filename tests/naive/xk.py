"""A slow, obvious twin of `methods.xk`: plain records, one after another.

A record is {"qi": [texts], "sensitive": [texts], "lost": points}, with "who" it is about where
persons are counted (None: nobody). Where the fast code draws false records at random, this one
counts them.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import chain, combinations

STAR = "*"
BLANK = object()


def pairs(records, places=None):
    """Group records by their quasi-identifiers."""
    found = defaultdict(list)
    for record in records:
        key = record["qi"] if places is None else [record["qi"][p] for p in places]
        found[tuple(key)].append(record)
    return found


def size(pair):
    """Return the records of a pair; where they say who they are about, its persons."""
    if "who" not in pair[0]:
        return len(pair)
    return len({record["who"] for record in pair} - {None})


def different(pair, column, *, missing_counts):
    """Return how many different values a pair has, or how many of as many different persons.

    The latter by Hall's theorem: a set of values that too few persons have between them cannot
    all be given away.
    """
    pair = [r for r in pair if missing_counts or r["sensitive"][column] is not None]
    values = {record["sensitive"][column] for record in pair}
    if not pair or "who" not in pair[0]:
        return len(values)
    have = {v: {r["who"] for r in pair if r["sensitive"][column] == v} - {None} for v in values}
    sets = chain.from_iterable(combinations(values, n) for n in range(len(values) + 1))
    return min(len(values) - len(s) + len(set().union(*(have[v] for v in s))) for s in sets)


def candidate(sizes, k, xk):
    """Return (originals, added, suppressed) of one threshold, pair by pair.

    A size is the records of a pair, or its (persons, records).
    """
    originals = added = suppressed = 0
    for of in sizes:
        people, records = of if isinstance(of, tuple) else (of, of)
        if people >= k:
            originals += records
        elif people >= xk:
            originals += records
            for _ in range(k - people):
                added += 1
        else:
            suppressed += records
    return originals, added, suppressed


def diversify(records, wanted, *, blank, missing_counts=True):
    """Remove the records of undiverse pairs, or blank their sensitive cell.

    Where a missing value does not count, only values that are there make a pair diverse.
    """
    for column, diversity in enumerate(wanted):
        kept = []
        for pair in pairs(records).values():
            if different(pair, column, missing_counts=missing_counts) >= diversity:
                kept += pair
            elif blank:
                for record in pair:
                    record["blanked"].add(column)
                kept += pair
        records = kept
    return records


def recode(records, column, change, *, xk, places):
    """Change one column of the pairs under xk."""
    for pair in list(pairs(records, places).values()):
        if size(pair) < xk:
            for record in pair:
                record["qi"][column] = change(record["qi"][column])
    return records


def treated(table, *, xk, groups, wanted, techniques, gradual, missing_counts=True):
    """Return the records after steps 2 to 4, each with its own quasi-identifiers beside it."""
    records = [
        {"qi": list(qi), "was": list(qi), "sensitive": list(s), "blanked": set(),
         **({"who": who[0]} if who else {})}
        for qi, s, *who in table
    ]  # fmt: skip
    records = diversify(records, wanted, blank="s" in techniques, missing_counts=missing_counts)
    width = len(groups)
    stages = range(min(2, width), width + 1) if gradual else [width]
    for upto in stages:
        places, column = list(range(upto)), upto - 1
        if "g" in techniques and groups[column]:
            table_up = groups[column]
            change = lambda value, up=table_up: up.get(value, value)  # noqa: E731
            recode(records, column, change, xk=xk, places=places)
        if "c" in techniques:
            recode(records, column, lambda _: STAR, xk=xk, places=places)
    return records


def carry_out(table, *, k, xk, groups, wanted=(), techniques="", gradual=False):
    """Return {released tuple: (originals, false records, sensitive values)}.

    table: (quasi-identifiers, sensitive values) of each record, most important first; a third
        entry says who it is about, and then persons are counted.
    groups: for each quasi-identifier a mapping from a value to its group.
    """
    records = treated(
        table, xk=xk, groups=groups, wanted=wanted, techniques=techniques, gradual=gradual
    )
    released = {}
    for key, pair in pairs(records).items():
        if size(pair) >= xk:
            values = [
                {r["sensitive"][c] for r in pair if c not in r["blanked"]}
                for c in range(len(wanted))
            ]
            released[key] = (len(pair), max(k - size(pair), 0), values)
    return released


def measures(
    table, *, k, xk, groups, columns, wanted=(), techniques="", gradual=False, missing_counts=True
):
    """Return what one way of carrying it out gives, cell by cell; None where nothing is left.

    columns: cells of a record; a released one is worth 1, a generalized one a half.
    """
    records = treated(
        table, xk=xk, groups=groups, wanted=wanted, techniques=techniques, gradual=gradual,
        missing_counts=missing_counts,
    )  # fmt: skip
    kept, false = [], 0
    for pair in pairs(records).values():
        if size(pair) >= xk:
            kept += pair
            false += max(k - size(pair), 0)
    if not kept:
        return None
    worth = Fraction(0)
    for record in kept:
        worth += columns
        for now, was in zip(record["qi"], record["was"], strict=True):
            if now != was:
                worth -= 1 if now == STAR else Fraction(1, 2)
        for column in record["blanked"]:
            if missing_counts or record["sensitive"][column] is not None:
                worth -= 1
    before = {tuple(qi) for qi, *_ in table}
    after = {tuple(record["qi"]) for record in kept}
    return {
        "originals": len(kept),
        "added": false,
        "suppressed": len(table) - len(kept),
        "precision": 100 * worth / ((len(kept) + false) * columns),
        "qp_remain": Fraction(100 * len(before & after), len(before)),
        "qp_precision": Fraction(100 * len(before & after), len(after)),
    }


def is_beaten(way, others):
    """Say whether another way has more precision for no more loss, or less loss for no less."""
    return any(
        other["precision"] >= way["precision"]
        and other["suppressed"] <= way["suppressed"]
        and (other["precision"], other["suppressed"]) != (way["precision"], way["suppressed"])
        for other in others
    )


def is_safe(frame, quasi, k, *, diversity=None, blanked=False):
    """Judge a released Polars frame row by row.

    With blanked cells, a class that is empty passes; elsewhere an empty cell is no value.
    """
    classes = defaultdict(list)
    for row in frame.iter_rows(named=True):
        classes[tuple(row[name] for name in quasi)].append(row)
    for members in classes.values():
        if len(members) < k:
            return False
        for name, wanted in (diversity or {}).items():
            values = {row[name] for row in members}
            if blanked and values == {None}:
                continue
            if blanked:
                values.discard(None)
            if len(values) < wanted:
                return False
    return True


def share_of(counts, wanted):
    """Divide `wanted` among strata: one record at a time to whoever is furthest behind."""
    total = sum(counts)
    given = [wanted * count // total for count in counts]
    while sum(given) < wanted:
        behind = [Fraction(wanted * c, total) - g for c, g in zip(counts, given, strict=True)]
        largest = max(range(len(counts)), key=lambda i: (behind[i], counts[i], -i))
        given[largest] += 1
    return given


def told(rows, names, *, fewer_than, blanked=False):
    """Return the share of false records whose copied values fewer originals have, in expectation.

    rows: (class, record, is false) of each released record.
    """
    originals = [(key, record) for key, record, false in rows if not false]
    exposed = copies = 0.0
    for key, record in originals:
        own = sum(1 for other, _ in originals if other == key)
        drawn = sum(1 for other, _, false in rows if other == key and false) / own
        values = [record[name] for name in names]
        times = sum(1 for _, other in originals if [other[name] for name in names] == values)
        copies += drawn
        if times < fewer_than and not (blanked and values == [None]):
            exposed += drawn
    return exposed / copies if copies else 0.0
