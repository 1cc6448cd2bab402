"""The keywords of the API: complete, typed, and never apart from what they stand for."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import get_args, get_type_hints

import pytest

from shoal import api
from shoal.core.errors import SchemaError
from shoal.jobs import words as w
from shoal.jobs.requests import (
    AttackRequest,
    EncodeRequest,
    LearnRequest,
    MetricsRequest,
    Output,
    RecommendRequest,
    ReleaseRequest,
    RiskRequest,
    VerifyRequest,
    XkRequest,
)
from shoal.privacy.promise import PROMISES
from shoal.schema.schema import Kind, Role

OURS = [kind for kind in PROMISES.values() if kind.__module__.startswith("shoal.")]
PAIRS = [
    (w.LearnWords, LearnRequest), (w.ReleaseWords, ReleaseRequest), (w.EncodeWords, EncodeRequest),
    (w.VerifyWords, VerifyRequest), (w.MetricsWords, MetricsRequest), (w.RiskWords, RiskRequest),
    (w.AttackWords, AttackRequest), (w.RecommendWords, RecommendRequest), (w.XkWords, XkRequest),
]  # fmt: skip


def test_the_words_of_the_promises_are_those_of_the_command_line():
    hints = get_type_hints(w.PromiseWords)
    known = {option.name: option for kind in OURS for option in kind.options}
    assert set(hints) - {"privacy"} == set(known)
    for name, option in known.items():
        kinds = get_args(hints[name])
        if option.choices:
            assert option.default in get_args(kinds[0])
        else:
            assert option.kind in kinds


def test_every_role_and_kind_has_its_word():
    assert {*w.ROLES.values(), *w.KINDS.values()} <= set(w.SchemaWords.__annotations__)
    assert set(w.ROLES) == set(Role)
    assert set(Kind) - set(w.KINDS) == {Kind.ORDINAL}  # needs an order: in a schema


@pytest.mark.parametrize(("words", "kind"), PAIRS, ids=lambda each: each.__name__)
def test_every_field_of_a_request_has_its_word(words, kind):
    """What is given by position or built from several words is left out."""
    given = {"table", "schema", "release", "model", "safe", "output", "checks"}
    names = {each.name for each in fields(kind)} - given
    if any(each.name == "output" for each in fields(kind)):
        names |= {each.name for each in fields(Output)} - {"out"}
    if kind is EncodeRequest:
        names -= {"keep_order", "class_file"}  # the order is always kept
    if kind is XkRequest:
        names -= {"keep_order", "suppressed", "class_file", "person_file"}  # there is no choice
        names -= {"replace_table"}  # it writes files
    assert names <= set(words.__annotations__)


@pytest.mark.parametrize(
    "name",
    ["anonymize", "release_request", "learn", "learn_with_report", "encode", "verify", "metrics",
     "risk", "attack", "recommend", "release_xk"],
)  # fmt: skip
def test_help_spells_out_the_words(name):
    function = getattr(api, name)
    shown = inspect.signature(function).parameters
    plain = inspect.signature(function.__wrapped__).parameters["words"].annotation
    typed = getattr(w, plain.removeprefix("Unpack[").removesuffix("]"))
    assert set(typed.__annotations__) <= set(shown)
    assert "words" not in shown


def test_one_name_is_a_list_of_one():
    found = w.asked_schema(None, {"qi": "age", "sensitive": ["ill"], "numeric": "age", "k": 3})
    assert (found.quasi, found.sensitive) == (("age",), ("ill",))
    assert found.attribute("age").kind is Kind.NUMERIC


def test_hierarchies_stand_beside_their_columns(tmp_path):
    tree = tmp_path / "job.csv"
    tree.write_text("a;*\nb;*\n", encoding="utf-8")
    words = {"qi": ["zip", "job"], "hierarchies": {"zip": {"mask": {}}, "job": tree}}
    found = w.asked_schema(None, words)
    assert found.files() == (str(tree),)
    assert found.attribute("zip").hierarchy is not None
    with pytest.raises(SchemaError, match=r"'jbo' is no quasi-identifier.*did you mean 'job'"):
        w.asked_schema(None, {"qi": ["job"], "hierarchies": {"jbo": tree}})


def test_how_values_are_read_is_said_of_any_schema():
    document = {"columns": {"born": {"role": "quasi", "kind": "date"}, "ill": "sensitive"}}
    words = {"missing": "?", "fold_case": True, "date_format": "%d.%m.%Y", "dates": "same"}
    found = w.asked_schema(document, {**words, "target": "ill", "suppression_limit": 0.1})
    assert (found.missing, found.fold_case, found.target) == (("?",), True, "ill")
    assert found.attribute("born").date_format == "%d.%m.%Y"
    assert found.suppression_limit == 0.1
    with pytest.raises(SchemaError, match="did you mean 'born'"):
        w.asked_schema(document, {"date_format": {"bron": "%d.%m.%Y"}})


def test_a_misspelt_word_is_answered_with_the_right_one():
    with pytest.raises(TypeError, match="unexpected keyword argument 'privcy'; did you mean 'priv"):
        api.anonymize("t.csv", privcy=[])
