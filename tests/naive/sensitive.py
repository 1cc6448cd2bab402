"""What a sensitive column holds and how it is ordered: the slow, obvious twin.

It knows nothing of shoal. Facts about a column are plain data: kind, order, parents (label ->
parent, root None), built (how its hierarchy is built), marks of missing values, fold.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from datetime import UTC, datetime
from fractions import Fraction
from itertools import pairwise

from tests.naive import hierarchy, privacy

NUMBER = re.compile(r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,6})?")
UNSEEN_AT_THE_EDGE = "\ufeff\u200b\u200c\u200d\u2060\u200e\u200f"
MISSING = (0,)


class Refused(Exception):
    """The column has no scale that all of its values fit."""


def clean(text):
    """Trim and compose."""
    text = unicodedata.normalize("NFC", text)
    while text and (text[0].isspace() or text[0] in UNSEEN_AT_THE_EDGE):
        text = text[1:]
    while text and (text[-1].isspace() or text[-1] in UNSEEN_AT_THE_EDGE):
        text = text[:-1]
    return text


def loose(text):
    """Forget case, accents and spaces."""
    for _ in range(2):
        text = unicodedata.normalize("NFD", text).lower().casefold()
    letters = [c for c in text if unicodedata.category(c) != "Mn" and not c.isspace()]
    return unicodedata.normalize("NFC", "".join(letters))


def number(text):
    return Fraction(text) if NUMBER.fullmatch(text) else None


def moment(text):
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is None else found.astimezone(UTC)


class Space:
    """The values of a sensitive column, in their order and with their ground distances.

    ordered, climbed: what the promise measures by.
    """

    def __init__(self, texts, facts, *, ordered=False, climbed=False):
        self.facts = facts
        self.kind = facts.get("kind")
        self.marks = {self.plain(mark) for mark in ("", *facts.get("marks", ()))}
        self.order = list(dict.fromkeys(self.plain(step) for step in facts.get("order", ())))
        keys = {self.key(text) for text in texts}
        numbers = {key for key in keys if key[0] == 1}
        words = {key for key in keys if key[0] == 2}
        if ordered and self.kind is None and numbers and words:
            raise Refused
        if len({key[1].tzinfo is None for key in keys if key[0] == 3}) > 1:
            raise Refused
        # A declared order is the whole scale, whether or not each step of it occurs.
        keys |= {(4, place) for place in range(len(self.order))}
        present = keys - {MISSING}
        is_line = self.order or self.kind in ("numeric", "date")
        is_line = is_line or (self.kind is None and numbers and not words)
        self.parents = facts.get("parents")
        if "built" in facts and present:
            self.parents = facts["built"](sorted(key[1] for key in present))
        self.node = {}
        for label in [] if self.parents is None else post_order(self.parents):
            key = label if isinstance(label, tuple) else self.read(self.plain(label))
            if key in present:
                self.node.setdefault(key, label)
        needed = climbed or (not is_line and (ordered or self.kind == "ordinal"))
        if self.parents is not None and needed and len(self.node) < len(present):
            raise Refused
        self.keys = sorted(keys)
        if self.parents is not None and needed and not is_line:
            walk = post_order(self.parents)
            ranked = sorted(present, key=lambda key: walk.index(self.node[key]))
            self.keys = [*(keys & {MISSING}), *ranked]
        self.place = {key: place for place, key in enumerate(self.keys)}

    def plain(self, text):
        text = clean(text)
        if not self.facts.get("fold") or self.kind in ("numeric", "date"):
            return text
        short = loose(text)
        return text if self.kind is None and number(short) is not None else short

    def key(self, text):
        """What a text means, in a form that sorts: missing first."""
        if text is None:
            return MISSING
        text = self.plain(text)
        if text in self.marks:
            return MISSING
        found = self.read(text)
        if found is None:
            raise Refused
        return found

    def read(self, text):
        if self.order:
            return (4, self.order.index(text)) if text in self.order else None
        if self.kind == "date":
            found = moment(text)
            return None if found is None else (3, found)
        is_code = self.kind is None and re.match("0[0-9]", text)
        if self.kind in (None, "numeric") and not is_code and number(text) is not None:
            return (1, number(text))
        return None if self.kind == "numeric" else (2, text)

    def known(self, texts):
        """The values that some texts name; one that is none of the scale's names nothing."""
        for text in texts:
            found = self.read(self.plain(text))
            if found is not None and self.plain(text) not in self.marks:
                yield found

    def histogram(self, rows, column):
        found = Counter(self.place[self.key(row[column])] for row in rows)
        return [found[place] for place in range(len(self.place))]

    def distance(self, name, counts, reference):
        if name == "chi2":
            return privacy.chi_square(counts, reference)
        grounds = {
            "equal": privacy.equal_ground,
            "ordered": privacy.ordered_ground(len(self.place)),
            "hierarchical": self._ground,
        }
        return privacy.earth_movers_distance(counts, reference, grounds[name])

    def _ground(self, i, j):
        if i == j:
            return Fraction(0)
        one, two = self.node.get(self.keys[i]), self.node.get(self.keys[j])
        if one is None or two is None:  # a missing value is as far as can be
            return Fraction(1)
        root = next(label for label, above in self.parents.items() if above is None)
        meet = hierarchy.lca(self.parents, [one, two])
        return Fraction(hierarchy.height(self.parents, meet), hierarchy.height(self.parents, root))


def post_order(parents):
    def below(label):
        for child, above in parents.items():
            if above == label:
                yield from below(child)
        yield label

    root = next(label for label, above in parents.items() if above is None)
    return list(below(root))


def tree_of(rows):
    """The tree of rows value, level 1, …, root: children in the order of their appearance."""
    parents = {}
    for row in rows:
        for child, above in pairwise(row):
            if child != above:
                parents.setdefault(child, above)
    parents[rows[0][-1]] = None
    return parents


def by_width(width):
    """Numbers below the interval that they lie in."""
    return lambda values: tree_of([((1, v), f"{v // width} wide", "root") for v in values])


def by_month(values):
    """Dates below their month and year."""
    return tree_of([((3, v), f"{v:%Y month %m}", f"year {v:%Y}", "root") for v in values])


def masked(values):
    """Texts that lose a character more at each level, from the right."""
    longest = max(map(len, values))
    rows = []
    for value in values:
        full = value.ljust(longest, "*")
        steps = [full[: longest - lost] + "*" * lost for lost in range(1, longest)]
        rows.append(((2, value), *steps, "root"))
    return tree_of(rows)
