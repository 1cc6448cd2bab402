"""What went wrong: one line for a person, one document for a program."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from tests.cli.test_help import LEAVES

from shoal.cli import faults
from shoal.cli.faults import _flags, failure_of
from shoal.core.errors import InputError, NoSolutionError, SchemaError


@pytest.fixture
def table(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text("age,dx\n1,a\n1,b\n2,a\n2,b\n")
    return place


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("anonymise",), "no command 'anonymise'; did you mean 'anonymize'? (see shoal --help)"),
        (("budget", "shw"), "no command 'shw'; did you mean 'show'? (see shoal budget --help)"),
        (("anonymize", "t.csv", "--methd", "x"),
         "no option --methd; did you mean --method? (see shoal anonymize --help)"),
        (("anonymize", "t.csv", "-k", "many"),
         "-k: must be a whole number (see shoal anonymize --help)"),
        (("anonymize", "t.csv", "--t", "many"), "--t: must be a number (see shoal anonymize"),
        (("learn", "t.csv"), "--model is missing (see shoal learn --help)"),
        (("verify", "t.csv", "--qi"), "--qi needs a value behind it (see shoal verify --help)"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)  # fmt: skip
def test_a_command_line_that_cannot_be_meant_is_one_line_and_one_document(run, words, line):
    answer = run(*words)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.count("\n") == 1
    assert line in answer.err
    told = run(*words, "--json") if words[-1] != "--qi" else run(*words[:-1], "--json", "--qi")
    assert told.err == answer.err
    error = json.loads(told.out)["error"]
    assert (error["kind"], error["exit_code"]) == ("UsageError", 2)
    assert line in error["problem"]


@pytest.mark.parametrize(
    ("words", "code", "kind", "where"),
    [
        (("--qi", "agee", "-k", 2), 2, "SchemaError", "t.csv"),
        (("--qi", "age", "-k", 9), 1, "NoSolutionError", "anonymize"),
        (("--qi", "age", "--l", 2, "-k", 2), 2, "SchemaError", "schema"),
        (("--qi", "age", "-k", 0), 2, "PrivacyError", "k-anonymity"),
        (("--qi", "age", "-k", 2, "--method", "refin"), 2, "MethodError", "anonymize"),
    ],
)
def test_with_json_an_error_is_a_document_too(run, table, tmp_path, words, code, kind, where):
    ask = ("anonymize", table, *words, "--out", tmp_path / "o.csv")
    plain, told = run(*ask), run(*ask, "--json")
    assert plain.code == told.code == code
    assert plain.err == told.err
    assert plain.err.count("\n") == 1
    error = json.loads(told.out)["error"]
    assert error["kind"] == kind
    assert error["exit_code"] == code
    assert error["where"].endswith(where)
    assert error["problem"] in told.err


def test_the_faults_of_a_schema_are_listed_one_by_one():
    failure = failure_of(SchemaError(where="s.yaml", faults=["no a", "no b"]), "verify")
    assert failure.to_document()["error"]["faults"] == ["no a", "no b"]
    assert failure.problem == "2 faults: (1) no a; (2) no b"
    assert failure.line == "s.yaml: 2 faults: (1) no a; (2) no b"


@pytest.mark.parametrize(
    ("error", "code", "kind"),
    [
        (InputError(where="t.csv", problem="no such file"), 2, "InputError"),
        (NoSolutionError(problem="x"), 1, "NoSolutionError"),
        (KeyboardInterrupt(), 130, "Interrupted"),
        (MemoryError(), 2, "MemoryError"),
        (OSError(28, "No space left on device"), 2, "OSError"),
        (ZeroDivisionError("a value of the data"), 3, "Bug"),
    ],
)
def test_every_error_has_its_exit_code(error, code, kind):
    failure = failure_of(error, "anonymize")
    assert (failure.exit_code, failure.kind) == (code, kind)
    assert "value of the data" not in failure.line + failure.problem


def test_where_the_release_goes_to_standard_output_the_document_does_not(capsys):
    failure_of(NoSolutionError(problem="x"), "anonymize").show(json=True, released=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert json.loads(captured.err)["error"]["exit_code"] == 1


def _texts(path):
    """Yield the texts of a source file that may be printed: all but docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    homes = (ast.Module, ast.ClassDef, ast.FunctionDef)
    first = [n.body[0] for n in ast.walk(tree) if isinstance(n, homes) and n.body]
    docs = {id(each.value) for each in first if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def test_every_option_that_a_message_names_exists():
    known = {"--help", "--version"}
    known |= {flag for each in LEAVES.values() for p in each.params for flag in _flags(p)}
    package = Path(faults.__file__).parents[1]
    named = {
        flag
        for path in package.rglob("*.py")
        if path.parent.name != "edge"  # a program of its own
        for text in _texts(path)
        for flag in re.findall(r"(?<![\w-])--[a-z](?:[a-z-]*[a-z])?\b", text)
    }
    assert len(named) > 50
    assert named <= known, named - known
