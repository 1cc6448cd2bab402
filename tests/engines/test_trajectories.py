"""Judging tables whose records are linked by a pseudonym."""

from __future__ import annotations

import pytest
from tests.laws.test_trajectories import frame_of, schema_of

from shoal import api
from shoal.core.errors import InputError, SchemaError
from shoal.jobs.release import release
from shoal.jobs.requests import Output, ReleaseRequest

pytestmark = pytest.mark.local("trajectories")

K2 = {"model": "k-anonymity", "k": 2}
LINKED = [("1", "a", "x", "p"), ("2", "a", "x", "p"), ("1", "a", "y", "q"), ("2", "a", "y", "r")]


def test_classes_of_k_persons_do_not_hide_a_person_with_a_trajectory_alone():
    apart = api.verify(
        frame_of(LINKED), qi=["a", "b"], person="who", k=2,
    )  # fmt: skip
    assert apart.holds  # each tuple has two persons
    assert any("links the records" in text for text in apart.warnings)
    found = api.verify(frame_of(LINKED), schema=schema_of(K2))
    assert not found.holds
    assert (found.classes, found.smallest_class, found.violating_records) == (3, 1, 4)


def test_the_order_of_records_does_not_matter_and_their_number_does():
    alike = [("1", "a", "x", "p"), ("2", "a", "x", "p"), ("2", "a", "x", "q"), ("1", "a", "x", "q")]
    assert api.verify(frame_of(alike), schema=schema_of(K2)).holds
    assert not api.verify(frame_of([*alike, alike[0]]), schema=schema_of(K2)).holds


def test_a_sensitive_value_is_hidden_in_each_tuple_of_a_trajectory():
    # All persons of the trajectory have both values; whoever knows which stay is meant knows one.
    told = [(a, "b", s, who) for who in "pq" for a, s in (("1", "hiv"), ("2", "flu"))]
    diverse = {"model": "l-diversity", "l": 2, "column": "s"}
    assert api.verify(frame_of(told), schema=schema_of(K2)).holds
    found = api.verify(frame_of(told), schema=schema_of(K2, diverse))
    assert [result.holds for result in found.privacy] == [True, False]
    assert found.violating_records == 4


def test_a_record_of_nobody_breaks_the_promise():
    alike = [("1", "a", "x", "p"), ("1", "a", "x", "q")]
    assert api.verify(frame_of(alike), schema=schema_of(K2)).holds
    found = api.verify(frame_of([*alike, ("1", "a", "x", "?")]), schema=schema_of(K2))
    assert (found.holds, found.violating_records) == (False, 1)


def test_risk_counts_unique_trajectories():
    found = api.risk(frame_of(LINKED), schema=schema_of(K2))
    assert found.trajectories.to_document() == {
        "persons": 3, "different": 3, "unique": 3, "smallest": 1,
        "below": {"2": 3, "3": 3, "5": 3, "10": 3}, "maximum": 1.0, "average": 1.0,
    }  # fmt: skip
    assert found.maximum == 1.0
    with pytest.raises(InputError, match="no record says who"):
        api.risk(frame_of([("1", "a", "x", "?")]), schema=schema_of(K2))


def test_a_person_file_or_another_pseudonym_beside_it_is_refused(tmp_path):
    words = {"qi": ["a", "b"], "person": "who", "release_person": "pseudonym", "k": 2}
    frame = frame_of(LINKED * 2)
    with pytest.raises(SchemaError, match="says whose a record is"):
        api.verify(frame, person_file=tmp_path / "p.csv", **words)
    with pytest.raises(SchemaError, match="says whose a record is"):
        release(
            ReleaseRequest(
                table=frame, schema=schema_of(K2), output=Output(person_file=tmp_path / "p.csv")
            )
        )
    with pytest.raises(SchemaError, match="must be pseudonym"):
        api.verify(frame, **{**words, "release_person": "name"})
    with pytest.raises(SchemaError, match="only anonymize replaces values"):
        api.learn(frame, **words)


def test_spaces_around_a_key_do_not_make_two_persons():
    spaced = [
        ("1", "a", "x", " p"),
        ("2", "a", "x", "p"),
        ("1", "a", "x", "q"),
        ("2", "a", "y", "q "),
    ]
    made = api.anonymize(frame_of(spaced), schema=schema_of(K2, limit=0.0), method="bestcut")
    assert made.table["who"].n_unique() == 2
    assert made.report.persons == 2
