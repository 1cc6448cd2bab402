"""Every way to prune a tree of cuts, and the least loss of each size: slow and obvious."""

from __future__ import annotations


def prunings(cutting):
    """Return the least loss for each number of classes."""
    recoding = cutting.recoding
    domains = recoding.table.domains
    total = recoding.table.records * sum(domain.weight for domain in domains)

    def alone(begin, size):
        low = cutting.low[begin : begin + size].min(axis=0)
        high = cutting.high[begin : begin + size].max(axis=0)
        cost = sum(
            domain.weight * domain.cost(int(a), int(b))
            for domain, a, b in zip(domains, low, high, strict=True)
        )
        return cost * int(recoding.sizes[begin : begin + size].sum()) / total

    def tried(node, begin, size):
        found = {1: alone(begin, size)}
        if size == 1:
            return found
        left = cutting.left[node]
        for many, lost in tried(node + 1, begin, left).items():
            for others, more in tried(node + left, begin + left, size - left).items():
                both = found.get(many + others, float("inf"))
                found[many + others] = min(both, lost + more)
        return found

    return tried(0, 0, recoding.classes)
