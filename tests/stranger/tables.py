"""Random tables as they come: strays among numbers, spellings, nulls, marks, odd dates.

A case is plain data, made from its seed alone. `dirt` is the share of cells of some columns that
are not as they should be; the batch that a model meets later is dirtier than what it was learned
from.
"""

from __future__ import annotations

import csv
import io
import random
import unicodedata

TREE = {"*": {"north": {"oslo": {}, "turku": {}, "bergen": {}},
              "south": {"coast": {"rome": {}, "nice": {}}, "hill": {"bern": {}}}}}  # fmt: skip
PLACES = ["oslo", "turku", "bergen", "rome", "nice", "bern"]
STEPS = ["none", "mild", "grave", "fatal, or so"]
ILLS = ["HIV", "flu", "gout", "café au lait", "Ménière", "none"]
STRAYS = [
    "unknown",
    "n/a",
    "-",
    "1,5",
    "1_000",
    "nan",
    "inf",
    "0x1F",
    "12 kg",
    "١٢",
    "1e999",
    "#REF!",
]
ODD_DATES = ["13.09.1967", "09/13/1967", "1967-9-3", "2024-02-30", "1967", "soon", "19670913"]
MARKS = ["NA", "?"]


def quasi_kinds(chance):
    """Return what a quasi-identifier may be: its entry in a schema, its values, its dirt."""
    low, width = chance.choice([0, 18, -5, 1900]), chance.choice([3, 12, 60])
    numbers = [str(low + i) for i in range(width)]
    return {
        "whole": ({"kind": "numeric"}, numbers, [*STRAYS[:1], " 7", "7.0", "+7"]),
        "steps of five": ({"kind": "numeric", "hierarchy": {"intervals": {"width": [5, 10, 20]}}},
                          numbers, ["unknown", "1e3", "-999"]),
        "real": ({"kind": "numeric"}, [f"{i / 4}" for i in range(width)], ["0.1e1", ".5", "nan"]),
        "guessed": ({}, numbers, ["unknown", "007"]),
        "flat": ({"kind": "categorical"}, ["a", "b", "c, d", 'e"f', "*", "=1+1"], ["a ", "A", "é"]),
        "tree": ({"kind": "categorical", "hierarchy": {"tree": as_schema(TREE)}}, PLACES,
                 ["north", "coast", "paris", " oslo", "OSLO"]),
        "zip": ({"kind": "categorical", "hierarchy": {"mask": {}}},
                [f"{i:05d}" for i in range(10, 10 + 7 * width, 7)], ["1", "ABC", "D-10115"]),
        "ordinal": ({"kind": "ordinal", "order": STEPS}, STEPS, ["worse", "Mild", " mild"]),
        "born": ({"kind": "date"}, [f"19{60 + i % 30}-0{1 + i % 9}-1{i % 9}" for i in range(width)],
                 ODD_DATES),
        "born by year": ({"kind": "date", "hierarchy": {"dates": {}}},
                         [f"20{i % 20:02d}-0{1 + i % 9}-1{i % 9}" for i in range(width)],
                         ODD_DATES),
    }  # fmt: skip


def sensitive_kinds():
    """Return what a sensitive column may be, with the distances that it has."""
    nfd = unicodedata.normalize("NFD", "Ménière")
    spelt = ["HIV ", "hiv", " flu", "Flu", nfd, "gout\u00a0", "gout\t"]
    tens = {"*": {"few": {"0": {}, "1": {}, "2": {}}, "many": {"3": {}, "10": {}, "20": {}}}}
    numbers = ["0", "1", "2", "3", "10", "20"]
    plain = ["equal", "chi2"]
    return {
        "ill": ({"kind": "categorical"}, ILLS, spelt, plain),
        "ill, guessed": ({}, ILLS, spelt, plain),
        "place": ({"kind": "categorical", "hierarchy": {"tree": as_schema(TREE)}}, PLACES,
                  ["north", " oslo", "OSLO"], [*plain, "hierarchical"]),
        "grade": ({"kind": "ordinal", "order": STEPS}, STEPS, ["worse", " mild"],
                  [*plain, "ordered"]),
        "cost": ({"kind": "numeric"}, numbers, [*STRAYS, "2.0", " 3", "+10"],
                 [*plain, "ordered"]),
        "cost in groups": ({"kind": "numeric", "hierarchy": {"tree": as_schema(tens)}}, numbers,
                           ["unknown", "2.0"], [*plain, "ordered"]),
        "cost by rule": ({"kind": "numeric", "hierarchy": {"intervals": {"width": [5, 10]}}},
                         numbers, ["unknown", "2.0"], [*plain, "ordered"]),
        "since": ({"kind": "date"}, [f"2024-0{i}-15" for i in range(1, 7)], ODD_DATES,
                  [*plain, "ordered"]),
    }  # fmt: skip


def as_schema(tree):
    """Return a tree as a schema file writes it: lists of leaves at the ends."""
    return {
        label: as_schema(below) if any(below.values()) else list(below)
        for label, below in tree.items()
    }


def make_case(seed):
    """Return a case: schema, promise, table, batch, and how they are written."""
    chance = random.Random(seed)
    columns, values = {}, {}
    kinds = quasi_kinds(chance)
    for i in range(chance.choice([1, 1, 2, 2, 2, 3, 4])):
        entry, clean, dirty = kinds[chance.choice(sorted(kinds))]
        columns[f"q{i}"] = {"role": "quasi", **entry}
        values[f"q{i}"] = (clean, dirty)
    spread = sensitive_kinds()
    distances = {}
    for i in range(chance.choice([0, 1, 1, 1, 1, 2])):
        entry, clean, dirty, known = spread[chance.choice(sorted(spread))]
        columns[f"s{i}"] = {"role": "sensitive", **entry}
        values[f"s{i}"] = (clean, dirty)
        distances[f"s{i}"] = known
    if chance.random() < 0.5:
        columns["ward"] = {"role": "neutral"}
        values["ward"] = (["1", "2", "é"], ["", "ward 3"])
    if chance.random() < 0.5:
        columns["name"] = {"role": "identifying"}
    if chance.random() < 0.4:
        columns["who"] = {"role": "person"}
    order = list(columns)
    chance.shuffle(order)
    columns = {name: columns[name] for name in order}
    missing = MARKS if chance.random() < 0.4 else []
    size = chance.choice([1, 2, 8, 20, 40, 40, 80, 120])
    dirt = chance.choice([0, 0, 0, 0.02, 0.1])
    return {
        "seed": seed,
        "columns": columns,
        "missing": missing,
        "promise": promise_for(chance, distances),
        "suppression_limit": chance.choice([0.0, 0.1, 0.5, 1.0]),
        "rows": rows_of(chance, columns, values, size, missing, dirt=dirt),
        "batch": rows_of(
            chance, columns, values, chance.choice([3, 20, 60, 100, 100]), missing,
            dirt=chance.choice([0, 0.02, 0.1, 0.3]),
        ),
        "separator": chance.choice([",", ",", ";", "\t"]),
        "bom": chance.random() < 0.3,
        "end": chance.choice(["\n", "\n", "\r\n"]),
        "suppressed": chance.choice(["remove", "remove", "star"]),
        "on_unseen": chance.choice(["suppress", "suppress", "nearest", "nearest", "error"]),
        "form": chance.choice(["csv", "csv", "csv", "jsonl"]),
        "chance": chance.random(),
        "labels": chance.choice(["round", "round", "tight"]),
        "utility": chance.choice([None, None, None, "ncp", "loss"]),
        "waive": ["who"] if "who" in columns and chance.random() < 0.3 else [],
    }  # fmt: skip


def promise_for(chance, distances):
    found = []
    if not distances or chance.random() < 0.85:
        found.append({"model": "k-anonymity", "k": chance.choice([1, 2, 2, 3, 5, 8])})
    for column, known in distances.items():
        for _ in range(chance.choice([0, 1, 1, 2]) if found else 1):
            found.append({**spread_model(chance, known), "column": column})
    for model in found:
        if len(distances) == 1 and chance.random() < 0.3:
            model.pop("column", None)
    return found


def spread_model(chance, known):
    t = chance.choice([0.1, 0.2, 0.3, 0.5])
    how = chance.choice(known)
    return chance.choice(
        [
            {"model": "l-diversity", "l": chance.choice([2, 3])},
            {"model": "l-diversity", "l": chance.choice([2, 3]), "kind": "entropy"},
            {"model": "l-diversity", "l": 2, "kind": "recursive", "c": chance.choice([1.5, 3.0])},
            {"model": "t-closeness", "t": t, "distance": how},
            {"model": "t-closeness", "t": t, "distance": known[-1]},
            {"model": "(n,t)-closeness", "n": chance.choice([5, 20]), "t": t, "distance": how},
            {"model": "(alpha,k)-anonymity", "alpha": chance.choice([0.5, 0.75]), "k": 2},
            {"model": "beta-likeness", "beta": chance.choice([0.5, 1, 3])},
            {"model": "beta-likeness", "beta": 2, "enhanced": True},
            {"model": "delta-disclosure", "delta": chance.choice([1.0, 2.0])},
        ]
    )


def rows_of(chance, columns, values, size, missing, *, dirt):
    """Return records as lists of texts, in the order of the columns."""
    few = {name: chance.sample(clean, min(len(clean), chance.choice([2, 3, 6, 99])))
           for name, (clean, _) in values.items()}  # fmt: skip
    nulls = chance.choice([0, 0, 0.05, 0.2])
    dirty = {name for name in values if chance.random() < 0.4}
    people = max(1, size // chance.choice([1, 1, 2, 2, 4, 20]))
    nobody = chance.choice([0, 0, 0, 0.1])
    found = []
    for _ in range(size):
        row = []
        for name in columns:
            if name == "name":
                row.append(f"ID{chance.randrange(10**9):09d}X")
            elif name == "who":
                row.append(person(chance, people, missing, dirt=dirt, nobody=nobody))
            elif chance.random() < nulls:
                row.append(chance.choice(["", *missing]))
            elif name in dirty and chance.random() < dirt:
                row.append(chance.choice(values[name][1]))
            else:
                row.append(chance.choice(few[name]))
        found.append(row)
    return found


def person(chance, people, missing, *, dirt, nobody):
    """Return a key of somebody: a few have most records, and some are spelled as they come."""
    if chance.random() < nobody:
        return chance.choice(["", "NULL", "nan", *missing])
    key = f"P\u00e9{min(chance.randrange(people), chance.randrange(people)):05d}"
    if chance.random() < dirt:
        return chance.choice([f" {key}", f"{key}\u00a0", unicodedata.normalize("NFD", key)])
    return key


def as_csv(case, rows):
    """Return a table as the bytes of a file."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=case["separator"], lineterminator=case["end"])
    writer.writerow(case["columns"])
    writer.writerows(rows)
    return (b"\xef\xbb\xbf" if case["bom"] else b"") + out.getvalue().encode()


def as_records(case, rows):
    """Return a table as plain records, as a device has them."""
    return [dict(zip(case["columns"], row, strict=True)) for row in rows]
