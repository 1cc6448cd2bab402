from __future__ import annotations

import shlex
from dataclasses import fields

import pytest
from tests.conftest import call

from shoal.core.errors import InputError
from shoal.engines.base import Checks, Output
from shoal.jobs.documents import request_from
from shoal.jobs.requests import ReleaseRequest
from shoal.web import command
from shoal.web.command import anonymize_command, export_command, learn_command

START = {"job": "release", "table": "a.csv", "schema": "p/schema.yaml"}


def test_what_is_as_by_default_is_not_said():
    assert anonymize_command(START) == "shoal anonymize a.csv --schema p/schema.yaml"
    usual = {**START, "output": {"out": "o.csv", "suppressed": "remove", "inputs": ["a.csv"]}}
    assert anonymize_command(usual).endswith("--schema p/schema.yaml --out o.csv")


def test_names_that_a_shell_would_take_apart_are_quoted():
    found = anonymize_command({**START, "table": "a b; rm -rf $HOME.csv"})
    assert shlex.split(found)[2] == "a b; rm -rf $HOME.csv"


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"method": {"name": "refine", "effort": "fast"}}, "--method refine --set effort=fast"),
        ({"method": {"name": "kmember", "cm": True}}, "--method kmember --set cm=true"),
        ({"method": "flash"}, "--method flash"),
        ({"seed": 7, "release": "aggregate"}, "--release aggregate --seed 7"),
        ({"infer": False}, "--no-infer"),
        ({"table": {"file": "a.csv", "encoding": "cp1252", "skip_lines": 2}},
         "a.csv --encoding cp1252 --skip-lines 2"),
        ({"table": {"database": "sqlite:///w.db", "table": "stays"}},
         "sqlite:///w.db --table stays"),
        ({"output": {"out": "o.csv", "suppressed": "star", "keep_order": True}},
         "--out o.csv --suppressed star --keep-order"),
        ({"checks": {"profile": "cms-cell-size", "attacks": "all"}},
         "--profile cms-cell-size --attacks"),
        ({"checks": {"learn": "a b", "fidelity": True}}, "--learn 'a b' --fidelity"),
        ({"checks": {"bound": 3}}, "--bound 3"),
        ({"table": {"file": "a.xlsx", "sheet": "2024", "skip_lines": 1}},
         "a.xlsx --sheet 2024 --skip-lines 1"),
        ({"ledger": "l.db", "waive_composition": [1, 2]}, "--ledger l.db --waive-composition 1,2"),
        ({"after": "l.db", "counterfeits": "none"}, "--after l.db --counterfeits none"),
        ({"nested_in": "c.csv", "key": "k.key"}, "--key k.key --nested-in c.csv"),
        ({"output": {"spreadsheet_safe": False}}, "--no-spreadsheet-safe"),
    ],
)  # fmt: skip
def test_each_part_of_a_request_has_its_words(part, words):
    assert words in anonymize_command({**START, **part})


UNSAID = {
    "table": "the command's own argument",
    "schema": "--schema, always",
    "method": "--method and --set",
    "infer": "--no-infer",
    "output": "its own fields",
    "checks": "its own fields",
    "inputs": "the command names its files itself",
    "pictures": "every report has them",
    "most_records": "what a command does unasked",
}


def test_no_field_of_a_request_is_left_out_of_the_command():
    """A request of a later day has more fields: the command must say each of them."""
    said = {*command._OPTIONS, *command._RELEASE, *command._OUTPUT, *command._CHECKS}
    said |= {"keep_order", "replace_table", "spreadsheet_safe", "fidelity", "attacks"}
    for kind in (ReleaseRequest, Output, Checks):
        names = {each.name for each in fields(kind)}
        assert names <= said | set(UNSAID), names - said - set(UNSAID)


def test_the_report_is_said_with_what_only_people_know():
    found = anonymize_command(START, {"out": "r.html", "by": "Dr. A. Example", "model": "m.json"})
    assert shlex.split(found)[-4:] == ["--report", "r.html", "--by", "Dr. A. Example"]


def test_model_and_encoder_have_commands_of_their_own():
    assert learn_command({**START, "seed": 2}, "m.json") == (
        "shoal learn a.csv --schema p/schema.yaml --seed 2 --model m.json"
    )
    assert export_command("m.json", "python", "e.py") == (
        "shoal edge export m.json --to python --out e.py"
    )


WHOLE = (
    {},
    {"seed": 7},
    {"method": {"name": "mondrian"}},
    {"method": {"name": "refine", "effort": "fast"}, "seed": 3},
    {"release": "aggregate", "method": {"name": "mdav"}},
    {"output": {"out": "r.csv", "suppressed": "star"}},
    {"output": {"out": "r.csv", "suppressed": "remove", "keep_order": True}},
    {"checks": {"profile": "cms-cell-size"}},
    {"table": {"file": "stays.csv", "encoding": "cp1252"}},
)


@pytest.mark.parametrize("part", WHOLE, ids=str)
def test_the_command_line_builds_the_very_request_that_the_page_asks(project, monkeypatch, part):
    """What a command asks is what the request says, field by field."""
    monkeypatch.chdir(project.folder.root)
    asked = []

    def release(request, **_):
        asked.append(request)
        raise InputError(where="test", problem="seen")

    monkeypatch.setattr("shoal.jobs.release.release", release)
    document = {**project.document, "output": {"out": "r.csv", "suppressed": "remove"}, **part}
    _, *words = shlex.split(anonymize_command(document))
    assert call(*words).code == 2
    wanted = request_from(document)
    (found,) = asked
    for name in ("schema", "method", "release", "seed", "infer", "partitions", "partition_by"):
        assert getattr(found, name) == getattr(wanted, name), name
    assert str(found.table) == str(wanted.table)
    assert getattr(found.table, "encoding", None) == getattr(wanted.table, "encoding", None)
    assert str(found.output.out) == str(wanted.output.out)
    assert found.output.suppressed == wanted.output.suppressed
    assert found.output.keep_order == wanted.output.keep_order
    assert found.checks.profile == wanted.checks.profile
