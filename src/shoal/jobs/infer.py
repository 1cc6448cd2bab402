"""Say what the columns of a table seem to be; write the schema or a preset that follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from shoal.core.watch import tell, watcher
from shoal.engines.choose import engine_for
from shoal.engines.local.infer import preset_frame
from shoal.engines.local.records import inputs_of
from shoal.engines.local.source import open_source
from shoal.engines.local.write import all_or_nothing, write_frame, write_text
from shoal.formats.csv_file import CsvFile
from shoal.formats.endings import format_to_write
from shoal.formats.proposed import proposed_reading
from shoal.inference.infer import Inference
from shoal.inference.propose import schema_text
from shoal.jobs.requests import InferRequest


def infer(request: InferRequest) -> Inference:
    """Say what each column seems to be and which sets of columns identify people."""
    read = proposed_reading(request.table)
    tell("infer")
    if request.seconds:
        watcher().limit(request.seconds)
    found = (
        engine_for(read)
        .open(read, separator=request.separator)
        .infer(
            max_size=request.max_size,
            seconds=request.seconds,
            threshold=request.threshold,
        )
    )
    return replace(found, read_as=read) if isinstance(read, CsvFile) else found


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetRequest:
    """A preset that is carried out.

    Attributes:
        name: such as hipaa-safe-harbor.
        as_of: the day that decides who is over 89.
        schema_out: where to write the schema of the prepared table.
        table_out: where to write the prepared table, in the order of its values.
    """

    table: object
    name: str
    as_of: date | None = None
    schema_out: str | Path | None = None
    table_out: str | Path | None = None
    separator: str | None = None


def write_preset(request: PresetRequest, found: Inference) -> tuple[str, ...]:
    """Carry out the steps of a preset; return what a person must still do.

    found: what was inferred from the table.
    """
    preset = found.preset(request.name, as_of=request.as_of)
    source = open_source(proposed_reading(request.table), separator=request.separator)
    inputs = inputs_of(request.table)
    if request.table_out is not None:
        format_to_write(Path(request.table_out))
        frame = source.collect(preset_frame(source, preset))
        frame = frame.sort(frame.columns, nulls_last=False)
        with all_or_nothing(request.table_out, inputs=inputs) as temporary:
            write_frame(frame, temporary, separator=source.separator)
    if request.schema_out is not None:
        text = schema_text(preset.schema, {}, notices=preset.notices)
        write_text(request.schema_out, text, inputs=inputs)
    return preset.notices
