from __future__ import annotations

import math

import numpy as np
import pytest

from shoal.core.errors import InputError
from shoal.hierarchies.tree import Hierarchy
from shoal.measures.cells import (
    CellCost,
    cost_of_label,
    cost_of_run,
    costs_on_line,
    leaves,
    run_of_label,
)
from shoal.schema.schema import Kind
from shoal.table.domain import Domain, line_domain, tree_domain

TREE = Hierarchy.from_tree(
    "edu", {"*": {"school": ["primary", "high"], "higher": {"uni": ["bsc", "msc"], "phd": None}}}
)
EDU = tree_domain("edu", Kind.CATEGORICAL, ["bsc", "high", "phd"], TREE, missing=True, weight=1.0)
LADDER = Hierarchy.from_rows("age", [(str(i), f"{i // 10 * 10}s", "*") for i in range(1, 101)])
AGE = line_domain("age", Kind.NUMERIC, ["17", "20", "90"], [17, 20, 90], ladder=LADDER)
PAY = line_domain("pay", Kind.NUMERIC, [None, "1", "2", "9"], [math.nan, 1, 2, 9])


def test_heights_levels_and_leaves_of_a_tree() -> None:
    assert cost_of_label(EDU, "bsc") == CellCost(0.0, 0.0, 1 / 6)
    assert cost_of_label(EDU, "uni") == CellCost(1 / 3, 1 / 3, 2 / 6)
    # "school" has height 1 but stands two levels under the top of the tallest branch
    assert cost_of_label(EDU, "school") == CellCost(1 / 3, 2 / 3, 2 / 6)
    assert cost_of_label(EDU, "*") == CellCost(1.0, 1.0, 1.0)
    assert leaves(EDU) == 6  # the missing value is a leaf too


def test_an_interval_costs_its_width_and_covers_the_leaves_of_the_hierarchy() -> None:
    cost = cost_of_label(AGE, "[17, 20]")
    assert cost.height == pytest.approx(3 / 73)
    assert cost.cover == pytest.approx(4 / 100)
    assert cost_of_label(AGE, "20").cover == pytest.approx(1 / 100)
    assert cost_of_label(AGE, "20s").height == pytest.approx(1 / 2)
    assert leaves(AGE) == 100


def test_without_a_hierarchy_the_values_that_occur_are_the_leaves() -> None:
    assert cost_of_label(PAY, "[1, 2]") == CellCost(1 / 8, 1 / 8, 2 / 4)
    assert cost_of_label(PAY, None) == CellCost(0.0, 0.0, 1 / 4)
    assert cost_of_label(PAY, "*") == CellCost(1.0, 1.0, 1.0)


@pytest.mark.parametrize("domain", [EDU, AGE, PAY])
def test_a_label_says_the_same_as_the_codes_behind_it(domain: object) -> None:
    for low in range(len(domain)):  # type: ignore[arg-type]
        for high in range(low, len(domain)):  # type: ignore[arg-type]
            label = domain.label(low, high)  # type: ignore[attr-defined]
            assert cost_of_label(domain, label) == cost_of_run(domain, low, high)  # type: ignore[arg-type]


@pytest.mark.parametrize("domain", [AGE, PAY])
def test_many_runs_cost_what_each_costs(domain: Domain) -> None:
    runs = [(low, high) for low in range(len(domain)) for high in range(low, len(domain))]
    low, high = np.array(runs, dtype=np.int32).T
    assert costs_on_line(domain, low, high).tolist() == [
        list(cost_of_run(domain, *run)) for run in runs
    ]


def test_a_label_that_nothing_explains_is_refused_without_being_shown() -> None:
    with pytest.raises(InputError) as caught:
        cost_of_label(EDU, "Atlantis")
    assert "Atlantis" not in str(caught.value)


@pytest.mark.parametrize("domain", [EDU, AGE, PAY])
def test_a_wider_cell_never_costs_less(domain: Domain) -> None:
    size = len(domain)
    for low in range(size):
        for high in range(low, size):
            inner = cost_of_run(domain, low, high)
            for outer in ((max(low - 1, 0), high), (low, min(high + 1, size - 1))):
                wide = cost_of_run(domain, *outer)
                assert all(a <= b + 1e-12 for a, b in zip(inner, wide, strict=True))
            assert all(0 <= share <= 1 for share in inner)


def test_an_empty_cell_of_a_tree_is_one_leaf() -> None:
    for label in (None, ""):
        assert cost_of_label(EDU, label) == CellCost(0.0, 0.0, 1 / 6)


@pytest.mark.parametrize(
    ("label", "run"),
    [
        ("a", (0, 0)), ("[a, b, c]", (0, 1)), ("[b, c, d]", (1, 2)), ("[a, d]", (0, 2)),
        ("[a, x]", None), ("a, d", None), ("[a]", None), ("", None),
    ],
)  # fmt: skip
def test_an_interval_may_have_ends_with_commas(label: str, run: tuple[int, int] | None) -> None:
    assert run_of_label({"a": 0, "b, c": 1, "d": 2}, label) == run


def test_a_hierarchy_of_words_counts_the_values_that_occur() -> None:
    ladder = Hierarchy.from_rows("age", [("young", "all", "*"), ("17", "all", "*")])
    domain = line_domain("age", Kind.NUMERIC, ["17", "20"], [17, 20], ladder=ladder)
    assert leaves(domain) == 2
    assert cost_of_run(domain, 0, 0).cover == 1 / 2
