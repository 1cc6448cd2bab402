"""Groups of things, tried in every way; and whether classes are nested in others."""

from __future__ import annotations


def partitions(things):
    """Yield every way to put things into groups."""
    if not things:
        yield []
        return
    first, *rest = things
    for groups in partitions(rest):
        yield [[first], *groups]
        for i, group in enumerate(groups):
            yield [*groups[:i], [first, *group], *groups[i + 1 :]]


def least_loss(things, loss, holds):
    """Return what the best grouping loses whose groups all hold; None: there is none."""
    losses = [
        sum(loss(group) for group in groups)
        for groups in partitions(list(things))
        if all(holds(group) for group in groups)
    ]
    return min(losses, default=None)


def is_nested(inner, outer):
    """Say whether records that share a class in `inner` always share one in `outer`."""
    for a, b in zip(inner, outer, strict=True):
        for other_a, other_b in zip(inner, outer, strict=True):
            if a == other_a and a != -1 and b != other_b:
                return False
    return True
