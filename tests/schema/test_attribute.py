"""A column checks itself when it is made, and names all of its faults together."""

from __future__ import annotations

import math

import pytest

from shoal.core.errors import SchemaError
from shoal.hierarchies.build import Mask
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.attribute import DISTANCES, Attribute, Kind, Others, Role


def test_the_words_of_the_design() -> None:
    assert [role.value for role in Role] == [
        "identifying",
        "quasi",
        "sensitive",
        "neutral",
        "person",
    ]
    assert {kind.value for kind in Kind} == {"numeric", "categorical", "ordinal", "date", "set"}
    assert {other.value for other in Others} == {"fault", "drop", "keep"}


def test_an_attribute_takes_a_tree_for_its_own_column():
    tree = Hierarchy.flat("another", ["a"])
    attribute = Attribute(name="a", role=Role.QUASI, hierarchy=tree, kind=Kind.CATEGORICAL)
    assert attribute.hierarchy == Hierarchy.flat("a", ["a"])
    assert Attribute(name="a", role=Role.QUASI, hierarchy=Mask()).hierarchy == Mask()


@pytest.mark.parametrize("role", [Role.IDENTIFYING, Role.NEUTRAL])
def test_only_columns_that_are_recoded_or_judged_take_a_hierarchy(role):
    with pytest.raises(SchemaError, match=f"a {role} column takes no hierarchy"):
        Attribute(name="a", role=role, hierarchy=Mask())


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"weight": 0}, "weight must be a number above 0"),
        ({"weight": math.inf}, "weight must be a number above 0"),
        ({"weight": math.nan}, "weight must be a number above 0"),
        ({"order": ("a", "b")}, "an order needs kind: ordinal"),
        ({"kind": Kind.ORDINAL}, "kind: ordinal needs order"),
        ({"kind": Kind.ORDINAL, "order": ("a", "a")}, "its order names a value twice"),
        ({"bounds": (1.0, 1.0)}, "bounds must be [low, high], two numbers"),
        ({"bounds": (0.0, math.inf)}, "bounds must be [low, high], two numbers"),
        ({"bounds": (math.nan, 1.0)}, "bounds must be [low, high], two numbers"),
        ({"distance": "miles"}, "distance must be one of height, weighted"),
        ({"beta": -0.1}, "beta must be a number, 0 or above"),
        ({"kind": Kind.DATE, "date_format": "%d.%m"}, "date_format must have a day, a month"),
        ({"date_format": "%d.%m.%Y"}, "date_format and dates need kind: date"),
        ({"dates": "same"}, "date_format and dates need kind: date"),
        ({"kind": Kind.DATE, "dates": "other"}, "dates must be iso or same"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, fault):
    with pytest.raises(SchemaError) as caught:
        Attribute(name="a", role=Role.QUASI, **options)
    (found,) = caught.value.faults
    assert found.startswith(f"column 'a': {fault}")


def test_all_faults_come_together_in_one_order():
    with pytest.raises(SchemaError) as caught:
        Attribute(name="", role=Role.NEUTRAL, hierarchy=Mask(), weight=-1, dates="x")
    assert [fault.rpartition(": ")[2] for fault in caught.value.faults] == [
        "a column needs a name",
        "a neutral column takes no hierarchy",
        "weight must be a number above 0",
        "date",
        "dates must be iso or same",
    ]


def test_an_ordinal_column_may_be_ordered_by_its_hierarchy():
    tree = Hierarchy.flat("a", ["low", "high"])
    assert Attribute(name="a", role=Role.QUASI, kind=Kind.ORDINAL, hierarchy=tree).order == ()


@pytest.mark.parametrize("distance", DISTANCES)
def test_every_distance_can_be_chosen(distance):
    assert Attribute(name="a", role=Role.QUASI, distance=distance).distance == distance


def test_the_values_of_an_order_are_in_no_repr():
    grade = Attribute(name="grade", role=Role.QUASI, kind=Kind.ORDINAL, order=("Alice", "Bob"))
    assert "Alice" not in repr(grade)
