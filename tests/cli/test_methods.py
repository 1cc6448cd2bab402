"""The command `methods`."""

from __future__ import annotations

import json

import pytest

from shoal import api
from shoal.methods.registry import METHODS


def test_methods_lists_what_there_is(run):
    document = json.loads(run("methods", "--json").out)
    assert {m.name for m in api.methods()} <= {row["name"] for row in document["methods"]}
    assert document["auto"] in [row["name"] for row in document["methods"]]
    assert all(row["name"] in run("methods").out for row in document["methods"])


def test_families_stand_together_under_their_name(run):
    head, *blocks = run("methods").out.split("\n\n")
    assert head == "auto chooses refine for a release, mondrian for a model"
    found = {block.splitlines()[0]: block.splitlines()[1:] for block in blocks}
    assert len(found) == len(blocks)
    names = [line.split()[0] for lines in found.values() for line in lines]
    assert sorted(names) == sorted(row["name"] for row in api.method_list())


def test_a_method_shows_its_own_parameters_with_types_and_defaults(run):
    document = json.loads(run("methods", "refine", "--json").out)
    assert [each["name"] for each in document["parameters"]] == ["effort", "seconds"]
    assert document["parameters"][0] == {
        "name": "effort", "type": "fast, normal or best", "default": "normal",
        "help": document["parameters"][0]["help"], "option": "--effort",
    }  # fmt: skip
    text = run("methods", "refine").out
    assert "fast, normal or best [default: normal]" in text
    assert "--set NAME=VALUE" in text


@pytest.mark.parametrize("name", ["auto", "xk", *METHODS])
def test_every_method_can_be_shown(run, name):
    answer = run("methods", name)
    assert answer.code == 0
    assert answer.out.startswith(f"{name}: ")


def test_a_misspelt_method_is_answered_with_the_nearest(run):
    answer = run("methods", "refin")
    assert answer.code == 2
    assert "did you mean 'refine'?" in answer.err
