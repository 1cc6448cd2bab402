"""How a recoding is found: options become a method with its parameters."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from shoal.cli.options.groups import Use
from shoal.cli.options.method import _PARAMETERS, MethodOptions
from shoal.core.errors import MethodError, SchemaError
from shoal.methods.catalogue import Auto, Flash, Refine, SaMdav
from shoal.methods.registry import METHODS
from shoal.schema.schema import Schema

SCHEMA = Schema.from_document({"columns": {"age": "quasi", "dx": "sensitive"}})


def test_without_options_the_method_is_auto_and_the_schema_stays():
    asked = MethodOptions()
    assert asked.words(learns=False)["method"] == Auto()
    assert asked.added_to(SCHEMA) == SCHEMA


@pytest.mark.parametrize(
    ("name", "parameters", "found"),
    [
        ("refine", {"effort": "best", "seconds": None}, Refine(effort="best")),
        ("flash", {"seconds": 3.0, "aggregate": "max"}, Flash(seconds=3.0, aggregate="max")),
        ("sa-mdav", {"absorb": True}, SaMdav(absorb=True)),
        ("flash", {"absorb": None}, Flash()),
    ],
)
def test_parameters_that_are_given_are_the_methods(name, parameters, found):
    asked = MethodOptions(method=name, parameters=parameters)
    for learns in (False, True):
        assert asked.words(learns=learns)["method"] == found


@pytest.mark.parametrize("name", ["auto", *METHODS])
def test_a_parameter_that_a_method_does_not_take_is_refused_with_its_flag(name):
    kind = METHODS.get(name, Auto)
    known = {each.name for each in kind.parameters()}
    for parameter in _PARAMETERS:
        if parameter not in known:
            asked = MethodOptions(method=name, parameters={parameter: 1})
            with pytest.raises(SchemaError) as caught:
                asked.words(learns=False)
            assert str(caught.value) == (
                f"options: --{parameter}: not for --method {name}; see `shoal methods {name}`"
            )


def test_all_ignored_parameters_are_named_together():
    asked = MethodOptions(method="mondrian", parameters={"gamma": 1.0, "effort": "best"})
    with pytest.raises(SchemaError, match="--gamma, --effort: not for --method mondrian"):
        asked.words(learns=True)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"method": "zap"}, "--method zap: no such method"),
        ({"method": "xk"}, "has no recoding and no model"),
        ({"release": "zap"}, "--release must be one of generalize, aggregate"),
        (
            {"method": "refine", "parameters": {"effort": "zap"}},
            "must be one of fast, normal, best",
        ),
    ],
)
def test_what_no_method_can_mean_is_refused(given, words):
    with pytest.raises(MethodError, match=words):
        MethodOptions(**given).words(learns=False)


def test_limit_utility_and_target_go_into_the_schema():
    asked = MethodOptions(method="flash", suppression_limit=0.1, utility="dm", target="dx")
    found = asked.added_to(SCHEMA)
    assert (found.suppression_limit, found.utility, found.target) == (0.1, "dm", "dx")
    with pytest.raises(
        SchemaError,
        match="--method refine knows no measure 'dm'; choose one of ncp, loss, target, sse",
    ):
        MethodOptions(method="refine", utility="dm").added_to(SCHEMA)


@pytest.mark.parametrize("threads", [None, 0, -3])
def test_threads_that_cannot_be_meant_do_not_reach_polars(monkeypatch, threads):
    monkeypatch.setenv("POLARS_MAX_THREADS", "5")
    MethodOptions(threads=threads).limit_threads()
    assert os.environ["POLARS_MAX_THREADS"] == "5"
    MethodOptions(threads=2).limit_threads()
    assert os.environ["POLARS_MAX_THREADS"] == "2"


def test_flags_follow_from_the_parameters_of_methods():
    found = {
        each.name: each.annotation for each in Use(only=tuple(_PARAMETERS)).options(MethodOptions)
    }
    types = {name: hint.__origin__ for name, hint in found.items()}
    assert types == {
        "aggregate": str | None, "seconds": float | None, "effort": str | None,
        "iterations": int | None, "gamma": float | None, "absorb": bool | None,
        "persist": bool | None, "cm": bool | None,
    }  # fmt: skip
    flags = {name: hint.__metadata__[0].default for name, hint in found.items()}
    assert [name for name in flags if flags[name] == f"--{name}"] == ["absorb", "cm"]


def test_an_explanation_is_given_only_when_asked_for():
    report = SimpleNamespace(facts={"explanation": ["because", "of this"]})
    assert MethodOptions().explanation(report) == []
    assert MethodOptions(explain=True).explanation(report) == ["because", "of this"]
    bare = SimpleNamespace(facts={})
    assert MethodOptions(explain=True).explanation(bare) == ["this method has no levels to explain"]


def test_set_gives_any_parameter_typed_and_checked():
    asked = MethodOptions(method="refine", set=["effort=best", "seconds=2"])
    assert asked.words(learns=False)["method"] == Refine(effort="best", seconds=2.0)
    with pytest.raises(MethodError, match="did you mean 'effort'"):
        MethodOptions(method="refine", set=["efort=best"]).words(learns=False)
    with pytest.raises(MethodError, match="refine: seconds must be a number"):
        MethodOptions(method="refine", set=["seconds=soon"]).words(learns=False)


def test_set_and_the_flag_of_a_parameter_exclude_each_other():
    asked = MethodOptions(method="refine", set=["effort=best"], parameters={"effort": "fast"})
    with pytest.raises(SchemaError, match="--effort and --set effort say the same"):
        asked.words(learns=False)
