"""Classes that say something about a target, and as little as they must lose (`--for`).

Categories stand in the order of what they say of the target (see `table.target_order`), so that
any set of neighbours in it may be a label; cuts weigh information beside the loss. How much the
loss weighs is chosen on records that were held out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Json
from shoal.core.errors import MethodError
from shoal.kernels.mondrian.informed import cut_by_information
from shoal.methods.clustering.clusters import boxes_of, least_records
from shoal.methods.method import Method, Setting
from shoal.methods.persons import hold_persons
from shoal.privacy import Promise
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding, recoding_of
from shoal.table.target_order import groups_of, rates_of

WEIGHTS = (0.01, 0.03, 0.1, 0.3)
"""Bits that a whole column of a record is worth: what is tried."""
LEARNED, HELD_OUT, TRIALS = 20_000, 4_000, 5
"""Rows that a weight is tried on, at most, and how often that is done."""

Ints = NDArray[np.int64]


def search_informed(
    method: Method, table: FrequencyTable, promise: Sequence[Promise], setting: Setting
) -> Recoding:
    """Cut where that says most of the target for what is lost.

    Guarantee:
        Every class keeps the promise, which may be about the target, too.

    Raises:
        MethodError: there is no such target, or it has too many values.
    """
    names = [domain.name for domain in table.sensitive_domains]
    if setting.target is None or setting.target not in names:
        raise MethodError(
            problem="--for needs a column that is released as it is (--sensitive or --neutral)"
        )
    at = names.index(setting.target)
    groups = groups_of(table, at)
    cuts = Cuts(table, groups, least_records(promise))
    weight = cuts.best_weight(seed=setting.seed)
    label = cuts.labels(np.arange(table.rows), weight, cuts.k)
    low, high = boxes_of(table.codes, label)
    members = (np.arange(table.rows), label, table.counts)
    found = recoding_of(table, low, high, members)
    # What a sensitive column is promised, and persons, no cut was asked for.
    held = hold_persons(found, promise, borrow=False)
    told: dict[str, Json] = {
        "target": setting.target, "weight": weight, "one_value": _pure(held, groups),
    }  # fmt: skip
    return replace(held, facts={**held.facts, "for": told})


def _pure(recoding: Recoding, groups: Ints) -> float:
    """Return the share of released records whose class has one value of the target."""
    kept = recoding.label >= 0
    label, group, count = recoding.label[kept], groups[recoding.row[kept]], recoding.count[kept]
    held = np.zeros((recoding.classes, int(groups.max(initial=0)) + 1))
    np.add.at(held, (label, group), count)
    sizes = held.sum(axis=1)
    return float(np.round(sizes[held.max(axis=1) == sizes].sum() / max(sizes.sum(), 1), 6))


class Cuts:
    """A table, ready to be cut with any weight."""

    def __init__(self, table: FrequencyTable, groups: Ints, k: int) -> None:
        self.table, self.groups, self.k = table, groups, k
        widest = max((len(domain) for domain in table.domains), default=1)
        self.place = np.zeros((len(table.domains), max(widest, 1)))
        for j, domain in enumerate(table.domains):
            self.place[j, : len(domain)] = rates_of(table, j, groups)
        self.missing = np.array([domain.has_missing for domain in table.domains], dtype=np.bool_)

    def labels(self, rows: Ints, weight: float, k: int) -> Ints:
        """Return the class of each of some rows."""
        return cut_by_information(
            np.ascontiguousarray(self.table.codes[rows]), self.table.counts[rows],
            self.groups[rows], self.place, missing=self.missing, k=k, weight=weight,
        )  # fmt: skip

    def best_weight(self, *, seed: int) -> float:
        """Return the weight whose classes say most of the target of rows that they have not seen.

        Of equal ones the largest, which loses least.
        """
        random = np.random.default_rng(seed)
        surprise = dict.fromkeys(WEIGHTS, 0.0)
        for _ in range(TRIALS if self.table.rows > 1 else 0):
            order = random.permutation(self.table.rows)
            held = min(len(order) // 4 or 1, HELD_OUT)
            one, other = order[held:][:LEARNED], order[:held]
            # Of fewer records, classes as much smaller are the ones that there will be.
            k = max(self.k * len(one) // len(order), 1)
            for weight in WEIGHTS:
                surprise[weight] += self._surprise(one, other, self.labels(one, weight, k))
        return min(WEIGHTS, key=lambda weight: (round(surprise[weight], 6), -weight))

    def _surprise(self, rows: Ints, held_out: Ints, label: Ints) -> float:
        """Return the bits that are missing of each held-out target, by the nearest class."""
        low, high = boxes_of(self.table.codes[rows], label)
        held = np.zeros((len(low), int(self.groups.max()) + 1))
        np.add.at(held, (label, self.groups[rows]), self.table.counts[rows])
        share = held.sum(axis=0) / held.sum()
        likely = (held + 2 * share) / (held.sum(axis=1, keepdims=True) + 2)
        far = np.zeros((len(held_out), len(low)))
        for j, place in enumerate(self.place):
            at = place[self.table.codes[held_out, j]][:, None]
            begin, end = place[low[:, j]][None, :], place[high[:, j]][None, :]
            far += np.maximum(begin - at, 0) + np.maximum(at - end, 0)
        nearest = far.argmin(axis=1)
        bits = -np.log2(likely[nearest, self.groups[held_out]])
        return float(np.average(bits, weights=self.table.counts[held_out]))
