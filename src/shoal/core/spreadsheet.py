"""Cells that a spreadsheet would run: texts that begin like a formula get an apostrophe.

A program that opens a CSV file takes a cell that begins with `=`, `+`, `-` or `@` for a formula,
unless it is a plain number. An apostrophe in front makes it a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from shoal.core.errors import OutputError

# The same words for Python, Polars and Spark.
FORMULA = r"^'*[=+\-@\t\r\n]"  # also behind apostrophes, so that unguarding is exact
BARE = r"^[=+\-@\t\r\n]"
NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\z"
GUARDED = r"^'('*[=+\-@\t\r\n])"

_formula = re.compile(FORMULA)
_number = re.compile(NUMBER.replace(r"\z", r"\Z"))
_guarded = re.compile(GUARDED)
_EXCEL = ("xlsx", "xls", "ods")


def guarded(text: str) -> str:
    """Return a cell as it is safe in a spreadsheet.

    Law:
        `unguarded(guarded(text)) == text`, so different texts stay different.

    Example:
        >>> [guarded(text) for text in ("=1+1", "-5", "-5..3", "@x", "a-b", "'=1")]
        ["'=1+1", '-5', "'-5..3", "'@x", 'a-b', "''=1"]
    """
    if _formula.match(text) and not _number.match(text):
        return "'" + text
    return text


def unguarded(text: str) -> str:
    """Return a cell without the apostrophe that `guarded` put there."""
    return text[1:] if text[:1] == "'" and _guarded.match(text) else text


def is_guarded(kind: str | None, asked: bool | None, *, where: str) -> bool:
    """Say whether the cells of an output are guarded.

    Args:
        kind: the format; None: a table that is handed back.
        asked: what somebody chose; None: what is right for the format, which is on for Excel.
        where: the output, for the message.

    Raises:
        OutputError: asked for a format that no spreadsheet reads as text.
    """
    if kind in _EXCEL:
        return asked is not False
    if asked and not (kind or "").startswith("csv"):
        raise OutputError(where=where, problem="--spreadsheet-safe goes with CSV output")
    return bool(asked)


def check_names(names: Iterable[str]) -> None:
    """Refuse names of columns that would be formulas: a header is not changed.

    Raises:
        OutputError: there is one.
    """
    wrong = [name for name in names if guarded(name) != name]
    if wrong:
        named = ", ".join(map(repr, wrong))
        raise OutputError(
            where=f"column {named}",
            problem="its name begins like a formula; rename it, or leave out --spreadsheet-safe",
        )
