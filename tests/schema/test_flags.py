from __future__ import annotations

from pathlib import Path

import pytest

from shoal.core.errors import PrivacyError, SchemaError
from shoal.hierarchies.tree import Hierarchy
from shoal.privacy import AlphaKAnonymity, KAnonymity, LDiversity, NTCloseness, TCloseness
from shoal.schema.flags import PromiseFlags, schema_from_flags
from shoal.schema.schema import Kind, Others, Role


def test_flags_become_models() -> None:
    flags = PromiseFlags(k=5, l=2, t=0.2, alpha=0.5)
    assert flags.models() == (
        KAnonymity(5),
        LDiversity(2),
        TCloseness(0.2),
        AlphaKAnonymity(0.5, 5),
    )
    assert PromiseFlags(n=100, t=0.1).models() == (NTCloseness(100, 0.1),)
    recursive = PromiseFlags(l=3, l_kind="recursive", c=2.0).models()
    assert recursive == (LDiversity(3, "recursive", c=2.0),)
    assert PromiseFlags().models() == ()


def test_a_flag_without_its_partner_is_a_fault_not_ignored() -> None:
    with pytest.raises(SchemaError) as caught:
        PromiseFlags(c=1.0, n=5, alpha=0.5).models()
    assert len(caught.value.faults) == 3


@pytest.mark.parametrize(
    "flags",
    [
        PromiseFlags(k=0),
        PromiseFlags(l=0),
        PromiseFlags(t=1.5),
        PromiseFlags(t=0.1, t_distance="euclid"),
        PromiseFlags(l=2, l_kind="fancy"),
        PromiseFlags(l=2, l_kind="recursive"),
        PromiseFlags(l=2, c=1.0),
        PromiseFlags(k=2, alpha=0.0),
    ],
)
def test_impossible_parameters_are_refused(flags: PromiseFlags) -> None:
    with pytest.raises(PrivacyError):
        flags.models()


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
