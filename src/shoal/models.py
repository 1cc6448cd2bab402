"""A learned model at work: encode tables and streams, watch for drift, export to devices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from shoal.core.errors import MethodError
from shoal.core.spreadsheet import is_guarded
from shoal.edge import load
from shoal.edge.export import export
from shoal.edge.stream import EncodeReport
from shoal.edge.stream import encode_stream as stream
from shoal.engines.local import drift as watch
from shoal.engines.local import encode as local
from shoal.engines.local.source import format_to_write, like
from shoal.engines.local.write import all_or_nothing, write_text
from shoal.engines.spark.source import is_on_spark
from shoal.model.model import RecodingModel
from shoal.model.safe import enforce_roles, for_safe
from shoal.privacy import Promise
from shoal.schema.schema import Schema

__all__ = ["drift", "encode", "encode_stream", "export_model"]


def _check_unseen(word: str | None) -> None:
    if word not in (None, "suppress", "nearest", "error"):
        raise MethodError(problem="--on-unseen must be suppress, nearest or error")


def _model(model: Any) -> RecodingModel:
    return model if isinstance(model, RecodingModel) else RecodingModel.load(model)


def encode(
    table: Any,
    model: Any,
    *,
    out: str | Path | None = None,
    safe: bool = False,
    on_unseen: str | None = None,
    suppressed: str | None = None,
    separator: str | None = None,
    schema: Schema | None = None,
    privacy: Iterable[Promise] | None = None,
    waive: Iterable[str] = (),
    fold_case: bool = False,
    spreadsheet_safe: bool | None = None,
) -> local.Encoded:
    """Apply a model to a table.

    Args:
        table: a path or a frame.
        model: a model or the path of one.
        out: where to write; None returns a table of the kind that came in.
        safe: suppress what would break the promise within this batch, and verify. The model
            must have the fingerprint that it was learned with.
        on_unseen: suppress, nearest or error; what the model declares if None.
        suppressed: remove or star; by default removed when safe, starred otherwise.
        separator: of a CSV file.
        schema: what is known of the columns; a model that protects one less is refused. When
            safe, the schema's promise is kept beside the model's.
        privacy: what is promised beside the model's promise, or more strictly; when safe.
        waive: kept columns that are meant as they are, beside those that the model waives.
        fold_case: join sensitive values that differ only by case, accents or spaces, as the
            model does where it was learned so; when safe.
        spreadsheet_safe: of CSV output: an apostrophe before texts that begin like a formula.

    Raises:
        ModelFormatError: damaged, or, when safe, without a fingerprint.
        PrivacyError: safe without any promise, or one that asks for less than the model's.
        SchemaError: the model releases what the schema protects, or a kept column is an
            identifier and nobody waived it.
    """
    _check_unseen(on_unseen)
    learned = _model(model)
    if safe:
        learned = for_safe(learned, schema=schema, privacy=privacy, fold_case=fold_case)
    elif privacy is not None:
        raise MethodError(problem="a promise goes with --safe (safe=True)")
    elif schema is not None:
        enforce_roles(learned, schema)
    waived = (*waive, *(() if schema is None else schema.waive))
    if waived:
        learned = replace(learned, schema=learned.schema.with_waived(waived))
    if is_on_spark(table):
        from shoal import spark

        return spark.encode(
            table, learned, out=out, safe=safe, on_unseen=on_unseen, suppressed=suppressed,
            separator=separator, spreadsheet_safe=spreadsheet_safe,
        )  # fmt: skip
    kind = None if out is None else format_to_write(Path(out))
    is_guarded(kind, spreadsheet_safe, where=str(out or "table"))
    choices: dict[str, Any] = {} if suppressed is None else {"suppressed": suppressed}
    choices["spreadsheet_safe"] = spreadsheet_safe
    work = local.encode_safe if safe else local.encode_table
    done = work(table, learned, out=out, on_unseen=on_unseen, separator=separator, **choices)
    return done if done.table is None else replace(done, table=like(done.table, table))


def encode_stream(
    model: str | Path,
    source: IO[bytes],
    out: IO[bytes],
    *,
    separator: str | None = None,
    rejects: str | Path | None = None,
    on_unseen: str | None = None,
    suppressed: str | None = None,
    schema: Schema | None = None,
    spreadsheet_safe: bool = False,
) -> EncodeReport:
    """Encode JSON lines or CSV as they come, one line in, one line out; `schema` as in `encode`."""
    _check_unseen(on_unseen)
    if schema is not None:
        enforce_roles(_model(model), schema)
    encoder = load(str(model), on_unseen=on_unseen, suppressed=suppressed or "star")
    if rejects is None:
        return stream(
            encoder, source, out, separator=separator, flush=True, spreadsheet_safe=spreadsheet_safe
        )
    rejected = all_or_nothing(rejects, inputs=(model,), private=True)  # lines as they came in
    with rejected as temporary, temporary.open("wb") as file:
        return stream(
            encoder, source, out, separator=separator, rejects=file, flush=True,
            spreadsheet_safe=spreadsheet_safe,
        )  # fmt: skip


def drift(
    table: Any, model: Any, *, false_alarm: float = 0.05, separator: str | None = None
) -> watch.DriftReport:
    """Compare new records with what a model was learned from; say whether to learn again.

    Args:
        table: a path or a frame, not encoded.
        model: a model or the path of one.
        false_alarm: how often a sample of the training data may be taken for other data.
        separator: of a CSV file.
    """
    limits = watch.Limits(false_alarm=false_alarm)
    return watch.drift(table, _model(model), limits=limits, separator=separator)


def export_model(model: str | Path, to: str, *, out: str | Path) -> None:
    """Write encoder and model as one source file: python, micropython or javascript."""
    write_text(out, export(str(model), to), inputs=(model,))
