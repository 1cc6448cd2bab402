"""The documented surface: every function builds a request and runs its job."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import IO, Unpack, overload

from shoal.core.documents import Document
from shoal.core.watch import tell, watcher
from shoal.edge.export import export
from shoal.edge.stream import EncodeReport
from shoal.engines.local.drift import DriftReport
from shoal.engines.local.write import write_text
from shoal.formats.csv_file import CsvFile
from shoal.formats.database import Database
from shoal.formats.excel import ExcelFile
from shoal.formats.frames import Frame
from shoal.formats.spark_table import SparkTable
from shoal.hierarchies.tree import Hierarchy
from shoal.inference.infer import Inference
from shoal.jobs import encode as encoding
from shoal.jobs import hierarchy as hierarchies
from shoal.jobs import infer as inferring
from shoal.jobs import learn as learning
from shoal.jobs import measure as measuring
from shoal.jobs import release as releasing
from shoal.jobs import risk as risking
from shoal.jobs import verify as verifying
from shoal.jobs import xk as xk_job
from shoal.jobs.encode import Encoded, StreamRequest
from shoal.jobs.hierarchy import ColumnValues, draw_hierarchy, wordnet_hierarchy
from shoal.jobs.infer import PresetRequest
from shoal.jobs.model import RecodingModel
from shoal.jobs.places import check_place, write_model
from shoal.jobs.release import Release
from shoal.jobs.report import ReportRequest, check_report, report, write_report
from shoal.jobs.requests import (
    AttackRequest,
    DriftRequest,
    InferRequest,
    LearnRequest,
    MetricsRequest,
    RecommendRequest,
    ReleaseRequest,
    RiskRequest,
    VerifyRequest,
    XkRequest,
    k_of,
)
from shoal.jobs.set_answers import AnyRisk, any_risk
from shoal.jobs.spelled import spelled
from shoal.jobs.statistics import budget_log, budget_set, budget_show, stats
from shoal.jobs.words import (
    AttackWords,
    ColumnWords,
    EncodeWords,
    InferWords,
    LearnWords,
    MetricsWords,
    PresetWords,
    RecommendWords,
    ReleaseWords,
    RiskWords,
    SchemaLike,
    StreamWords,
    VerifyWords,
    XkWords,
    ZipfWords,
    asked_checks,
    asked_method,
    asked_output,
    asked_schema,
    encode_request,
    files_of,
    names_in,
    request_of,
)
from shoal.jobs.xk import XkRelease, sample_proportionally
from shoal.measures.attacks.result import Comparison
from shoal.methods import registry
from shoal.methods.method import Method
from shoal.methods.xk.choices import Choices
from shoal.methods.xk.pipeline import Techniques
from shoal.methods.xk.recommendation import Recommendation
from shoal.model.device import Room
from shoal.model.model import RecodingModel as LearnedModel
from shoal.reports.release import ReleaseReport, Verification
from shoal.samples.linked import linked_hospital as linked_sample
from shoal.samples.writer import SampleFiles

__all__ = [
    "Choices",
    "CsvFile",
    "Database",
    "ExcelFile",
    "Release",
    "ReportRequest",
    "SparkTable",
    "Techniques",
    "anonymize",
    "attack",
    "budget_log",
    "budget_set",
    "budget_show",
    "build_hierarchy",
    "check_hierarchy",
    "check_place",
    "check_report",
    "draw_hierarchy",
    "drift",
    "encode",
    "encode_stream",
    "export_model",
    "infer",
    "learn",
    "learn_with_report",
    "linked_sample",
    "method_list",
    "methods",
    "metrics",
    "recommend",
    "release_request",
    "release_xk",
    "report",
    "risk",
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


@spelled(ReleaseWords)
def release_request(
    table: object,
    schema: SchemaLike | None = None,
    *,
    out: str | Path | None = None,
    **words: Unpack[ReleaseWords],
) -> ReleaseRequest:
    """Return the request of a release, as `anonymize` runs it."""
    found = asked_schema(schema, words)
    files = files_of(schema, found)
    return request_of(
        ReleaseRequest,
        words,
        table=table,
        schema=found,
        method=asked_method(words),
        output=asked_output(out, words, files=files, suppressed="remove"),
        checks=asked_checks(words),
        waive_composition=tuple(names_in(words.get("waive_composition"))),
    )


@overload
def anonymize(
    table: Frame,
    schema: SchemaLike | None = None,
    *,
    out: None = None,
    **words: Unpack[ReleaseWords],
) -> Release[Frame]: ...


@overload
def anonymize(
    table: object,
    schema: SchemaLike | None = None,
    *,
    out: str | Path | None = None,
    **words: Unpack[ReleaseWords],
) -> Release[object]: ...


@spelled(ReleaseWords)
def anonymize(
    table: object,
    schema: SchemaLike | None = None,
    *,
    out: str | Path | None = None,
    **words: Unpack[ReleaseWords],
) -> Release[object]:
    """Release a table: search, recode, verify what is written, and only then publish it.

    Args:
        table: see `LearnRequest`.
        schema: roles, kinds and hierarchies of its columns: a Schema, a path, or plain data.
        out: where to write; None returns a table of the kind that came in.
        words: in the place of a schema, `qi`, `sensitive`, `identifying`, `neutral`, `numeric`,
            `categorical`, `date` and `hierarchies`; the promise: `k`, `l`, `t` … or `privacy`,
            beside the schema's own (`replace_promise`: instead of it); `method`, a name or an
            object such as `shoal.Refine(effort="best")`; kept columns to `waive`; the rest as
            in `jobs.words.ReleaseWords`.

    Raises:
        PrivacyError: less is asked for than the schema promises.
        ShoalError: what `jobs.release` refuses; nothing was written.

    Example:
        >>> import polars as pl
        >>> frame = pl.DataFrame({"age": [34, 36, 51, 53], "ill": ["a", "b", "a", "b"]})
        >>> release = anonymize(frame, qi=["age"], sensitive=["ill"], k=2, l=2, method="mondrian")
        >>> release.table["age"].to_list()
        ['34–37', '34–37', '50–53', '50–53']
    """
    request = release_request(table, schema, out=out, **words)
    return releasing.release(request, progress=words.get("progress") or tell)


@spelled(LearnWords)
def learn(
    table: object, schema: SchemaLike | None = None, **words: Unpack[LearnWords]
) -> RecodingModel:
    """Learn a recoding and return it as a model; schema and words as in `anonymize`."""
    return learn_with_report(table, schema, **words)[0]


@spelled(LearnWords)
def learn_with_report(
    table: object, schema: SchemaLike | None = None, **words: Unpack[LearnWords]
) -> tuple[RecodingModel, ReleaseReport]:
    """Learn a recoding; return the model and the account of how it was found."""
    found = asked_schema(schema, words)
    request = request_of(LearnRequest, words, table=table, schema=found, method=asked_method(words))
    learned = learning.learn(request, progress=words.get("progress") or tell)
    return learned.model, learned.report


@overload
def encode(
    table: Frame,
    model: LearnedModel | str | Path,
    *,
    out: None = None,
    safe: bool = False,
    **words: Unpack[EncodeWords],
) -> Encoded[Frame]: ...


@overload
def encode(
    table: object,
    model: LearnedModel | str | Path,
    *,
    out: str | Path | None = None,
    safe: bool = False,
    **words: Unpack[EncodeWords],
) -> Encoded[object]: ...


@spelled(EncodeWords)
def encode(
    table: object,
    model: LearnedModel | str | Path,
    *,
    out: str | Path | None = None,
    safe: bool = False,
    **words: Unpack[EncodeWords],
) -> Encoded[object]:
    """Apply a model to a table.

    Args:
        table: see `LearnRequest`.
        model: a model, or the path of one.
        out: where to write; None returns a table of the kind that came in.
        safe: suppress what would break the promise within this batch, and verify.
        words: see `EncodeRequest` and `Output`; a promise is kept beside the model's own.
    """
    return encoding.encode(encode_request(table, model, words, out=out, safe=safe))


def encode_stream(
    model: str | Path, source: IO[bytes], out: IO[bytes], **words: Unpack[StreamWords]
) -> EncodeReport:
    """Encode JSON lines or CSV as they come, one line in, one line out."""
    return encoding.encode_stream(StreamRequest(model=model, **words), source, out)


def drift(
    table: object,
    model: LearnedModel | str | Path,
    *,
    false_alarm: float = 0.05,
    separator: str | None = None,
) -> DriftReport:
    """Compare new records with what a model was learned from; say whether to learn again."""
    asked = DriftRequest(table=table, model=model, false_alarm=false_alarm, separator=separator)
    return encoding.drift(asked)


def export_model(model: str | Path, to: str, *, out: str | Path, room: Room | None = None) -> None:
    """Write encoder and model as one source file, for python, micropython or javascript."""
    write_text(out, export(str(model), to, room), inputs=(model,))


@spelled(VerifyWords)
def verify(
    release: object, schema: SchemaLike | None = None, **words: Unpack[VerifyWords]
) -> Verification:
    """Judge a table as it stands, whoever made it; schema and words as in `anonymize`."""
    found = asked_schema(schema, words)
    return verifying.verify(request_of(VerifyRequest, words, table=release, schema=found))


@spelled(MetricsWords)
def metrics(
    original: object,
    release: object,
    schema: SchemaLike | None = None,
    **words: Unpack[MetricsWords],
) -> Document:
    """Measure a release against the table it was made from, by its labels alone."""
    found = asked_schema(schema, words)
    return measuring.measure(
        request_of(MetricsRequest, words, table=original, release=release, schema=found)
    )


@spelled(RiskWords)
def risk(table: object, schema: SchemaLike | None = None, **words: Unpack[RiskWords]) -> AnyRisk:
    """Measure how easily people are found in a table as it stands; with sets, by their items."""
    found = asked_schema(schema, words)
    return any_risk(request_of(RiskRequest, words, table=table, schema=found))


@spelled(AttackWords)
def attack(
    original: object,
    release: object,
    schema: SchemaLike | None = None,
    **words: Unpack[AttackWords],
) -> tuple[Comparison, ...]:
    """Attack a table and its release; compare both with guessing."""
    found = asked_schema(schema, words)
    return risking.attack(
        request_of(AttackRequest, words, table=original, release=release, schema=found)
    )


def infer(table: object, **words: Unpack[InferWords]) -> Inference:
    """Say what each column seems to be and which sets of columns identify people."""
    return inferring.infer(InferRequest(table=table, **words))


def write_schema(found: Inference, out: str | Path, *, inputs: Sequence[str | Path] = ()) -> None:
    """Write the proposed schema, with the reasons as comments, for a person to edit."""
    write_text(out, found.schema_text(), inputs=tuple(inputs))


def write_preset(
    table: object, found: Inference, name: str, **words: Unpack[PresetWords]
) -> tuple[str, ...]:
    """Carry out the steps of a preset; return what a person must still do."""
    return inferring.write_preset(PresetRequest(table=table, name=name, **words), found)


@spelled(RecommendWords)
def recommend(
    table: object, schema: SchemaLike | None = None, **words: Unpack[RecommendWords]
) -> Recommendation:
    """Recommend the fraction of k for a table, and work out what every technique gives on it.

    k is that of the promise, in the schema or as a word.
    """
    found = asked_schema(schema, words)
    return xk_job.recommend(
        request_of(RecommendRequest, words, table=table, schema=found, k=k_of(found))
    )


@spelled(XkWords)
def release_xk(
    table: object,
    schema: SchemaLike | None = None,
    *,
    out: str | Path,
    **words: Unpack[XkWords],
) -> XkRelease:
    """Make a table xk-anonymous, write it, verify the file, and only then publish it."""
    found = asked_schema(schema, words)
    output = asked_output(out, words, files=files_of(schema, found))
    return xk_job.release_xk(
        request_of(XkRequest, words, table=table, schema=found, k=k_of(found), output=output)
    )


def methods() -> tuple[type[Method], ...]:
    """Return every method there is."""
    return tuple(registry.METHODS.values())


def method_list() -> list[dict[str, str]]:
    """Return name, family and summary of every method, those that add records included."""
    found = [(m.name, m.family, m.summary) for m in registry.listed()]
    return [
        {"name": name, "family": family, "summary": summary}
        for name, family, summary in (*found, *registry.OTHERS)
    ]


def sample(
    which: str,
    out: str | Path,
    *,
    records: int = 10_000,
    seed: int = 0,
    overwrite: bool = False,
    **words: Unpack[ZipfWords],
) -> SampleFiles:
    """Write a made-up table (`hospital` or `zipf`) with its schema and hierarchies."""
    from shoal.samples import hospital, zipf

    told = partial(watcher().advance, of=records)
    if which == "zipf":
        return zipf(out, records, seed=seed, overwrite=overwrite, progress=told, **words)
    return hospital(out, records, seed=seed, overwrite=overwrite, progress=told)


def build_hierarchy(
    table: object,
    column: str,
    entry: object,
    *,
    out: str | Path | None = None,
    **words: Unpack[ColumnWords],
) -> Hierarchy:
    """Build a hierarchy from the values of a column; `entry` as a schema has it."""
    values = ColumnValues(table=table, column=column, **words)
    return hierarchies.build_hierarchy(values, entry, out=out)


def check_hierarchy(
    path: str | Path,
    *,
    table: object = None,
    column: str | None = None,
    **words: Unpack[ColumnWords],
) -> Hierarchy:
    """Check a hierarchy file, and that it knows every value of a table's column."""
    if table is None or column is None:
        return hierarchies.check_hierarchy(path)
    return hierarchies.check_hierarchy(path, ColumnValues(table=table, column=column, **words))
