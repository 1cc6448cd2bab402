"""Formats of files by their endings: one table for every engine, and for the documentation.

Only the standard library is loaded, so that a shell that completes file names need not wait.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from shoal.core.errors import InputError, MissingExtraError, OutputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """What is known of a format.

    Attributes:
        name: the kind that its endings stand for.
        endings: the first is the one that messages name.
        types: whether numbers, dates and truths stay what they are.
        streams: whether a file larger than memory can be read and written.
        writes: whether a release can be written so.
        package: what reads and writes it, where that is an extra; by its name for import.
        extra: the extra that has the package.
        why: what a person must know of it, for the table of the guide.
    """

    name: str
    endings: tuple[str, ...]
    types: bool
    streams: bool = True
    writes: bool = True
    package: str | None = None
    extra: str | None = None
    why: str = ""


FORMATS = (
    Format(name="csv", endings=(".csv", ".tsv", ".txt"), types=False,
           why="any encoding (`--encoding`), lines above the header (`--skip-lines`)"),
    Format(name="csv.gz", endings=(".csv.gz", ".tsv.gz", ".txt.gz"), types=False, why="gzip"),
    Format(name="csv.zst", endings=(".csv.zst", ".tsv.zst", ".txt.zst"), types=False,
           package="zstandard", extra="shoal[files]", why="Zstandard"),
    Format(name="parquet", endings=(".parquet", ".pq"), types=True),
    Format(name="jsonl", endings=(".jsonl", ".ndjson"), types=True,
           why="a JSON object a line; dates are text"),
    Format(name="arrow", endings=(".arrow", ".feather", ".ipc"), types=True),
    Format(name="xlsx", endings=(".xlsx",), types=True, streams=False, package="fastexcel",
           extra="shoal[files]", why="`--sheet`, `--skip-lines`; numbers have 15 digits"),
    Format(name="spss", endings=(".sav", ".zsav"), types=True, streams=False,
           package="pyreadstat", extra="shoal[files]", why="value labels"),
    Format(name="stata", endings=(".dta",), types=True, streams=False, package="pyreadstat",
           extra="shoal[files]", why="value labels"),
    Format(name="sas", endings=(".sas7bdat",), types=True, streams=False, writes=False,
           package="pyreadstat", extra="shoal[files]",
           why="value labels from the catalogue beside it (.sas7bcat)"),
    Format(name="xpt", endings=(".xpt",), types=True, streams=False, package="pyreadstat",
           extra="shoal[files]", why="SAS transport; no value labels, names of 32 letters"),
)  # fmt: skip
"""What can be read and written; databases are in `formats.database`."""

BY_NAME = {each.name: each for each in FORMATS}
_KNOWN = {ending: each.name for each in FORMATS for ending in each.endings}
ENDINGS = tuple(
    ending
    for each in FORMATS
    for ending in each.endings
    if ending not in (".txt", ".txt.gz", ".txt.zst", ".pq", ".ipc")
)
"""The endings that messages name."""

TYPED = frozenset(each.name for each in FORMATS if each.types) - {"jsonl"}
"""Formats in which a release keeps the types of its columns; JSON has no dates."""

STATISTICS = ("spss", "stata", "sas", "xpt")
"""Formats of programs for statistics, whose numbers may have labels."""


def format_of(path: Path) -> str:
    """Return the format that a file's ending stands for.

    Raises:
        InputError: the ending is not one that shoal knows.
    """
    known = _format(path)
    if known is None:
        raise InputError(
            where=str(path),
            problem=f"unknown ending; save it as one that shoal reads: {', '.join(ENDINGS)}",
        )
    return known


def format_to_write(path: Path, endings: Collection[str] = ENDINGS) -> str:
    """Return the format in which a file is written, by its ending.

    Raises:
        OutputError: the ending is not one that is written.
        MissingExtraError: what writes it is not installed.
    """
    known = _format(path)
    if known is None or not BY_NAME[known].writes:
        written = [each for each in endings if each != ".sas7bdat"]
        raise OutputError(
            where=str(path),
            problem=f"unknown ending; choose one that shoal writes: {', '.join(written)}",
        )
    if known == "xlsx":
        require("xlsxwriter", "shoal[files]", feature="writing .xlsx")
    else:
        check_extra(known)
    return known


def check_extra(kind: str) -> None:
    """Refuse a format whose package is not installed; the message names the extra."""
    about = BY_NAME[kind]
    if about.package is not None and about.extra is not None:
        require(about.package, about.extra, feature=f"a file that ends in {about.endings[0]}")


def require(package: str, extra: str, *, feature: str) -> None:
    """Refuse what needs a package that is not installed.

    Raises:
        MissingExtraError: names the package and the extra.
    """
    if find_spec(package) is None:
        raise MissingExtraError(feature=feature, package=package, extra=extra)


def separator_for(path: Path, separator: str) -> str:
    """Return the separator that a text file is written with: a tab where its ending says so."""
    name = path.name.lower()
    return "\t" if name.endswith((".tsv", ".tsv.gz", ".tsv.zst")) else separator


def _format(path: Path) -> str | None:
    name = path.name.lower()
    for packed in (".gz", ".zst"):
        if name.endswith(packed):
            inner = Path(name.removesuffix(packed)).suffix
            return _KNOWN.get(inner + packed)
    return _KNOWN.get(path.suffix.lower())
