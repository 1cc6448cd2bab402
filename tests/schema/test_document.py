"""Documents of schemas: they say everything, read back the same, and name all faults together."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from tests.schema.schemas import schemas

from shoal.core.documents import parse_json, parse_yaml, to_yaml
from shoal.core.errors import SchemaError
from shoal.privacy import from_document
from shoal.schema.attribute import Attribute, Role
from shoal.schema.document import read_schema, write_attribute
from shoal.schema.schema import Schema

SECRET = "Alice"


@given(schemas())
@settings(max_examples=60, deadline=None)
def test_a_schema_reads_back_from_json_and_from_yaml(schema):
    document = schema.to_document()
    assert Schema.from_document(document) == schema
    assert Schema.from_document(parse_json(json.dumps(document), where="x")) == schema
    assert Schema.from_document(parse_yaml(to_yaml(document), where="x")) == schema


@given(schemas())
@settings(max_examples=30, deadline=None)
def test_writing_twice_writes_the_same(schema):
    text = json.dumps(schema.to_document())
    assert json.dumps(Schema.from_document(json.loads(text)).to_document()) == text


@given(schemas())
@settings(max_examples=30, deadline=None)
def test_promises_read_back_by_their_names(schema):
    for promise in schema.privacy:
        assert from_document(json.loads(json.dumps(promise.to_document()))) == promise


def test_what_is_as_by_default_is_not_written():
    plain = Attribute(name="a", role=Role.QUASI)
    assert write_attribute(plain) == {"role": "quasi"}
    assert Schema(attributes=(plain,)).to_document() == {
        "version": 1,
        "columns": {"a": {"role": "quasi"}},
        "others": "fault",
        "privacy": [],
        "suppression_limit": 0.0,
    }


def test_a_hierarchy_is_written_inline_wherever_it_was_read_from(tmp_path):
    (tmp_path / "sex.csv").write_text("F;*\nM;*\n")
    (tmp_path / "s.yaml").write_text("columns:\n  sex: {role: quasi, hierarchy: sex.csv}\n")
    schema = Schema.load(tmp_path / "s.yaml")
    entry = write_attribute(schema.attribute("sex"))
    assert entry["hierarchy"] == {"labels": ["F", "M", "*"], "parents": [2, 2, -1]}
    assert Schema.from_document(schema.to_document()) == schema


def test_a_column_may_be_its_role_alone_and_an_option_one_text():
    document = {"columns": {"a": "quasi", 1: "neutral"}, "missing": "?", "waive": "1"}
    schema = Schema.from_document(document)
    assert [a.name for a in schema.attributes] == ["a", "1"]
    assert (schema.missing, schema.waive) == (("?",), ("1",))


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ({"version": 2}, "version must be 1"),
        ({"nonsense": 1}, "unknown key 'nonsense'"),
        ({"others": "some"}, "others must be one of fault, drop, keep"),
        ({"others": None}, "others must be one of fault, drop, keep"),
        ({"suppression_limit": "all"}, "suppression_limit must be a number between 0 and 1"),
        ({"suppression_limit": True}, "suppression_limit must be a number between 0 and 1"),
        ({"missing": [1]}, "missing must be a list of marks such as ['?', 'NA']"),
        ({"waive": 5}, "waive must be a list of kept columns such as [mrn]"),
        ({"fold_case": 1}, "fold_case must be true or false"),
        ({"utility": 1}, "utility must be a name"),
        ({"target": ["a"]}, "target must be a name"),
        ({"privacy": {"model": "k-anonymity"}}, "`privacy` must be a list such as"),
        ({"privacy": ["k-anonymity"]}, "an entry of `privacy` must be a mapping"),
        ({"privacy": [{"model": "k-anonymity"}]}, "missing parameter: k"),
        ({"columns": []}, "`columns` must name at least one column and its role"),
        ({"columns": {"a": 1}}, "column 'a': needs at least a role"),
        ({"columns": {"a": {}}}, "column 'a': role must be one of identifying, quasi"),
        ({"columns": {"a": {"role": "quasi", "size": 1}}}, "column 'a': unknown key 'size'"),
        ({"columns": {"a": {"role": "quasi", "kind": "x"}}}, "column 'a': kind must be one of"),
        ({"columns": {"a": {"role": "quasi", "order": "ab"}}}, "order must be a list of values"),
        ({"columns": {"a": {"role": "quasi", "weight": "1"}}}, "weight must be a number above 0"),
        ({"columns": {"a": {"role": "quasi", "beta": True}}}, "beta must be a number 0 or above"),
        ({"columns": {"a": {"role": "quasi", "distance": 1}}}, "distance must be a name"),
        ({"columns": {"a": {"role": "quasi", "bounds": [0]}}}, "bounds must be [low, high]"),
        ({"columns": {"a": {"role": "quasi", "dates": 1}}}, "date_format and dates must be texts"),
        ({"columns": {"a": {"role": "quasi", "hierarchy": 1}}}, "column 'a': hierarchy: must be a"),
    ],
)
def test_each_fault_says_where_it_is_and_what_is_meant(tmp_path, part, fault):
    faults: list[str] = []
    read_schema({"columns": {"a": "quasi"}, **part}, folder=tmp_path, faults=faults)
    assert len(faults) == 1, faults
    assert fault in faults[0]


def test_a_document_of_another_shape_is_refused():
    for document in (None, [], "columns", 5):
        with pytest.raises(SchemaError, match="a schema is a mapping"):
            Schema.from_document(document)


def test_a_fault_of_a_hierarchy_shows_no_value():
    entry = {"labels": [SECRET, SECRET, "*"], "parents": [2, 2, -1]}
    with pytest.raises(SchemaError, match="column 'a'") as caught:
        Schema.from_document({"columns": {"a": {"role": "quasi", "hierarchy": entry}}})
    assert SECRET not in str(caught.value)
