"""The documented surface: what a notebook, a pipeline and the command line call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.core.errors import InputError, MethodError, NoSolutionError, OutputError
from shoal.core.spreadsheet import is_guarded
from shoal.engines.local.blanked import verify_blanked
from shoal.engines.local.coding import code_column
from shoal.engines.local.csv_file import CsvFile
from shoal.engines.local.database import Database
from shoal.engines.local.kept import check_beside
from shoal.engines.local.metrics import measure_release
from shoal.engines.local.persons import repeats_as_it_stands
from shoal.engines.local.recode import Recoder
from shoal.engines.local.runs import open_release
from shoal.engines.local.source import Source, format_to_write, like, open_source
from shoal.engines.local.verify import verify_source
from shoal.engines.local.write import all_or_nothing, write_parts, write_text
from shoal.engines.spark.source import SparkTable, is_on_spark
from shoal.hierarchies import text as hierarchy_text
from shoal.hierarchies import wordnet
from shoal.hierarchies.tree import Hierarchy
from shoal.know import (
    attack,
    check_risk,
    infer,
    risk,
    risk_before_after,
    write_preset,
    write_schema,
)
from shoal.measures.risk.persons import asked_k, told
from shoal.methods import registry
from shoal.methods.infer.kept import beside, left_in
from shoal.methods.judging import judge_recoding
from shoal.model.model import RecodingModel
from shoal.pipeline import Job, Options, for_release, promise_of
from shoal.privacy import Promise
from shoal.privacy.emptiness import void_promise
from shoal.reports.html import to_html
from shoal.reports.release import ReleaseReport, Verification
from shoal.schema.schema import (
    Attribute,
    Kind,
    Role,
    Schema,
    load_hierarchy,
    read_hierarchy,
)

if TYPE_CHECKING:
    from shoal.models import drift, encode, encode_stream, export_model
    from shoal.statistics import budget_log, budget_set, budget_show, stats
    from shoal.xk import Choices, Techniques, recommend, release_xk, sample_proportionally

__all__ = [
    "Choices",
    "CsvFile",
    "Database",
    "Options",
    "Release",
    "SparkTable",
    "Techniques",
    "anonymize",
    "attack",
    "auto_method",
    "budget_log",
    "budget_set",
    "budget_show",
    "build_hierarchy",
    "check_hierarchy",
    "check_place",
    "check_report",
    "check_risk",
    "draw_hierarchy",
    "drift",
    "encode",
    "encode_stream",
    "export_model",
    "infer",
    "learn",
    "learn_with_report",
    "method_list",
    "method_options",
    "methods",
    "metrics",
    "recommend",
    "release_xk",
    "risk",
    "risk_before_after",
    "sample",
    "sample_proportionally",
    "stats",
    "verify",
    "wordnet_hierarchy",
    "write_model",
    "write_preset",
    "write_report",
    "write_schema",
]

_LATER = {
    "shoal.models": ("drift", "encode", "encode_stream", "export_model"),
    "shoal.statistics": ("budget_log", "budget_set", "budget_show", "stats"),
    "shoal.xk": ("Choices", "Techniques", "recommend", "release_xk", "sample_proportionally"),
}
"""Names that load on first use: a release needs none of them."""


def __getattr__(name: str) -> Any:
    for home, names in _LATER.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@dataclass(frozen=True, kw_only=True)
class Release:
    """A verified release: the table (None when it went to a file) and its report.

    `schema` is the one that was released by: every column named, the promise in it.
    """

    table: Any
    report: ReleaseReport
    schema: Schema


def anonymize(
    table: Any,
    schema: Schema,
    *,
    privacy: Iterable[Promise] | None = None,
    replace_promise: bool = False,
    out: str | Path | None = None,
    waive: Iterable[str] = (),
    options: Options | None = None,
) -> Release:
    """Release a table: search, recode, verify what is written, and only then publish it.

    Args:
        table: a path, a CsvFile, a Database, a Polars, pandas or Arrow table, a Spark DataFrame
            or a SparkTable.
        schema: roles, kinds and hierarchies of its columns.
        privacy: what is promised beside the schema's own promise, or more strictly.
        replace_promise: `privacy` takes the place of the schema's promise.
        out: where to write; None returns a table of the kind that came in.
        waive: kept columns that are meant as they are, whatever they hold; see `Schema.waive`.
        options: method and choices.

    Raises:
        SchemaError: a kept column is an identifier (names, record numbers, e-mail addresses …)
            and was not waived.
        NoSolutionError: even the whole table as one class does not meet the promise.
        PrivacyError: `privacy` asks for less than the schema promises.
        UnsafeReleaseError: verification failed; nothing was written.
    """
    chosen = options or Options()
    schema = schema.with_promise(privacy or (), replace_promise=replace_promise)
    schema = schema.with_waived(waive)
    if is_on_spark(table):
        from shoal import spark

        frame, account, fitted = spark.anonymize(table, schema, out=out, options=chosen)
        return Release(table=frame, report=account, schema=fitted)
    kind = None if out is None else format_to_write(Path(out))  # refused before the work
    is_guarded(kind, chosen.spreadsheet_safe, where=str(out or "table"))
    chosen = for_release(chosen)
    job = Job.open(table, schema, None, chosen, publishes=True)
    recoding = job.search()
    job.settle_stars(recoding)
    recoder = Recoder(
        source=job.source,
        lazy=job.lazy,
        schema=job.schema,
        counted=job.counted,
        recoding=recoding,
        star=job.star,
        keep_order=chosen.keep_order,
        typed=kind in (None, "parquet", "arrow"),
        near=None if out is None else Path(out),
    )
    if not recoding.classes:
        raise NoSolutionError(problem="every record would have to be suppressed")
    if out is None:
        with job.clock("encode"):
            released = pl.concat([part.whole() for part in recoder.parts()])
        with job.clock("verify"):
            verified = job.verify(open_source(released), recoding)
        report = job.report(recoding, verified)
        return Release(table=like(released, table), report=report, schema=job.schema)
    inputs = (Path(table),) if isinstance(table, (str, PathLike)) else ()
    with all_or_nothing(out, inputs=(*inputs, *chosen.inputs)) as temporary:
        # Closed at once: what was sorted on disk is removed before the release is verified.
        with job.clock("encode"), closing(recoder.parts()) as parts:
            write_parts(
                parts,
                temporary,
                separator=job.source.separator,
                spreadsheet_safe=chosen.spreadsheet_safe,
            )
        with job.clock("verify"):
            written = _open_release(temporary, job.source.separator)
            verified = job.verify(written, recoding)
        job.stage("write")
    return Release(table=None, report=job.report(recoding, verified), schema=job.schema)


def learn(
    table: Any,
    schema: Schema,
    *,
    privacy: Iterable[Promise] | None = None,
    replace_promise: bool = False,
    method: str = "auto",
    options: Options | None = None,
) -> RecodingModel:
    """Learn a recoding and return it as a model; `privacy` as in `anonymize`.

    Raises:
        NoSolutionError: even the whole table as one class does not meet the promise.
    """
    model, _ = learn_with_report(
        table,
        schema,
        privacy=privacy,
        replace_promise=replace_promise,
        options=options or Options(method=method),
    )
    return model


def learn_with_report(
    table: Any,
    schema: Schema,
    *,
    privacy: Iterable[Promise] | None = None,
    replace_promise: bool = False,
    options: Options | None = None,
) -> tuple[RecodingModel, ReleaseReport]:
    """Learn a recoding; return the model and the account of how it was found."""
    schema = schema.with_promise(privacy or (), replace_promise=replace_promise)
    if is_on_spark(table):
        from shoal import spark

        return spark.learn_with_report(table, schema, options=options or Options())
    job = Job.open(table, schema, None, options or Options())
    recoding = job.search()
    with job.clock("verify"):
        results = tuple(judge_recoding(recoding, job.models))
    return job.learned(recoding, results)


def verify(
    release: Any,
    schema: Schema,
    *,
    privacy: Iterable[Promise] | None = None,
    replace_promise: bool = False,
    separator: str | None = None,
    blanked: bool = False,
) -> Verification:
    """Judge a table as it stands, whoever made it.

    The quasi-identifiers and sensitive columns are the schema's. Other columns do not change
    the verdict; those that identify people by themselves are told as warnings.
    `privacy` as in `anonymize`. With `blanked`, sensitive cells may have been blanked: a class
    that is empty altogether passes, and elsewhere an empty cell is no value.
    """
    schema = schema.with_promise(privacy or (), replace_promise=replace_promise)
    if blanked and is_on_spark(release):
        raise MethodError(problem="--blanked needs the local engine")
    if is_on_spark(release):
        from shoal import spark

        return spark.verify(release, schema, separator=separator)
    models = promise_of(schema, None)
    source = _open_release(release, separator)
    fitted = schema.judged().fit(source.columns, where=source.where)
    verified = (verify_blanked if blanked else verify_source)(source, fitted, models)
    repeats = repeats_as_it_stands(source, schema, asked_k(models))
    kept = check_beside(source, beside(schema, source.columns), schema.waive)
    left = left_in(schema, source.columns)
    return told(verified, repeats, (*void_promise(models), *left, *kept.warnings))


def metrics(
    original: Any,
    release: Any,
    schema: Schema,
    *,
    starred: bool | None = None,
    separator: str | None = None,
) -> dict[str, Any]:
    """Measure a release against the table it was made from, by its labels alone.

    Records that are the root in every quasi-identifier count as suppressed, and a notice says
    so; `starred` says that they are (True), or that they are a class of their own (False).
    """
    if is_on_spark(original):
        from shoal import spark

        return spark.metrics(original, release, schema, starred=starred, separator=separator)
    before = open_source(original, separator=separator)
    after = _open_release(release, separator).as_labels()
    fitted = replace(schema, privacy=()).fit(before.columns, where=before.where)
    return measure_release(before, after, fitted, starred=starred)


def _open_release(release: Any, separator: str | None) -> Source:
    """Open a table that is probably sorted; its equal lines are read once."""
    if isinstance(release, (str, Path)):
        source = open_release(Path(release), separator=separator)
        if source is not None:
            return source
    return open_source(release, separator=separator)


def methods() -> tuple[registry.Method, ...]:
    """Return every method there is."""
    return tuple(registry.METHODS.values())


def method_list() -> list[dict[str, str]]:
    """Return name, family and summary of every method, those that add records included."""
    found = [(m.name, m.family, m.summary) for m in registry.METHODS.values()]
    return [
        {"name": name, "family": family, "summary": summary}
        for name, family, summary in (*found, *registry.OTHERS)
    ]


def method_options(name: str, *, release: str | None = None) -> tuple[str, ...]:
    """Return the names of the options that a method takes."""
    return registry.find(name, release=release).options


def auto_method(*, model: bool = False) -> str:
    """Return the method that `auto` stands for: for a release, or for a model."""
    return registry.AUTO if model else registry.AUTO_RELEASE


def check_place(out: str | Path, *, inputs: Sequence[str | Path] = ()) -> None:
    """Refuse a place that cannot be written to, before any work is done.

    Raises:
        OutputError: it is an input, a folder, or in a folder that is not there.
    """
    with suppress(_Probed), all_or_nothing(out, inputs=tuple(inputs)):
        raise _Probed


class _Probed(Exception):
    """Leaves `all_or_nothing` before it publishes anything."""


def check_report(out: str | Path, *, inputs: Sequence[str | Path] = ()) -> None:
    """Refuse a place where no report can be written, before any work is done.

    Raises:
        OutputError: it is not the name of an HTML page, or `check_place` refuses it.
    """
    check_place(out, inputs=inputs)
    _check_page(out)


def _check_page(out: str | Path) -> None:
    if Path(out).suffix.lower() not in (".html", ".htm"):
        raise OutputError(where=str(out), problem="a report is an HTML page; name it .html or .htm")


def write_report(
    report: ReleaseReport, out: str | Path, *, inputs: Sequence[str | Path] = ()
) -> None:
    """Write the report of a release as one HTML page that needs nothing else."""
    _check_page(out)
    write_text(out, to_html(report), inputs=tuple(inputs))


def write_model(
    model: RecodingModel, out: str | Path, *, inputs: Sequence[str | Path] = ()
) -> None:
    """Write a model file, all or nothing."""
    write_text(out, model.to_json(), inputs=tuple(inputs))


def sample(which: str, out: str | Path, **choices: Any) -> Any:
    """Write a made-up table (`hospital` or `zipf`) with its schema and hierarchies."""
    from shoal import samples

    makers = {"hospital": samples.hospital, "zipf": samples.zipf}
    return makers[which](out, **choices)


def build_hierarchy(
    table: Any,
    column: str,
    entry: object,
    *,
    out: str | Path | None = None,
    separator: str | None = None,
    missing: Sequence[str] = (),
) -> Hierarchy:
    """Build a hierarchy from the values of a column.

    Args:
        table: a path or a frame.
        column: the column.
        entry: a builder as a schema has it, such as {"mask": {}}.
        out: where to write it as CSV.
        separator: of a CSV table.
        missing: marks of missing values.
    """
    builder = read_hierarchy(column, entry, folder=Path())
    if builder is None or isinstance(builder, Hierarchy):
        raise InputError(where="hierarchy", problem="needs a builder such as mask, dates, order")
    tree = builder.build(column, _values(table, column, separator=separator, missing=missing))
    if out is not None:
        inputs = (Path(table),) if isinstance(table, (str, PathLike)) else ()
        write_text(out, hierarchy_text.to_csv(tree), inputs=inputs)
    return tree


def wordnet_hierarchy(
    column: str,
    mapping: str | Path,
    folder: str | Path,
    *,
    root: str | None = None,
    out: str | Path | None = None,
) -> Hierarchy:
    """Build a hierarchy from WordNet's hypernyms.

    Args:
        column: the column.
        mapping: a CSV file: value; lemma; sense; under.
        folder: the dictionary, with `data.noun` and `index.noun`.
        root: the synset to cut at, such as country#2; None: the top.
        out: where to write it as CSV.
    """
    tree = wordnet.wordnet_hierarchy(column, wordnet.read_mapping(mapping), folder, root=root)
    if out is not None:
        write_text(out, hierarchy_text.to_csv(tree), inputs=(mapping,))
    return tree


def draw_hierarchy(path: str | Path, *, max_lines: int = 200) -> str:
    """Draw a hierarchy file as a tree."""
    return hierarchy_text.draw(load_hierarchy(Path(path).stem, path), max_lines)


def check_hierarchy(
    path: str | Path,
    *,
    table: Any = None,
    column: str | None = None,
    separator: str | None = None,
    missing: Sequence[str] = (),
) -> Hierarchy:
    """Check a hierarchy file, and that it knows every value of a table's column.

    Raises:
        HierarchyError: it is not a tree with one root.
        UnknownValueError: the column holds values that it does not know.
    """
    tree = load_hierarchy(column or Path(path).stem, path)
    if table is not None and column is not None:
        source = open_source(table, separator=separator)
        distinct = _distinct(source, column)
        attribute = Attribute(name=column, role=Role.QUASI, kind=Kind.CATEGORICAL, hierarchy=tree)
        code_column(distinct, attribute, marks=missing)
    return tree


def _distinct(source: Any, column: str) -> pl.Series:
    if column not in source.columns:
        raise InputError(where=source.where, problem=f"has no column {column!r}")
    found: pl.Series = source.collect(source.scan([column], coded=[column]).unique())[column]
    return found


def _values(table: Any, column: str, *, separator: str | None, missing: Sequence[str]) -> list[str]:
    """Return the distinct values of a column as texts, without the missing one."""
    source = open_source(table, separator=separator)
    plain = Attribute(name=column, role=Role.QUASI, kind=Kind.CATEGORICAL)
    coder = code_column(_distinct(source, column), plain, marks=missing)
    return [label for label in coder.domain.labels if label is not None]
