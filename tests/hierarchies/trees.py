"""Random trees and rows, and what every refusal must keep."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from shoal.core.errors import HierarchyError

SECRET = "Alice"  # stands where a label is at fault, and must never be printed


@st.composite
def parent_maps(draw: st.DrawFn) -> dict[str, str | None]:
    """Draw a tree: each label hangs below an earlier one; sometimes a chain, sometimes a bush."""
    size = draw(st.integers(1, 14))
    parents: dict[str, str | None] = {"n0": None}
    for node in range(1, size):
        parents[f"n{node}"] = f"n{draw(st.integers(0, node - 1))}"
    shuffled = draw(st.permutations(list(parents)))
    return {label: parents[label] for label in shuffled}


@st.composite
def row_tables(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """Draw rows of one length whose levels nest, with labels repeated at random.

    Each level joins groups of the level below; a group of one may keep its label.
    """
    values = [f"v{i}" for i in range(draw(st.integers(1, 8)))]
    columns, current = [values], values
    for level in range(1, draw(st.integers(1, 4))):
        below = list(dict.fromkeys(current))
        fresh = {label: f"l{level}.{draw(st.integers(0, len(below) - 1))}" for label in below}
        for label in below:
            alone = sum(other == fresh[label] for other in fresh.values()) == 1
            if alone and draw(st.booleans()):
                fresh[label] = label
        current = [fresh[label] for label in current]
        columns.append(current)
    columns.append(["*"] * len(values))
    return list(zip(*columns, strict=True))


def refusal(call, *arguments) -> str:
    with pytest.raises(HierarchyError) as caught:
        call("place", *arguments)
    text = str(caught.value)
    assert SECRET not in text
    assert "\n" not in text
    assert "'place'" in text
    return text
