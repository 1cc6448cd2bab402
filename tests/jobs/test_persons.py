"""What a request about persons may not ask."""

from __future__ import annotations

from shoal.engines.base import Checks, Output
from shoal.jobs.persons import person_faults
from shoal.schema.schema import Schema


def schema_of(role):
    return Schema.from_document({"columns": {"a": "quasi", "who": role}})


def test_without_a_person_column_there_is_no_person_file():
    faults = list(person_faults(schema_of("identifying"), Output(person_file="p"), Checks()))
    assert faults == [("goes with --person", "--person-file")]


def test_what_would_count_records_is_refused():
    asked = Output(suppressed="star", person_file="p"), Checks(attacks="all", weights="w")
    places = [where for _, where in person_faults(schema_of("person"), *asked)]
    assert places == ["--weights"]
    for attacks in ("some", "all"):
        assert not list(person_faults(schema_of("person"), Output(), Checks(attacks=attacks)))


def test_a_release_that_links_records_is_not_attacked():
    linked = schema_of({"role": "person", "release": "pseudonym"})
    places = [where for _, where in person_faults(linked, Output(), Checks(attacks="all"))]
    assert places == ["--attacks"]
