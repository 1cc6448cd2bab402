"""Drawn releases on this machine: labels written privately and verified, cells drawn from them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.core.errors import MethodError
from shoal.core.temporary import beside
from shoal.core.watch import tell
from shoal.engines.base import Checks, Compared, Output, Written
from shoal.engines.counts import CountsHere
from shoal.engines.drawing.check import check_drawn
from shoal.engines.drawing.drawing import Drawer, Drawing, Drawn, account_of, typed
from shoal.engines.drawing.metadata import described
from shoal.engines.local.recode import Chunk
from shoal.engines.local.source import Source, open_source
from shoal.engines.local.write import all_or_nothing, write_chunks
from shoal.formats.endings import TYPED, format_to_write, separator_for
from shoal.formats.frames import like
from shoal.privacy import Promise
from shoal.reports.release import Verification
from shoal.schema.schema import Schema


class Labels(Written, Protocol):
    """A generalized release that is made and not published."""

    @property
    def source(self) -> Source:
        """Return it, to be read again."""
        ...


@dataclass(frozen=True)
class Origin:
    """What a release is drawn from.

    Attributes:
        source: the table.
        counts: its frequency table.
        labels: writes the generalized release.
        compare: measures and attacks that one beside the table.
    """

    source: Source
    counts: CountsHere
    labels: Callable[[Output], AbstractContextManager[Labels]]
    compare: Callable[[Source, Checks, int], Compared]

    @property
    def columns(self) -> list[str]:
        """Return the released columns, in the table's own order."""
        released = set(self.counts.schema.released)
        return [name for name in self.source.columns if name in released]

    @property
    def types(self) -> dict[str, pl.DataType]:
        """Return the types that the recoded columns have in the table."""
        quasi = list(self.counts.schema.quasi)
        return dict(self.source.scan(quasi).collect_schema())

    def read(self, labels: Labels) -> pl.DataFrame:
        """Return the generalized release as it is written, without who is behind its records."""
        found, weight = (
            labels.source.collect(labels.source.scan(self.columns)),
            labels.source.weight,
        )
        if weight is None:
            return found
        times = found[weight].to_numpy()  # equal lines that stand together were read once
        return found[np.repeat(np.arange(found.height), times)].drop(weight)


@dataclass(frozen=True)
class LocalDrawn:
    """A drawn release that is not yet published, beside the labels that it was drawn from.

    Attributes:
        source: the drawn release as it is written.
        order: the record of the labels that each of its records was drawn from.
    """

    origin: Origin
    labels: Labels
    source: Source
    order: NDArray[np.int64]
    drawer: Drawer
    drawn: Drawn
    table: object = None

    def verify(self, schema: Schema, promise: Sequence[Promise]) -> Verification:
        """Judge the labels as they are written, and see that every cell lies in its own.

        Raises:
            UnsafeReleaseError: some cell does not, or is of nobody.
        """
        verified = self.labels.verify(schema, promise)
        check_drawn(
            _read(self.source.as_labels()), self.origin.read(self.labels), self.order,
            self.drawer.table.domains, self.drawer.forms(),
        )  # fmt: skip
        return verified

    def class_numbers(self) -> NDArray[np.int64]:
        """Return the class of each record of the table, in its order; -1: it is not released."""
        return self.labels.class_numbers()

    def compare_persons(self, checks: Checks, *, centroids: bool, seed: int) -> Compared:
        """Measure the risk of the persons of table and labels, and attack both."""
        return self.labels.compare_persons(checks, centroids=centroids, seed=seed)

    def compare_labels(self, checks: Checks, *, seed: int) -> Compared:
        """Measure the risk of table and labels by the same rules, and attack both."""
        labels = open_source(self.origin.read(self.labels))  # equal lines are read one by one
        return self.origin.compare(labels, checks, seed)

    def account(self, *, fidelity: bool) -> Document:
        """Return what is to be known of the draw."""
        return account_of(self.drawer, self.drawn, fidelity=fidelity)


@contextmanager
def draw_release(origin: Origin, output: Output, drawing: Drawing) -> Iterator[LocalDrawn]:
    """Write labels where only this user can read them, draw from them, and write that.

    Raises:
        MethodError: the table does not fit memory.
    """
    if not origin.source.fits_memory():
        raise MethodError(problem="--release draw: the table does not fit memory; release labels")
    goal = None if output.file is None else Path(output.file)
    given = origin.source.given
    inputs = (*((Path(given),) if isinstance(given, (str, PathLike)) else ()), *output.inputs)
    inner = replace(output, spreadsheet_safe=None, out=None)
    with ExitStack() as stack:
        if goal is not None:
            near = Path(tempfile.gettempdir()) / "shoal-labels"
            ending = (
                "".join(goal.suffixes[-2:]) if goal.name.endswith((".gz", ".zst")) else goal.suffix
            )
            inner = replace(inner, out=stack.enter_context(beside(near, ending=ending)))
        labels = stack.enter_context(origin.labels(inner))
        tell("draw")
        drawer = Drawer(origin.counts.table, origin.counts.schema, drawing)
        drawn = drawer.draw(origin.read(labels))
        frame, order = drawn.sorted(keep_order=output.keep_order)
        kind = None if goal is None else format_to_write(goal)
        if kind is None or kind in TYPED or kind == "jsonl":
            frame = typed(frame, origin.types)
        if goal is None:
            table = like(frame, given)
            source = open_source(frame)
            yield LocalDrawn(origin, labels, source, order, drawer, drawn, table)
            return
        stack.enter_context(described(goal, frame.columns))
        file = stack.enter_context(all_or_nothing(goal, inputs=inputs))
        separator = separator_for(file, origin.source.separator)
        write_chunks(
            iter([Chunk(frame, None)]), file, separator=separator,
            spreadsheet_safe=output.spreadsheet_safe, expected=frame.height,
            dictionary=origin.source.dictionary,
        )  # fmt: skip
        tell("verify")
        written = open_source(file, separator=separator)
        yield LocalDrawn(origin, labels, written, order, drawer, drawn)


def _read(source: Source) -> pl.DataFrame:
    return source.collect(source.scan(source.columns))
