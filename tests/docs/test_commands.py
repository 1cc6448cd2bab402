"""Every command on the pages is one that shoal knows, and those of the guides are run in order."""

from __future__ import annotations

import click
import pytest
import typer
from tests.conftest import call
from tests.docs import commands

from shoal.cli.main import app

ELSEWHERE = {
    "web": "waits for somebody", "serve": "waits for somebody", "demo": "tests/cli/test_demo.py",
    "completion": "tests/cli/test_completion.py",
}  # fmt: skip
OTHER_TABLES = {
    *("adult.csv", "january.csv", "april.csv", "courses.csv", "series.db", "illness", "spark"),
    "study.deid",
}
"""Tables that are not made up here: benchmarks and tests of their jobs have them."""
ALL = [each for path in commands.PAGES for each in commands.commands(path)]


def parsed(words: tuple[str, ...]) -> None:
    """Have the command line read a command without running it.

    Raises:
        click.UsageError: there is no such command or option, or a word too many.
    """
    command = typer.main.get_command(app)
    rest = list(words)
    context = click.Context(command, info_name="shoal")
    while hasattr(command, "commands"):
        name, command, rest = command.resolve_command(context, rest)
        assert command is not None
        context = click.Context(command, info_name=name, parent=context)
    if "--help" not in rest:
        command.parse_args(context, rest)


@pytest.mark.parametrize("command", ALL, ids=lambda each: f"{each.page}: {each.text}"[:90])
def test_the_command_line_knows_every_command_of_the_pages(command):
    parsed(command.words)


def test_a_command_that_is_not_there_is_found():
    for words in (("anonymise", "x"), ("verify", "x", "--nothing"), ("verify", "x", "y")):
        with pytest.raises(Exception, match=r"(?i)no |unexpected|many"):
            parsed(words)


@pytest.mark.nightly
@pytest.mark.local("the pages show the local engine")
@pytest.mark.parametrize("path", commands.PAGES, ids=lambda path: path.stem)
def test_the_commands_of_a_page_do_what_it_says(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands.make_files(tmp_path)
    for each in commands.commands(path):
        if each.words[0] in ELSEWHERE or OTHER_TABLES & {*each.words, *each.words[-1].split(",")}:
            continue
        answer = call(*each.words)
        assert answer.code in (0, 1), f"{each.text}\n{answer.err}"  # it could be asked


def test_pages_have_commands():
    assert len(ALL) > 60
    assert len({each.page for each in ALL}) > 15
