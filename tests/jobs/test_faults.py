"""Faults: one in its own words, several together; keys that are missing or not needed."""

from __future__ import annotations

import pytest

from shoal.core.errors import MethodError, SchemaError
from shoal.jobs.faults import Fault, beside_faults, key_faults, refuse, replaced_faults
from shoal.schema.schema import Schema


def schema(**entry):
    return Schema.from_document({"columns": {"id": {"role": "identifying", **entry}}})


def test_faults_are_raised_together():
    refuse([])
    with pytest.raises(MethodError, match="no such method"):
        refuse([Fault("no such method", None)])
    with pytest.raises(SchemaError, match=r"2 faults.*--key needed"):
        refuse([Fault("wrong"), Fault("needed", "--key")])


def test_a_key_goes_with_what_depends_on_it():
    keyed = schema(release="pseudonym")
    fresh = schema(release={"pseudonym": {"fresh": True}})
    assert [f.where for f in key_faults(keyed, None)] == ["--key"]
    assert key_faults(keyed, "k") == key_faults(fresh, None) == key_faults(schema(), None) == []
    assert "nothing depends" in key_faults(fresh, "k")[0].problem


def test_what_holds_no_key_replaces_nothing():
    assert replaced_faults(schema()) == []
    assert "'id'" in replaced_faults(schema(release={"mask": {"keep_first": 1}}))[0].problem
    assert replaced_faults(schema(), "k")


def test_records_that_a_pseudonym_links_are_not_judged_beside_others():
    linked = Schema.from_document(
        {"columns": {"age": "quasi", "who": {"role": "person", "release": "pseudonym"}}}
    )
    assert beside_faults(linked, None, None, ()) == []
    assert [f.where for f in beside_faults(linked, "c.csv", "l.db", ())] == [
        "--ledger", "--nested-in"
    ]  # fmt: skip
    assert beside_faults(schema(), "c.csv", "l.db", ("1",)) == []
    assert [f.where for f in beside_faults(schema(), None, None, ("1",))] == ["--waive-composition"]


def test_round_labels_go_with_releases_beside_others():
    labelled = Schema.from_document({"columns": {"age": "quasi"}, "labels": "round"})
    assert beside_faults(labelled, "c.csv", "l.db", ()) == []
