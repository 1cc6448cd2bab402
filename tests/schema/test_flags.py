from __future__ import annotations

from pathlib import Path

import pytest

from shoal.core.errors import SchemaError
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.flags import schema_from_flags, with_released_person
from shoal.schema.schema import Kind, Others, Role, Schema


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


def test_flags_and_a_document_describe_the_same_schema() -> None:
    by_flags = schema_from_flags(
        {Role.IDENTIFYING: ["n"], Role.QUASI: ["a", "b"], Role.NEUTRAL: ["c"]},
        {Kind.DATE: ["b"]},
    )
    document = {
        "columns": {"n": "identifying", "a": "quasi", "b": {"role": "quasi", "kind": "date"},
                    "c": "neutral"},
        "others": "drop",
    }  # fmt: skip
    assert by_flags == Schema.from_document(document)


def test_only_columns_that_are_recoded_or_judged_get_a_tree(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"hierarchy_{name}.csv").write_text("x;*\n")
    roles = {Role.QUASI: ["a"], Role.SENSITIVE: ["b"], Role.NEUTRAL: ["c"]}
    schema = schema_from_flags(roles, {}, hierarchies=tmp_path)
    assert [a.name for a in schema.attributes if a.hierarchy is not None] == ["a", "b"]


def test_faults_of_hierarchy_files_name_the_file_and_no_value(tmp_path: Path) -> None:
    (tmp_path / "one_hierarchy_a.csv").write_text("x;*\n")
    (tmp_path / "two_hierarchy_a.csv").write_text("x;*\n")
    (tmp_path / "hierarchy_b.csv").write_text("Alice;B;*\nAlice;C;*\n")
    with pytest.raises(SchemaError) as caught:
        schema_from_flags({Role.QUASI: ["a", "b"]}, {}, hierarchies=tmp_path)
    two, broken = caught.value.faults
    assert "2 files for column 'a'" in two
    assert broken.startswith("hierarchy_b.csv: hierarchy 'b': level 0: 1 value stands under two")
    assert "Alice" not in str(caught.value)


def test_a_pseudonym_of_the_person_is_fresh_and_survives_a_document():
    plain = schema_from_flags({Role.QUASI: ["age"], Role.PERSON: ["who"]}, {})
    assert not plain.trajectories
    assert (plain.hidden_person, plain.released) == (("who",), ("age",))
    linked = with_released_person(plain, "pseudonym")
    assert linked.trajectories
    assert (linked.hidden_person, linked.released) == ((), ("age", "who"))
    assert not linked.attribute("who").release.needs_key
    assert Schema.from_document(linked.to_document()) == linked
    written = Schema.from_document(
        {"columns": {"age": "quasi", "who": {"role": "person", "release": "pseudonym"}}}
    )
    assert written.attribute("who") == linked.attribute("who")


@pytest.mark.parametrize(
    ("people", "how", "said"),
    [
        (["who"], "name", "must be pseudonym"),
        ([], "pseudonym", "needs one column"),
        (["who", "where"], "pseudonym", "needs one column"),
    ],
)
def test_a_person_that_cannot_be_released_so_is_refused(people, how, said):
    schema = schema_from_flags({Role.QUASI: ["age"], Role.PERSON: people}, {})
    with pytest.raises(SchemaError, match=said):
        with_released_person(schema, how)


def test_of_several_person_columns_none_is_released():
    with pytest.raises(SchemaError, match="needs one person column"):
        Schema.from_document(
            {
                "columns": {
                    "age": "quasi",
                    "who": {"role": "person", "release": "pseudonym"},
                    "where": "person",
                }
            }
        )
