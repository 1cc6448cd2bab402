"""Slow, obvious twins of `privacy.distances` and `privacy`, straight from the definitions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise


def shares(counts):
    total = sum(counts)
    return [Fraction(count, total) for count in counts]


def earth_movers_distance(p, q, ground):
    """Cheapest way to turn p into q: a minimum cost flow by cheapest augmenting paths.

    p, q: counts. ground(i, j): cost of moving all mass from value i to value j.
    Places are ("from", i) and ("to", j); Bellman-Ford finds the next cheapest path.
    """
    supply = {i: share for i, share in enumerate(shares(p)) if share}
    demand = {j: share for j, share in enumerate(shares(q)) if share}
    flow = {(i, j): Fraction(0) for i in supply for j in demand}
    price = {(i, j): ground(i, j) for i, j in flow}
    while any(supply.values()):
        path = _cheapest_path(supply, demand, flow, price)
        room = [supply[path[0][1]], demand[path[-1][1]]]
        for tail, head in pairwise(path):
            if tail[0] == "to":  # undoing a flow is limited by that flow
                room.append(flow[head[1], tail[1]])
        moved = min(room)
        for tail, head in pairwise(path):
            if tail[0] == "from":
                flow[tail[1], head[1]] += moved
            else:
                flow[head[1], tail[1]] -= moved
        supply[path[0][1]] -= moved
        demand[path[-1][1]] -= moved
    return sum(mass * price[pair] for pair, mass in flow.items())


def _cheapest_path(supply, demand, flow, price):
    cost = {("from", i): Fraction(0) for i, left in supply.items() if left}
    before = {}
    settled = False
    while not settled:
        settled = True
        for (i, j), mass in flow.items():
            edges = [(("from", i), ("to", j), price[i, j])]
            if mass:
                edges.append((("to", j), ("from", i), -price[i, j]))
            for tail, head, step in edges:
                if tail in cost and (head not in cost or cost[tail] + step < cost[head]):
                    cost[head] = cost[tail] + step
                    before[head] = tail
                    settled = False
    ends = [("to", j) for j, left in demand.items() if left and ("to", j) in cost]
    path = [min(ends, key=lambda end: cost[end])]
    while path[0] in before:
        path.insert(0, before[path[0]])
    return path


def equal_ground(i, j):
    return Fraction(i != j)


def ordered_ground(size):
    return lambda i, j: Fraction(abs(i - j), max(size - 1, 1))


def hierarchical_ground(parents, heights):
    """height(lowest common ancestor) / height(root); a value at an inner node is its own leaf."""

    def ancestors(node):
        chain = [node]
        while parents[chain[-1]] != -1:
            chain.append(parents[chain[-1]])
        return chain

    def ground(i, j):
        if i == j:
            return Fraction(0)
        lowest = next(node for node in ancestors(i) if node in ancestors(j))
        return Fraction(heights[lowest], heights[-1])

    return ground


def chi_square(p, q):
    pairs = zip(shares(p), shares(q), strict=True)
    return sum(((a - b) ** 2 / (a + b) for a, b in pairs if a + b), Fraction(0)) / 2


def distinct_l(counts, l):
    return len([count for count in counts if count > 0]) >= l


def entropy_l(counts, l):
    """Entropy >= log(l) without logarithms: n^n >= l^n · Π c^c, in whole numbers."""
    total = sum(counts)
    return total**total >= l**total * math.prod(count**count for count in counts if count)


def effective_values(counts):
    """The number of equally frequent values with the same entropy."""
    return math.exp(-sum(float(share) * math.log(share) for share in shares(counts) if share))


def recursive_l(counts, c, l):
    """(c,l): c as the decimal that a person wrote."""
    ranked = sorted((count for count in counts if count > 0), reverse=True)
    if len(ranked) < l:
        return False
    return ranked[0] < Fraction(repr(c)) * sum(ranked[l - 1 :])


def alpha_k(counts, alpha, k):
    bound = Fraction(repr(alpha))
    return sum(counts) >= k and all(share <= bound for share in shares(counts))


def basic_likeness(histogram, whole, beta):
    """No value gains more than beta times its share in the table [cao2012, definition 2]."""
    pairs = zip(shares(histogram), shares(whole), strict=True)
    return all((q - p) / p <= Fraction(beta) for q, p in pairs if p and q > p)


def enhanced_likeness(histogram, whole, beta):
    """The gain of each value is at most min(beta, -ln p) [cao2012, definition 3]."""
    pairs = zip(shares(histogram), shares(whole), strict=True)
    return all(
        float((q - p) / p) <= min(beta, -math.log(p)) + 1e-9 for q, p in pairs if p and q > p
    )


def discloses_below(histogram, whole, delta):
    """|ln(q / p)| < delta for every value of the table [brickell2008]."""
    pairs = [pair for pair in zip(shares(histogram), shares(whole), strict=True) if pair[1]]
    return all(q and abs(math.log(q / p)) < delta - 1e-9 for q, p in pairs)
