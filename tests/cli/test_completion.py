"""Completion in real shells, and the scripts that bring it there."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.shells import Terminal, installed

from shoal.cli.completion import SCRIPTS, Typed
from shoal.cli.main import main

BREAKS = " \t\n\"'@><=;|&(:"
TABLE = "age;sex;zip code;diagnosis\n1;f;2;x\n"
LINES = {
    "shoal anonymi": "shoal anonymize ",
    "shoal anonymize t.c": "shoal anonymize t.csv ",
    "shoal anonymize t.csv --qi age,s": "shoal anonymize t.csv --qi age,sex",
    "shoal anonymize t.csv --qi zip": "shoal anonymize t.csv --qi zip\\ code",
    'shoal anonymize t.csv --qi "zip': 'shoal anonymize t.csv --qi "zip code',
    "shoal anonymize t.csv --engine=sp": "shoal anonymize t.csv --engine=spark ",
    "shoal learn t.csv --method refine --set eff": (
        "shoal learn t.csv --method refine --set effort="
    ),
    "shoal learn t.csv --method refine --set effort=b": (
        "shoal learn t.csv --method refine --set effort=best "
    ),
    "shoal anonymize t.csv --hierarchies bi": "shoal anonymize t.csv --hierarchies bin/",
    "shoal anonymize t.csv --out=bi": "shoal anonymize t.csv --out=bin/",
    "true | shoal verif": "true | shoal verify ",
    "shoal hierarchy bui": "shoal hierarchy build ",
    "shoal no-such --x": "shoal no-such --x",
}


@pytest.mark.slow
@pytest.mark.parametrize("shell", SCRIPTS)
def test_a_shell_completes_what_is_typed(shell, tmp_path):
    if not installed(shell):
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "t.csv").write_text(TABLE, encoding="utf-8")
    terminal = Terminal(shell, tmp_path)
    try:
        found = {line: terminal.line_after(f"{line}\t") for line in LINES}
    finally:
        terminal.close()
    # A shell may close the quote, and fish has no way to leave the space out after a word.
    assert {k: v.rstrip(' "') for k, v in found.items()} == {
        k: v.rstrip(' "') for k, v in LINES.items()
    }


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_script_is_sound(shell, tmp_path):
    assert main(["completion", shell]) == 0
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(SCRIPTS[shell], encoding="utf-8")
    done = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_a_shell_asks_is_answered_in_lines(run):
    answer = run(
        "completion", "fish", "--", "shoal", "learn", "t.csv", "--method", "refine", "--set", ""
    )
    assert answer.out == "open\neffort=\tfast, normal or best\nseconds=\tnumber above 0\n"
    assert run("completion", "bash", "--", BREAKS, "shoal verif").out == "words\nverify\n"


@pytest.mark.parametrize(
    "words",
    [
        ("bash", "--", BREAKS, "shoal anonymize none.csv --qi "),
        ("bash", "--", BREAKS, 'shoal anonymize "open --qi '),
        ("zsh", "--", "shoal", "anonymize", "/proc/self/mem", "--qi", ""),
        ("fish", "--", ""),
        ("fish", "--", "shoal"),
        ("bash", "--", BREAKS),
    ],
)
def test_whatever_is_typed_nothing_but_proposals_is_printed(run, words):
    answer = run("completion", *words)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.split("\n")[0] in ("words", "open", "files", "")


def test_an_error_inside_is_silent(run, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("shoal.cli.complete.complete", fail)
    answer = run("completion", "zsh", "--", "shoal", "")
    assert (answer.code, answer.out.strip(), answer.err) == (0, "", "")


def test_an_unknown_shell_is_refused(run):
    answer = run("completion", "fsh")
    assert answer.code == 2
    assert "did you mean 'fish'? there are bash, zsh and fish" in answer.err


def test_completing_columns_loads_nothing_that_reads_tables(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text(TABLE + "1;f;2;x\n" * 500, encoding="utf-8")
    words = ["completion", "zsh", "--", "shoal", "anonymize", str(table), "--qi", "age,"]
    code = (
        "import sys; from shoal.cli.main import main; main(sys.argv[1:])\n"
        "print([n for n in ('polars', 'numpy', 'pydantic', 'rich') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    columns = ["age,sex", "age,zip code", "age,diagnosis"]
    assert done.stdout.splitlines() == ["open", *columns, "[]"]


@pytest.mark.parametrize(
    ("line", "words", "rest"),
    [
        ("shoal a", ["shoal", "a"], ("anonymize", "anonymize")),
        ("shoal ", ["shoal", ""], ("key", "key")),
        ("shoal  x --set effort=b", ["shoal", "x", "--set", "effort=b"], ("effort=best", "best")),
        ('shoal --qi "zip c', ["shoal", "--qi", "zip c"], ("zip code", "zip code")),
        ('shoal --qi="zip c', ["shoal", "--qi=zip c"], ("--qi=zip code", "zip code")),
        ("shoal --qi zip\\ c", ["shoal", "--qi", "zip c"], ("zip code", "zip\\ code")),
        ("shoal 'a b' \"\" c", ["shoal", "a b", "", "c"], ("c", "c")),
    ],
)
def test_a_line_of_bash_is_cut_as_bash_does(line, words, rest):
    typed = Typed.read(line, BREAKS)
    assert typed.words == words
    assert typed.rest_of(rest[0]) == rest[1]


@given(text=st.text(alphabet="ab \\\"'=$,", max_size=12))
def test_any_line_of_bash_can_be_cut(text):
    typed = Typed.read(text, BREAKS)
    assert typed.words
    assert 0 <= typed.cut <= len(typed.words[-1])
