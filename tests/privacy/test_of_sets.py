"""What -k and --m mean of a table with sets: never less than was asked."""

from __future__ import annotations

import pytest

from shoal.core.errors import PrivacyError, SchemaError
from shoal.privacy import (
    KAnonymity,
    KmAnonymity,
    LDiversity,
    MUniqueness,
    Requirements,
    RhoUncertainty,
    from_flags,
)
from shoal.privacy.of_sets import named_items, promise_of_sets, speaks_of_sets
from shoal.schema.schema import Schema

REQUIRED = Requirements(4, (("a", "b"),))


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ([KAnonymity(5), MUniqueness(2)], [KmAnonymity(5, 2)]),
        ([KAnonymity(5)], [KmAnonymity(5)]),
        ([REQUIRED], [REQUIRED]),
        ([REQUIRED, MUniqueness(2)], [KmAnonymity(4, 2), REQUIRED]),
        ([KAnonymity(5), REQUIRED], [KmAnonymity(5), REQUIRED]),
        ([KmAnonymity(5), KAnonymity(5), MUniqueness(2)], [KmAnonymity(5, 2), KmAnonymity(5)]),
        ([KmAnonymity(3, 2), KAnonymity(5), MUniqueness(2)], [KmAnonymity(5, 2)]),
        ([KAnonymity(5), LDiversity(2)], [KmAnonymity(5), LDiversity(2)]),
        ([], []),
    ],
)
def test_k_and_m_speak_of_items(given, meant):
    assert list(promise_of_sets(given)) == meant


def test_m_without_k_is_refused():
    with pytest.raises(PrivacyError, match="needs -k"):
        promise_of_sets([MUniqueness(2)])


def test_items_that_promises_name():
    assert named_items(REQUIRED) == ["a", "b"]
    assert named_items(RhoUncertainty(0.5, ("x",))) == ["x"]
    assert named_items(KAnonymity(2)) == []
    assert speaks_of_sets(REQUIRED)
    assert not speaks_of_sets(KAnonymity(2))


def schema(**more):
    return Schema.from_document(
        {"columns": {"items": {"role": "quasi", "kind": "set"}, **more.pop("columns", {})}, **more}
    )


def test_a_schema_with_sets_means_items_by_k():
    found = schema(privacy=[{"model": "k-anonymity", "k": 5}])
    assert found.privacy == (KmAnonymity(5),)
    assert found.sets == ("items",)
    with pytest.raises(PrivacyError, match="asks for less"):
        found.with_promise(from_flags({"k": 3, "m": 2}))


def test_a_promise_about_sets_needs_a_column_of_them():
    with pytest.raises(SchemaError, match="needs a column of sets"):
        Schema.from_document(
            {"columns": {"age": "quasi"}, "privacy": [{"model": "km-anonymity", "k": 5, "m": 2}]}
        )


def test_only_one_column_of_sets_is_recoded():
    with pytest.raises(SchemaError, match="only one column of sets"):
        schema(columns={"more": {"role": "quasi", "kind": "set"}})


@pytest.mark.parametrize("separator", ["", "(", '"', "\n"])
def test_a_separator_must_separate(separator):
    with pytest.raises(SchemaError, match="set_sep"):
        schema(columns={"items": {"role": "quasi", "kind": "set", "set_sep": separator}})


def test_a_separator_goes_with_sets_and_is_written():
    with pytest.raises(SchemaError, match="set_sep goes with kind: set"):
        Schema.from_document({"columns": {"age": {"role": "quasi", "set_sep": ";"}}})
    found = schema(columns={"items": {"role": "quasi", "kind": "set", "set_sep": ";"}})
    assert Schema.from_document(found.to_document()) == found
    assert found.to_document()["columns"]["items"]["set_sep"] == ";"


def test_what_knows_no_sets_refuses_them():
    with pytest.raises(SchemaError, match="a column of sets is not taken here"):
        schema().fit(["items"])
