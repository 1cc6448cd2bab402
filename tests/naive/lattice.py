"""Brute force over a whole lattice, in plain Python, straight from the definitions."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import product

from shoal.privacy import EquivalenceClass, Reference


def leaves_below(tree, node):
    children = defaultdict(list)
    for child, parent in enumerate(tree.parents):
        children[parent].append(child)
    if not children[node]:
        return 1
    return sum(leaves_below(tree, child) for child in children[node])


def height_of(tree, node):
    below = [child for child, parent in enumerate(tree.parents) if parent == node]
    return 1 + max(height_of(tree, child) for child in below) if below else 0


class Column:
    """One quasi-identifier: a hierarchy and the node of each code."""

    def __init__(self, tree, nodes, weight):
        self.tree, self.nodes, self.weight = tree, nodes, weight
        self.table = tree.level_table()
        self.height = len(self.table) - 1

    def released(self, code, level):
        return self.table[level][self.nodes[code]]


class Naive:
    """A table as a list of records: (codes, sensitive codes), one entry a record."""

    def __init__(self, columns, records, *, sensitive, models, limit):
        self.columns, self.records, self.sensitive = columns, records, sensitive
        self.models = models
        self.n = len(records)
        self.are_left = False  # the records are those that suppression has left
        # The share is meant as a decimal: 0.29 of 100 is 29.
        self.budget = min(math.floor(round(limit * self.n, 6)), self.n - 1)

    def nodes(self):
        return product(*(range(column.height + 1) for column in self.columns))

    def classes(self, node):
        found = defaultdict(list)
        for record in self.records:
            key = tuple(
                column.released(code, level)
                for column, code, level in zip(self.columns, record[0], node, strict=True)
            )
            found[key].append(record)
        return found

    def holds(self, members):
        return all(self._keeps(model, members) for model in self.models)

    def _keeps(self, model, members):
        if model.column is None:
            return model.holds(EquivalenceClass(len(members)))
        s = [domain.name for domain in self.sensitive].index(model.column)
        size = len(self.sensitive[s])
        mine, whole = [0] * size, [0] * size
        for record in members:
            mine[record[1][s]] += 1
        for record in self.records:
            whole[record[1][s]] += 1
        # Whoever judges the records that are left knows no value that only others had.
        there = [value for value in range(size) if whole[value] or not self.are_left]
        tree = {}
        if self.sensitive[s].tree is not None:
            tree = {
                "parents": self.sensitive[s].tree.parents,
                "heights": self.sensitive[s].tree.heights,
                "node_of_value": [int(self.sensitive[s].position[value]) for value in there],
            }
        labels = [self.sensitive[s].labels[value] for value in there]
        reference = Reference([whole[value] for value in there], values=labels, **tree)
        own = [mine[value] for value in there]
        return model.holds(EquivalenceClass(len(members), own, reference=reference))

    def split(self, node):
        """Return published classes and suppressed records (with their generalized values)."""
        published, suppressed = {}, []
        for key, members in self.classes(node).items():
            if self.holds(members):
                published[key] = members
            else:
                suppressed += [(key, record) for record in members]
        return published, suppressed

    def repaired(self, node):
        """Split as `split`, then judge the kept classes against the kept records alone."""
        published, suppressed = self.split(node)
        whole = self.records
        while suppressed:
            self.records = [record for members in published.values() for record in members]
            self.are_left = True
            failing = [key for key, members in published.items() if not self.holds(members)]
            self.records, self.are_left = whole, False
            if not failing:
                break
            for key in failing:
                suppressed = suppressed + [(key, record) for record in published.pop(key)]
        return published, suppressed

    def repaired_solutions(self):
        found = {node: self.repaired(node) for node in self.nodes()}
        return {node: parts for node, parts in found.items() if len(parts[1]) <= self.budget}

    def solutions(self):
        found = {}
        for node in self.nodes():
            published, suppressed = self.split(node)
            if len(suppressed) <= self.budget:
                found[node] = (published, suppressed)
        return found

    def value(self, name, node, published, suppressed, *, aggregate="geometric"):
        n, f = self.n, len(suppressed)
        sizes = [len(members) for members in published.values()]
        if name == "dm":
            return sum(size**2 for size in sizes) + n * f
        if name == "aecs":
            return n / max(len(sizes) + (1 if f else 0), 1)
        if name == "class-entropy":
            shares = [size / n for size in [*sizes, f] if size]
            return math.log2(n) + sum(share * math.log2(share) for share in shares)
        weights = [column.weight for column in self.columns]
        parts = [
            self._column(name, j, node, published, suppressed) for j in range(len(self.columns))
        ]
        if name in ("precision-loss", "ncp") or (name, aggregate) == ("loss", "arithmetic"):
            return sum(w * x for w, x in zip(weights, parts, strict=True)) / sum(weights)
        if name == "loss" and aggregate == "max":
            return max(w * x for w, x in zip(weights, parts, strict=True)) / max(weights)
        if name == "loss":
            total = sum(weights)
            return (
                math.prod((1 + x) ** (w / total) for w, x in zip(weights, parts, strict=True)) - 1
            )
        scale = len(weights) / sum(weights)
        return sum(scale * w * x for w, x in zip(weights, parts, strict=True))

    def _column(self, name, j, node, published, suppressed):
        n, f, column, tree = self.n, len(suppressed), self.columns[j], self.columns[j].tree
        cells = [key[j] for key, members in published.items() for _ in members]
        if name == "loss":
            leaves = leaves_below(tree, tree.root)
            paid = sum(leaves_below(tree, cell) / leaves for cell in cells) + f
            least = n / leaves
            return max((paid - least) / (n - least), 0.0) if n > least else 0.0
        if name == "ncp":
            return (sum(height_of(tree, c) / max(tree.height, 1) for c in cells) + f) / n
        if name == "level-sum":
            return node[j]
        if name in ("precision-loss", "height-utility"):
            return ((n - f) * node[j] / max(column.height, 1) + f) / n
        values = Counter(record[0][j] for record in self.records)
        general = Counter(column.released(record[0][j], node[j]) for record in self.records)
        total = -sum(
            a * math.log2(a / general[column.released(code, node[j])]) for code, a in values.items()
        )
        if name == "non-uniform-entropy" and f:
            gone = Counter(key[j] for key, _ in suppressed)
            total -= sum(s * math.log2(s / f) for s in gone.values())
        return total

    def best(self, name, *, aggregate="geometric", solutions=None):
        found = self.solutions() if solutions is None else solutions
        return min(
            (self.value(name, node, *parts, aggregate=aggregate) for node, parts in found.items()),
            default=None,
        )
