from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import MethodError
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Kind
from shoal.table.domain import Domain, line_domain, tree_domain

TREE = Hierarchy.from_tree("p", {"all": {"north": ["a", "b"], "south": ["c"]}})
LINE = line_domain("age", Kind.NUMERIC, [None, "20", "25", "60"], [math.nan, 20, 25, 60])
PLACE = tree_domain("p", Kind.CATEGORICAL, ["a", "b", "c", "north"], TREE, missing=True, weight=1.0)


def test_a_label_contains_its_values() -> None:
    assert LINE.label(1, 1) == "20"
    assert LINE.label(1, 2) == "[20, 25]"
    assert PLACE.labels == (None, "a", "b", "north", "c")
    assert PLACE.label(1, 2) == "north"
    assert PLACE.label(1, 3) == "north"
    assert PLACE.label(2, 4) == "all"


def test_a_missing_value_is_a_value_of_its_own_and_in_no_interval() -> None:
    assert LINE.label(0, 0) is None
    assert LINE.label(0, 1) == "*"
    assert LINE.cost(0, 1) == 1.0
    assert PLACE.label(0, 0) is None
    assert PLACE.label(0, 1) == "all"
    assert PLACE.cost(0, 1) == 1.0


@pytest.mark.parametrize("domain", [LINE, PLACE])
@given(data=st.data())
def test_a_wider_run_never_costs_less(domain: Domain, data: st.DataObject) -> None:
    last = len(domain) - 1
    low, high = sorted(data.draw(st.tuples(st.integers(0, last), st.integers(0, last))))
    wide_low, wide_high = data.draw(st.integers(0, low)), data.draw(st.integers(high, last))
    assert 0 <= domain.cost(low, high) <= domain.cost(wide_low, wide_high) <= 1


def test_a_line_without_hierarchy_has_no_ladder_to_climb() -> None:
    with pytest.raises(MethodError, match="no hierarchy"):
        LINE.ladder_label(0)
    assert PLACE.ladder_label(PLACE.tree.index("north")) == "north"  # type: ignore[union-attr]
