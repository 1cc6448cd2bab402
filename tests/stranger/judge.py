"""Judges a release from the bytes that were written. Standard library only, nothing of shoal.

A case says what was asked for, in plain data: the columns with their roles and kinds, the marks
of missing values, and the promise as a schema file has it. The judge reads the bytes, finds the
classes, and works the definitions out in exact fractions. Two sensitive values are the same when
they are equal after trimming and in Unicode NFC; numbers and dates when they are equal as such.
A missing value is a value, the lowest of an order, and as far as can be from any other in a tree.

Where the case says who each record is about, persons are counted: a class is as large as the
persons in it, a share is one of persons, a spread one of different (person, value) pairs, and l
values must belong to l different persons. A record of nobody counts for nothing.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import unicodedata
from collections import Counter
from datetime import datetime
from fractions import Fraction
from itertools import combinations

SLACK = Fraction(1, 10**9)  # floats may be off by that much, and nobody is hurt
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
DATE = re.compile(r"[0-9]{4}(-?)[0-9]{2}\1[0-9]{2}([T ][0-9:.]+)?")  # ISO, also without hyphens
ORDERED = "ordered"
WHO = "\0who"  # no column of a table is called that
NOBODY = ("", "nan", "nat", "none", "null", "na", "n/a", "#n/a", "<na>", "(null)")


class StrayError(Exception):
    """A value that has no place on the scale of its column."""


def faults(content, form, case, *, released=None, who=None):
    """Return what is wrong with a release, in words; nothing is wrong with a good one.

    content: the bytes. form: "csv" or "jsonl". case: columns, missing, promise, separator, and
    `behind`: what records stood in the table, as (person, sensitive values …), where persons count.
    released: how many records shoal said it released. who: the person behind each record.
    """
    header, rows = read(content, form, case.get("separator", ","))
    found = shape_faults(content, header, rows, case, released)
    if who is not None:
        found += name_persons(rows, who, case)
    quasi = [name for name in header if case["columns"].get(name, {}).get("role") == "quasi"]
    if found or not rows:
        return found or ([] if released == 0 else ["there is no record"])
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in quasi), []).append(row)
    for model in promise_of(case):
        found += model_faults(model, groups, rows, quasi, case)
    return found


def read(content, form, separator):
    """Return the names of the columns, and each record as a dict of texts (None: missing)."""
    text = content.decode("utf-8-sig")
    if form == "jsonl":
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        texts = [{name: as_text(value) for name, value in row.items()} for row in rows]
        return list(texts[0]) if texts else [], texts
    # as other readers do it: a line without anything in it is no record
    lines = [
        line for line in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if line
    ]
    header = lines[0] if lines else []
    return header, [dict(zip(header, line, strict=False)) | {"": line} for line in lines[1:]]


def as_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def shape_faults(content, header, rows, case, released):
    """Return what can be seen without judging: columns, lines, counts, and names that got out."""
    found = []
    if len(set(header)) != len(header):
        found.append("a column stands twice")
    for name, about in case["columns"].items():
        if about["role"] in ("identifying", "person") and name in header:
            found.append("a column that names people was released")
    found += ["a record has more or fewer fields than the header"] * any(
        len(row.pop("", header)) != len(header) for row in rows
    )
    if released is not None and len(rows) != released:
        found.append(f"{len(rows)} records can be read where {released} were released")
    found += ["an identifying value got out"] * any(
        secret.encode() in content for secret in case.get("secrets", ())
    )
    return found


def name_persons(rows, who, case):
    """Give each record its person; return what is wrong with who is said to stand behind them."""
    if len(who) != len(rows):
        return [f"{len(who)} persons are named for {len(rows)} records"]
    kept = [name for name, about in case["columns"].items() if about["role"] == "sensitive"]
    for row, name in zip(rows, who, strict=True):
        row[WHO] = person_of(name, case)
    seen = Counter((row[WHO], *(plain(row.get(name)) for name in kept)) for row in rows)
    there = Counter((person_of(name, case), *map(plain, rest)) for name, *rest in case["behind"])
    return ["a record stands behind a person who has no such record"] * bool(seen - there)


def person_of(text, case):
    """Return who is meant, as the eye reads it; None: nobody."""
    key = plain(text).strip("\ufeff\u200b")
    return None if key in case.get("missing", ()) or key.lower() in NOBODY else key


def plain(text):
    return unicodedata.normalize("NFC", text or "").strip()


def promise_of(case):
    """Return the promise with one model a sensitive column."""
    sensitive = [name for name, c in case["columns"].items() if c["role"] == "sensitive"]
    found = []
    for model in case["promise"]:
        if model["model"] == "k-anonymity" or model.get("column"):
            found.append(model)
        else:
            found += [{**model, "column": name} for name in sensitive]
    return found


def model_faults(model, groups, rows, quasi, case):
    """Return one line if a model is broken: how many classes, how many records."""
    words = ", ".join(f"{k}={v}" for k, v in model.items())
    try:
        holds = judge_of(model, groups, rows, quasi, case)
        broken = [len(members) for key, members in groups.items() if not holds(key, members)]
    except StrayError:
        return [f"{words}: a value has no place on the scale of its column"]
    except KeyError:
        return [f"{words}: its column was not released"]
    return [f"{words}: {len(broken)} classes, {sum(broken)} records"] if broken else []


def size(members):
    """Return how many persons there are; without persons, each record is one."""
    if not members or WHO not in members[0]:
        return len(members)
    return len({row[WHO] for row in members} - {None})


def judge_of(model, groups, rows, quasi, case):
    """Return the question that a model asks of a class."""
    name = model["model"]
    if name == "k-anonymity":
        return lambda key, members: size(members) >= model["k"]
    column = model["column"]
    about = case["columns"][column]
    scale = Scale([row[column] for row in rows], about, case.get("missing", ()))

    def pairs(members):
        if not members or WHO not in members[0]:
            return [(place, scale.key(row[column])) for place, row in enumerate(members)]
        named = {(row[WHO], scale.key(row[column])) for row in members}
        return [pair for pair in named if pair[0] is not None]

    def counts(members):
        """Return how often each value occurs: in records, or with different persons."""
        return Counter(value for _, value in pairs(members))

    def shares(members):
        return {value: Fraction(n, size(members)) for value, n in counts(members).items()}

    if name == "l-diversity" and model.get("kind", "distinct") == "distinct":
        return lambda key, members: matched(pairs(members)) >= model["l"]
    if name == "l-diversity":
        return lambda key, members: is_diverse(counts(members), model)
    if name == "(alpha,k)-anonymity":
        share = Fraction(repr(model["alpha"]))
        return lambda key, members: (
            size(members) >= model["k"] and max(shares(members).values()) <= share
        )
    if name in ("beta-likeness", "delta-disclosure"):
        base = shares(rows)
        return lambda key, members: gains(shares(members), base, model)
    most = Fraction(repr(model["t"])) + SLACK
    how = model.get("distance", "equal")
    whole = counts(rows)
    if name == "t-closeness":
        return lambda key, members: scale.distance(how, counts(members), whole) <= most

    def is_close_to_some(key, members):
        mine = counts(members)
        return any(
            size(wider) >= model["n"] and scale.distance(how, mine, counts(wider)) <= most
            for wider in around(key, members, rows, quasi)
        )

    assert name == "(n,t)-closeness", name
    return is_close_to_some


def around(key, members, rows, quasi):
    """Yield the class, and the records that agree with it on some of the columns."""
    yield members
    for size in range(len(quasi) - 1, -1, -1):
        for kept in combinations(range(len(quasi)), size):
            yield [row for row in rows if all(row[quasi[i]] == key[i] for i in kept)]


def gains(shares, base, model):
    """Say whether no value gains too much; of delta-disclosure, or loses too much."""
    if model["model"] == "beta-likeness":
        beta = Fraction(repr(model["beta"]))
        return all(
            share / base[value] - 1
            <= (min(beta, Fraction(-math.log(base[value]))) if model.get("enhanced") else beta)
            + SLACK
            for value, share in shares.items()
        )
    return all(
        value in shares and abs(math.log(shares[value] / share)) < model["delta"] + 1e-9
        for value, share in base.items()
    )


def matched(pairs):
    """Return how many values can be given to different persons who have them (augmenting paths)."""
    values = {}
    for person, value in pairs:
        values.setdefault(value, []).append(person)
    owner = {}

    def give(value, tried):
        for person in values[value]:
            if person not in tried:
                tried.add(person)
                if person not in owner or give(owner[person], tried):
                    owner[person] = value
                    return True
        return False

    return sum(give(value, set()) for value in values)


def is_diverse(counts, model):
    sizes = sorted(counts.values(), reverse=True)
    kind, least = model["kind"], model["l"]
    if not sizes:
        return False
    if kind == "entropy":
        total = sum(sizes)
        entropy = -math.fsum(n / total * math.log(n / total) for n in sizes)
        return entropy >= math.log(least) - 1e-9
    if len(sizes) < least:
        return False
    return sizes[0] < Fraction(repr(model["c"])) * sum(sizes[least - 1 :])


class Scale:
    """The values of one sensitive column: which are equal, their order, how far apart they are."""

    def __init__(self, texts, about, marks):
        self.kind, self.order = about.get("kind"), about.get("order")
        self.tree = about.get("tree")
        self.marks = {"", *(mark.strip() for mark in marks)}
        places = [self.key(text) for text in texts]
        places += [(1, place) for place in range(len(self.order or ()))]
        self.line = {key: place for place, key in enumerate(sorted(set(places)))}

    def key(self, text):
        """Return what a text means, so that equal meanings are equal and sort by the order."""
        value = plain(text)
        if value in self.marks:
            return (0,)
        if self.kind == "numeric":
            if not NUMBER.fullmatch(value):
                raise StrayError
            return (1, Fraction(value))
        if self.kind == "date":
            return (1, moment(value))
        if self.kind == "ordinal" and self.order:
            if value not in self.order:
                raise StrayError
            return (1, self.order.index(value))
        return (1, value)

    def distance(self, how, one, other):
        if not one:  # a class of nobody: nothing can be said of it, so it is not close
            return Fraction(2)
        p = {key: Fraction(n, sum(one.values())) for key, n in one.items()}
        q = {key: Fraction(n, sum(other.values())) for key, n in other.items()}
        apart = {key: p.get(key, Fraction(0)) - q.get(key, Fraction(0)) for key in {*p, *q}}
        if how == "equal":
            return sum(map(abs, apart.values())) / 2
        if how == "chi2":
            both = {key: p.get(key, 0) + q.get(key, 0) for key in apart}
            return sum(d * d / both[key] for key, d in apart.items()) / 2
        if how == ORDERED:
            carried = total = Fraction(0)
            for key in self.line:  # from low to high
                carried += apart.get(key, 0)
                total += abs(carried)
            return total / max(len(self.line) - 1, 1)
        return self.in_tree({key[1] if len(key) > 1 else None: d for key, d in apart.items()})

    def in_tree(self, apart):
        """Return the work of moving what is too much to where it is missing, within a tree.

        What can be settled below a node is settled there; each step costs the node's height.
        A value that is itself an inner node lies below that node, as a leaf of its own would.
        """
        top = height(self.tree["*"])
        unknown = [value for value in apart if value is not None and value not in flat(self.tree)]
        if unknown:
            raise StrayError

        def settle(label, below):
            extras, cost = [apart.get(label, Fraction(0))] if below else [], Fraction(0)
            if not below:
                return apart.get(label, Fraction(0)), Fraction(0)
            for child, deeper in below.items():
                extra, work = settle(child, deeper)
                extras.append(extra)
                cost += work
            if label == "*":
                extras.append(apart.get(None, Fraction(0)))
            gain = sum(x for x in extras if x > 0)
            loss = -sum(x for x in extras if x < 0)
            return gain - loss, cost + Fraction(height(below), top) * min(gain, loss)

        return settle("*", self.tree["*"])[1]


def moment(text):
    if not DATE.fullmatch(text):
        raise StrayError
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise StrayError from None


def flat(tree):
    """Return every label of a tree: {label: {label: …}}."""
    found = set()
    for label, below in tree.items():
        found |= {label} | flat(below)
    return found


def height(below):
    return 1 + max(map(height, below.values())) if below else 0
