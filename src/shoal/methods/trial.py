"""Trying a model on the recoding that it was made of: how many records each class keeps.

The same rounds as `model.batch.assign_classes`, with the tuples as arrays: a tuple always is in the
first open class that covers it; while classes fail, the finest of them are closed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shoal.methods.alike import Histograms, for_all, reads_places
from shoal.methods.box_cover import BoxCover
from shoal.model.batch import EACH, Histogram, Judge, ReleasedTuple, assign_classes, judge_column
from shoal.model.column import label_of
from shoal.model.coverage import precompute_coverage
from shoal.model.model import RecodingModel
from shoal.model.sets import SetEncoder
from shoal.privacy import Promise, Verdict, judge_sizes
from shoal.schema.sensitive import Values
from shoal.table.frequency import NOBODY, ONCE, FrequencyTable, number_rows
from shoal.table.recoding import Recoding


def try_model(
    draft: RecodingModel, recoding: Recoding, order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """Return the records of each class of a model in the end, and how many are in none.

    order: the class of the recoding that each class of the model was made of.
    """
    judge = Judge.of(draft.schema, draft.schema.privacy)
    table = recoding.table
    if judge.persons or _release_the_same(draft):
        return _tried_plainly(draft, table, judge)
    cover = BoxCover.of(draft.to_document(), [domain.labels for domain in table.domains])
    number = np.full(recoding.classes + 1, -1, dtype=np.int64)
    number[order] = np.arange(len(order))
    own = np.full(int(table.tuple_ids[-1]) + 1, -1, dtype=np.int64)
    own[table.tuple_ids[recoding.row]] = number[recoding.label]
    rounds = _Rounds(cover, judge, table, own)
    rounds.close_failing()
    return rounds.sizes, table.records - int(rounds.sizes.sum())


def _release_the_same(draft: RecodingModel) -> bool:
    """Say whether two classes of a model release the same."""
    if not draft.regions:
        return False
    columns = []
    for column in draft.columns:
        known = getattr(draft.schema.attribute(column.name).hierarchy, "labels", ())
        number: dict[str | None, int] = {}
        columns.append(
            [number.setdefault(label_of(cell, known), len(number)) for cell in column.cells]
        )
    regions = np.array(draft.regions, dtype=np.int64)
    cells = [np.array(ids, dtype=np.int32)[regions[:, j]] for j, ids in enumerate(columns)]
    found = number_rows(np.stack(cells, axis=1), [len(ids) for ids in columns])
    return len(found.starts) < len(regions)


@dataclass
class _Rounds:
    """The class of every tuple while failing classes are closed.

    Attributes:
        likely: the class that each tuple was in when classes were found.
        region: the class of each tuple; -1: none.
        sizes: the records of each class.
    """

    cover: BoxCover
    judge: Judge
    table: FrequencyTable
    likely: NDArray[np.int64]
    starts: NDArray[np.int64] = field(init=False, repr=False)
    codes: NDArray[np.int32] = field(init=False, repr=False)
    region: NDArray[np.int64] = field(init=False, repr=False)
    sizes: NDArray[np.int64] = field(init=False, repr=False)
    read: dict[int, tuple[dict[str | None, int], Values, NDArray[np.int64]]] = field(
        default_factory=dict, repr=False
    )

    def __post_init__(self) -> None:
        fresh = np.flatnonzero(np.diff(self.table.tuple_ids, prepend=-1))
        self.starts = np.append(fresh, self.table.rows)
        self.codes = self.table.codes[fresh]
        self.region = self.cover.regions(self.codes, likely=self.likely)
        self.sizes = self._sizes(np.arange(len(self.codes)))

    def _sizes(self, tuples: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the records that some tuples bring to each class."""
        region, records = self.region[tuples], self.table.tuple_sizes[tuples]
        kept = region >= 0
        most = len(self.cover.encoder.regions)
        return np.bincount(region[kept], records[kept], minlength=most).astype(np.int64)

    def close_failing(self) -> None:
        """Close classes, the finest first, until those left keep the promise."""
        changed = self.sizes > 0
        failed = np.zeros_like(changed)
        while self.sizes.any():
            if self.judge.compares:
                failed = self._failing(self.sizes > 0)
            else:
                failed = (failed & ~changed) | self._failing(changed)
            if not failed.any():
                return
            order = np.flatnonzero(failed)
            changed = self._close(order[: max(len(order) // 4, 1)])
            failed &= self.sizes > 0

    def _close(self, closing: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Close classes; return those that their tuples moved to."""
        self.cover.closed.update(closing.tolist())
        gone = np.zeros(len(self.sizes) + 1, dtype=np.bool_)  # the last place stands for none
        gone[closing] = True
        moving = np.flatnonzero(gone[self.region])
        self.region[moving] = self.cover.regions(self.codes[moving], likely=self.region[moving])
        self.sizes[closing] = 0
        gained = self._sizes(moving)
        self.sizes += gained
        return gained > 0

    def _failing(self, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Say which of the wanted classes break a promise."""
        found = np.zeros_like(wanted)
        for model in self.judge.models:
            left = np.flatnonzero(wanted & ~found)
            if not len(left):
                break
            if model.column is None:
                verdict = judge_sizes(model, self.sizes[left].tolist())
            else:
                verdict = self._verdict(model, self.judge.columns.index(model.column), left)
            found[left[list(verdict.failing)]] = True
        return found

    def _verdict(self, model: Promise, at: int, left: NDArray[np.int64]) -> Verdict:
        """Judge classes by a sensitive column; all of them are what they are compared with."""
        table, scale = self.table, self.judge.scales[at]
        codes = table.sensitive[:, self._places[at]]
        dense = reads_places(scale.named(model))
        totals, values, place = self._read(at, released=dense)
        number = np.full(len(self.sizes) + 1, -1, dtype=np.int32)
        number[left] = np.arange(len(left))
        own = number[self.region]
        rows = _rows_of(np.flatnonzero(own >= 0), self.starts)
        label = own[table.tuple_ids[rows]].astype(np.int64)
        found = Histograms.of(label, place[codes[rows]], table.counts[rows], len(left))
        if not dense:
            found = found.by_count()
        first, which = found.alike()
        each = [
            found.of_class(c) if dense else dict(enumerate(found.counts_of(c)))
            for c in first.tolist()
        ]
        reference = values.reference(values.totals(totals))
        return for_all(judge_column(model, scale, reference, each), which)

    @cached_property
    def _places(self) -> list[int]:
        """The places of the columns that the promise speaks of among the sensitive ones."""
        names = [domain.name for domain in self.table.sensitive_domains]
        return [names.index(name) for name in self.judge.columns]

    def _read(
        self, at: int, *, released: bool
    ) -> tuple[dict[str | None, int], Values, NDArray[np.int64]]:
        """Return the records of each text, the texts on their scale, and the place of each code.

        released: only of records that are in a class; otherwise of all, which is counted once.
        """
        if not released and at in self.read:
            return self.read[at]
        column, counts = self._places[at], self.table.counts
        labels = self.table.sensitive_domains[column].labels
        if released:
            counts = np.where(self.region[self.table.tuple_ids] >= 0, counts, 0)
        whole = np.bincount(self.table.sensitive[:, column], counts, minlength=len(labels))
        many = whole.astype(np.int64).tolist()
        totals = {text: own for text, own in zip(labels, many, strict=True) if own}
        values = self.judge.scales[at].read(totals)
        place = np.array([values.place.get(text, 0) for text in labels], dtype=np.int64)
        if not released:
            self.read[at] = totals, values, place
        return totals, values, place


def _rows_of(tuples: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of some tuples; starts: where those of each tuple begin, and the end."""
    many = starts[tuples + 1] - starts[tuples]
    ends = np.cumsum(many)
    found: NDArray[np.int64] = np.repeat(starts[tuples] - (ends - many), many)
    return found + np.arange(len(found))


def _tried_plainly(
    draft: RecodingModel, table: FrequencyTable, judge: Judge
) -> tuple[NDArray[np.int64], int]:
    """Try a model tuple by tuple: where persons are counted, or classes release the same."""
    tuples, spreads = _training(table, judge)
    encoder = SetEncoder(draft.to_document(), "suppress")
    precompute_coverage(encoder)
    released = assign_classes(encoder, tuples, spreads, judge=judge)
    sizes: Counter[ReleasedTuple] = Counter()
    lost = 0
    for label, spread in zip(released, spreads, strict=True):
        if label is None:
            lost += sum(spread.values())
        else:
            sizes[label] += sum(spread.values())
    return sizes_of(draft, sizes), lost


def sizes_of(draft: RecodingModel, sizes: Mapping[ReleasedTuple, int]) -> NDArray[np.int64]:
    """Return the records of each class from those of each released tuple, which count once."""
    left = dict(sizes)
    return np.array([left.pop(label, 0) for label in draft.tuples()], dtype=np.int64)


def _training(
    table: FrequencyTable, judge: Judge
) -> tuple[list[tuple[str | None, ...]], Sequence[Histogram]]:
    """Return the distinct training tuples as texts, and the sensitive values of each."""
    starts = np.flatnonzero(np.diff(table.tuple_ids, prepend=-1))
    columns = [
        [domain.labels[code] for code in table.codes[starts, j].tolist()]
        for j, domain in enumerate(table.domains)
    ]
    names = [domain.name for domain in table.sensitive_domains]
    wanted = [names.index(name) for name in judge.columns]
    spreads: list[Counter[tuple[str | None, ...]]] = [Counter() for _ in starts]
    values: list[list[str | None]] = [
        [table.sensitive_domains[i].labels[code] for code in table.sensitive[:, i].tolist()]
        for i in wanted
    ]
    if judge.persons:
        values.append(_who(table))
    rows = zip(*values, strict=True) if values else ((),) * table.rows
    for number, texts, records in zip(
        table.tuple_ids.tolist(), rows, table.counts.tolist(), strict=True
    ):
        spreads[number][texts] += records
    return list(zip(*columns, strict=True)), spreads


def _who(table: FrequencyTable) -> list[str | None]:
    """Return the person of each row as a judge reads it."""
    if table.persons is None:  # nobody has two records
        return [EACH] * table.rows
    special: dict[int, str | None] = {int(ONCE): EACH, int(NOBODY): None}
    return [special.get(who, str(who)) for who in table.persons.tolist()]
