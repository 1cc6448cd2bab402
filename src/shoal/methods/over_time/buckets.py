"""Division, balancing and assignment: which signature every record is released under [xiao2007].

A bucket has the records of one signature, a set of sensitive values; it is balanced if each of them
is held by equally many records, counterfeits included. Whoever was released before stays in the
bucket of that signature. New records fill what balance lacks, then whole layers (a record of
each value), then buckets of their own. Everything is decided on counts; which of several records
with one value goes where is drawn by chance, whatever their quasi-identifiers are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Signature = tuple[int, ...]
"""Codes of sensitive values, ascending."""

ROBUST = 3
"""A signature that a region gets for itself has so many times k people."""

NEW, WAITS = -1, -2
"""Of a record: it has no signature yet; and it cannot be released, whatever the others are."""


@dataclass
class Bucket:
    """The records of one signature, as counts.

    Attributes:
        owned: by value: records whose signature it is already.
        taken: by value: new records.
        layers: how many records, counterfeits included, hold each value.
    """

    signature: Signature
    owned: dict[int, int]
    taken: dict[int, int] = field(default_factory=dict)
    layers: int = 0

    def available(self, value: int) -> int:
        """Return the records of a value, real ones, that the bucket may use."""
        return self.owned.get(value, 0) + self.taken.get(value, 0)

    def real(self, value: int) -> int:
        """Return the records of a value, real ones, that are released."""
        return min(self.available(value), self.layers)

    @property
    def strength(self) -> int:
        """Return how many real records are released."""
        return sum(self.real(value) for value in self.signature)

    @property
    def counterfeits(self) -> int:
        """Return how many records are missing for balance."""
        return self.layers * len(self.signature) - self.strength

    def take(self, pool: Numbers, value: int, records: int) -> None:
        """Take new records out of the pool."""
        pool[value] -= records
        self.taken[value] = self.taken.get(value, 0) + records


def eligible(new: Numbers, m: int) -> Numbers:
    """Return the most records of which none of the values has more than a share 1/m.

    Example:
        >>> eligible(np.array([7, 2, 1]), 2).tolist()
        [3, 2, 1]
    """
    most = int(new.max(initial=0))
    while most and int(np.minimum(new, most).sum()) < m * most:
        most -= 1
    return np.minimum(new, most).astype(np.int64)


def _balance(bucket: Bucket, pool: Numbers, *, m: int, counterfeits: bool) -> None:
    """Let new records fill what is missing to the most frequent value.

    Without counterfeits, they fill what is missing to the least that all values can reach.
    """
    goal = max(bucket.owned.get(value, 0) for value in bucket.signature)
    while True:
        for value in bucket.signature:
            others = int(np.delete(pool, value).max(initial=0))
            room = int(pool.sum()) - m * others
            records = min(goal - bucket.owned.get(value, 0), int(pool[value]), room)
            bucket.take(pool, value, max(records, 0))
        least = min(bucket.available(value) for value in bucket.signature)
        if counterfeits or least >= goal:
            bucket.layers = goal
            return
        for value, records in bucket.taken.items():
            pool[value] += records
        bucket.taken.clear()
        goal = least


def _most_layers(pool: Numbers, signature: Signature, m: int) -> int:
    """Return how many records of each value can be taken, so that the others stay m-eligible."""
    own = list(signature)
    total, others = int(pool.sum()), int(np.delete(pool, own).max(initial=0))
    limits = [int(pool[own].min()), (total - m * others) // len(own)]
    if len(own) > m:
        limits.append((total - m * int(pool[own].max())) // (len(own) - m))
    return max(min(limits), 0)


def _next_layers(pool: Numbers, *, m: int, k: int) -> tuple[Signature, int] | None:
    """Return the fewest most frequent values of which k records can be taken, and the layers."""
    order = np.lexsort((np.arange(len(pool)), -pool))
    for values in range(m, int((pool > 0).sum()) + 1):
        signature = tuple(sorted(order[:values].tolist()))
        layers = _most_layers(pool, signature, m)
        if layers and layers * values >= k:
            return signature, layers
    return None


@dataclass(frozen=True)
class Dealt:
    """Records in their buckets.

    Attributes:
        buckets: as counts.
        bucket: int64[records], the bucket of each record; -1: it waits.
    """

    buckets: list[Bucket]
    bucket: Numbers


@dataclass(frozen=True)
class Asked:
    """What every bucket must have.

    Attributes:
        m: values that a new signature has at least.
        k: real records that a bucket has at least; one with fewer is given up, and its records
            wait.
        counterfeits: fill what balance lacks; otherwise the surplus waits.
    """

    m: int
    k: int
    counterfeits: bool = True


def deal(
    value: Numbers,
    own: Numbers,
    signatures: Sequence[Signature],
    asked: Asked,
    *,
    seed: int,
    region: Numbers | None = None,
) -> Dealt:
    """Share records out to balanced buckets.

    Args:
        value: int64[records], the code of each one's sensitive value. Records stand in an order
            that does not depend on that of the table.
        own: int64[records], the signature under which its person was released before: a place in
            `signatures`, whose value it holds; NEW, or WAITS.
        signatures: those that were released before.
        asked: see there.
        seed: draws who of several goes where, and who waits.
        region: int64[records], records that lie together: new ones are put together first with
            those of their own region. None: there is one.

    Guarantee:
        Every bucket is balanced, and has at least k real records. Whoever has a signature is in
        its bucket, or waits.
    """
    turn = np.random.default_rng(seed).permutation(len(value))
    places = np.unique(own[own >= 0]).tolist()
    size = {place: int((own == place).sum()) for place in places}
    places.sort(key=lambda place: (-size[place], signatures[place]))
    while True:
        table = _Table(value, own, turn, region)
        found = table.dealt([(place, signatures[place]) for place in places], asked)
        weak = {bucket.signature for bucket in found.buckets if bucket.strength < asked.k}
        if not weak:
            return found
        places = [place for place in places if signatures[place] not in weak]


class _Table:
    """The records on their way to the buckets.

    Attributes:
        bucket: int64[records], where each one went; -1: nowhere yet.
    """

    def __init__(self, value: Numbers, own: Numbers, turn: Numbers, region: Numbers | None) -> None:
        self.value, self.own, self.turn, self.region = value, own, turn, region
        self.bucket = np.full(len(value), -1, dtype=np.int64)
        self.buckets: list[Bucket] = []
        self.number: dict[Signature, int] = {}
        self.width = int(value.max(initial=-1)) + 1

    def dealt(self, known: Sequence[tuple[int, Signature]], asked: Asked) -> Dealt:
        """Balance the known signatures, then assign whoever is new."""
        self.width = max([self.width, *(signature[-1] + 1 for _, signature in known)])
        pool = eligible(self._counts(self.turn[self.own[self.turn] == NEW]), asked.m)
        for place, signature in known:
            counts = self._counts(np.flatnonzero(self.own == place))
            bucket = Bucket(signature, {v: int(counts[v]) for v in signature})
            self._open(bucket)
            _balance(bucket, pool, m=asked.m, counterfeits=asked.counterfeits)
            self._settle(bucket, place)
        if self.region is not None:
            self._assign_regions(asked)
        self._assign(self._waiting(), self.buckets, asked, least=asked.k)
        return Dealt(self.buckets, self.bucket)

    def _open(self, bucket: Bucket) -> int:
        self.number[bucket.signature] = len(self.buckets)
        self.buckets.append(bucket)
        return len(self.buckets) - 1

    def _counts(self, members: Numbers) -> Numbers:
        return np.bincount(self.value[members], minlength=self.width).astype(np.int64)

    def _waiting(self) -> Numbers:
        """Return the new records that are nowhere yet, in the order of their turns."""
        waits: Numbers = self.turn[(self.own[self.turn] == NEW) & (self.bucket[self.turn] < 0)]
        return waits

    def _settle(self, bucket: Bucket, place: int) -> None:
        """Put those who own a signature into its bucket, and new ones where they do not suffice."""
        number = self.number[bucket.signature]
        members = self.turn[self.own[self.turn] == place]
        waiting = self._nearest(members, self._waiting())
        for each in bucket.signature:
            self.bucket[members[self.value[members] == each][: bucket.layers]] = number
            taken = bucket.taken.get(each, 0)
            self.bucket[waiting[self.value[waiting] == each][:taken]] = number

    def _nearest(self, members: Numbers, waiting: Numbers) -> Numbers:
        """Return those who wait, those first in whose region most members of a bucket are."""
        if self.region is None:
            return waiting
        sizes = np.bincount(self.region[members], minlength=int(self.region.max(initial=0)) + 1)
        nearest: Numbers = waiting[np.argsort(-sizes[self.region[waiting]], kind="stable")]
        return nearest

    def _assign_regions(self, asked: Asked) -> None:
        """Assign new records to buckets of those who lie in the same region."""
        assert self.region is not None
        weak = [each for each in self.buckets if each.strength < asked.k]
        self._join(self._waiting(), weak, asked)
        waiting = self._waiting()
        for region in np.unique(self.region[waiting]).tolist():
            inside = self.bucket[(self.region == region) & (self.bucket >= 0)]
            numbers, sizes = np.unique(inside, return_counts=True)
            near = [self.buckets[each] for each in numbers[np.argsort(-sizes, kind="stable")]]
            members = waiting[self.region[waiting] == region]
            # Few people with a signature of their own would soon be too few.
            self._assign(members, near, asked, least=asked.k * ROBUST)

    def _assign(
        self, members: Numbers, buckets: Sequence[Bucket], asked: Asked, *, least: int
    ) -> None:
        """Assign records to buckets in whole layers, then to new ones of at least so many."""
        rest = self._join(members, sorted(buckets, key=lambda b: b.strength >= asked.k), asked)
        pool = eligible(self._counts(rest), asked.m)
        while (found := _next_layers(pool, m=asked.m, k=least)) is not None:
            signature, layers = found
            number = self.number.get(signature)
            if number is None:
                number = self._open(Bucket(signature, {}))
            self._take(rest, self.buckets[number], pool, layers)

    def _join(self, members: Numbers, buckets: Sequence[Bucket], asked: Asked) -> Numbers:
        """Let records join buckets in whole layers; return those who are left."""
        pool = eligible(self._counts(members), asked.m)
        for bucket in buckets:
            self._take(members, bucket, pool, _most_layers(pool, bucket.signature, asked.m))
        left: Numbers = members[self.bucket[members] < 0]
        return left

    def _take(self, members: Numbers, bucket: Bucket, pool: Numbers, layers: int) -> None:
        """Add layers to a bucket: a record of each value."""
        if not layers:
            return
        waiting = members[self.bucket[members] < 0]
        for each in bucket.signature:
            mine = waiting[self.value[waiting] == each][:layers]
            self.bucket[mine] = self.number[bucket.signature]
            bucket.take(pool, each, layers)
        bucket.layers += layers
