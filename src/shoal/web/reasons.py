"""What jobs say in English, in the language of the page.

A job writes its reasons for reports and terminals, and knows no page. The catalogue has them as
they are written, with holes, and finds them again by that; what it does not know stays as it is.
"""

from __future__ import annotations

import re
from functools import cache

from shoal.web.texts import Texts, catalogue

ROOM = "reasons."
_HOLE = re.compile(r"\\{(\w+)\\}")  # after re.escape
_NUMBERS = ("n", "of", "distinct", "cells", "missing", "words", "low", "high")
_WHOLE = ("why", "remedy", "names", "column", "name", "other")
"""Holes of whole texts; what stands in the others is no list of reasons."""
_NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?")
_MOST = 4000  # letters of a text that is looked through


def reason(texts: Texts, said: str) -> str:
    """Return what a job said in the language of the page.

    Example:
        >>> reason(Texts("de"), "the header says a postal code; 1,743 different values in 9 cells")
        'die Überschrift nennt eine Postleitzahl; 1.743 verschiedene Werte in 9 Zellen'
    """
    if texts.language == "en" or len(said) > _MOST:
        return said
    if _NUMBER.fullmatch(said):
        plain = said.replace(",", "")
        return texts.number(float(plain), digits=len(plain.partition(".")[2]))
    for pattern, key in _patterns():
        found = pattern.fullmatch(said)
        if found is not None:
            holes = {name: _filled(texts, name, text) for name, text in found.groupdict().items()}
            return texts(f"reasons.{key}", **holes)
    parts = said.split("; ")
    return said if len(parts) == 1 else "; ".join(reason(texts, each) for each in parts)


def _filled(texts: Texts, hole: str, said: str) -> str:
    """Return what stood in a hole: a name as it is, a list part by part."""
    if hole in ("column", "name", "names", "other"):
        return said
    parts = said.split(", ") if hole == "listed" else [said]
    return ", ".join(reason(texts, each) for each in parts)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return what every reason looks like; those that say most of it themselves come first."""
    found: list[tuple[int, re.Pattern[str], str]] = []
    for key, entry in catalogue().items():
        if key.startswith(ROOM):
            literal = re.escape(entry["en"]["other"])
            pattern = re.compile(_HOLE.sub(_group, literal), re.DOTALL)
            found.append((len(_HOLE.sub("", literal)), pattern, key.removeprefix(ROOM)))
    return tuple((pattern, key) for _, pattern, key in sorted(found, key=lambda each: -each[0]))


def _group(hole: re.Match[str]) -> str:
    """Return what may stand in a hole."""
    name = hole[1]
    if name in _NUMBERS:
        return rf"(?P<{name}>{_NUMBER.pattern.replace('(', '(?:')})"
    return rf"(?P<{name}>.+?)" if name in _WHOLE else rf"(?P<{name}>(?:(?!; ).)+?)"
