"""Did you mean …? The nearest of the words that would have been right."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from unicodedata import normalize

_CLOSE = 0.6
"""How alike two words must be, as `difflib` counts it, before one is taken for the other."""
_MOST_FILES = 1000  # of a folder that are looked at


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice that was probably meant, or None if none is near.

    Case, accents, and the marks between words (`_`, `-`, spaces) count for nothing.

    Example:
        >>> nearest("Zip Code", ["age", "zip_code"])
        'zip_code'
        >>> nearest("shoe", ["age", "zip_code"]) is None
        True
    """
    plain: dict[str, str] = {}
    for choice in choices:
        plain.setdefault(_plain(choice), choice)
    near = get_close_matches(_plain(word), plain, n=1, cutoff=_CLOSE)
    return plain[near[0]] if near else None


def did_you_mean(word: str, choices: Iterable[str], *, before: str = "; ") -> str:
    """Return the question as the end of a message, or nothing if no choice is near.

    Example:
        >>> "no column 'agee'" + did_you_mean("agee", ["age", "sex"])
        "no column 'agee'; did you mean 'age'?"
    """
    found = nearest(word, choices)
    return "" if found is None else f"{before}did you mean {found!r}?"


def no_column(absent: Iterable[str], columns: Iterable[str]) -> str:
    """Return what is wrong with a table that lacks columns.

    Example:
        >>> no_column(["agee", "shoe"], ["age", "sex"])
        "has no column 'agee' (did you mean 'age'?), 'shoe'; check the names"
    """
    lacking = list(absent)
    free = [name for name in columns if name not in lacking]
    named = []
    for name in lacking:
        meant = did_you_mean(name, free, before="")
        named.append(f"{name!r} ({meant})" if meant else repr(name))
    return f"has no column {', '.join(named)}; check the name{'s' if len(lacking) > 1 else ''}"


def no_file(path: Path) -> str:
    """Return what is wrong with a path where nothing is, and which file beside it may be meant."""
    there: dict[str, str] = {}
    with suppress(OSError):
        for each in sorted(islice(path.absolute().parent.iterdir(), _MOST_FILES)):
            there.setdefault(each.stem, each.name)  # endings make all names look alike
    found = nearest(path.stem, there)
    return (
        f"no such file; {'check the path' if found is None else f'did you mean {there[found]!r}?'}"
    )


def _plain(word: str) -> str:
    spread = normalize("NFKD", word).casefold()
    kept = "".join(letter for letter in spread if letter.isalnum())
    return kept or word
