"""Slow, obvious twin of borrowing: every record of every other cluster is tried.

A cluster is a list of (codes, person) records; a person who is None is nobody. Nothing of shoal
is used but the losses of boxes, which `cuts.Losses` works out from the domains.
"""

from __future__ import annotations


def people(cluster):
    """Return the different persons of a cluster."""
    return {person for _, person in cluster if person is not None}


def _loss(losses, clusters):
    return sum(len(c) * losses.box([codes for codes, _ in c]) for c in clusters if c)


def cheapest_step(losses, clusters, a, k):
    """Return the least change of the loss by which cluster a wins a person; None: none can.

    It takes a record of another cluster, and may give one of several of its own for it without
    losing a person; the other one has k persons afterwards.
    """
    mine = clusters[a]
    best = None
    for b, other in enumerate(clusters):
        if b == a:
            continue
        for i, taken in enumerate(other):
            for j in range(-1, len(mine)):
                given = [mine[j]] if j >= 0 else []
                kept = [record for n, record in enumerate(mine) if n != j]
                if given and (not kept or len(people(kept)) < len(people(mine))):
                    continue
                new_mine = [*kept, taken]
                new_other = [*other[:i], *other[i + 1 :], *given]
                if len(people(new_mine)) <= len(people(mine)) or len(people(new_other)) < k:
                    continue
                change = _loss(losses, [new_mine, new_other]) - _loss(losses, [mine, other])
                best = change if best is None else min(best, change)
    return best
