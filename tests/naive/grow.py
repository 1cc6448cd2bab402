"""The best first cut of a table, by trying all of them: slow and obvious."""

from __future__ import annotations


def cost(domain, allowed, low, high):
    """Return what the bins between two cuts cost, by their codes."""
    ends = [0, *allowed, len(domain)]
    codes = (ends[low], ends[high + 1] - 1)
    if domain.tree is None:
        if domain.has_missing and codes[0] == 0:
            return float(codes[1] > 0)
        width = domain.position[codes[1]] - domain.position[codes[0]]
        return min(float(width) / (domain.span or 1.0), 1.0)
    tall = domain.cost(*codes) if codes[0] < codes[1] else 0.0
    return (tall + (high - low) / max(len(allowed), 1)) / 2


def best_gain(table, allowed, least):
    """Return the most that one cut of the whole table saves; 0 if none is allowed."""
    best = 0.0
    total = int(table.counts.sum())
    for j, domain in enumerate(table.domains):
        last = len(allowed[j])
        for cut in range(1, last + 1):
            behind = table.codes[:, j] >= allowed[j][cut - 1]
            right = int(table.counts[behind].sum())
            left = total - right
            if min(left, right) < least:
                continue
            saved = total * cost(domain, allowed[j], 0, last)
            saved -= left * cost(domain, allowed[j], 0, cut - 1)
            saved -= right * cost(domain, allowed[j], cut, last)
            best = max(best, saved * domain.weight)
    return best
