"""The papers' clustering algorithms in plain Python, record by record, line by line.

Losses are whole numbers of 1 / 2**20 of a column, as the kernels count them, so that ties
are ties. A table is a list of tuples of codes, sorted; a record is its place in that list.
"""

from __future__ import annotations

import numpy as np

SCALE = 1 << 20


class Losses:
    """Loss of a set of codes, from the domains' own cost function, or by weighted steps."""

    def __init__(self, domains, weight=None):
        self.domains = domains
        self.weight = weight  # of the step from level i to i - 1, the root being level 1

    def generalized(self, tree, node):
        """[netshiunda2020], definition 5: WHD(p, q) from the lowest level p = h up to a node's."""
        h = tree.height + 1
        q = h - tree.heights[node]
        whole = sum(self.weight(i, h) for i in range(2, h + 1))
        return sum(self.weight(i, h) for i in range(q + 1, h + 1)) / whole if whole else 0.0

    def column(self, j, codes):
        domain = self.domains[j]
        low, high = min(codes), max(codes)
        if domain.tree is None and not (domain.has_missing and low == 0):
            first = domain.position[1 if domain.has_missing else 0]
            span = domain.span or 1.0
            at = [int(np.rint((domain.position[c] - first) / span * SCALE)) for c in (low, high)]
            return at[1] - at[0]
        if domain.tree is not None and self.weight is not None:
            node = domain.tree.lca((int(domain.position[low]), int(domain.position[high])))
            return int(np.rint(self.generalized(domain.tree, node) * SCALE))
        return int(np.rint(domain.cost(low, high) * SCALE))

    def box(self, records):
        return sum(self.column(j, column) for j, column in enumerate(zip(*records, strict=True)))

    def loss(self, records):
        return len(records) * self.box(records) if records else 0

    def distance(self, a, b):
        return self.box([a, b])

    def class_penalty(self, records, penalty, *, is_odd):
        """[netshiunda2020], 3.6.3: not the majority's value, or the cluster would be suppressed."""
        is_suppressed = all(
            self.column(j, column) == SCALE for j, column in enumerate(zip(*records, strict=True))
        )
        return penalty if is_odd or is_suppressed else 0


def kmember(data, rows, k, *, domains, seed, target=None, penalty=0):
    """Return clusters as lists of records. rows: the table row of each record."""
    losses = Losses(domains)
    chance = np.random.default_rng(seed)
    left = list(range(len(data)))
    point = data[int(chance.integers(len(data)))]
    clusters = []
    while len(left) >= k:
        gaps = {r: losses.distance(point, data[r]) for r in left}
        furthest = max(gaps.values())
        r = [r for r in left if gaps[r] == furthest][-1]
        point = data[r]
        cluster = [r]
        left.remove(r)
        while len(cluster) < k:
            last = rows[cluster[-1]]

            def key(r, cluster=cluster, last=last):
                grown = [data[m] for m in [*cluster, r]]
                loss = losses.loss(grown)
                if target is not None:
                    is_odd = target[r] != majority([target[m] for m in cluster])
                    loss += losses.class_penalty(grown, penalty, is_odd=is_odd)
                return loss, rows[r] != last, -rows[r], r

            best = min(left, key=key)
            cluster.append(best)
            left.remove(best)
        clusters.append(cluster)
    order = [left[i] for i in chance.permutation(len(left))]
    if not clusters:
        return [order]
    majors = None
    if target is not None:
        majors = [majority([target[m] for m in cluster]) for cluster in clusters]
    for r in order:
        growth = []
        for number, cluster in enumerate(clusters):
            together = [data[m] for m in [*cluster, r]]
            grown = losses.loss(together) - losses.loss([data[m] for m in cluster])
            if majors is not None:
                is_odd = target[r] != majors[number]
                grown += losses.class_penalty(together, penalty, is_odd=is_odd)
            growth.append(grown)
        clusters[growth.index(min(growth))].append(r)
    return clusters


def majority(values):
    """Return the commonest value, the lowest of equals."""
    return max(sorted(set(values)), key=values.count)


def places(domains, data):
    """Return scaled positions on the lines, None in trees and for missing values."""
    found = []
    for record in data:
        row = []
        for domain, code in zip(domains, record, strict=True):
            if domain.tree is not None or (domain.has_missing and code == 0):
                row.append(None)
                continue
            first = domain.position[1 if domain.has_missing else 0]
            row.append(int(np.rint((domain.position[code] - first) / (domain.span or 1.0) * SCALE)))
        found.append(row)
    return found


def oka(data, rows, k, *, domains, seed):
    """Return clusters as lists of records ([lin2008], Figures 1 and 2)."""
    losses = Losses(domains)
    at = places(domains, data)
    chance = np.random.default_rng(seed)
    n = len(data)
    seeds = sorted(int(s) for s in chance.choice(n, max(n // k, 1), replace=False))
    clusters = [[s] for s in seeds]

    def distance(r, cluster):
        """Size of the cluster times the distance from its centroid."""
        total = 0
        for j, domain in enumerate(domains):
            if domain.tree is not None:
                values = [data[m][j] for m in cluster] + [data[r][j]]
                total += len(cluster) * losses.column(j, values)
                continue
            inside = [at[m][j] for m in cluster]
            if at[r][j] is None or None in inside:
                if at[r][j] is not None or any(x is not None for x in inside):
                    total += len(cluster) * SCALE
                continue
            total += abs(len(cluster) * at[r][j] - sum(inside))
        return total

    left = [r for r in range(n) if r not in seeds]
    while left:
        copies = [r for r in left if data[r] == data[left[0]]]  # equal records go together
        gaps = [distance(left[0], cluster) for cluster in clusters]
        clusters[gaps.index(min(gaps))].extend(copies)
        left = [r for r in left if r not in copies]
    free = []
    for cluster in clusters:
        cluster.sort()
        gaps = {r: _own_gap(r, cluster, domains, at) for r in cluster}
        ordered = sorted(cluster, key=lambda r: (gaps[r], r))
        free += ordered[k:]
        cluster[:] = ordered[:k]
    free.sort()
    for r in [free[i] for i in chance.permutation(len(free))]:
        small = [c for c in clusters if len(c) < k] or clusters
        gaps = [distance(r, cluster) for cluster in small]
        small[gaps.index(min(gaps))].append(r)
    return clusters


def _own_gap(r, cluster, domains, at):
    total = 0
    for j, domain in enumerate(domains):
        if domain.tree is not None:
            continue
        inside = [at[m][j] for m in cluster]
        if None in inside:
            if any(x is not None for x in inside):
                total += len(cluster) * SCALE
            continue
        total += abs(len(cluster) * at[r][j] - sum(inside))
    return total


def height_weight(beta):
    """[netshiunda2020]: the weight of the step from level i to i - 1, by its formula."""
    return lambda i, h: 1 / (i - 1) ** beta


def example_weight(beta):
    """The same as its worked example has it: the step next to the values, from h, is the first."""
    return lambda i, h: 1 / (h - i + 1) ** beta


def kaca(data, k, *, domains, weight=None):
    """Return clusters as lists of records; without a weight all steps of a tree are alike."""
    losses = Losses(domains, weight)
    classes = {}
    for r, record in enumerate(data):
        classes.setdefault(record, []).append(r)
    clusters = {i: list(members) for i, members in enumerate(classes.values())}
    boxes = {i: [data[m] for m in members] for i, members in clusters.items()}
    while len(clusters) > 1:
        a = min(clusters, key=lambda c: (len(clusters[c]), c))
        if len(clusters[a]) >= k:
            break

        def gap(b, a=a):
            both = losses.box(boxes[a] + boxes[b])
            records = len(clusters[b])
            if len(clusters[a]) + records >= 2 * k:
                records = k - len(clusters[a])
            own = len(clusters[a]) * (both - losses.box(boxes[a]))
            return own + records * (both - losses.box(boxes[b])), b

        b = min((c for c in clusters if c != a), key=gap)
        take = len(clusters[b])
        if len(clusters[a]) + take >= 2 * k:
            take = k - len(clusters[a])
        boxes[a] = boxes[a] + boxes[b]
        for _ in range(take):  # the paper does not say which: those that came last
            clusters[a].append(clusters[b].pop())
        if not clusters[b]:
            del clusters[b]
    return list(clusters.values())


def merge_failing(boxes, sizes, holds, *, domains, budget, short=None):
    """Return for each cluster the one that it becomes part of, -1 if it is suppressed.

    boxes: the records' codes of each cluster; holds: says of a list of clusters whether they
    keep the promise together. short: how far they are from it; None: k alone is promised, and
    the merger that loses least is the best, not the one that loses least for what it mends.
    """
    losses = Losses(domains)
    members = {c: [c] for c in range(len(boxes))}
    parent = list(range(len(boxes)))

    def loss(clusters):
        records = [record for c in clusters for record in boxes[c]]
        return sum(sizes[c] for c in clusters) * losses.box(records)

    full = sum(losses.column(j, range(len(domain))) for j, domain in enumerate(domains))
    while wanting := [c for c in members if not holds(members[c])]:
        plans = []
        for a in sorted(wanting):
            lost = sum(sizes[c] for c in members[a]) * full - loss(members[a])
            ways = []
            for b in sorted(set(members) - {a}):
                both = members[a] + members[b]
                growth = loss(both) - loss(members[a]) - loss(members[b])
                price = 0.0
                if short is not None:
                    mended = short(members[a]) + short(members[b]) - short(both)
                    price = (growth + 1) / mended if mended > 0 else float("inf")
                ways.append((price, growth if price in (0, float("inf")) else 0, b, growth))
            price, _, b, growth = min(ways, default=(0.0, 0, None, lost))
            plans.append((price, growth, a, b, lost))
        touched = set()
        for _, growth, a, b, lost in sorted(plans, key=lambda plan: plan[:3]):
            size = sum(sizes[c] for c in members.get(a, []))
            if a in touched:
                continue
            if b is None or (lost < growth and size <= budget):
                budget -= size
                for c in members.pop(a):
                    parent[c] = -1
                touched.add(a)
            elif b not in touched:
                members[a] += members.pop(b)
                for c in members[a]:
                    parent[c] = a
                touched |= {a, b}
    return parent
