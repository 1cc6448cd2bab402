"""Options that several commands share, and what they add up to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from shoal.core.documents import read_document
from shoal.core.errors import SchemaError
from shoal.privacy import Option, from_flags
from shoal.privacy.registry import options
from shoal.schema.flags import schema_from_flags
from shoal.schema.schema import Kind, Role, Schema

if TYPE_CHECKING:
    from shoal.api import CsvFile

Input = Annotated[
    str,
    typer.Argument(
        metavar="INPUT", help="Table: .csv .csv.gz .parquet .jsonl .arrow, or a database URI"
    ),
]
Table = Annotated[
    str | None, typer.Option("--table", metavar="NAME", help="INPUT is a database URI: its table.")
]
Query = Annotated[
    str | None, typer.Option("--query", metavar="SQL", help="INPUT is a database URI: a query.")
]
SchemaFile = Annotated[
    str | None, typer.Option("--schema", metavar="FILE", help="Schema (YAML or JSON).")
]
Quasi = Annotated[
    str | None, typer.Option("--qi", metavar="A,B", help="Quasi-identifiers: columns to recode.")
]
Sensitive = Annotated[
    str | None, typer.Option(metavar="A,B", help="Sensitive columns: kept, their spread checked.")
]
Identifying = Annotated[str | None, typer.Option(metavar="A,B", help="Columns to remove.")]
Neutral = Annotated[str | None, typer.Option(metavar="A,B", help="Columns to keep as they are.")]
Waive = Annotated[
    str | None,
    typer.Option(
        metavar="A,B", help="Kept columns that are meant as they are, identifiers or not."
    ),
]
Numeric = Annotated[str | None, typer.Option(metavar="A,B", help="Columns that hold numbers.")]
Categorical = Annotated[
    str | None, typer.Option(metavar="A,B", help="Columns that hold categories.")
]
Date = Annotated[str | None, typer.Option(metavar="A,B", help="Columns that hold dates.")]
DateFormat = Annotated[
    list[str] | None,
    typer.Option(
        "--date-format",
        metavar="FORMAT",
        help="How dates are written, such as %d.%m.%Y, or birth=%m/%d/%Y for one column.",
    ),
]
Dates = Annotated[
    str | None, typer.Option(metavar="HOW", help="Dates are released as iso, or the same way.")
]
Hierarchies = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="Folder with files *hierarchy_<column>.csv."),
]
Missing = Annotated[
    str | None, typer.Option(metavar="A,B", help="Marks of missing values, such as '?,NA'.")
]
FoldCase = Annotated[
    bool,
    typer.Option(
        "--fold-case",
        help="Join sensitive values that differ only by case, accents or spaces.",
    ),
]
Asked = Mapping[str, Any] | None
"""The words of promises as they were given; `promising` puts the options into a command."""

ReplacePromise = Annotated[
    bool,
    typer.Option("--replace-promise", help="Flags replace the schema's promise: it is dropped."),
]
Sep = Annotated[str | None, typer.Option("--sep", metavar="C", help="Separator of CSV files.")]
SpreadsheetSafe = Annotated[
    bool | None,
    typer.Option(
        "--spreadsheet-safe/--no-spreadsheet-safe",
        help="Put ' before texts that a spreadsheet would run as formulas (=, +, -, @).",
        show_default="on for Excel output, off for CSV",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Encoding of a CSV file, such as cp1252 (default: UTF-8)."),
]
SkipLines = Annotated[
    int, typer.Option("--skip-lines", metavar="N", help="Lines above the header of a CSV file.")
]
Engine = Annotated[str, typer.Option(metavar="NAME", help="local, or spark (a cluster).")]
Master = Annotated[
    str | None,
    typer.Option(metavar="URL", help="With --engine spark: local[4], spark://host:7077 …"),
]
DriverRows = Annotated[
    int | None,
    typer.Option(
        "--driver-rows", metavar="N", help="On Spark: distinct tuples that the driver takes."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def file_of(source: str, encoding: str | None, skip_lines: int) -> str | CsvFile:
    """Return a file and how to read it, where that was said."""
    if encoding is None and not skip_lines:
        return source
    from shoal.api import CsvFile

    if is_elsewhere(source) or source == "-":
        raise SchemaError(
            where="options", faults=["--encoding and --skip-lines go with a CSV file as INPUT"]
        )
    return CsvFile(source, encoding=encoding, skip_lines=skip_lines)


def input_of(
    address: str | CsvFile,
    table: str | None,
    query: str | None,
    engine: str = "local",
    master: str | None = None,
    driver_rows: int | None = None,
) -> object:
    """Return what INPUT stands for: a file, a table in a database, or a table of Spark's."""
    if on_spark(engine, master):
        if table or query:
            raise SchemaError(
                where="options",
                faults=["--table and --query need the local engine; on Spark, INPUT is table:NAME"],
            )
        if not isinstance(address, str):
            raise SchemaError(
                where="options",
                faults=["--encoding and --skip-lines need the local engine; Spark reads UTF-8"],
            )
        from shoal.api import SparkTable

        return SparkTable(address, master, driver_rows=driver_rows)
    if driver_rows is not None:
        raise SchemaError(where="--driver-rows", faults=["goes with --engine spark"])
    if not isinstance(address, str) or "://" not in address:
        if table or query:
            raise SchemaError(
                where="options", faults=["--table and --query go with a database URI as INPUT"]
            )
        return address
    from shoal.api import Database

    return Database(uri=address, table=table, query=query)


def on_spark(engine: str, master: str | None) -> bool:
    """Return whether Spark does the work; refuse other words."""
    if engine not in ("local", "spark"):
        raise SchemaError(where="--engine", faults=["must be local or spark"])
    if master is not None and engine != "spark":
        raise SchemaError(where="--master", faults=["goes with --engine spark"])
    return engine == "spark"


def is_elsewhere(place: object) -> bool:
    """Return whether a place is a URL, where only Spark can look."""
    return "://" in str(place)


def files_of(
    source: str | CsvFile, schema: str | None, hierarchies: str | None
) -> tuple[str | Path, ...]:
    """Return every file that a command reads: none of them may be written to."""
    files: list[str | Path] = [] if is_elsewhere(source) else [Path(source)]
    if hierarchies is not None and Path(hierarchies).is_dir():
        files += sorted(Path(hierarchies).iterdir())
    if schema is not None:
        files.append(schema)
        document = read_document(schema)
        columns = document.get("columns") if isinstance(document, dict) else None
        for entry in columns.values() if isinstance(columns, dict) else ():
            tree = entry.get("hierarchy") if isinstance(entry, dict) else None
            if isinstance(tree, str):
                files.append(Path(schema).parent / tree)
    return tuple(files)


def is_star(kind: str) -> bool:
    """Return whether suppressed records are released as the root; refuse other words."""
    if kind not in ("remove", "star"):
        raise SchemaError(where="--suppressed", faults=["must be remove or star"])
    return kind == "star"


def names(text: str | None) -> list[str]:
    """Split a list of column names; white space around a name is dropped."""
    return [] if not text else [name.strip() for name in text.split(",") if name.strip()]


def read_schema(
    schema: str | None,
    roles: dict[Role, str | None],
    kinds: dict[Kind, str | None],
    *,
    hierarchies: str | None,
    missing: str | None,
    fold_case: bool = False,
) -> Schema:
    """Return the schema of a file, or the one that flags describe."""
    flagged = [f"--{'qi' if role is Role.QUASI else role}" for role, text in roles.items() if text]
    if schema is not None:
        if flagged or any(kinds.values()):
            raise SchemaError(
                where="options",
                faults=[
                    f"give either --schema or {', '.join(flagged or ['--numeric …'])}, not both"
                ],
            )
        return _with_words(Schema.load(schema), missing, fold_case)
    if not roles.get(Role.QUASI):
        raise SchemaError(
            where="options",
            faults=["name the quasi-identifiers with --qi a,b, or give a --schema FILE"],
        )
    found = schema_from_flags(
        {role: names(text) for role, text in roles.items()},
        {kind: names(text) for kind, text in kinds.items()},
        hierarchies=hierarchies,
    )
    return _with_words(found, missing, fold_case)


def _with_words(schema: Schema, missing: str | None, fold_case: bool) -> Schema:
    """Return the schema with what flags say about how values are read."""
    marks = schema.missing if missing is None else tuple(names(missing))
    return replace(schema, missing=marks, fold_case=schema.fold_case or fold_case)


def with_dates(schema: Schema, formats: list[str] | None, dates: str | None) -> Schema:
    """Return the schema with what was said of its dates: how they are written and released."""
    told: dict[str, str] = {}
    for text in formats or []:
        name, mark, form = text.partition("=")
        told[name if mark else ""] = form if mark else text
    strange = [name for name in told if name and name not in {a.name for a in schema.attributes}]
    if strange:
        faults = [f"no column {name!r}" for name in strange]
        raise SchemaError(where="--date-format", faults=faults)
    if dates not in (None, "iso", "same"):
        raise SchemaError(where="--dates", faults=["must be iso or same"])
    found = []
    for each in schema.attributes:
        said = told.get(each.name, told.get("") if each.kind is Kind.DATE else None)
        if said is not None:
            each = replace(each, kind=Kind.DATE, date_format=said)
        if dates is not None and each.kind is Kind.DATE:
            each = replace(each, dates=dates)
        found.append(each)
    return replace(schema, attributes=tuple(found))


def with_promise(schema: Schema, asked: Asked, *, replace_promise: bool) -> Schema:
    """Return the schema that keeps its own promise and that of the flags, or only theirs."""
    return schema.with_promise(from_flags(asked or {}), replace_promise=replace_promise)


def out_path(text: str | None, *, command: str) -> Path:
    """Return the output path; a command that writes must be told where."""
    if not text:
        raise SchemaError(where="options", faults=[f"{command} needs --out FILE"])
    return Path(text)


def promising(*only: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command the options of every promise, or of some, in the place of `asked`."""

    def decorated(command: Callable[..., int]) -> Callable[..., int]:
        words = {name: o for name, o in options().items() if not only or name in only}
        hints = get_type_hints(command, include_extras=True)
        places: list[Parameter] = []
        for place in signature(command).parameters.values():
            if place.name == "asked":
                places += [_parameter(name, option) for name, option in words.items()]
            else:
                places.append(place.replace(annotation=hints[place.name]))

        def run(**given: Any) -> int:
            asked = {name: given.pop(name) for name in words}
            return command(**given, asked=asked)

        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__signature__ = Signature(places)  # type: ignore[attr-defined]
        run.__annotations__ = {place.name: place.annotation for place in places}
        return run

    return decorated


def _parameter(name: str, option: Option) -> Parameter:
    metavar = {int: "N", float: "X"}.get(option.kind, "KIND")
    about = typer.Option(
        *option.flags, metavar=metavar, help=option.help, show_default=option.default or False
    )
    kind = Parameter.POSITIONAL_OR_KEYWORD
    return Parameter(name, kind, default=None, annotation=Annotated[option.kind | None, about])
