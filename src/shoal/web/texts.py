"""The texts of the page: one catalogue for every language, and numbers as people read them.

A file of `texts/` belongs to a panel. Its keys are asked for as `panel.key`; each has the text in
every language, or, where a number decides the words, `one` and `other` of each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from pathlib import Path

from shoal.core.documents import read_document

LANGUAGES = ("en", "de")
FOLDER = Path(__file__).with_name("texts")
NUMBER = "n"
"""The fact that decides between `one` and `other`."""

_HOLE = re.compile(r"\{(\w+)\}")
_NARROW, _NO_BREAK = "\u202f", "\u00a0"
Fact = str | int | float | date | None
Entry = Mapping[str, Mapping[str, str]]
"""Language → form ("one", "other") → text."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The catalogue in one language.

    Attributes:
        language: "en" or "de".

    Example:
        >>> Texts("de").number(1234567.891, digits=1), Texts("en").percent(0.1234)
        ('1.234.567,9', '12.3%')
    """

    language: str = "en"

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise ValueError(f"the page speaks {', '.join(LANGUAGES)}")

    def __call__(self, key: str, **facts: Fact) -> str:
        """Return the text of a key, with its facts as people read them.

        A key that nobody wrote is a mistake of ours; the page shows the key and goes on.
        """
        entry = catalogue().get(key)
        if entry is None:
            return key
        forms = entry[self.language]
        text = forms["one"] if facts.get(NUMBER) == 1 and "one" in forms else forms["other"]
        return _HOLE.sub(lambda hole: self.said(facts.get(hole[1])), text)

    def has(self, key: str) -> bool:
        """Say whether the catalogue knows a key: names from elsewhere may have no text."""
        return key in catalogue()

    def said(self, fact: Fact) -> str:
        """Return a fact as people read it; nothing known is a dash."""
        if fact is None:
            return "–"
        if isinstance(fact, bool):
            return self("page.yes" if fact else "page.no")
        if isinstance(fact, (int, float)):
            return self.number(fact)
        return self.date(fact) if isinstance(fact, date) else fact

    def number(self, value: float | None, *, digits: int | None = None) -> str:
        """Return a number; digits: after the point, by default up to three that count."""
        if value is None:
            return "–"
        if digits is None:
            text = f"{value:,}" if isinstance(value, int) else _short(value)
        else:
            text = f"{value:,.{digits}f}"
        if self.language == "de":
            text = text.translate(str.maketrans(",.", ".,"))
        return text.replace("-", "\N{MINUS SIGN}")

    def percent(self, share: float | None, *, digits: int = 1) -> str:
        """Return a share of one; what is more than nothing never reads as nothing."""
        if share is None:
            return "–"
        least = 10.0 ** -(digits + 2)
        small = 0 < share < least / 2
        text = self.number(100 * (least if small else share), digits=digits)
        gap = _NO_BREAK if self.language == "de" else ""
        return f"{'<' + _NARROW if small else ''}{text}{gap}%"

    def date(self, day: date) -> str:
        """Return a day, with the time where it has one."""
        text = f"{day:%d.%m.%Y}" if self.language == "de" else f"{day.day} {day:%b} {day.year}"
        return f"{text}, {day:%H:%M}" if isinstance(day, datetime) else text

    def seconds(self, value: float) -> str:
        """Return how long something takes."""
        if value < 10:
            return f"{self.number(value, digits=1)}{_NO_BREAK}s"
        whole = round(value)
        if whole < 60:
            return f"{whole}{_NO_BREAK}s"
        minutes, rest = divmod(whole, 60)
        return f"{minutes}{_NO_BREAK}min {rest}{_NO_BREAK}s"


def preferred(accepted: str, asked: str = "") -> str:
    """Return the language of a tab: what it asks for, or else what its browser prefers.

    accepted: the browser's `Accept-Language`.

    Example:
        >>> preferred("fr-FR, de;q=0.9, en;q=0.8"), preferred("de", asked="en"), preferred("")
        ('de', 'en', 'en')
    """
    wanted = [asked, *(each.strip()[:2].lower() for each in accepted.split(","))]
    return next((each for each in wanted if each in LANGUAGES), "en")


def _short(value: float) -> str:
    """Return a number with up to three digits that count after the point.

    Example:
        >>> _short(1234.5678), _short(0.000123), _short(2.0)
        ('1,234.57', '0.000123', '2')
    """
    if value == 0 or value != value or abs(value) == float("inf"):
        return f"{value:g}"
    if abs(value) < 1e-6 or abs(value) >= 1e15:
        return f"{value:.3g}"
    digits = 2 if abs(value) >= 1 else 2 - _exponent(value)
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _exponent(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])


@cache
def catalogue() -> Mapping[str, Entry]:
    """Return every text of the page, read once."""
    found: dict[str, Entry] = {}
    for file in sorted(FOLDER.glob("*.yaml")):
        entries = read_document(file)
        assert isinstance(entries, Mapping), file.name
        for key, languages in entries.items():
            found[f"{file.stem}.{key}"] = {
                name: {"other": text} if isinstance(text, str) else dict(text)
                for name, text in languages.items()
            }
    return found
