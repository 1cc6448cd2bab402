"""Colours on a terminal, none in a pipe.

`NO_COLOR` turns them off everywhere, `FORCE_COLOR` turns them on everywhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TextIO

BOLD, DIM, RED, GREEN, YELLOW, CYAN = "1", "2", "1;31", "32", "1;33", "36"

# What an answer must not be overlooked for, and what it is read for.
_MARKS: Sequence[tuple[re.Pattern[str], str]] = (
    (re.compile(r"^  (?:WARNING|WAIVED)\b", re.MULTILINE), YELLOW),
    (re.compile(r"^NOT safe$|: BROKEN\b|\bNOT passed$", re.MULTILINE), RED),
    (re.compile(r"^safe:|: holds\b", re.MULTILINE), GREEN),
    (re.compile(r"^  notice\b", re.MULTILINE), CYAN),
)


def is_coloured(stream: TextIO) -> bool:
    """Return whether colours belong on a stream: a terminal's, unless the user says otherwise."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def painted(text: str, style: str) -> str:
    r"""Return a text in a colour.

    Example:
        >>> painted("WARNING", BOLD)
        '\x1b[1mWARNING\x1b[0m'
    """
    return f"\x1b[{style}m{text}\x1b[0m"


def answer(text: str, stream: TextIO) -> str:
    """Return an answer as it is shown on a stream: warnings and verdicts in their colours."""
    if not is_coloured(stream):
        return text
    for pattern, style in _MARKS:
        text = pattern.sub(painted(r"\g<0>", style), text)
    return text
