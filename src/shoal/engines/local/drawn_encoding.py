"""Encoded batches whose cells are drawn: labels written privately, verified, and drawn from."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from shoal.core.errors import MethodError
from shoal.core.temporary import beside
from shoal.core.watch import tell
from shoal.engines.base import Output, Written
from shoal.engines.drawing.check import check_drawn
from shoal.engines.drawing.drawing import typed
from shoal.engines.drawing.metadata import described
from shoal.engines.drawing.model import ModelDrawer
from shoal.engines.local.encode import LocalEncoding
from shoal.engines.local.recode import Chunk
from shoal.engines.local.records import inputs_of
from shoal.engines.local.source import Source, open_source
from shoal.engines.local.write import all_or_nothing, write_chunks
from shoal.formats.endings import TYPED, format_to_write, separator_for
from shoal.formats.frames import like
from shoal.model.model import RecodingModel
from shoal.privacy import Promise
from shoal.reports.release import Verification
from shoal.schema.schema import Schema
from shoal.table.domain import Domain


@dataclass(frozen=True)
class DrawnBatch:
    """A drawn batch that is not yet published, beside the labels that it was drawn from."""

    labels: Written
    frame: pl.DataFrame
    source: Source
    model: RecodingModel
    domains: Sequence[Domain]
    table: object = None

    def verify(self, schema: Schema, promise: Sequence[Promise]) -> Verification:
        """Judge the labels as they are written, and see that every cell lies in its own."""
        verified = self.labels.verify(schema, promise)
        self.check()
        return verified

    def check(self) -> None:
        """See that what is written is what the labels leave open.

        Raises:
            UnsafeReleaseError: some cell is not.
        """
        known = {name: self.model.schema.attribute(name) for name in self.model.schema.quasi}
        forms = {n: a.date_format if a.dates == "same" else None for n, a in known.items()}
        written = self.source.as_labels()
        check_drawn(
            written.collect(written.scan(self.frame.columns)), self.frame,
            np.arange(self.frame.height), self.domains, forms,
        )  # fmt: skip


@contextmanager
def draw_encoded(
    batch: LocalEncoding, model: RecodingModel, output: Output, *, seed: int
) -> Iterator[DrawnBatch]:
    """Encode to labels that only this user can read, draw from them, and write that.

    Raises:
        MethodError: the table does not fit memory, or persons are counted.
    """
    source = batch.source
    if not source.fits_memory():
        raise MethodError(problem="drawing: the table does not fit memory; --release generalize")
    if output.person_file is not None:
        raise MethodError(problem="--person-file: leave it out: drawn records are nobody's")
    goal = None if output.file is None else Path(output.file)
    inner = replace(output, spreadsheet_safe=None, out=None)
    with ExitStack() as stack:
        if goal is not None:
            near = Path(tempfile.gettempdir()) / "shoal-labels"
            inner = replace(inner, out=stack.enter_context(beside(near, ending=".parquet")))
        labels = stack.enter_context(batch.write(inner))
        read = labels.source.as_labels()
        frame = read.collect(read.scan(list(batch.batch.columns)))
        tell("draw")
        drawn, domains = ModelDrawer(model, seed).draw(frame)
        kind = None if goal is None else format_to_write(goal)
        if kind is None or kind in TYPED or kind == "jsonl":
            quasi = list(model.schema.quasi)
            drawn = typed(drawn, dict(source.scan(quasi).collect_schema()))
        if goal is None:
            made = like(drawn, source.given)
            yield DrawnBatch(labels, frame, open_source(drawn), model, domains, made)
            return
        stack.enter_context(described(goal, drawn.columns))
        file = stack.enter_context(
            all_or_nothing(goal, inputs=(*inputs_of(source.given), *output.inputs))
        )
        separator = separator_for(file, source.separator)
        write_chunks(
            iter([Chunk(drawn, None)]), file, separator=separator,
            spreadsheet_safe=output.spreadsheet_safe, expected=drawn.height,
            dictionary=source.dictionary,
        )  # fmt: skip
        tell("verify")
        yield DrawnBatch(labels, frame, open_source(file, separator=separator), model, domains)
