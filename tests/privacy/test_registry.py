"""Promises from the words of a command line."""

from __future__ import annotations

import json
import pickle

import pytest
from tests.privacy.classes import EVERY

from shoal.core.errors import PrivacyError, SchemaError
from shoal.privacy import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    LDiversity,
    NTCloseness,
    TCloseness,
    expand,
    from_document,
    from_flags,
)
from shoal.privacy.registry import options


def test_flags_become_promises():
    asked = {"k": 5, "l": 2.0, "t": 0.2, "alpha": 0.5, "n": None}
    assert from_flags(asked) == (
        KAnonymity(5),
        LDiversity(2),
        TCloseness(0.2),
        AlphaKAnonymity(0.5, 5),
    )
    assert from_flags({"n": 100, "t": 0.1}) == (NTCloseness(100, 0.1),)
    recursive = from_flags({"l": 3.0, "l_kind": "recursive", "c": 2.0})
    assert recursive == (LDiversity(3, "recursive", c=2.0),)
    assert from_flags({"l": 2.5, "l_kind": "entropy"}) == (LDiversity(2.5, "entropy"),)
    assert from_flags({"beta": 1.0, "delta": 2.0}) == (BetaLikeness(1.0), DeltaDisclosure(2.0))
    assert from_flags({}) == ()


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ({"c": 1.0}, "--c belongs to --l, which asks for l-diversity"),
        ({"l_kind": "entropy"}, "--l-kind belongs to --l"),
        ({"t_distance": "ordered"}, "--t-distance belongs to --t"),
        ({"n": 5}, "--n needs --t: together they ask for .n,t.-closeness"),
        ({"alpha": 0.5}, "--alpha needs -k: together they ask for .alpha,k.-anonymity"),
    ],
)
def test_a_flag_without_its_partner_is_a_fault_not_ignored(asked, fault):
    with pytest.raises(SchemaError, match=fault):
        from_flags(asked)


def test_all_faults_are_reported_together():
    with pytest.raises(SchemaError) as caught:
        from_flags({"c": 1.0, "n": 5, "alpha": 0.5})
    assert len(caught.value.faults) == 3


@pytest.mark.parametrize(
    "asked",
    [
        {"k": 0},
        {"l": 0.0},
        {"t": 1.5},
        {"t": 0.1, "t_distance": "euclid"},
        {"l": 2.0, "l_kind": "fancy"},
        {"l": 2.0, "l_kind": "recursive"},
        {"l": 2.0, "c": 1.0},
        {"k": 2, "alpha": 0.0},
        {"beta": 0.0},
    ],
)
def test_impossible_parameters_are_refused(asked):
    with pytest.raises(PrivacyError):
        from_flags(asked)


def test_the_words_of_all_promises_are_known_in_their_order():
    known = [name for name in options() if name != "outside"]
    assert known[:8] == ["k", "l", "l_kind", "c", "t", "t_distance", "n", "alpha"]


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_documents_survive_json_and_a_worker(model):
    document = json.loads(json.dumps(model.to_document()))
    assert None not in document.values()
    assert from_document(document) == model
    nested = {"model": model.name, "parameters": model.parameters()}
    assert from_document(nested) == model
    assert pickle.loads(pickle.dumps(model)) == model
    assert len({model, from_document(document)}) == 1


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({}, "no such privacy model; there are .*k-anonymity"),
        ({"model": "k-map", "k": 2}, "no such privacy model"),
        ({"model": ["k-anonymity"]}, "no such privacy model"),
        ({"model": "k-anonymity"}, "missing parameter: k"),
        ({"model": "k-anonymity", "k": 5, "t": 0.1}, "unknown parameter: t"),
        ({"model": "k-anonymity", "k": 5, "column": "x"}, "unknown parameter: column"),
        ({"model": "k-anonymity", "parameters": {"k": 5}, "k": 2}, "not both"),
        ({"model": "k-anonymity", "parameters": [5]}, "unknown parameter: parameters"),
        ({"model": "(n,t)-closeness", "parameters": {}}, "missing parameter: n, t"),
        ({"model": "l-diversity", "l": None}, "whole number"),
        ("k-anonymity", "mapping"),
    ],
)
def test_documents_with_faults_are_refused(document, problem):
    with pytest.raises(PrivacyError, match=problem):
        from_document(document)


def test_expand_binds_models_to_every_sensitive_column():
    models = [KAnonymity(5), LDiversity(2), TCloseness(0.2, column="cost")]
    assert expand(models, ["diagnosis", "cost"]) == [
        KAnonymity(5),
        LDiversity(2, column="diagnosis"),
        LDiversity(2, column="cost"),
        TCloseness(0.2, column="cost"),
    ]
    twice = [LDiversity(2), LDiversity(2, column="cost"), KAnonymity(5), KAnonymity(5)]
    assert expand(twice, ["cost"]) == [LDiversity(2, column="cost"), KAnonymity(5)]
    hierarchical = TCloseness(0.2, "hierarchical")
    assert expand([hierarchical], ["cost"])[0].column == "cost"


def test_expand_never_loses_a_model():
    assert expand([KAnonymity(5)], []) == [KAnonymity(5)]
    with pytest.raises(PrivacyError, match="needs a sensitive column"):
        expand([LDiversity(2)], [])
    with pytest.raises(PrivacyError, match="not a sensitive column"):
        expand([LDiversity(2, column="age")], ["cost"])
