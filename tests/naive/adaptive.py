"""A slow, obvious twin of `methods.adaptive`: plain records, one after another.

A record is {"qi": [texts], "sensitive": [texts], "lost": points}. Where the fast code draws
false records at random, this one counts them.
"""

from __future__ import annotations

from collections import defaultdict

STAR = "*"
BLANK = object()


def pairs(records, places=None):
    """Group records by their quasi-identifiers."""
    found = defaultdict(list)
    for record in records:
        key = record["qi"] if places is None else [record["qi"][p] for p in places]
        found[tuple(key)].append(record)
    return found


def candidate(sizes, k, xk):
    """Return (originals, added, suppressed) of one threshold, pair by pair."""
    originals = added = suppressed = 0
    for size in sizes:
        if size >= k:
            originals += size
        elif size >= xk:
            originals += size
            for _ in range(k - size):
                added += 1
        else:
            suppressed += size
    return originals, added, suppressed


def diversify(records, wanted, *, blank):
    """Remove the records of undiverse pairs, or blank their sensitive cell."""
    for column, diversity in enumerate(wanted):
        kept = []
        for pair in pairs(records).values():
            if len({record["sensitive"][column] for record in pair}) >= diversity:
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
        if len(pair) < xk:
            for record in pair:
                record["qi"][column] = change(record["qi"][column])
    return records


def carry_out(table, *, k, xk, groups, wanted=(), techniques="", gradual=False):
    """Return {released tuple: (originals, false records, sensitive values)}.

    table: (quasi-identifiers, sensitive values) of each record, most important first.
    groups: for each quasi-identifier a mapping from a value to its group.
    """
    records = [{"qi": list(qi), "sensitive": list(s), "blanked": set()} for qi, s in table]
    records = diversify(records, wanted, blank="s" in techniques)
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
    released = {}
    for key, pair in pairs(records).items():
        if len(pair) >= xk:
            values = [
                {r["sensitive"][c] for r in pair if c not in r["blanked"]}
                for c in range(len(wanted))
            ]
            released[key] = (len(pair), max(k - len(pair), 0), values)
    return released


def is_safe(frame, quasi, k, *, diversity=None, blanked=False):
    """Judge a released Polars frame row by row."""
    classes = defaultdict(list)
    for row in frame.iter_rows(named=True):
        classes[tuple(row[name] for name in quasi)].append(row)
    for members in classes.values():
        if len(members) < k:
            return False
        for name, wanted in (diversity or {}).items():
            values = {row[name] for row in members}
            if len(values) < wanted and not (blanked and values == {None}):
                return False
    return True
