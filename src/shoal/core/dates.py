"""Dates as people write them: found out, read, and written again.

The reading itself is `keys.iso_of`, which travels to devices: a date means the same
wherever it is read.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime, time

from shoal.core.errors import InputError
from shoal.core.keys import MONTHS, date_key, iso_of

FORMS = (
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d",
    "%d-%b-%Y", "%d %b %Y", "%b %d, %Y",
)  # fmt: skip
"""Forms that are tried, none of which leaves the century open."""


def is_form(form: str) -> bool:
    """Say whether a form has a day, a month and a year, each once, and nothing else to fill."""
    marks = sorted(re.findall("%(.?)", form))
    return marks in (sorted(pair) for pair in ("dmY", "dmy", "dbY", "dby"))


def fitting_forms(texts: Collection[str]) -> tuple[str, ...]:
    """Return every form that all texts fit; empty where they are ISO dates or no dates.

    Example:
        >>> fitting_forms(["13.09.1967"]), fitting_forms(["01/02/1967"])
        (('%d.%m.%Y',), ('%d/%m/%Y', '%m/%d/%Y'))
    """
    if not texts or all(date_key(text) is not None for text in texts):
        return ()
    return tuple(form for form in FORMS if all(_fits(text, form) for text in texts))


def _fits(text: str, form: str) -> bool:
    iso = iso_of(text, form)
    return iso is not None and date_key(iso) is not None


def find_form(texts: Collection[str], *, column: str) -> str | None:
    """Return the form in which dates are written; None: ISO dates, or no dates at all.

    Raises:
        InputError: every date could be read in two ways.
    """
    forms = fitting_forms(texts)
    if len(forms) > 1:
        ways = " or ".join(f'--date-format "{column}={form}"' for form in forms)
        raise InputError(
            where=f"column {column!r}",
            problem=f"its dates could be read day first or month first; say which: {ways}",
        )
    return forms[0] if forms else None


def moment_of(text: str, form: str | None = None) -> datetime | None:
    """Return a date, or a date and a time of day, with the zone that it is written in."""
    iso = None if form is None else iso_of(text, form)
    try:
        return datetime.fromisoformat(iso or text.strip())
    except ValueError:
        return None


def moment_text(moment: datetime, form: str | None = None) -> str:
    """Write a moment as an ISO date, or in a form; midnight is the date alone.

    Example:
        >>> moment_text(datetime(1967, 9, 13), "%d.%m.%Y")
        '13.09.1967'
    """
    iso = moment.isoformat(sep=" ")
    rest = "" if moment.time() == time.min else iso[10:]
    if form is None:
        return iso[:10] + rest
    parts = {
        "%d": iso[8:10],
        "%m": iso[5:7],
        "%b": MONTHS[moment.month - 1].capitalize(),
        "%Y": iso[:4],
        "%y": iso[2:4],
    }
    return re.sub("%.", lambda found: parts[found[0]], form) + rest
