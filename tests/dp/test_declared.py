"""What the schema says need not be said again; what it does not say is not guessed."""

from __future__ import annotations

from types import SimpleNamespace

from shoal.dp.declared import bounds_of, declared
from shoal.schema.schema import Schema

SCHEMA = Schema.from_document(
    {
        "columns": {
            "age": {"role": "quasi", "kind": "numeric"},
            "stage": {"role": "quasi", "kind": "ordinal", "order": ["I", "II", "III"]},
            "ward": {"role": "quasi", "hierarchy": {"tree": {"*": ["A", "B"]}}},
        },
        "missing": ["?"],
    }
)


def test_orders_name_groups_and_marks_are_passed_on():
    found = declared(SCHEMA, "age", by=["stage"])
    assert found == {"groups": {"stage": ("I", "II", "III")}, "markers": ("?",)}


def test_a_hierarchy_does_not_name_groups_for_it_may_come_from_the_data():
    assert "groups" not in declared(SCHEMA, by=["ward"])


def test_declared_bounds_are_used_and_none_are_invented():
    assert bounds_of(SimpleNamespace(bounds=(0.0, 120.0))) == (0.0, 120.0)
    assert bounds_of(SCHEMA.attribute("age")) is None
