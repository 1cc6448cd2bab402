"""What a model does to the tuples of a batch, whoever reads and writes its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.core.errors import InputError, NoSolutionError
from shoal.core.suggest import no_column
from shoal.edge.stream import EncodeReport
from shoal.engines.encoding.tuples import (
    CodedAssignment,
    Cover,
    TupleCounts,
    assign_tuples,
    release_unseen,
)
from shoal.engines.refusals import check_columns
from shoal.model.batch import Histogram, Judge, ReleasedTuple, Texts
from shoal.model.column import Rejected
from shoal.model.joining import extents_of, join_failing, order_of
from shoal.model.model import RecodingModel
from shoal.model.sets import SetEncoder
from shoal.reports.release import stars_removed
from shoal.schema.schema import REMOVED, Others, Schema


@dataclass
class Batch:
    """One table on its way through a model.

    Attributes:
        where: the table, for messages.
        columns: released, in the table's own order.
        star: suppressed records are released with every quasi-identifier as the root.
        widened: released tuples that no class of the model has.
        closed: released tuples that a safe batch does not have.
        joined: of regions that do not overlap, the row of labels of each one; -1: suppressed.
    """

    where: str
    model: RecodingModel
    encoder: SetEncoder
    columns: tuple[str, ...]
    cover: Cover
    star: bool
    report: EncodeReport = field(default_factory=EncodeReport)
    notices: tuple[str, ...] = ()
    widened: dict[ReleasedTuple, int] = field(default_factory=dict)
    closed: set[ReleasedTuple] = field(default_factory=set)
    joined: NDArray[np.int64] | None = None
    _labels: pl.DataFrame | None = None

    def check_judged(self, judge: Judge) -> None:
        """Refuse a table without a column that the promise speaks of."""
        check_columns(self.where, self.columns, judge.columns)

    @property
    def joins(self) -> bool:
        """Say whether classes that fail are joined: regions have no other one around them."""
        return self.model.tree is not None and self.encoder.on_unseen == "suppress"

    def suppress_failing(self, counts: TupleCounts, judge: Judge) -> None:
        """Close classes until those that are left keep the promise."""
        self.notices = judge.check(counts.texts[: len(judge.columns)])
        if self.joins:
            found = CodedAssignment(counts, self.cover)
            self.join_failing(found.classes, found.lost, judge)
            return
        try:
            assigned = assign_tuples(counts, self.cover, judge)
        except Rejected:
            codes, _, records = counts.arrays()
            unseen = self.cover.regions(codes, closed=False) < 0
            raise unseen_error(self.where, int(records[unseen].sum())) from None
        self._check_left(assigned.classes)
        self.closed = assigned.closed
        self.judge_star(judge, assigned.classes, assigned.lost)

    def _check_left(self, classes: Mapping[ReleasedTuple, Histogram]) -> None:
        if not classes:
            raise NoSolutionError(problem="every record would have to be suppressed")

    def join_failing(
        self, classes: dict[ReleasedTuple, Counter[Texts]], lost: Counter[Texts], judge: Judge
    ) -> None:
        """Join classes that fail with their neighbours; what is left over moves to `lost`."""
        columns = extents_of(self.model, self.encoder)
        answer = join_failing(classes, columns, order_of(self.model), judge)
        together: dict[ReleasedTuple, Counter[Texts]] = {}
        for key, label in answer.items():
            if label is None:
                lost.update(classes.pop(key))
            else:
                together.setdefault(label, Counter()).update(classes[key])
        self._check_left(together)
        base = len(self.encoder.regions)
        at = np.arange(base, dtype=np.int64)
        for number, key in enumerate(self.model.tuples()):
            label = answer.get(key, key)
            if label is None:
                at[number] = -1
            elif label != key:
                at[number] = base + self.widened.setdefault(label, len(self.widened))
        self.joined = at
        self.judge_star(judge, together, lost)

    def judge_star(
        self,
        judge: Judge,
        classes: Mapping[ReleasedTuple, Histogram],
        suppressed: Histogram,
    ) -> None:
        """Release suppressed records as the root only where the promise holds with them."""
        if not self.star or not suppressed:
            return
        root: ReleasedTuple = tuple(self.encoder.roots)
        together = Counter(classes.get(root, {})) + Counter(suppressed)
        if judge.failing({**classes, root: together}):
            self.star = False
            self.notices += (stars_removed(sum(suppressed.values())),)

    def rows(self, tuples: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the row of labels of each tuple, -1 if suppressed, and which are unseen."""
        row = self.cover.regions(tuples)
        if self.joined is not None:
            unseen = row < 0
            row[~unseen] = self.joined[row[~unseen]]
            return row, unseen
        lost = np.flatnonzero(row < 0)
        unseen = np.zeros(len(row), dtype=np.bool_)
        unseen[lost] = self.cover.regions(tuples[lost], closed=False) < 0
        if self.encoder.on_unseen == "nearest" and unseen.any():
            base = len(self.encoder.regions)
            places = np.flatnonzero(unseen)
            for at, label in zip(places, release_unseen(self.cover, tuples[places]), strict=True):
                if label is not None and label not in self.closed:
                    row[at] = base + self.widened.setdefault(label, len(self.widened))
        return row, unseen

    def refuse_unseen(self, records: int) -> None:
        """Refuse records that no class covers, where that was asked for."""
        if self.encoder.on_unseen == "error" and records:
            raise unseen_error(self.where, records)

    def labels(self) -> pl.DataFrame:
        """Return a row of labels for each way to be released, and the roots in a last one."""
        encoder = self.encoder
        height = len(encoder.regions) + len(self.widened) + 1
        if self._labels is not None and self._labels.height == height:
            return self._labels
        columns = []
        for j, name in enumerate(encoder.names):
            labels = encoder.labels[j]
            texts = [labels[region[j]] for region in encoder.regions]
            texts += [label[j] for label in self.widened]
            texts.append(encoder.roots[j])
            known = pl.Enum(sorted({text for text in texts if text is not None}))
            columns.append(pl.Series(name, texts, dtype=known))
        self._labels = pl.DataFrame(columns)
        return self._labels


def unseen_error(where: str, records: int) -> InputError:
    """Return the error of records that no class covers."""
    return InputError(
        where=where,
        problem=(
            f"{records} records are covered by no class of the model; learn again, or allow "
            "--on-unseen suppress or nearest"
        ),
    )


def released_columns(where: str, columns: Sequence[str], schema: Schema) -> tuple[str, ...]:
    """Return the columns that go out, in the table's own order.

    Raises:
        InputError: a column is missing, stands twice, or has no role in the model.
    """
    known = {a.name: a.role for a in schema.attributes}
    problems = []
    if len(columns) != len(set(columns)):
        problems.append("a column name stands twice in the header; rename one of them")
    absent = [name for name in schema.quasi if name not in columns]
    if absent:
        problems.append(no_column(absent, columns))
    others = [name for name in columns if name not in known]
    if others and schema.others is Others.FAULT:
        named = ", ".join(map(repr, others))
        problems.append(f"{len(others)} columns have no role in the model: {named}; leave them out")
    if problems:
        raise InputError(where=where, problem="; ".join(problems))
    keep = schema.others is Others.KEEP
    return tuple(
        name for name in columns if (known[name] not in REMOVED if name in known else keep)
    )
