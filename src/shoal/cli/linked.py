"""What `anonymize` and `verify` do with a schema of linked tables: INPUT and --out are folders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from shoal.cli import options as opt
from shoal.cli.render import summary, verification
from shoal.cli.xk import given
from shoal.core.documents import read_document
from shoal.jobs.requests import LinkedRequest, LinkedVerifyRequest, Output
from shoal.methods.parameters import from_texts
from shoal.methods.registry import kind_named, method_named
from shoal.schema.attribute import labels_named
from shoal.schema.linked import LinkedSchema, is_linked

if TYPE_CHECKING:
    from shoal.methods.method import Method

# What is honoured beside the words of a promise.
_BOTH = ("source", "sep", "schema", "replace_promise", "waive", "json", "quiet")
_RELEASE = (
    "out", "report", "report_for", "by", "purpose", "recipient", "report_date",
    "suppressed", "spreadsheet_safe", "key", "infer", "method", "set",
    "suppression_limit", "seed", "threads", "labels",
)  # fmt: skip
SOURCE = (
    "Table: .csv .parquet .xlsx .sav …, a database URI, or - (standard input); of linked "
    "tables, their folder"
)
"""What INPUT is where a schema may be one of linked tables."""


def has_tables(columns: opt.ColumnOptions) -> bool:
    """Say whether the schema is one of linked tables."""
    return columns.schema is not None and is_linked(read_document(columns.schema))


def anonymize_linked(
    context: typer.Context,
    place: opt.InputOptions,
    written: opt.OutputOptions,
    reported: opt.ReportOptions,
    columns: opt.ColumnOptions,
    replaced: opt.ReplacingOptions,
    promised: opt.PromiseOptions,
    method: opt.MethodOptions,
    answer: opt.AnswerOptions,
) -> int:
    """Turn linked tables into verified ones, in a new folder."""
    from shoal.jobs.linked import check_folder, release_linked

    _refuse_others(context, promised, method, _RELEASE)
    if not written.out or written.out == "-":
        raise opt.refusal("--out", "linked tables go to a new folder: name it")
    out = Path(written.out)
    check_folder(out)
    inputs = (*columns.files(), *place.files())
    reported.check(*inputs)
    schema = _schema(columns, promised)
    if method.suppression_limit is not None:
        schema = replace(schema, suppression_limit=method.suppression_limit)
    if method.labels is not None:
        schema = replace(schema, labels=labels_named(method.labels))
    request = LinkedRequest(
        tables=_tables(place, schema), schema=schema, method=_method(method), infer=columns.infer,
        seed=method.seed, threads=method.threads, separator=place.sep, key=replaced.key,
        output=Output(
            out=out, suppressed=written.suppressed, spreadsheet_safe=written.spreadsheet_safe
        ),
    )  # fmt: skip
    made = release_linked(request)
    reported.write(made.report, reported.asked(table=place.source, release=out), *inputs)
    answer.print(made.to_dict(), summary(made.report, out=written.out))
    return 0


def verify_linked(
    context: typer.Context,
    place: opt.InputOptions,
    columns: opt.ColumnOptions,
    promised: opt.PromiseOptions,
    answer: opt.AnswerOptions,
) -> int:
    """Judge linked tables as they stand."""
    from shoal.jobs import linked

    _refuse_others(context, promised)
    schema = _schema(columns, promised)
    found = linked.verify_linked(
        LinkedVerifyRequest(tables=_tables(place, schema), schema=schema, separator=place.sep)
    )
    answer.print(found.to_document(), verification(found))
    return 0 if found.holds else 1


def risk_of_linked(
    context: typer.Context,
    place: opt.InputOptions,
    columns: opt.ColumnOptions,
    answer: opt.JsonOptions,
    *,
    max_risk: float | None,
    gate: str,
) -> int:
    """Measure how easily persons are found in linked tables as they stand."""
    from shoal.jobs import linked

    _refuse_others(context, None, honoured=("max_risk", "gate"))
    schema = LinkedSchema.load(columns.schema or "")
    found = linked.risk_linked(
        LinkedVerifyRequest(tables=_tables(place, schema), schema=schema, separator=place.sep)
    )
    document, passed = found.to_document(), True
    if max_risk is not None:
        passed = found.within(max_risk, measure=gate)
        document["gate"] = {"measure": gate, "max_risk": max_risk, "passed": passed}
    answer.print(document, "\n".join(found.lines()))
    return 0 if passed else 1


def _refuse_others(
    context: typer.Context,
    promised: opt.PromiseOptions | None,
    method: opt.MethodOptions | None = None,
    honoured: tuple[str, ...] = (),
) -> None:
    """Refuse what would be ignored."""
    own = () if method is None else tuple(method.parameters)
    known = (*_BOTH, *honoured, *(() if promised is None else promised.asked), *own)
    ignored = [option for name, option in given(context).items() if name not in known]
    if ignored:
        raise opt.refusal("options", f"{', '.join(ignored)}: not with a schema of linked tables")


def _schema(columns: opt.ColumnOptions, promised: opt.PromiseOptions) -> LinkedSchema:
    found = LinkedSchema.load(columns.schema or "").with_waived(opt.names(columns.waive))
    return found.with_promise(promised.promise(), replace_promise=promised.replace_promise)


def _tables(place: opt.InputOptions, schema: LinkedSchema) -> object:
    """Return the folder of the tables, or the database that has them."""
    if "://" in place.source:
        from shoal.api import Database

        return Database(uri=place.source, table=schema.persons.name)
    return place.source


def _method(method: opt.MethodOptions) -> Method:
    own = {name: value for name, value in method.parameters.items() if value is not None}
    named = [each for each in method.set or () if "=" in each]
    return method_named(method.method, {**own, **from_texts(kind_named(method.method), named)})
