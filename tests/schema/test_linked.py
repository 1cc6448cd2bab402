"""Schemas of linked tables: read, checked with all faults together, written."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import PrivacyError, SchemaError
from shoal.privacy import KAnonymity, LDiversity, TCloseness
from shoal.schema.linked import LinkedSchema, is_linked
from shoal.schema.schema import Schema

PATIENTS = {"key": "patient", "columns": {"age": {"role": "quasi", "kind": "numeric"}}}
STAYS = {
    "key": "stay", "parent": "patients",
    "columns": {"ward": "quasi", "illness": "sensitive", "cost": "neutral"},
}  # fmt: skip
DRUGS = {"parent": "stays", "columns": {"drug": "sensitive"}, "others": "drop"}
K = {"model": "k-anonymity", "k": 5}


def document(**changes):
    tables = {"patients": PATIENTS, "stays": STAYS, "drugs": DRUGS}
    return {"tables": tables, "privacy": [K], **changes}


def faults_of(found):
    with pytest.raises(SchemaError) as caught:
        LinkedSchema.from_document(found)
    return list(caught.value.faults)


def only(**tables):
    """Return the faults of a document with these tables alone."""
    return faults_of({"tables": tables, "privacy": []})


def test_a_schema_is_read():
    schema = LinkedSchema.from_document(document(missing=["?"], fold_case=True))
    assert schema.persons.name == "patients"
    assert [table.name for table in schema.downwards] == ["patients", "stays", "drugs"]
    assert [table.name for table in schema.children("stays")] == ["drugs"]
    assert schema.sensitive == ("stays.illness", "drugs.drug")
    stays, drugs = schema.tables[1:]
    assert (stays.key, stays.parent, stays.foreign_key) == ("stay", "patients", "patient")
    assert (drugs.key, drugs.foreign_key, drugs.keys) == (None, "stay", ("stay",))
    assert all(table.schema.missing == ("?",) for table in schema.tables)
    assert all(table.schema.fold_case for table in schema.tables)
    assert stays.qualified("ward") == "stays.ward"


def test_parents_come_first_whatever_the_order_of_the_document():
    tables = {"drugs": DRUGS, "stays": STAYS, "patients": PATIENTS}
    schema = LinkedSchema.from_document(document(tables=tables))
    assert [table.name for table in schema.downwards] == ["patients", "stays", "drugs"]
    assert schema.tables[0].foreign_key == "stay"  # the key of a parent that comes later


def test_the_foreign_key_may_have_another_name():
    stays = {**STAYS, "foreign_key": "who"}
    schema = LinkedSchema.from_document(document(tables={"patients": PATIENTS, "stays": stays}))
    assert schema.tables[1].keys == ("stay", "who")


def test_promises_are_bound_to_the_tables_of_their_columns():
    two = {"model": "l-diversity", "l": 2, "column": "stays.illness"}
    schema = LinkedSchema.from_document(document(privacy=[K, two]))
    assert schema.promise == (KAnonymity(5), LDiversity(2, column="stays.illness"))
    bound = {table.name: table.schema.privacy for table in schema.tables}
    assert bound == {"patients": (), "stays": (LDiversity(2, column="illness"),), "drugs": ()}


def test_a_promise_without_a_column_speaks_of_every_sensitive_one():
    schema = LinkedSchema.from_document(document(privacy=[{"model": "l-diversity", "l": 2}]))
    assert [model.column for model in schema.promise] == ["stays.illness", "drugs.drug"]
    assert [len(table.schema.privacy) for table in schema.tables] == [0, 1, 1]


def test_a_promise_about_no_column_of_a_table_is_refused():
    for column in ("illness", "stays.ward", "wards.illness"):
        model = {"model": "l-diversity", "l": 2, "column": column}
        assert any("l-diversity" in fault for fault in faults_of(document(privacy=[model])))


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"a": {**PATIENTS, "parent": "b"}}, "table 'a': no table 'b' to be its parent"),
        (
            {"patients": PATIENTS, "stays": {**STAYS, "parent": "patiens"}},
            "did you mean 'patients'?",
        ),
        ({"a": {**PATIENTS, "foreign_key": "x"}}, "foreign_key goes with `parent`"),
        (
            {"patients": {"columns": {"age": "quasi"}}, "stays": STAYS},
            "table 'patients': 'stays' hangs on it, so it needs a `key`",
        ),
        (
            {"patients": PATIENTS, "visits": {"columns": {"why": "neutral"}}},
            "tables 'patients', 'visits' have no parent",
        ),
        (
            {"a": {"key": "x", "parent": "b"}, "b": {"key": "y", "parent": "a"}},
            "tables 'a', 'b' hang on each other in a circle",
        ),
        ({"a": {"key": "x", "parent": "a"}}, "hang on each other in a circle"),
        (
            {"patients": PATIENTS, "a": {"key": "x", "parent": "b"}, "b": {**STAYS, "parent": "a"}},
            "tables 'a', 'b' hang on each other in a circle",
        ),
        ({"../a": PATIENTS}, "a name has letters, digits, _ and -"),
        ({".a": PATIENTS}, "a name has letters, digits, _ and -"),
        ({"a.b": PATIENTS}, "a name has letters, digits, _ and -"),
        ({"": PATIENTS}, "a name has letters, digits, _ and -"),
        (
            {"patients": {"key": "age", "columns": {"age": "quasi"}}},
            "column 'age' is a key: a release has new numbers in it",
        ),
        (
            {"patients": PATIENTS, "stays": {**STAYS, "key": "patient"}},
            "cannot be its key and its parent's",
        ),
        (
            {"patients": {"key": "patient", "columns": {"who": {"role": "person"}}}},
            "persons are the rows of the table without a parent",
        ),
        ({"patients": {**PATIENTS, "kee": "x"}}, "table 'patients': unknown key 'kee'"),
        ({"patients": {**PATIENTS, "key": 3}}, "table 'patients': key must be a name"),
        ({"patients": "patients.csv"}, "must be a mapping with its `columns`"),
        ({"patients": {"key": "x", "others": "lose"}}, "others must be one of fault, drop, keep"),
        (
            {"patients": {"key": "x", "columns": {"age": "quazi"}}},
            "table 'patients': column 'age'",
        ),
        (
            {"patients": {**PATIENTS, "waive": ["age"]}},
            "only a kept column can be waived",
        ),
    ],
)
def test_what_is_no_tree_of_tables_is_refused(tables, said):
    found = only(**tables)
    assert any(said in fault for fault in found), found


@pytest.mark.parametrize("tables", [None, {}, [], "patients"])
def test_there_must_be_a_table(tables):
    assert faults_of({"tables": tables}) == [
        "`tables` must name at least one table and its columns"
    ]


def test_all_faults_are_named_together():
    found = faults_of(
        {
            "tables": {
                "a": {"key": "x", "parent": "b", "columns": {"q": "nutral", "x": "quasi"}},
                "b": {"parent": "c"},
                "d": {"hey": 1},
            },
            "privacy": [{"model": "k-anonymity"}],
            "suppression_limit": 2,
            "version": 7,
            "fold_case": "no",
            "missing": 3,
            "utility": "loss",
        }
    )
    texts = "\n".join(found)
    for part in (
        "unknown key 'utility'", "version must be 1", "fold_case must be true or false",
        "missing must be a list", "suppression_limit must lie between 0 and 1", "k-anonymity",
        "table 'a': column 'q'", "table 'd': unknown key 'hey'", "no table 'c' to be its parent",
    ):  # fmt: skip
        assert part in texts, part


def test_a_table_may_have_nothing_but_its_keys():
    link = {"key": "visit", "parent": "patients"}
    schema = LinkedSchema.from_document(document(tables={"patients": PATIENTS, "visits": link}))
    assert schema.tables[1].schema.attributes == ()
    assert LinkedSchema.from_document(schema.to_document()) == schema


def test_a_table_of_persons_alone_is_a_linked_schema():
    schema = LinkedSchema.from_document({"tables": {"patients": {"columns": {"age": "quasi"}}}})
    assert schema.downwards == (schema.persons,)
    assert schema.persons.keys == ()


@given(
    others=st.sampled_from(["fault", "drop", "keep"]),
    limit=st.floats(0, 1),
    marks=st.lists(st.text(min_size=1, max_size=3), max_size=2),
    foreign=st.sampled_from([None, "patient", "who"]),
    fold=st.booleans(),
    waive=st.booleans(),
    promise=st.sampled_from([[], [K], [K, {"model": "t-closeness", "t": 0.3}]]),
)
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read_back(others, limit, marks, foreign, fold, waive, promise):
    stays = {**STAYS, "others": others, **({"waive": ["cost"]} if waive else {})}
    if foreign is not None:
        stays["foreign_key"] = foreign
    schema = LinkedSchema.from_document(
        {
            "tables": {"patients": PATIENTS, "stays": stays}, "privacy": promise,
            "suppression_limit": limit, "missing": marks, "fold_case": fold,
        }
    )  # fmt: skip
    written = schema.to_document()
    assert LinkedSchema.from_document(written) == schema
    assert LinkedSchema.from_document(json.loads(json.dumps(written))) == schema
    assert LinkedSchema.from_document(written).to_document() == written


def test_hierarchies_are_read_beside_the_file(tmp_path):
    (tmp_path / "wards.csv").write_text("a;*\nb;*\n", encoding="utf-8")
    stays = {**STAYS, "columns": {"ward": {"role": "quasi", "hierarchy": "wards.csv"}}}
    place = tmp_path / "schema.yaml"
    place.write_text(
        yaml.safe_dump(document(tables={"patients": PATIENTS, "stays": stays})), encoding="utf-8"
    )
    schema = LinkedSchema.load(place)
    assert schema.files() == (str(tmp_path / "wards.csv"),)
    assert LinkedSchema.of(str(place)) == LinkedSchema.of(schema) == schema
    place.write_text("tables: 3\n", encoding="utf-8")
    with pytest.raises(SchemaError, match=r"schema\.yaml"):
        LinkedSchema.load(place)


def test_a_stricter_promise_is_added_and_a_weaker_one_refused():
    schema = LinkedSchema.from_document(document())
    more = schema.with_promise([KAnonymity(7), LDiversity(2)], suppression_limit=0.5)
    assert more.promise[0] == KAnonymity(7)
    assert more.suppression_limit == 0.5
    assert [len(table.schema.privacy) for table in more.tables] == [0, 1, 1]
    with pytest.raises(PrivacyError, match="asks for less"):
        schema.with_promise([KAnonymity(3)])
    assert schema.with_promise([KAnonymity(3)], replace_promise=True).promise == (KAnonymity(3),)
    with pytest.raises(PrivacyError, match="nothing takes the promise's place"):
        schema.with_promise([], replace_promise=True)
    other = schema.with_promise([TCloseness(0.2, column="drugs.drug")], replace_promise=True)
    assert other.tables[2].schema.privacy == (TCloseness(0.2, column="drug"),)


def test_columns_are_waived_by_their_qualified_names():
    schema = LinkedSchema.from_document(document()).with_waived(["stays.cost"])
    assert schema.tables[1].schema.waive == ("cost",)
    with pytest.raises(SchemaError) as caught:
        schema.with_waived(["cost", "wards.cost"])
    assert len(caught.value.faults) == 2


def test_which_schema_is_one_of_linked_tables():
    assert is_linked(document())
    assert not is_linked({"columns": {}})
    assert not is_linked("tables")
    with pytest.raises(SchemaError, match="anonymize, verify and risk take it"):
        Schema.from_document(document())
    with pytest.raises(SchemaError, match="has `tables`"):
        LinkedSchema.from_document({"columns": {"age": "quasi"}})
