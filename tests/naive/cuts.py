"""`bestcut` and the accounts of `refine` in plain Python: every column, every position.

A table is a list of tuples of codes with their counts; a part is a list of rows.
"""

from __future__ import annotations

from tests.naive.clustering import Losses


def bestcut(data, counts, k, *, domains, holds=None, with_pairs=True):
    """Return the classes as lists of rows, in the order in which they are cut.

    holds: says of a list of rows whether it keeps the rest of the promise.
    with_pairs: where no cut gains much, cut where most pairs are separated.
    """
    losses = Losses(domains)
    few = sorted(range(len(domains)), key=lambda j: (len(domains[j].labels), -j))

    def sorted_by(j, part):
        """Return the rows by column j; equal ones by the others, those with few values first."""
        return sorted(part, key=lambda r: (data[r][j], [data[r][c] for c in few], r))

    def loss(rows):
        return sum(counts[r] for r in rows) * losses.box([data[r] for r in rows])

    def allowed(rows):
        return sum(counts[r] for r in rows) >= k and (holds is None or holds(rows))

    def cut(part):
        if sum(counts[r] for r in part) < 2 * k:
            return [part]
        best = None
        for j in range(len(domains)):
            order = sorted_by(j, part)
            for first, last in positions(order, j):
                inside = sorted(order[first:last])
                outside = sorted(order[:first] + order[last:])
                total = loss(inside) + loss(outside)
                better = best is None or total < best[0]
                if better and allowed(inside) and allowed(outside):
                    best = total, inside, outside
        if looks_blind(part, best):
            best = by_pairs(part) or best
        return [part] if best is None else cut(best[1]) + cut(best[2])

    def looks_blind(part, best):
        """Say whether a part of 8 k records or more gains less than a tenth by its best cut."""
        if not with_pairs or sum(counts[r] for r in part) < 8 * k:
            return False
        return best is None or (loss(part) - best[0]) * 10 < loss(part)

    def by_pairs(part):
        """Return the cut that separates most pairs of records, weighed by how far apart."""
        whole = sum(counts[r] for r in part)
        best = None
        for j in range(len(domains)):
            order = sorted_by(j, part)
            codes = [data[r][j] for r in order]
            for i in range(1, len(order)):
                if codes[i] == codes[i - 1]:
                    continue
                left = sum(counts[r] for r in order[:i])
                if domains[j].tree is None:
                    apart = losses.column(j, codes)
                else:
                    apart = 2 * losses.column(j, codes[i - 1 : i + 1])
                weight = left * (whole - left) * apart
                better = weight > (0 if best is None else best[0])
                if better and allowed(order[:i]) and allowed(order[i:]):
                    best = weight, sorted(order[:i]), sorted(order[i:])
        return best

    def positions(order, j):
        """Yield all cuts of a sorted part: positions, then subtrees in the middle."""
        codes = sorted({data[r][j] for r in order})
        if len(codes) == 1:
            return
        for i in range(1, len(order)):
            yield 0, i
        if domains[j].tree is None:
            return
        for a in range(1, len(codes) - 1):
            for b in range(a, len(codes) - 1):
                height = losses.column(j, codes[a : b + 1])
                wider = losses.column(j, codes[a - 1 : b + 1]), losses.column(j, codes[a : b + 2])
                if min(wider) > height:
                    inside = [i for i, r in enumerate(order) if codes[a] <= data[r][j] <= codes[b]]
                    yield inside[0], inside[-1] + 1

    return cut(list(range(len(data))))


def total_loss(data, counts, label, *, domains):
    """Return the loss of a clustering, cluster by cluster."""
    losses = Losses(domains)
    total = 0
    for group in set(label):
        rows = [i for i, mine in enumerate(label) if mine == group]
        total += sum(counts[i] for i in rows) * losses.box([data[i] for i in rows])
    return total


def least_loss(data, k, *, domains):
    """Return the least loss of all clusterings of some records, every one of them tried."""
    losses = Losses(domains)
    best = None
    for clusters in partitions(len(data)):
        if min(len(cluster) for cluster in clusters) >= k:
            total = sum(losses.loss([data[i] for i in cluster]) for cluster in clusters)
            best = total if best is None else min(best, total)
    return best


def partitions(n):
    """Yield every way to put n records into clusters."""
    if n == 0:
        yield []
        return
    for smaller in partitions(n - 1):
        yield [*smaller, [n - 1]]
        for i in range(len(smaller)):
            yield [*smaller[:i], [*smaller[i], n - 1], *smaller[i + 1 :]]
