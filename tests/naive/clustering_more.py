"""Twins of k-member with all clusters at once, threshold clustering and C-means, in plain Python.

Losses are whole numbers as in `tests.naive.clustering`.
"""

from __future__ import annotations

import numpy as np
from tests.naive.clustering import SCALE, Losses, majority


class Parallel:
    """[netshiunda2020], Algorithm 2 and the functions of Figure 3.1, record by record.

    data: the codes of each record; kinds: its class. Records with the same of both are copies;
    they lie behind each other. Two things are not in the figure: k copies are a cluster of their
    own, and seeds are chosen among such first; of copies each cluster that names them gets
    another one.
    """

    def __init__(self, data, kinds, k, *, domains, penalty=0):
        self.data, self.kinds, self.k, self.penalty = data, kinds, k, penalty
        self.losses = Losses(domains)

    def copies(self, r, among):
        return [x for x in among if (self.data[x], self.kinds[x]) == (self.data[r], self.kinds[r])]

    def information_loss(self, cluster, r, major):
        together = [self.data[m] for m in [*cluster, r]]
        is_odd = self.kinds[r] != major
        return self.losses.loss(together) + self.losses.class_penalty(
            together, self.penalty, is_odd=is_odd
        )

    def major(self, cluster):
        return majority([self.kinds[m] for m in cluster])

    def find_records(self, groups, number, first):
        """find_Nc_records: clusters of a seed, or of k copies; the groups keep what is left."""
        clusters, seeds, need = [], [], self.k
        while len(seeds) < number:
            rec = first
            if seeds:
                rec, furthest = None, -1
                for group in groups:  # one record a group
                    able = [r for r in group if len(self.copies(r, group)) >= need]
                    if able:
                        gap = sum(
                            self.losses.distance(self.data[able[0]], self.data[s]) for s in seeds
                        )
                        if gap > furthest:
                            rec, furthest = able[0], gap
                if rec is None:
                    need = 1
                    continue
            group = next(g for g in groups if rec in g)
            copies = [rec, *(x for x in self.copies(rec, group) if x != rec)]
            cluster = copies[: self.k] if len(copies) >= self.k else [rec]
            for x in cluster:
                group.remove(x)
            seeds.append(rec)
            clusters.append(cluster)
        return clusters

    def find_and_append_best_records(self, left, clusters):
        """Every cluster below k names its best record; each record is given out once."""
        best = []
        for c in clusters:
            if len(c) < self.k:
                major = self.major(c)
                r = min(left, key=lambda r: (self.information_loss(c, r, major), r))
                growth = self.information_loss(c, r, major) - self.losses.loss(
                    [self.data[m] for m in c]
                )
                best.append((growth, len(best), c, r))
        for _, _, c, r in sorted(best):  # unique pairs along the second coordinate
            if copies := self.copies(r, left):
                c.append(copies[0])
                left.remove(copies[0])

    def find_best_clusters(self, left, clusters):
        """All leftovers at once: each goes where IL(c ∪ r) is least."""
        majors = [self.major(c) for c in clusters]
        best = []
        for r in left:
            losses = [self.information_loss(c, r, m) for c, m in zip(clusters, majors, strict=True)]
            best.append(losses.index(min(losses)))
        return best

    def clusters(self, groups, first):
        """Algorithm 2, lines 1 to 26."""
        if len(self.data) < self.k:
            return [list(range(len(self.data)))]
        clusters = self.find_records(groups, len(self.data) // self.k, first)
        left = sorted(r for group in groups for r in group)
        while left and any(len(c) < self.k for c in clusters):
            self.find_and_append_best_records(left, clusters)
        for r, number in zip(left, self.find_best_clusters(left, clusters), strict=True):
            clusters[number].append(r)
        return clusters


def threshold(table, *, limit, order):
    """[netshiunda2020], definitions 1 and 2: grow a cluster until its diversity would exceed.

    A column counts by its weight, the heaviest quasi-identifier 1.
    """
    domains = [*table.domains, *table.sensitive_domains]
    rows = [tuple(map(int, (*a, *b))) for a, b in zip(table.codes, table.sensitive, strict=True)]

    def attribute_diversity(j, members):
        domain = domains[j]
        unit = SCALE * domain.weight / max(d.weight for d in table.domains)
        values = [rows[m][j] for m in members]
        if domain.tree is None and not domain.has_missing and domain.span > 0:
            start = domain.position[0]
            at = [int(np.rint((domain.position[v] - start) / domain.span * unit)) for v in values]
            return max(at) - min(at)
        return len(set(values)) * max(int(unit / len(domain)), 1)

    def records_diversity(members, columns):
        return sum(attribute_diversity(j, members) for j in columns)

    quasi = range(len(table.domains))
    sensitive = range(len(table.domains), len(domains))
    left = list(range(len(rows)))
    clusters = []
    for seed in order:
        if seed not in left:
            continue
        cluster = [int(seed)]
        left.remove(seed)
        while True:
            useful = {r: records_diversity([*cluster, r], quasi) for r in left}
            within = [r for r in left if useful[r] <= limit]
            if not within:
                break
            best = min(
                within, key=lambda r: (useful[r] - records_diversity([*cluster, r], sensitive), r)
            )
            cluster.append(best)
            left.remove(best)
        clusters.append(cluster)
    return clusters


def wfcm(table, k, *, seed, iterations):
    """Chiu and Tsai as the seeds tell it: seeds, nearest centroids, new weights, again."""
    domains, counts = table.domains, [int(c) for c in table.counts]
    losses = Losses(domains)
    rows = [tuple(map(int, codes)) for codes in table.codes]
    records = [r for r, count in enumerate(counts) for _ in range(count)]
    number = max(len(records) // k, 1)
    drawn = np.random.default_rng(seed).choice(len(records), number, replace=False)
    columns = range(len(domains))

    def place(j, code):
        domain = domains[j]
        if domain.tree is not None or (domain.has_missing and code == 0):
            return 0
        first = domain.position[1 if domain.has_missing else 0]
        return int(np.rint((domain.position[code] - first) / (domain.span or 1.0) * SCALE))

    seeds = sorted({records[int(d)] for d in drawn})
    centroids = [[(place(j, rows[s][j]), rows[s][j]) for j in columns] for s in seeds]
    weights = [1024] * len(domains)
    clusters = None
    for _ in range(iterations):
        found = [[] for _ in centroids]
        for r, row in enumerate(rows):
            gaps = []
            for centroid in centroids:
                total = 0
                for j, (mean, mode) in enumerate(centroid):
                    domain = domains[j]
                    absent = domain.has_missing and min(row[j], mode) == 0
                    if domain.tree is not None or absent:
                        total += weights[j] * losses.column(j, [row[j], mode])
                    else:
                        total += weights[j] * abs(place(j, row[j]) - mean)
                gaps.append(total)
            found[gaps.index(min(gaps))].append(r)
        found = [cluster for cluster in found if cluster]
        if found == clusters:
            break
        clusters = found
        centroids = [
            [(_mean(j, c, rows, counts, place), _mode(j, c, rows, counts)) for j in columns]
            for c in clusters
        ]
        weights = _weights(clusters, rows, counts, domains)
    return clusters


def filled(table, clusters, k):
    """Clusters of rows as lists of records' rows, each of at least k records (or only one).

    The smallest cluster below k joins the nearest; where both have 2k records together, it
    only takes the records it misses, each the nearest to what it holds by then.
    """
    losses = Losses(table.domains)
    codes = [tuple(map(int, row)) for row in table.codes]
    found = {
        number: [r for r in cluster for _ in range(int(table.counts[r]))]
        for number, cluster in enumerate(clusters)
    }

    def box(rows):
        return losses.box([codes[r] for r in rows])

    while len(found) > 1:
        a = min(found, key=lambda c: (len(found[c]), c))
        if len(found[a]) >= k:
            break

        def gap(b, a=a):
            moved = len(found[b])
            if len(found[a]) + moved >= 2 * k:
                moved = k - len(found[a])
            both = box(found[a] + found[b])
            own = len(found[a]) * (both - box(found[a]))
            return own + moved * (both - box(found[b])), b

        b = min((c for c in found if c != a), key=gap)
        if len(found[a]) + len(found[b]) < 2 * k:
            found[a] += found.pop(b)
            continue
        while len(found[a]) < k:
            nearest = min(found[b], key=lambda r, a=a: (box([*found[a], r]), r))
            found[b].remove(nearest)
            found[a].append(nearest)
    return sorted(sorted(rows) for rows in found.values())


def _mean(j, cluster, rows, counts, place):
    total = sum(counts[r] * place(j, rows[r][j]) for r in cluster)
    return int(total / sum(counts[r] for r in cluster))


def _mode(j, cluster, rows, counts):
    tally = {}
    for r in cluster:
        tally[rows[r][j]] = tally.get(rows[r][j], 0) + counts[r]
    return min(tally, key=lambda code: (-tally[code], code))


def _weights(clusters, rows, counts, domains):
    lost = []
    for j, domain in enumerate(domains):
        total = 0.0
        for cluster in clusters:
            codes = [rows[r][j] for r in cluster]
            total += domain.cost(min(codes), max(codes)) * sum(counts[r] for r in cluster)
        lost.append(total / sum(counts))
    inverse = [1 / (x + 0.1) for x in lost]
    mean = np.mean(inverse)
    return [max(int(np.rint(x / mean * 1024)), 1) for x in inverse]
