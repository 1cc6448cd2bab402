"""What values look like: e-mail, phone, address, date, name, code; never what they are.

A pattern counts as a sign when nearly all sampled values of a column fit it, and when a
column of random numbers would hardly do so (a Luhn digit fits one random number in ten).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from shoal.inference import check_digits as check

SHARE = 0.9
"""The share of the sampled values that must fit a pattern."""

_UNLIKELY = 1e-3
_PROBE = 40


@dataclass(frozen=True, slots=True)
class Pattern:
    """One form of text.

    Attributes:
        concept: what it is a sign of (a key of `headers.CONCEPTS`).
        words: how it is called in a report.
        fits: the test of one value.
        chance: how often a value of a harmless column fits by accident.
        proof: a check digit or a form so special that it needs no other sign.
    """

    concept: str
    words: str
    fits: Callable[[str], bool]
    chance: float = 0.01
    proof: bool = True


def _full(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda text: compiled.fullmatch(text.strip()) is not None


EMAIL = r"[\w.+'-]+@[\w-]+(\.[\w-]+)*\.[a-z]{2,}"
URL = r"(https?|ftp)://\S+|www\.\S+\.\S+"
_STREET = (
    r"st|street|ave|avenue|rd|road|blvd|boulevard|lane|ln|drive|dr|court|ct|way|place|pl|square|sq|"
    r"hwy|highway|parkway|pkwy|terrace|ter|alley|plaza|pier|"
    r"strasse|str|weg|platz|allee|gasse|rue|chemin|impasse|place|calle|avenida|avda|plaza|paseo|via|viale|"
    r"piazza|corso|rua|travessa|straat|laan|plein|gracht|ulica|ul|aleja|gatan|v\u00e4gen|gata|vej|gade"
)
_NUMBER_FIRST = re.compile(
    rf"\d+[a-z]?([-/]\d+[a-z]?)?,?\s+(.*\b({_STREET})\b\.?.*)", re.IGNORECASE
)
_STREET_FIRST = re.compile(
    rf"(.*\b({_STREET})\b\.?.*|.*(stra\u00dfe|strasse|straat|gatan|v\u00e4gen|weg|gasse|laan)),?\s+(n\.?\s*)?"
    r"\d+\s*[a-z]?(,.*)?",
    re.IGNORECASE,
)


def is_address(text: str) -> bool:
    """Say whether a text looks like a street and a house number.

    Example:
        >>> is_address("3279 22nd St"), is_address("Hauptstraße 5"), is_address("5 apples")
        (True, True, False)
    """
    plain = text.strip()
    return bool(_NUMBER_FIRST.fullmatch(plain) or _STREET_FIRST.fullmatch(plain))


# Written by people of many countries. The library `phonenumbers` needs to know the country for
# everything without a +: tried with 16 of them on the tests' lists it finds as many numbers and
# takes dates, postal codes and social security numbers for phone numbers.
_PHONE = re.compile(
    r"(\+|00)[1-9][\d\s().\-/]{6,20}"  # international
    r"|\(?0[1-9]\d{0,4}\)?[\s\-/.]+\d[\d\s\-/.]{3,14}"  # an area code that starts with 0
    r"|(1[\s.\-])?\(?[2-9]\d\d\)?[\s.\-]{1,2}\d{3}[\s.\-]\d{4}"  # North America
    r"|\([1-9]\d{1,3}\)\s?\d{3,5}[\s\-]\d{3,4}"  # area code in brackets
    r"|\d{2,4}( \d{2,4}){2,4}",  # groups, no area code
    re.ASCII,
)
_NO_PHONE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}( .*)?"  # a date, or a social security number
    r"|\d{3}-\d\d-\d{4}"
    r"|[-+]?\d*\.\d*|(\d{1,3}\.){3}\d{1,3}"  # a number, an IP address
    r"|\d{1,3}( \d{3})+|\d{4}( \d{4})+"  # thousands, a card
    r"|\d{4}-\d{4}-\d\d|\d{5}-\d{3,4}-\d{1,2}"  # a drug (NDC)
    r"|(19|20)\d\d[\s\-/.].*|97[89][\s-].*",  # a year, a book
    re.ASCII,
)


def is_phone(text: str) -> bool:
    """Say whether a text looks like a phone number; bare digits alone do not.

    Example:
        >>> is_phone("+44 20 7946 0018"), is_phone("030 1234567"), is_phone("4155550132")
        (True, True, False)
    """
    plain = text.strip()
    if not _PHONE.fullmatch(plain) or _NO_PHONE.fullmatch(plain):
        return False
    digits = sum(c.isdigit() for c in plain)
    groups = len(re.findall(r"\d+", plain))
    if plain[0] == "+":
        return 8 <= digits <= 15
    # Two numbers with something between are a range or a code, unless the first is an area.
    return 8 <= digits <= 15 and groups > 1 and (groups > 2 or digits >= 9)


def is_phone_digits(text: str) -> bool:
    """Say whether a text may be a phone number when its header says so."""
    return is_phone(text) or bool(re.fullmatch(r"\+?\d{7,15}", check.digits_of(text), re.ASCII))


def is_ip(text: str) -> bool:
    """Say whether a text is an IPv4 or IPv6 address, with or without a network length."""
    if "." not in text and ":" not in text:
        return False
    try:
        ipaddress.ip_interface(text.strip())
    except ValueError:
        return False
    return True


_NAME_PARTS = frozenset(
    "de la le van von der den di da dos del el al bin ibn mc st san und y e".split()  # noqa: SIM905
)


def is_person_name(text: str) -> bool:
    """Say whether a text has the form of a person's name: two to four capitalised words.

    Example:
        >>> is_person_name("Vromamu van Quist"), is_person_name("general practice")
        (True, False)
    """
    parts = text.replace(",", " ").split()
    if not 2 <= len(parts) <= 4:
        return False
    strong = [part for part in parts if part.lower() not in _NAME_PARTS]
    return len(strong) >= 2 and all(
        part[0].isupper() and part.replace("-", "").replace("'", "").replace(".", "").isalpha()
        for part in strong
    )


_DATE_FORMS: Mapping[str, tuple[str, ...]] = {
    "day.month.year": ("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y"),
    "month/day/year": ("%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y"),
    "year/month/day": ("%Y/%m/%d", "%Y.%m.%d"),
    "yearmonthday": ("%Y%m%d",),
    "day month-name year": (
        "%d %b %Y",
        "%d %B %Y",
        "%d-%b-%Y",
        "%d-%b-%y",
        "%B %d, %Y",
        "%b %d, %Y",
    ),
}


def date_form(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return how the dates of a column are written: (name, strptime format), or None.

    ISO dates are ("iso", ""). A time of day behind the date is allowed.

    Example:
        >>> date_form(["17.03.2024", "01.12.1999"])
        ('day.month.year', '%d.%m.%Y')
    """
    texts = [text.strip() for text in texts]
    if not texts:
        return None
    if _most(texts, is_iso_date):
        return ("iso", "")
    for name, forms in _DATE_FORMS.items():
        for form in forms:
            for tail in ("", " %H:%M", " %H:%M:%S"):
                if _most(texts, partial(_parses, form=form + tail)):
                    return (name, form + tail)
    return None


def is_iso_date(text: str) -> bool:
    """Say whether a text is an ISO date, with or without a time, written with dashes."""
    if not re.match(r"\d{4}-\d\d-\d\d", text.strip(), re.ASCII):
        return False
    try:
        datetime.fromisoformat(text.strip())
    except ValueError:
        return False
    return True


def _parses(text: str, form: str) -> bool:
    try:
        year = datetime.strptime(text, form).year
    except ValueError:
        return False
    return 1850 <= year <= 2100


PATTERNS: tuple[Pattern, ...] = (
    Pattern("email", "e-mail addresses", _full(EMAIL)),
    Pattern("url", "web addresses", _full(URL)),
    Pattern("ip", "IP addresses", is_ip),
    Pattern("device", "MAC addresses", _full(r"([0-9a-f]{2}[:-]){5}[0-9a-f]{2}")),
    Pattern("device", "IMEI numbers with a right check digit", check.is_imei, 0.1),
    Pattern(
        "id", "UUIDs",
        _full(r"\{?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\}?"),
    ),
    Pattern("id", "long hexadecimal keys", _full(r"(?=.*[a-f])(?=.*\d)[0-9a-f]{32,128}")),
    Pattern("card", "card numbers with a right check digit", check.is_card, 0.1),
    Pattern("account", "IBANs with right check digits", check.is_iban),
    Pattern("vehicle", "vehicle numbers with a right check digit", check.is_vin, 0.09),
    Pattern("licence", "health provider numbers with a right check digit", check.is_us_npi, 0.1),
    *(
        Pattern("national_id", f"{words}s" if not words.endswith("L") else words, fits, chance)
        for words, (fits, chance) in check.NATIONAL.items()
    ),
    Pattern("photo", "names of image files", _full(r".*\.(jpe?g|png|gif|tiff?|bmp|webp|heic|dcm)")),
    Pattern("phone", "phone numbers", is_phone),
    Pattern("address", "streets with house numbers", is_address),
    Pattern("zip", "postal codes", _full(
        r"\d{5}-\d{4}|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d|\d{4} ?[A-Z]{2}"
    )),
    Pattern("health", "ICD-10 codes", _full(r"[A-TV-Z]\d[0-9AB](\.[0-9A-Z]{1,4})?"), 0.02),
    Pattern("name", "the form of personal names", is_person_name, 0.05, proof=False),
)  # fmt: skip


def signs(sample: Sequence[str]) -> list[Pattern]:
    """Return the patterns that a column's sampled values fit.

    Example:
        >>> [p.words for p in signs(["a@b.org", "c@d.net", "e@f.com"])]
        ['e-mail addresses']
    """
    if not sample:
        return []
    found = []
    for pattern in PATTERNS:
        if _most(sample, pattern.fits) and pattern.chance ** len(sample) < _UNLIKELY:
            found.append(pattern)
    return found


def _most(texts: Sequence[str], fits: Callable[[str], bool]) -> bool:
    """Say whether nearly all texts fit; a first look at a few saves most of the work."""
    probe = texts[:: max(len(texts) // _PROBE, 1)][:_PROBE]
    if sum(map(fits, probe)) < 0.7 * len(probe):
        return False
    return sum(map(fits, texts)) >= SHARE * len(texts)


@dataclass(frozen=True, slots=True)
class Hidden:
    """An identifier that hides inside longer texts.

    Attributes:
        words: how it is called in a report.
        regex: finds it; Polars takes no look-around.
        proves: the test that what was found must pass, if a regular expression is not enough.
    """

    words: str
    regex: str
    proves: Callable[[str], bool] | None = None


_CALL = r"tel|telefon\w*|telephone|phone|fon|mobile?|mobil\w*|handy|fax|cell|call|ring"
EMBEDDED: Mapping[str, Hidden] = {
    "email": Hidden("e-mail addresses", r"(?i)[a-z0-9._%+-]+@[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}"),
    "url": Hidden("web addresses", r"(?i)\b(https?://|www\.)\S+"),
    "phone": Hidden(
        "phone numbers",
        rf"(?i)\b({_CALL})\b[.:]?( ?(nr|no|number|nummer)\b[.:]?)?[ :]*[+(]?\d[\d ()/.-]{{4,}}\d"
        r"|\+[1-9]\d{0,2}[ ./()-]{0,2}\d[\d ./()-]{5,16}\d"
        r"|\b00[1-9]\d{0,2}[ /-]\d[\d /-]{6,}\d"
        r"|\(0\d{1,5}\)[ /-]{0,3}\d{3,}|\b0[1-9]\d{1,4}[ /-]{1,3}\d{3,4}[ -]?\d{2,8}\b"
        r"|\b0[1-9]([ .]\d\d){4}\b"
        r"|\(\d{3}\) ?\d{3}[-. ]\d{4}\b|\b[2-9]\d\d[-.]\d{3}[-.]\d{4}\b",
    ),
    "national_id": Hidden("social security numbers", r"\b\d{3}-\d{2}-\d{4}\b"),
    "account": Hidden(
        "IBANs", r"\b[A-Z]{2}\d\d ?([A-Z0-9]{4} ?){2,7}[A-Z0-9]{0,4}\b", check.starts_with_iban
    ),
}
"""Identifiers inside longer texts, by the concept that they are a sign of."""
