"""Roles and kinds of columns: options become a schema."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shoal.cli.options.columns import ColumnOptions
from shoal.cli.options.promise import PromiseOptions
from shoal.core.errors import PrivacyError, SchemaError
from shoal.privacy import KAnonymity
from shoal.schema.schema import Kind, Role

FLAGS = {"qi": "age, day", "sensitive": "dx", "identifying": "name", "neutral": "note"}


@pytest.fixture
def file(tmp_path):
    place = tmp_path / "s.json"
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "hierarchy_zip.csv").write_text("1;*\n2;*\n")
    document = {
        "columns": {
            "zip": {"role": "quasi", "hierarchy": "trees/hierarchy_zip.csv"},
            "day": {"role": "quasi", "kind": "date"},
            "dx": "sensitive",
            "note": "neutral",
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "missing": ["NA"],
        "waive": ["dx"],
    }
    place.write_text(json.dumps(document))
    return str(place)


def test_flags_describe_roles_and_kinds():
    found = ColumnOptions(**FLAGS, numeric="age", date="day", missing="?, -").read()
    assert {a.name: (a.role, a.kind) for a in found.attributes} == {
        "age": (Role.QUASI, Kind.NUMERIC),
        "day": (Role.QUASI, Kind.DATE),
        "dx": (Role.SENSITIVE, None),
        "name": (Role.IDENTIFYING, None),
        "note": (Role.NEUTRAL, None),
    }
    assert found.missing == ("?", "-")
    assert found.privacy == ()


def test_a_file_is_read_and_flags_add_to_it(file):
    plain = ColumnOptions(schema=file).read()
    assert (plain.missing, plain.fold_case, plain.waive) == (("NA",), False, ("dx",))
    more = ColumnOptions(schema=file, missing="?", fold_case=True, waive="note,dx").read()
    assert (more.missing, more.fold_case, more.waive) == (("?",), True, ("dx", "note"))
    assert more.privacy == plain.privacy == (KAnonymity(5),)


def test_the_promise_of_flags_is_kept_beside_the_files(file):
    columns = ColumnOptions(schema=file)
    assert columns.read(PromiseOptions(asked={"k": 7})).privacy == (KAnonymity(7),)
    with pytest.raises(PrivacyError, match="--replace-promise"):
        columns.read(PromiseOptions(asked={"k": 3}))
    replaced = PromiseOptions(asked={"k": 3}, replace_promise=True)
    assert columns.read(replaced).privacy == (KAnonymity(3),)


@pytest.mark.parametrize(
    ("given", "forms"),
    [
        ({}, {"age": None, "day": None, "dx": None}),
        ({"date_format": ["%d.%m.%Y"]}, {"age": None, "day": "%d.%m.%Y", "dx": None}),
        ({"date_format": ["dx=%m/%d/%Y"]}, {"age": None, "day": None, "dx": "%m/%d/%Y"}),
        (
            {"date_format": ["%d.%m.%Y", "day=%m/%d/%Y"]},
            {"age": None, "day": "%m/%d/%Y", "dx": None},
        ),
    ],
)
def test_a_date_format_is_for_all_dates_or_for_one_column(given, forms):
    columns = ColumnOptions(qi="age,day", sensitive="dx", date="day", dates="same", **given)
    found = {a.name: a for a in columns.read().attributes}
    assert {name: a.date_format for name, a in found.items()} == forms
    for a in found.values():
        assert (a.dates == "same") == (a.kind is Kind.DATE)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "name the quasi-identifiers with --qi a,b, or give a --schema FILE"),
        ({"sensitive": "dx"}, "name the quasi-identifiers"),
        ({"qi": "a", "dates": "zap"}, "--dates: must be iso or same"),
        ({"qi": "a", "date_format": ["b=%Y", "c=%Y"]}, "(1) no column 'b'; (2) no column 'c'"),
        ({"qi": "a", "sensitive": "a"}, "column 'a' is named as quasi and as sensitive"),
        ({"qi": "a", "hierarchies": "none"}, "no such folder"),
    ],
)
def test_what_cannot_be_meant_is_refused(given, words):
    with pytest.raises(SchemaError) as caught:
        ColumnOptions(**given).read()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("given", "named"),
    [({"qi": "a"}, "--qi"), ({"qi": "a", "neutral": "b"}, "--qi, --neutral"),
     ({"date": "a"}, "--numeric …")],
)  # fmt: skip
def test_a_file_or_flags_but_not_both(file, given, named):
    with pytest.raises(SchemaError) as caught:
        ColumnOptions(schema=file, **given).read()
    assert str(caught.value) == f"options: give either --schema or {named}, not both"


def test_every_file_that_is_read_is_named(file):
    folder = Path(file).parent
    tree = folder / "trees" / "hierarchy_zip.csv"
    assert ColumnOptions(qi="a").files() == ()
    assert ColumnOptions(qi="a", hierarchies=str(folder / "none")).files() == ()
    assert ColumnOptions(qi="a", hierarchies=str(tree.parent)).files() == (tree,)
    assert ColumnOptions(schema=file).files() == (file, tree)


@pytest.mark.parametrize("text", ["[]", "{}", '{"columns": []}', '{"columns": {"a": "quasi"}}'])
def test_a_strange_schema_names_itself_alone(tmp_path, text):
    place = tmp_path / "s.json"
    place.write_text(text)
    assert ColumnOptions(schema=str(place)).files() == (str(place),)
