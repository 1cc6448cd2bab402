"""m-invariant classes: division, balancing, assignment and split [xiao2007]."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import NoSolutionError
from shoal.kernels.clustering.space import Space
from shoal.methods.clustering.clusters import boxes_of
from shoal.methods.clustering.space import space_of
from shoal.methods.over_time.apart import told_apart
from shoal.methods.over_time.buckets import Asked, Bucket, Dealt, Signature, deal
from shoal.methods.over_time.cuts import Layers, cut
from shoal.table.frequency import FrequencyTable, sort_rows
from shoal.table.recoding import Recoding, join_boxes, recoding_of, same_labels

Numbers = NDArray[np.int64]

REGION = 200
"""A region has at least so many times k records."""


@dataclass(frozen=True)
class People:
    """The records of a table, each of another person, in an order that is not the table's.

    Attributes:
        row: int64[records], the row of the frequency table of each.
        value: int64[records], the code of its sensitive value.
        own: int64[records], the signature under which its person was released before, a place in
            `signatures`; NEW or WAITS, see `methods.over_time.buckets`.
        signatures: those that were released before.
    """

    row: Numbers = field(repr=False)
    value: Numbers = field(repr=False)
    own: Numbers = field(repr=False)
    signatures: tuple[Signature, ...] = field(repr=False)


@dataclass(frozen=True)
class Counterfeits:
    """Records that nobody is behind: the class and the sensitive value of each."""

    label: Numbers
    value: Numbers


@dataclass(frozen=True)
class Invariant:
    """Classes, balanced each, of people who have one signature.

    Attributes:
        recoding: of the real records; those that wait are suppressed.
        label: int64[records], the class of each of them, in the order of `People`; -1: it waits.
        counterfeits: what balance lacks.
        signature: of each class.
    """

    recoding: Recoding
    label: Numbers
    counterfeits: Counterfeits
    signature: tuple[Signature, ...]


def search(
    table: FrequencyTable,
    people: People,
    *,
    m: int,
    k: int,
    counterfeits: bool = True,
    seed: int = 0,
) -> Invariant:
    """Find balanced classes of at least k persons in which everybody keeps their signature.

    Args:
        table: its domains are as they are written, round or tight.
        people: see `People`.
        m: values that a new signature has at least.
        k: persons of a class; counterfeits are none.
        counterfeits: fill what balance lacks; otherwise the surplus waits.
        seed: draws who of several goes where, and who waits.

    Guarantee:
        Classes with the same labels have the same signature. The same seed gives the same classes.

    Raises:
        NoSolutionError: every record would have to wait.
    """
    codes, space = table.codes[people.row], space_of(table.domains)
    dealt = deal(
        people.value, people.own, people.signatures, Asked(m, k, counterfeits), seed=seed,
        region=_regions(codes, space, k=k),
    )  # fmt: skip
    chance = np.random.default_rng([seed, 1])
    found = _Classes()
    for number, bucket in enumerate(dealt.buckets):
        found.add(number, *_layers(bucket, number, dealt, people, codes, chance), space, k=k)
    if not found.sizes:
        raise NoSolutionError(
            problem="every record would have to wait: no signature has enough people; ask for "
            "less, or bring more records"
        )
    return _recoded(table, people, dealt, found)


def _regions(codes: NDArray[np.int32], space: Space, *, k: int) -> Numbers:
    """Return the region of each record: about as many as give everybody near partners."""
    number = np.zeros(len(codes), dtype=np.int64)
    every = Layers(np.arange(len(codes))[None], codes, np.ones(len(codes), dtype=np.bool_))
    for region, records in enumerate(cut(every, space, k=REGION * k)):
        number[records] = region
    return number


def _layers(
    bucket: Bucket,
    number: int,
    dealt: Dealt,
    people: People,
    codes: NDArray[np.int32],
    chance: np.random.Generator,
) -> tuple[Layers, Numbers, Numbers]:
    """Return a bucket as layers, the record of each place (-1: counterfeit), and its value."""
    members = np.flatnonzero(dealt.bucket == number)
    record, value = [], []
    for each in bucket.signature:
        own = members[people.value[members] == each]
        missing = np.full(bucket.layers - len(own), -1, dtype=np.int64)
        # Each one by chance among the others of its value: where it stands tells nothing.
        record.append(chance.permutation(np.concatenate((own, missing))))
        value.append(np.full(bucket.layers, each, dtype=np.int64))
    records = np.concatenate(record)
    beside = np.where(
        records >= 0, records, members[chance.integers(0, len(members), len(records))]
    )
    places = np.arange(len(records)).reshape(len(bucket.signature), bucket.layers)
    return Layers(places, codes[beside], records >= 0), records, np.concatenate(value)


class _Classes:
    """Classes of all buckets, one after another.

    Attributes:
        record, value: of each place; a counterfeit has the record -1.
        label: the class of each place.
        bucket, sizes: of each class; real records.
    """

    def __init__(self) -> None:
        self.record: list[Numbers] = []
        self.value: list[Numbers] = []
        self.label: list[Numbers] = []
        self.bucket: list[int] = []
        self.sizes: list[int] = []

    def add(
        self, number: int, layers: Layers, record: Numbers, value: Numbers, space: Space, *, k: int
    ) -> None:
        """Cut a bucket, and keep its classes."""
        for places in cut(layers, space, k=k):
            self.record.append(record[places])
            self.value.append(value[places])
            self.label.append(np.full(len(places), len(self.sizes), dtype=np.int64))
            self.bucket.append(number)
            self.sizes.append(int(layers.is_real[places].sum()))


def _recoded(table: FrequencyTable, people: People, dealt: Dealt, found: _Classes) -> Invariant:
    """Return classes with labels of their own, numbered by their boxes."""
    record, value = np.concatenate(found.record), np.concatenate(found.value)
    label, bucket = np.concatenate(found.label), np.array(found.bucket, dtype=np.int64)
    real = record >= 0
    low, high = boxes_of(table.codes[people.row[record[real]]], label[real])
    sizes = np.array(found.sizes, dtype=np.int64)
    kept = told_apart(table.domains, space_of(table.domains), (low, high), bucket, sizes)
    if not kept.any():
        raise NoSolutionError(problem="every record would have to wait")
    final = _numbered(table, low, high, kept)
    number = final[label]
    classes = int(final.max()) + 1
    boxes = join_boxes(low[kept], high[kept], final[kept], classes)
    own = np.full(len(people.row), -1, dtype=np.int64)
    own[record[real]] = number[real]
    members = (people.row, own, np.ones(len(own), dtype=np.int64))
    recoding = recoding_of(table, *boxes, members, join=False)
    of_class = np.empty(classes, dtype=np.int64)
    of_class[final[kept]] = bucket[kept]
    false = ~real & (number >= 0)
    return Invariant(
        recoding=recoding,
        label=own,
        counterfeits=Counterfeits(number[false], value[false]),
        signature=tuple(dealt.buckets[each].signature for each in of_class.tolist()),
    )


def _numbered(
    table: FrequencyTable,
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    kept: NDArray[np.bool_],
) -> Numbers:
    """Number classes as `recoding_of` does, those with the same labels alike; -1: not kept."""
    alike = same_labels(table, low[kept], high[kept], None)
    classes = int(alike.max()) + 1
    boxes = join_boxes(low[kept], high[kept], alike, classes)
    sizes = [len(domain.labels) for domain in table.domains]
    order = sort_rows(np.concatenate(boxes, axis=1), sizes + sizes)
    rank = np.empty(classes, dtype=np.int64)
    rank[order] = np.arange(classes)
    final = np.full(len(low), -1, dtype=np.int64)
    final[kept] = rank[alike]
    return final
