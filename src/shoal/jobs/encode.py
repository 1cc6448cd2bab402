"""A learned model at work: encode tables and streams, watch for drift."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Generic, TypeVar

from shoal.core.errors import MethodError, SchemaError, UnsafeReleaseError
from shoal.edge import load
from shoal.edge.stream import EncodeReport
from shoal.edge.stream import encode_stream as stream
from shoal.engines.base import Encoding, Written
from shoal.engines.choose import engine_for
from shoal.engines.drawing.drawing import DRAWN
from shoal.engines.local import drift as local
from shoal.engines.local.drawn_encoding import DrawnBatch, draw_encoded
from shoal.engines.local.encode import LocalEncoding
from shoal.engines.local.source import open_source
from shoal.engines.local.write import all_or_nothing
from shoal.jobs.goal_table import check_output, placed
from shoal.jobs.requests import DriftRequest, EncodeRequest
from shoal.model.batch import Judge
from shoal.model.model import RecodingModel
from shoal.model.safe import enforce_roles, for_safe
from shoal.privacy.emptiness import little_left, void_promise
from shoal.reports.face import Face, promise_rows
from shoal.reports.release import Verification
from shoal.schema.schema import Schema

Released = TypeVar("Released", covariant=True)


@dataclass(frozen=True, kw_only=True, repr=False)
class Encoded(Generic[Released]):
    """What encoding gave: the table (None when it went to a file), counts, verification."""

    table: Released
    report: EncodeReport
    verification: Verification | None = None
    notices: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_document(self) -> dict[str, object]:
        """Return the report as the JSON document of `encode`."""
        document: dict[str, object] = {**self.report.to_document(), "warnings": list(self.warnings)}
        if self.verification is not None:
            document["verification"] = self.verification.to_document()
        if self.notices:
            document["notices"] = list(self.notices)
        return document

    to_dict = to_document

    def face(self) -> Face:
        """Return what a notebook shows of it."""
        counts, verified = self.report, self.verification
        return Face(
            title=f"{counts.released:,} of {counts.records:,} records encoded, "
            f"{counts.suppressed:,} suppressed, {counts.unseen:,} unseen",
            rows=[] if verified is None else promise_rows(verified.privacy),
            warnings=self.warnings,
        )

    def __repr__(self) -> str:
        return self.face().line("Encoded")

    def _repr_html_(self) -> str:
        return self.face().html()


def encode(request: EncodeRequest) -> Encoded[object]:
    """Apply a model to a table; a safe batch is verified before it is published.

    Guarantee:
        The order of the records is kept, and each released cell covers its value. Without
        `safe` nothing is promised about the batch; with it, what is returned or written keeps
        the promise, judged by `verify` on the released table itself.

    Raises:
        ModelFormatError: damaged, or, when safe, without a fingerprint.
        PrivacyError: safe without any promise, or one that asks for less than the model's.
        SchemaError: the model releases what the schema protects, or a kept column is an
            identifier and nobody waived it.
        NoSolutionError: every record would have to be suppressed.
        UnsafeReleaseError: verification failed; nothing was written.
    """
    request.check()
    model = _checked_model(request)
    if request.output.person_file is not None and not model.schema.person:
        text = (
            "the model counts records, not persons; learn it with --person, or leave the file out"
        )
        raise SchemaError(where="--person-file", faults=[text])
    engine = engine_for(request.table)
    check_output(request.output, request.table)
    star = (request.output.suppressed or ("remove" if request.safe else "star")) == "star"
    table = engine.open(request.table, separator=request.separator)
    with table.encode(model, on_unseen=request.on_unseen, star=star) as batch:
        if request.safe:
            batch.suppress_failing(Judge.of(model.schema, model.privacy))
        verified = None
        is_drawn = _is_drawn(request, model)
        with placed(request.output) as output, ExitStack() as writing:
            made: AbstractContextManager[Written | DrawnBatch] = (
                draw_encoded(_here(batch), model, output, seed=request.seed)
                if is_drawn
                else batch.write(output)
            )
            written = writing.enter_context(made)
            if request.safe:
                verified = written.verify(model.schema.judged(), model.privacy)
                _check_verified(verified, batch.report.released)
            elif isinstance(written, DrawnBatch):
                written.check()
        return Encoded(
            table=written.table,
            report=batch.report,
            verification=verified,
            warnings=(
                *((DRAWN,) if is_drawn else ()),
                *_emptiness(batch, model, verified),
                *batch.kept.warnings,
            ),
            notices=batch.notices,
        )


def _is_drawn(request: EncodeRequest | StreamRequest, model: RecodingModel) -> bool:
    """Say whether cells are drawn.

    Raises:
        MethodError: that was asked of a model that has nothing to draw from.
    """
    if request.release == "draw" and model.drawn is None:
        raise MethodError(
            problem="--release draw: the model has nothing to draw from; learn it with "
            "--release draw"
        )
    return model.drawn is not None and request.release != "generalize"


def _here(batch: Encoding) -> LocalEncoding:
    if not isinstance(batch, LocalEncoding):
        raise MethodError(
            problem="a model draws on the local engine; on Spark, take --release generalize"
        )
    return batch


def _checked_model(request: EncodeRequest) -> RecodingModel:
    """Return the model with the promise and the waivers of this batch."""
    model = model_named(request.model)
    counted = model.schema.person
    if request.safe:
        model = for_safe(
            model, schema=request.schema, privacy=request.privacy, fold_case=request.fold_case
        )
    else:
        if request.schema is not None:
            enforce_roles(model, request.schema)
        model = replace(model, schema=model.schema.without_person())  # nobody is counted
    waived = [*request.waive, *(() if request.schema is None else request.schema.waive)]
    gone = () if request.safe else counted  # who counts no persons need not waive any
    waived = [name for name in waived if name not in gone]
    return replace(model, schema=model.schema.with_waived(waived)) if waived else model


def schema_of(request: EncodeRequest) -> Schema:
    """Return the roles of the columns that a model releases."""
    return _checked_model(request).schema


def model_named(model: object) -> RecodingModel:
    """Return a model, or load the file of one."""
    return model if isinstance(model, RecodingModel) else RecodingModel.load(Path(str(model)))


def _check_verified(verified: Verification, released: int) -> None:
    if not verified.holds or verified.records != released:
        raise UnsafeReleaseError(
            problem=(
                f"{verified.violating_records} of {verified.records} released records break "
                "the promise; nothing was written"
            )
        )


def _emptiness(
    batch: Encoding, model: RecodingModel, verified: Verification | None
) -> tuple[str, ...]:
    """Say that nothing was promised, or that hardly anything is left."""
    void = () if verified is None else void_promise(model.privacy)
    counts = batch.report
    return (*void, *little_left(records=counts.records, suppressed=counts.suppressed))


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRequest:
    """What is asked of a model at work on lines as they come; see `EncodeRequest`.

    Attributes:
        model: a model, or the file of one.
        place: the file, where the model was read already.
        rejects: where lines go that cannot be read, as they came in.
        release, seed: see `EncodeRequest`.
    """

    model: object
    place: str | Path | None = None
    separator: str | None = None
    rejects: str | Path | None = None
    on_unseen: str | None = None
    suppressed: str | None = None
    schema: Schema | None = None
    spreadsheet_safe: bool = False
    release: str | None = None
    seed: int = 0


def encode_stream(request: StreamRequest, source: IO[bytes], out: IO[bytes]) -> EncodeReport:
    """Encode JSON lines or CSV as they come, one line in, one line out."""
    EncodeRequest(
        table=None, model=request.model, on_unseen=request.on_unseen, release=request.release
    ).check()
    model = model_named(request.model)
    if request.schema is not None:
        enforce_roles(model, request.schema)
    star = request.suppressed or "star"
    draw = request.seed if _is_drawn(request, model) else None
    encoder = load(model, on_unseen=request.on_unseen, suppressed=star, draw=draw)
    if request.rejects is None:
        return stream(
            encoder, source, out, separator=request.separator, flush=True,
            spreadsheet_safe=request.spreadsheet_safe,
        )  # fmt: skip
    named = request.model if request.place is None else request.place
    inputs = (named,) if isinstance(named, (str, Path)) else ()
    # Lines as they came in: for this user alone.
    rejected = all_or_nothing(request.rejects, inputs=inputs, private=True)
    with rejected as temporary, temporary.open("wb") as file:
        return stream(
            encoder, source, out, separator=request.separator, rejects=file, flush=True,
            spreadsheet_safe=request.spreadsheet_safe,
        )  # fmt: skip


def drift(request: DriftRequest) -> local.DriftReport:
    """Compare new records with what a model was learned from; say whether to learn again."""
    source = open_source(request.table, separator=request.separator)
    limits = local.Limits(false_alarm=request.false_alarm)
    return local.drift(source, model_named(request.model), limits=limits)
