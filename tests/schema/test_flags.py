from __future__ import annotations

from pathlib import Path

import pytest

from shoal.core.errors import SchemaError
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.flags import schema_from_flags
from shoal.schema.schema import Kind, Others, Role


def test_columns_get_roles_kinds_and_the_trees_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "adult_hierarchy_sex.csv").write_text("F;*\nM;*\n")
    schema = schema_from_flags(
        {Role.QUASI: ["age", "sex"], Role.SENSITIVE: ["pay"]},
        {Kind.NUMERIC: ["age"]},
        hierarchies=tmp_path,
        missing=["?"],
    )
    assert schema.quasi == ("age", "sex")
    assert schema.others is Others.DROP
    assert schema.attribute("age").kind is Kind.NUMERIC
    assert isinstance(schema.attribute("sex").hierarchy, Hierarchy)
    assert schema.missing == ("?",)


def test_contradicting_flags_are_all_reported() -> None:
    with pytest.raises(SchemaError) as caught:
        schema_from_flags(
            {Role.QUASI: ["a", "a", "b"], Role.NEUTRAL: ["b"]},
            {Kind.NUMERIC: ["a", "z"], Kind.CATEGORICAL: ["a"]},
            hierarchies="nowhere",
        )
    text = str(caught.value)
    for part in ("'b' is named as quasi and as neutral", "'a' is named as numeric and as",
                 "'z' has a kind but no role", "'a' is named twice", "no such folder"):  # fmt: skip
        assert part in text
