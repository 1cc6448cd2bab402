"""What a release puts in the place of a column's values: pseudonyms, masks, shifted dates.

A technique is a small frozen specification that an attribute holds (`release:` in a schema). It
works on texts, value by value, with nothing but the standard library, so that every engine makes
the same bytes of the same values.
"""

from __future__ import annotations

import hmac
from base64 import b32encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import ClassVar

from shoal.core.dates import moment_of, moment_text
from shoal.core.documents import Document, as_json
from shoal.core.secret_keys import Keys
from shoal.core.specs import Spec, is_count

Cell = Callable[[str], str | None]
"""What becomes of a value; None: it is left out."""

IDENTIFYING = ("identifying",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Technique(Spec):
    """What all techniques share.

    Attributes:
        name: in a schema.
        roles: of columns that it is for.
    """

    name: ClassVar[str]
    roles: ClassVar[tuple[str, ...]]

    @property
    def needs_key(self) -> bool:
        """Say whether it needs the project's key file."""
        return False

    def words(self) -> str:
        """Say what is done to a column, for a report."""
        raise NotImplementedError

    def cell(self, column: str, keys: Keys) -> Cell:
        """Return what becomes of each value of a column. It never sees a missing one."""
        raise NotImplementedError

    def to_document(self) -> Document:
        """Return its options that are not as by default."""
        given = {each.name: (getattr(self, each.name), each.default) for each in fields(self)}
        return {name: as_json(value) for name, (value, usual) in given.items() if value != usual}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keyed(Technique):
    """What depends on a secret key.

    Attributes:
        domain: values of columns with the same word give the same; by default the column.
        fresh: by a key of this release alone, which nobody keeps.
    """

    domain: str | None = None
    fresh: bool = False

    def _faults(self) -> list[str]:
        faults = []
        if self.domain is not None and not (isinstance(self.domain, str) and self.domain):
            faults.append("domain must be a word")
        if not isinstance(self.fresh, bool):
            faults.append("fresh must be true or false")
        return faults

    @property
    def needs_key(self) -> bool:
        """Say whether it needs the project's key file."""
        return not self.fresh


def digest_of(key: bytes, text: str) -> bytes:
    """Return the HMAC-SHA256 of a value."""
    return hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pseudonym(_Keyed):
    """Values become the beginning of their HMAC-SHA256, written with the digits a-z and 2-7.

    Attributes:
        characters: how much of it is kept, 5 bits each.

    Law:
        With one key and one domain, equal values have equal pseudonyms, today and next year;
        without the key nobody can make the pseudonym of a value, or compare two domains.
    """

    name: ClassVar[str] = "pseudonym"
    roles: ClassVar[tuple[str, ...]] = (*IDENTIFYING, "person")

    characters: int = 20

    def _faults(self) -> list[str]:
        faults = _Keyed._faults(self)
        if not is_count(self.characters, least=10) or self.characters > 25:
            faults.append("characters must be a whole number from 10 to 25")
        return faults

    def words(self) -> str:
        """Say what is done to a column, for a report."""
        how = "a key of this release alone" if self.fresh else "the project's key"
        return f"replaced by pseudonyms (HMAC-SHA256 with {how}, {5 * self.characters} bits)"

    def key(self, column: str, keys: Keys) -> bytes:
        """Return the key of a column's pseudonyms."""
        return keys.derived("pseudonym", self.domain or column, fresh=self.fresh)

    def text(self, digest: bytes) -> str:
        """Return the pseudonym that an HMAC is written as."""
        return b32encode(digest[:20])[: self.characters].decode("ascii").lower()

    def cell(self, column: str, keys: Keys) -> Cell:
        """Return what becomes of each value of a column."""
        key = self.key(column, keys)
        return lambda text: self.text(digest_of(key, text))

    def chance(self, values: int) -> float:
        """Return a bound on the probability that two of so many values get one pseudonym.

        Example:
            >>> f"{Pseudonym().chance(1_000_000):.0e}"
            '4e-19'
        """
        return values * max(values - 1, 0) / 2.0 ** (5 * self.characters + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask(Technique):
    """Letters and digits are hidden, but for a few at the beginning or the end.

    Attributes:
        keep_first, keep_last: letters and digits that stay. A value that has no more than these
            is hidden whole.
        char: what a hidden one becomes.
        length: "same" keeps length and marks such as - and @; "hidden" writes three of `char`
            for all that is hidden, so that the length is not seen.

    Example:
        >>> Mask(keep_last=4).hidden("078-05-1120")
        '***-**-1120'
        >>> Mask(keep_first=1, length="hidden").hidden("Ada")
        'A***'
    """

    name: ClassVar[str] = "mask"
    roles: ClassVar[tuple[str, ...]] = IDENTIFYING

    keep_first: int = 0
    keep_last: int = 0
    char: str = "*"
    length: str = "same"

    def _faults(self) -> list[str]:
        faults = []
        if not is_count(self.keep_first, least=0) or not is_count(self.keep_last, least=0):
            faults.append("keep_first and keep_last must be whole numbers, 0 or above")
        if not isinstance(self.char, str) or len(self.char) != 1 or not self.char.isprintable():
            faults.append("char must be one character")
        elif self.char.isalnum() or self.char.isspace():
            faults.append("char must be neither a letter, a digit nor a space")
        if self.length not in ("same", "hidden"):
            faults.append("length must be same or hidden")
        return faults

    def words(self) -> str:
        """Say what is done to a column, for a report."""
        kept = [
            f"the {side} {count if count > 1 else ''}".rstrip()
            + (" stay" if count > 1 else " stays")
            for side, count in (("first", self.keep_first), ("last", self.keep_last))
            if count
        ]
        return f"masked: {' and '.join(kept) or 'nothing stays'}, the length is " + (
            "kept" if self.length == "same" else "hidden"
        )

    def hidden(self, text: str) -> str:
        """Return a value as it is released."""
        places = [i for i, character in enumerate(text) if character.isalnum()]
        shown: set[int] = set()
        if len(places) > self.keep_first + self.keep_last:
            shown = {*places[: self.keep_first], *places[len(places) - self.keep_last :]}
        if self.length == "hidden":
            first = "".join(text[i] for i in places[: self.keep_first] if i in shown)
            last = "".join(text[i] for i in places[len(places) - self.keep_last :] if i in shown)
            return first + 3 * self.char + last
        lost = {*places} - shown
        return "".join(self.char if i in lost else character for i, character in enumerate(text))

    def cell(self, column: str, keys: Keys) -> Cell:
        """Return what becomes of each value of a column."""
        return self.hidden


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift(_Keyed):
    """Dates move by a secret number of days, the same for all dates of one person.

    Attributes:
        by: the column that says whose a record is.
        days: dates move by at most so many, forwards or backwards, and by one at least.

    Law:
        The days between two dates of one person stay as they are, in whichever columns, as long
        as these are shifted by the same column, days and key.
    """

    name: ClassVar[str] = "shift"
    roles: ClassVar[tuple[str, ...]] = IDENTIFYING

    by: str = ""
    days: int = 365

    def _faults(self) -> list[str]:
        faults = _Keyed._faults(self)
        if not isinstance(self.by, str) or not self.by:
            faults.append("shift needs the column of the person, such as {by: patient_id}")
        if not is_count(self.days, least=1) or self.days > 36_500:
            faults.append("days must be a whole number from 1 to 36500")
        return faults

    def words(self) -> str:
        """Say what is done to a column, for a report."""
        how = "a key of this release alone" if self.fresh else "the project's key"
        return (
            f"dates shifted by 1 to {self.days} days, a secret number for each value of "
            f"{self.by!r} ({how})"
        )

    def cell(self, column: str, keys: Keys) -> Cell:
        """Refuse: a date is shifted by another column's value."""
        raise NotImplementedError

    def days_of(self, keys: Keys) -> Callable[[str], int]:
        """Return the days that a person's dates move by."""
        key = keys.derived("shift", self.domain or self.by, fresh=self.fresh)

        def days(person: str) -> int:
            drawn = int.from_bytes(digest_of(key, person), "big") % (2 * self.days)
            return drawn - self.days if drawn < self.days else drawn - self.days + 1

        return days


def shifted(text: str, days: int, form: str | None, *, same: bool) -> str | None:
    """Return a date moved by some days; None: it is no date, or its year would have no four digits.

    Args:
        text: the date, perhaps with a time of day.
        days: may be negative.
        form: how it is written; None: as an ISO date.
        same: write it in this form again, not as an ISO date.

    Example:
        >>> shifted("28.02.2023", 2, "%d.%m.%Y", same=True)
        '02.03.2023'
    """
    moment = moment_of(text, form)
    if moment is None:
        return None
    try:
        return moment_text(moment + timedelta(days=days), form if same else None)
    except OverflowError:
        return None


def read_technique(entry: object, known: Mapping[str, type[Technique]]) -> Technique:
    """Read `release:` of a column: the name of a technique, or the name with its options.

    Raises:
        ValueError: with all faults at once.
    """
    named = {entry: {}} if isinstance(entry, str) else entry
    if not isinstance(named, Mapping) or len(named) != 1:
        raise ValueError(f"release must be one of {', '.join(known)}, or one with its options")
    ((name, options),) = named.items()
    if name not in known:
        raise ValueError(f"release must be one of {', '.join(known)}")
    try:
        return known[str(name)].from_document({} if options is None else options)
    except ValueError as error:
        raise ValueError(f"release: {name}: {error}") from None


def write_technique(technique: Technique) -> str | Document:
    """Return `release:` of a column as `read_technique` reads it."""
    options = technique.to_document()
    return {technique.name: options} if options else technique.name
