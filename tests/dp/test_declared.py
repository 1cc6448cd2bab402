"""What the schema says need not be said again; what it does not say is not guessed."""

from __future__ import annotations

from shoal.dp.declared import declared, with_declared
from shoal.schema.schema import Schema

SCHEMA = Schema.from_document(
    {
        "columns": {
            "age": {"role": "quasi", "kind": "numeric"},
            "pay": {"role": "sensitive", "kind": "numeric", "bounds": [0, 120]},
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
    found = declared(SCHEMA, "pay")
    assert (found["lower"], found["upper"]) == (0, 120)
    assert "lower" not in declared(SCHEMA, "age")
    assert declared(SCHEMA, "no such column") == declared(SCHEMA) == {"markers": ("?",)}


def test_what_a_question_says_wins_over_the_schema():
    options = {"lower": 10, "upper": None, "groups": {"stage": ["I"]}, "epsilon": 1.0}
    found = with_declared(options, SCHEMA, "pay", by=["stage"])
    assert found == {
        "lower": 10, "upper": 120, "groups": {"stage": ["I"]}, "epsilon": 1.0, "markers": ("?",),
    }  # fmt: skip
    assert options["upper"] is None  # the caller's own is left alone
