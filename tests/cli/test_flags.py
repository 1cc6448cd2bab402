"""Every option that a message of ours names is an option of some command."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import typer

import shoal
from shoal.cli.main import app

SOURCE = Path(shoal.__file__).parent
# Of python -m shoal.edge, which is another command line, and of pip and Java.
OTHERS = {"--format", "--add-modules", "--extra"}


def flags(group):
    for each in group.params:
        yield from (*each.opts, *each.secondary_opts)
    for each in getattr(group, "commands", {}).values():
        yield from flags(each)


def texts(path):
    """Yield every text of a file that is no docstring, with its line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.lineno, node.value


def test_every_flag_that_a_message_names_exists():
    known = {*flags(typer.main.get_command(app)), "--help", "-h", *OTHERS}
    unknown, seen = [], 0
    for path in sorted(SOURCE.rglob("*.py")):
        for line, text in texts(path):
            for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z](?![\w])", text):
                seen += 1
                if flag not in known:
                    unknown.append(f"{path.relative_to(SOURCE)}:{line} {flag}")
    assert seen > 100
    assert not unknown, "\n".join(unknown)
