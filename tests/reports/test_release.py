"""Reports as documents: plain facts that JSON can hold, and verifications that add up."""

from __future__ import annotations

import json
import math
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reports.reports import AFTER, BROKEN, HOLDS, report

from shoal.privacy import KAnonymity, judge_sizes
from shoal.reports.release import (
    OLD_NAMES,
    Risk,
    Verification,
    by_true_name,
    stars_removed,
    written,
)

REQUEST = {"schema": {"columns": {"age": {"role": "quasi"}}}, "method": "mondrian", "seed": 7}


def verified(sizes):
    """Return what a verifier would say of classes of these sizes."""
    verdict = judge_sizes(KAnonymity(3), sizes)
    return Verification(
        records=sum(sizes),
        classes=len(sizes),
        smallest_class=min(sizes),
        violating_records=verdict.violating_records,
        privacy=(verdict,),
        warnings=("one of several", f"{len(sizes)} classes"),
    )


@given(st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=4), min_size=1, max_size=3))
@settings(max_examples=40, deadline=None)
def test_verifications_of_parts_add_up_to_that_of_the_whole_in_any_order(parts):
    whole = verified([size for part in parts for size in part])
    for order in permutations(parts):
        found = verified(order[0])
        for part in order[1:]:
            found = found.merge(verified(part))
        assert found.privacy == whole.privacy
        assert found.holds == whole.holds
        assert (found.records, found.classes) == (whole.records, whole.classes)
        assert found.smallest_class == whole.smallest_class
        assert found.violating_records == whole.violating_records


def test_a_warning_of_two_parts_is_said_once():
    assert verified([3]).merge(verified([4])).warnings == ("one of several", "1 classes")


def test_a_verification_is_a_document():
    found = verified([2, 5]).to_document()
    assert json.loads(json.dumps(found)) == {
        "holds": False,
        "records": 7,
        "persons": None,
        "classes": 2,
        "smallest_class": 2,
        "largest_share": None,
        "trajectories": None,
        "violating_records": 2,
        "privacy": [{"model": "k-anonymity", "parameters": {"k": 3}, "holds": False, "value": 2}],
        "repeats": None,
        "warnings": ["one of several", "2 classes"],
    }


def test_risk_is_counted_from_classes():
    assert (AFTER.global_risk, AFTER.highest) == (2 / 9, 0.25)
    assert AFTER.to_document()["maximum"] == 0.25


def test_an_empty_table_has_no_risk():
    nothing = Risk(records=0, classes=0, smallest_class=0, unique=0)
    assert (nothing.global_risk, nothing.highest) == (0.0, 0.0)


def test_json_has_a_word_for_a_measure_without_bounds():
    assert written({"a": math.inf, "b": 0.5, "c": None}) == {"a": "infinite", "b": 0.5, "c": None}
    document = report(utility={"protection": math.inf}).to_document()
    assert "Infinity" not in json.dumps(document)


@pytest.mark.parametrize(("old", "new"), OLD_NAMES.items())
def test_people_read_each_measure_once(old, new):
    assert by_true_name({old: 1.0, new: 1.0, "ncp": 0.5}) == {new: 1.0, "ncp": 0.5}


def test_the_document_of_a_release_has_every_field_of_the_design():
    document = report(privacy=(HOLDS, BROKEN), facts={"levels": {"age": 1}}).to_document()
    for name in (
        "method", "records", "released", "suppressed", "classes", "smallest_class", "privacy",
        "utility", "levels", "seconds", "warnings", "notices", "risk", "roles", "column_loss",
    ):  # fmt: skip
        assert name in document
    assert json.loads(json.dumps(document)) == document


def test_time_of_a_stage_counts_in_the_whole():
    later = report().with_seconds("write", 0.25).with_seconds("read", 0.25)
    assert later.seconds == {"read": 0.75, "total": 1.5, "write": 0.25}


def test_a_document_holds_the_request_that_repeats_the_release():
    assert report(request=REQUEST).to_document()["request"] == REQUEST
    assert "request" not in report().to_document()


def test_suppressed_records_that_were_removed_are_named_with_the_promise():
    assert stars_removed(3, ["k-anonymity", "k-anonymity"]) == (
        "3 suppressed records, released as *, would break k-anonymity: removed instead"
    )
    assert "would break the promise" in stars_removed(3)
