"""Local suppression by hand: which cells are blank, and how few can be in a tiny table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

BLANK = "*"
Row = tuple[str, ...]


def released(group: Sequence[Row]) -> Row:
    """Return what a group releases: a value that all of it share, or a blank."""
    return tuple(cells[0] if len(set(cells)) == 1 else BLANK for cells in zip(*group, strict=True))


def cost(group: Sequence[Row], weights: Sequence[float]) -> float:
    """Return the weight of the blank cells of a group."""
    pairs = zip(released(group), weights, strict=True)
    return len(group) * sum(weight for cell, weight in pairs if cell == BLANK)


def groupings(rows: Sequence[Row], k: int) -> Iterator[list[list[Row]]]:
    """Yield every way to share rows out to groups of at least k."""

    def share(left: Sequence[Row], groups: list[list[Row]]) -> Iterator[list[list[Row]]]:
        if not left:
            if all(len(group) >= k for group in groups):
                yield [list(group) for group in groups]
            return
        for group in groups:
            group.append(left[0])
            yield from share(left[1:], groups)
            group.pop()
        yield from share(left[1:], [*groups, [left[0]]])

    yield from share(rows, [])


def fewest(rows: Sequence[Row], k: int, weights: Sequence[float]) -> float:
    """Return the least weight of blank cells that k-anonymity needs, a blank being a value."""
    return min(sum(cost(g, weights) for g in each) for each in groupings(rows, k))


def matches(one: Row, other: Row) -> bool:
    """Say whether two tuples may be equal where a blank may be anything."""
    return all(a == b or BLANK in (a, b) for a, b in zip(one, other, strict=True))


def alike(rows: Sequence[Row]) -> list[int]:
    """Return, for each row, how many match it where a blank may be anything ([templ2015])."""
    counts = Counter(rows)
    return [sum(n for other, n in counts.items() if matches(row, other)) for row in rows]
