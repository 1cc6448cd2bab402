"""Baskets for tests, and what a recoding of them releases, taken apart by hand."""

from __future__ import annotations

import random
from itertools import pairwise

from hypothesis import strategies as st

from shoal.hierarchies.tree import Hierarchy
from shoal.table.baskets import Baskets, SetRecoding

ITEMS = "abcdefgh"
TREE = Hierarchy.from_rows(
    "items",
    [(item, "first" if item in "abc" else "second" if item in "def" else "third", "*")
     for item in ITEMS],
)  # fmt: skip


@st.composite
def baskets(draw, least: int = 1, most: int = 25) -> Baskets:
    """Draw some baskets; some are empty."""
    sets = st.frozensets(st.sampled_from(ITEMS), max_size=5)
    return Baskets.of(
        [sorted(each) for each in draw(st.lists(sets, min_size=least, max_size=most))]
    )


def skewed(records: int, items: int, seed: int, *, mean: float = 4) -> Baskets:
    """Return baskets whose items are as unequal as those of a shop."""
    chance = random.Random(seed)
    weights = [1 / (rank + 1) for rank in range(items)]
    sizes = [1 + int(chance.expovariate(1 / mean)) for _ in range(records)]
    rows = [[f"i{n:03}" for n in chance.choices(range(items), weights, k=k)] for k in sizes]
    return Baskets.of(rows)


def records_of(found: Baskets) -> list[frozenset[int]]:
    """Return the codes of each record."""
    ends = zip(found.starts[:-1], found.starts[1:], strict=True)
    return [frozenset(found.codes[a:b].tolist()) for a, b in ends]


def released_of(recoding: SetRecoding) -> list[frozenset[tuple[int, ...]]]:
    """Return the labels of each record, from the choice of each occurrence."""
    starts = recoding.baskets.starts
    found = []
    for a, b in pairwise(starts.tolist()):
        chosen = recoding.choice[a:b].tolist()
        found.append(frozenset(recoding.labels[label] for label in chosen if label >= 0))
    return found


def covers_everything(recoding: SetRecoding) -> bool:
    """Say whether each occurrence that is not suppressed has a label that holds its item."""
    codes = recoding.baskets.codes.tolist()
    chosen = zip(codes, recoding.choice.tolist(), strict=True)
    return all(label < 0 or item in recoding.labels[label] for item, label in chosen)
