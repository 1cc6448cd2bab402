"""Metadata beside a release: `reports.archive` writes what is found out of it here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from os import PathLike, fspath
from pathlib import Path

import polars as pl

from shoal.core.errors import OutputError
from shoal.core.version import __version__
from shoal.engines.local.source import Source, open_source
from shoal.engines.local.write import write_text
from shoal.formats.database import Database
from shoal.formats.endings import format_of, separator_for
from shoal.jobs.places import Place, check_place
from shoal.jobs.release import Release
from shoal.jobs.report import digest_of, name_of
from shoal.privacy import Promise
from shoal.reports.archive import WRITERS, Description, Variable
from shoal.schema.schema import Attribute, Kind

_TRUTHS = ("true", "false")


def check_metadata(places: Sequence[Place], *, inputs: Sequence[Place] = ()) -> None:
    """Refuse a place that no description can be written to, before any work is done.

    Raises:
        OutputError: the end of its name says of no kind of description.
    """
    for place in places:
        _writer(place)
        check_place(place, inputs=inputs)


def _writer(place: Place) -> Callable[[Description], str]:
    name = Path(place).name.lower()
    for end, write in WRITERS.items():
        if name == end or name.endswith(f".{end}"):
            return write
    named = ", ".join(f"NAME.{end}" for end in WRITERS)
    raise OutputError(where=str(place), problem=f"a description is one of {named}; name it so")


def write_metadata(
    made: Release[object], out: object, places: Sequence[Place], *, inputs: Sequence[Place] = ()
) -> None:
    """Describe a release in one file or several, by the end of their names.

    out: where the release went, a file or a table of a database.
    """
    if not places:
        return
    about = describe(made, out)
    for place in places:
        write_text(place, _writer(place)(about), inputs=tuple(inputs))


def describe(made: Release[object], out: object) -> Description:
    """Return the description of a release that was written.

    Raises:
        OutputError: it went to no place that could be described.
    """
    if not isinstance(out, (str, PathLike, Database)):
        raise OutputError(where="--metadata", problem="needs a release in a file or a database")
    source = open_source(out)
    is_file = not isinstance(out, Database)
    known = {each.name: each for each in made.schema.attributes}
    types = _types(source)
    path = Path(fspath(out)) if isinstance(out, (str, PathLike)) else None
    return Description(
        name=name_of(out) or "release",
        kind="database" if path is None else format_of(path),
        place=path.name if path is not None else _address(out),
        variables=tuple(_variable(n, types[n], known.get(n)) for n in source.columns),
        records=made.report.released,
        promise=tuple(_words(each) for each in made.schema.privacy),
        suppressed=made.report.suppressed,
        program=f"shoal {__version__}",
        sha256=digest_of(out) if is_file else None,
        size=path.stat().st_size if path is not None else None,
        missing=made.schema.missing,
        separator=separator_for(path, source.separator) if path is not None else ",",
    )


def _variable(name: str, kind: str, about: Attribute | None) -> Variable:
    """Return a column of the release. kind: its type as it stands there."""
    if about is None:
        return Variable(name=name, type=kind, role="neutral")
    keeps_form = about.kind is Kind.DATE and about.date_format is not None and about.is_kept
    return Variable(
        name=name,
        type="date" if keeps_form and kind == "string" else kind,
        role=str(about.role),
        form=about.date_format if keeps_form and kind == "string" else None,
    )


def _address(out: object) -> str:
    return out.where if isinstance(out, Database) else ""  # without a password


def _words(promise: Promise) -> str:
    """Return a promise as its name and parameters; values that it names stay out."""
    parts = {
        name: value
        for name, value in promise.to_document().items()
        if name not in ("model", "values") and value is not None
    }
    return f"{promise.name} ({', '.join(f'{name} = {value}' for name, value in parts.items())})"


def _types(source: Source) -> dict[str, str]:
    """Return the type of each column: as it is kept, or of texts what all of them are."""
    lazy = source.scan(source.columns)
    schema = lazy.collect_schema()
    texts = [name for name, dtype in schema.items() if dtype in (pl.String, pl.Categorical)]
    found = {name: _type_of(dtype) for name, dtype in schema.items() if name not in texts}
    asked = [check.alias(f"{n} {kind}") for n in texts for kind, check in _checks(n)]
    seen = source.collect(lazy.select(asked)).row(0, named=True) if asked else {}
    for name in texts:
        kinds = (kind for kind, _ in _checks(name) if seen[f"{name} {kind}"])
        found[name] = next(kinds, "string")
    return found


def _checks(name: str) -> Iterable[tuple[str, pl.Expr]]:
    """Yield the types that texts may all be of, the narrowest first."""
    text = pl.col(name).cast(pl.String)
    there = text.is_not_null().any()
    numbers = text.str.contains(r"^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$")
    # A number that begins with a zero is a code, such as a postal code.
    code = text.str.contains(r"^[+-]?0\d")
    yield "integer", there & text.str.contains(r"^[+-]?\d{1,18}$").all() & ~code.any()
    yield "number", there & numbers.all() & ~code.any()
    yield "boolean", there & text.is_in(list(_TRUTHS)).all()
    day = text.str.contains(r"^\d{4}-\d\d-\d\d$") & text.str.to_date(strict=False).is_not_null()
    yield "date", there & day.all()


def _type_of(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    if dtype == pl.Boolean:
        return "boolean"
    if dtype == pl.Date:
        return "date"
    if isinstance(dtype, pl.Datetime):
        return "datetime"
    return "time" if dtype == pl.Time else "string"
