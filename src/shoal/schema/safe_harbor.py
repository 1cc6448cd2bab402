"""The techniques of HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i): zip codes, dates and ages.

They are told from others by what they do with a value that they cannot read: it is not passed on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from shoal.core.keys import iso_of
from shoal.core.secret_keys import Keys
from shoal.schema.techniques import Cell, Technique

OLDEST = 89
"""The highest age that may stand as it is."""

ZIP_LISTS: Mapping[str, tuple[str, ...]] = {
    "Census 2000 (guidance of the Department of Health and Human Services, 2012-11-26)": (
        "036", "059", "063", "102", "203", "556", "692", "790", "821", "823", "830", "831", "878",
        "879", "884", "890", "893",
    ),
    "Census 2010": (
        "036", "059", "102", "203", "205", "369", "556", "692", "753", "772", "821", "823", "878",
        "879", "884", "893",
    ),
    "Census 2020 (table DHC P1, ZCTAs; the list of the HRSA for UDS+)": (
        "036", "059", "102", "202", "203", "204", "205", "369", "556", "692", "753", "772", "821",
        "823", "878", "879", "884", "893",
    ),
}  # fmt: skip
"""Three-digit zip areas with 20,000 people or fewer, by census. The rule asks for current data: the
list of 2020 is the newest, and those of before are replaced, too, so that whoever holds one of
them against a release finds nothing."""

UNCOUNTED = (
    "000 001 002 003 004 005 008 055 090 091 092 093 094 095 096 097 098 099 192 213 269 311 332 "
    "340 343 345 348 353 375 399 419 428 429 459 509 517 518 519 529 533 536 552 555 568 569 578 "
    "579 589 621 632 642 643 649 659 663 682 694 695 696 697 698 699 702 709 715 732 733 742 771 "
    "817 818 819 839 842 848 849 854 858 861 862 866 867 868 869 872 876 885 886 887 888 889 892 "
    "896 899 901 909 929 938 942 962 963 964 965 966 969 987"
)
"""Three digits for which Census 2020 has no area in the states, Washington, D.C. and Puerto Rico:
military mail, offices, islands, unused ones. Nobody was counted there, so that not more than
20,000 were."""

SMALL_ZIPS = frozenset(
    {area for areas in ZIP_LISTS.values() for area in areas} | set(UNCOUNTED.split())
)
AHEAD = 10
"""Years after the day of the release that a date may have."""

_RELEASED = ("quasi", "sensitive", "neutral")
_ZIP = re.compile(r"(\d{4,5})(?:\.0*)?|(\d{8,9})|(\d{4,5})[- ]\d{4}")
_AGE = re.compile(r"(\d{1,3})(?:\.\d*)? ?(?:years?|yrs?|y|yo|jahre)?( old)?")
_BAND = re.compile(
    r"[\[(]?\s*(\d{1,3})\s*(?:-|–|to|,|bis|a)\s*(\d{1,3})\s*([\])]?)|>\s*(=?)\s*(\d{1,3})|"
    r"(\d{1,3})\s*(?:\+|or (?:older|over|more)|and (?:older|over|above))|"
    r"(\d{1,3})s|<\s*=?\s*(\d{1,2})"
)
_YEAR = re.compile(r"(\d{4})(?:\.0*)?(?:[-T ].*)?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Zip3(Technique):
    """Of a zip code three digits stay, or 000 where 20,000 people or fewer live behind them.

    Zeros that a number has lost are put back. What is no zip code becomes 000.

    Example:
        >>> [Zip3().area(text) for text in ("75275", "2134", "82190-0001", "SW1A 1AA")]
        ['752', '021', '000', '000']
    """

    name: ClassVar[str] = "zip3"
    roles: ClassVar[tuple[str, ...]] = _RELEASED

    def _faults(self) -> list[str]:
        return []

    def words(self) -> str:
        """Say what is done to a column, for a report."""
        return "three digits, 000 for areas of 20,000 people or fewer"

    def area(self, text: str) -> str:
        """Return what is released of a zip code."""
        found = _ZIP.fullmatch(text.strip()) if text.isascii() else None
        if found is None:
            return "000"
        five, nine, first = found.groups()
        code = nine.zfill(9) if nine is not None else (five or first).zfill(5)
        return "000" if code[:3] in SMALL_ZIPS else code[:3]

    def cell(self, column: str, keys: Keys) -> Cell:
        """Return what becomes of each value of a column."""
        return self.area


@dataclass(frozen=True, slots=True, kw_only=True)
class TopAge(Technique):
    """Ages over 89 become one group, 90+; bands of ages that reach above 89 are left open.

    What is no age (a negative one, one over 150, a text) is left out.

    Example:
        >>> [TopAge().group(text) for text in ("41.5", "92", "90+", "80-99", "-3")]
        ['41', '90+', '90+', '80+', None]
    """

    name: ClassVar[str] = "top_age"
    roles: ClassVar[tuple[str, ...]] = _RELEASED

    def _faults(self) -> list[str]:
        return []

    def words(self) -> str:
        """Say what is done to a column, for a report."""
        return f"ages over {OLDEST} joined to {OLDEST + 1}+"

    def group(self, text: str) -> str | None:
        """Return what is released of an age."""
        plain = text.strip().lower()
        if not plain.isascii() and "–" not in plain:
            return None
        age = _AGE.fullmatch(plain)
        if age is not None:
            years = int(age[1])
            return None if years > 150 else _open(years) if years > OLDEST else str(years)
        band = _BAND.fullmatch(plain)
        if band is None:
            return None
        low, high, end, equal, over, least, decade, below = band.groups()
        if below is not None:
            return plain
        if over is not None:
            return _open(int(over) + (not equal))
        if least is not None:
            return _open(int(least))
        first = int(low if low is not None else decade)
        last = int(high) - (end == ")") if high is not None else first + 9
        if last > OLDEST:
            return _open(first)
        return text.strip()

    def cell(self, column: str, keys: Keys) -> Cell:
        """Return what becomes of each value of a column."""
        return self.group


def _open(age: int) -> str:
    return f"{min(age, OLDEST + 1)}+"


@dataclass(frozen=True, slots=True, kw_only=True)
class Year(Technique):
    """Of a date the year stays; years that only people over 89 have lived in become one.

    Attributes:
        as_of: the day that decides who is over 89.
        date_format: how dates are written; None: as ISO dates, or years alone.

    Example:
        >>> year = Year(as_of="2024-06-30", date_format="%d.%m.%Y")
        >>> [year.year(text) for text in ("31.12.1999", "01.01.1931", "soon")]
        ['1999', '<=1934', None]
    """

    name: ClassVar[str] = "year"
    roles: ClassVar[tuple[str, ...]] = _RELEASED

    as_of: str = ""
    date_format: str | None = None

    def _faults(self) -> list[str]:
        try:
            date.fromisoformat(self.as_of)
        except (ValueError, TypeError):
            return ["year needs the day that decides ages, such as {as_of: '2026-01-31'}"]
        if self.date_format is None:
            return []
        is_form = isinstance(self.date_format, str) and "%" in self.date_format
        return [] if is_form else ["date_format must be a form such as %d.%m.%Y"]

    def words(self) -> str:
        """Say what is done to a column, for a report."""
        return f"the year of each date; {_last(self.as_of)} and before are one (ages over {OLDEST})"

    def year(self, text: str) -> str | None:
        """Return what is released of a date."""
        plain = text.strip()
        form = self.date_format
        if form is not None:
            plain = iso_of(plain, form) or ""
        found = _YEAR.fullmatch(plain)
        if found is None:
            return None
        year, today = int(found[1]), int(self.as_of[:4])
        if form is not None and "%y" in form and year > today:
            year -= 100  # two digits leave the century open: people are born in the last one
        if year > today + AHEAD:
            return None
        last = _last(self.as_of)
        return f"<={last}" if year <= last else str(year)

    def cell(self, column: str, keys: Keys) -> Cell:
        """Return what becomes of each value of a column."""
        return self.year


def _last(as_of: str) -> int:
    # Who is born in 1934 turns 90 in 2024, some of them before the day: all are joined.
    return int(as_of[:4]) - OLDEST - 1


def years_of(day: date) -> list[str]:
    """Return the years that may stand, from the one label for everybody over 89.

    Example:
        >>> years_of(date(2024, 6, 30))[:2]
        ['<=1934', '1935']
    """
    last = _last(day.isoformat())
    return [f"<={last}", *map(str, range(last + 1, day.year + AHEAD + 1))]


def ages() -> list[str]:
    """Return the ages that may stand, from 0 to the group of everybody over 89."""
    return [*map(str, range(OLDEST + 1)), f"{OLDEST + 1}+"]
