"""Requests check themselves and name all faults together."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace

import pytest

from shoal.core.errors import MethodError, SchemaError
from shoal.jobs.documents import JOBS
from shoal.jobs.requests import (
    ATTACKED,
    AttackRequest,
    Checks,
    EncodeRequest,
    Fault,
    LearnRequest,
    Output,
    ReleaseRequest,
    k_of,
    refuse,
    usual_checks,
)
from shoal.privacy import AlphaKAnonymity, KAnonymity, LDiversity
from shoal.schema.schema import Schema

SCHEMA = Schema.from_document({"columns": {"age": "quasi", "dx": "sensitive"}})
LEARN = LearnRequest(table="t.csv", schema=SCHEMA)
RELEASE = ReleaseRequest(table="t.csv", schema=SCHEMA)
ENCODE = EncodeRequest(table="t.csv", model="m.json")


def text_of(faults):
    with pytest.raises((SchemaError, MethodError)) as caught:
        refuse(faults)
    return f"{type(caught.value).__name__} {caught.value}"


def test_one_fault_stands_where_it_is_and_several_stand_together():
    refuse([])
    own, option, plain = Fault("m is odd", None), Fault("must be 1", "--x"), Fault("a and b clash")
    assert text_of([own]) == "MethodError m is odd"
    assert text_of([option]) == "SchemaError --x: must be 1"
    assert text_of([plain]) == "SchemaError options: a and b clash"
    assert text_of([own, option, plain]) == (
        "SchemaError options: 3 faults: (1) m is odd; (2) --x must be 1; (3) a and b clash"
    )


@pytest.mark.parametrize("request_", [LEARN, RELEASE, ENCODE], ids=lambda r: type(r).__name__)
def test_a_plain_request_has_no_fault(request_):
    assert request_.faults() == []
    request_.check()


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (replace(LEARN, threads=0), "--threads: must be at least 1"),
        (replace(LEARN, release="zap"), "--release must be one of generalize, aggregate, draw"),
        (replace(LEARN, partitions=0), "--partitions must be at least 1"),
        (replace(RELEASE, output=Output(suppressed="zap")), "--suppressed: must be remove or star"),
        (replace(RELEASE, checks=Checks(weights="w")),
         "options: --weights: not with --no-attacks or --engine spark"),
        (replace(ENCODE, on_unseen="zap"), "--on-unseen must be suppress, nearest or error"),
        (replace(ENCODE, output=Output(suppressed="zap")), "--suppressed: must be remove or star"),
        (replace(ENCODE, fold_case=True), "--fold-case: goes with --safe"),
        (replace(ENCODE, privacy=(KAnonymity(2),)),
         "options: a promise (-k, --l, --t) goes with --safe"),
    ],
)  # fmt: skip
def test_a_request_that_cannot_be_meant_is_refused(request_, text):
    with pytest.raises((SchemaError, MethodError)) as caught:
        request_.check()
    assert str(caught.value) == text


def test_all_faults_of_a_release_come_together():
    wrong = replace(RELEASE, threads=0, release="zap", output=Output(suppressed="zap"))
    with pytest.raises(SchemaError) as caught:
        wrong.check()
    for words in ("3 faults", "--threads must be", "--release must be", "--suppressed must be"):
        assert words in str(caught.value)


def test_what_goes_with_safe_is_no_fault_when_safe():
    replace(ENCODE, safe=True, fold_case=True, privacy=(KAnonymity(2),)).check()


def test_a_register_and_its_key_go_together():
    asked = AttackRequest(table="t.csv", release="o.csv", schema=SCHEMA)
    asked.check()
    replace(asked, register="r.csv", key="id").check()
    for half in ({"register": "r.csv"}, {"key": "id"}):
        with pytest.raises(MethodError, match="go together"):
            replace(asked, **half).check()


@pytest.mark.parametrize(
    ("attacks", "reads", "people", "found"),
    [
        (None, True, {}, ("some", ATTACKED)),
        (None, False, {}, ("none", ATTACKED)),
        (None, False, {"household": "h"}, ("some", ATTACKED)),
        (None, False, {"household": None}, ("none", ATTACKED)),
        (True, False, {}, ("all", None)),
        (False, True, {"weights": "w"}, ("none", None)),
    ],
)
def test_unasked_only_a_small_table_is_attacked_and_only_for_somebody(
    attacks, reads, people, found
):
    checks = usual_checks(attacks, reads=reads, **people)
    assert (checks.attacks, checks.most_records) == found


@pytest.mark.parametrize(
    ("promise", "k"),
    [((KAnonymity(5),), 5), ((LDiversity(2), KAnonymity(3), AlphaKAnonymity(0.5, k=7)), 7)],
)
def test_the_k_of_a_promise_is_the_largest(promise, k):
    assert k_of(replace(SCHEMA, privacy=promise)) == k


def test_a_promise_without_k_has_none():
    for promise in ((), (LDiversity(2),)):
        with pytest.raises(SchemaError, match="xk-anonymity needs -k N"):
            k_of(replace(SCHEMA, privacy=promise))


@pytest.mark.parametrize("kind", JOBS.values())
def test_a_request_is_frozen_and_takes_names_only(kind):
    assert kind.__dataclass_params__.frozen
    assert all(each.kw_only for each in fields(kind))
    with pytest.raises(TypeError):
        kind("t.csv")


def test_a_request_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        RELEASE.seed = 3


@pytest.mark.parametrize("name", ["population", "sampling_fraction", "weights", "household"])
def test_people_are_not_asked_about_without_attacks(name):
    checks = Checks(**{name: "x"})
    assert checks.about_people == [name]
    flag = name.replace("_", "-")
    assert replace(RELEASE, checks=checks).faults() == [
        Fault(f"--{flag}: not with --no-attacks or --engine spark")
    ]
    assert replace(RELEASE, checks=replace(checks, attacks="some")).faults() == []
