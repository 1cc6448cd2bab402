"""Drift: does a model still fit the records that arrive now, or should it be learned again?

New records are compared with what the model says of its training records: how many no
class covers, how many encode-safe would suppress, and how far apart the released cells
are distributed. Distances are judged above chance: two samples of the same people differ.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.core.errors import InputError
from shoal.core.model import RecodingModel
from shoal.core.model_judge import Judge
from shoal.engines.local.encode import EncodeJob
from shoal.engines.local.encode_settle import settle_tuples

FEWEST = 30  # records below which nothing is concluded


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is still taken for the same data.

    Attributes:
        unseen: share of records that no class covers, beyond that of the training data.
        suppressed: share that encode-safe would suppress, beyond that of the training data.
        distance: total variation between released cells, beyond what chance explains.
    """

    unseen: float = 0.05
    suppressed: float = 0.05
    distance: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDrift:
    """How one column moved.

    Attributes:
        unseen: records whose value no cell of the column covers.
        distance: total variation between training and new records over the released
            cells (0: the same, 1: nothing in common); None where the model has no counts.
        chance: the distance to be expected if nothing had changed.
    """

    unseen: int
    distance: float | None
    chance: float | None

    def to_document(self) -> dict[str, Any]:
        """Return the column as plain data."""
        return {"unseen": self.unseen, "distance": self.distance, "chance": self.chance}


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftReport:
    """The answer: learn again, yes or no, and why."""

    records: int
    unseen: int
    suppressed: int
    expected: float
    columns: Mapping[str, ColumnDrift]
    distance: float | None
    chance: float | None
    learn_again: bool
    why: tuple[str, ...]

    def to_document(self) -> dict[str, Any]:
        """Return the report as one JSON document."""
        records = max(self.records, 1)
        return {
            "learn_again": self.learn_again,
            "why": list(self.why),
            "records": self.records,
            "unseen": self.unseen,
            "unseen_share": self.unseen / records,
            "suppressed": self.suppressed,
            "suppressed_share": self.suppressed / records,
            "suppressed_share_at_learning": self.expected,
            "distance": self.distance,
            "chance": self.chance,
            "columns": {name: column.to_document() for name, column in self.columns.items()},
        }


def drift(
    table: Any,
    model: RecodingModel,
    *,
    limits: Limits | None = None,
    separator: str | None = None,
) -> DriftReport:
    """Compare new original records with what a model was learned from.

    Args:
        table: a path, or a Polars, pandas or Arrow table, not yet encoded.
        model: the learned recoding.
        limits: what is still taken for the same data.
        separator: of a CSV file; found out if None.

    Raises:
        InputError: a column is missing or has no role, or there is no record.
    """
    job = EncodeJob.open(table, model, "suppress", "remove", separator)
    judge = _judge(job, model)
    tuples = job.count(judge)
    codes, _, records = tuples.arrays()
    if not len(codes):
        raise InputError(where=job.source.where, problem="the table has a header but no record")
    found_in = job.cover.regions(codes)
    lost = settle_tuples(tuples, job.cover, judge).suppressed
    sums = np.bincount(found_in + 1, weights=records, minlength=len(model.regions) + 1)
    regions = Counter({place - 1: int(size) for place, size in enumerate(sums) if size})
    columns = _columns(job, model, codes, records, regions)
    before = None if model.counts is None else dict(enumerate(model.counts))
    if before is not None:
        before[-1] = model.suppressed
    distance, chance = _apart(before, regions)
    expected = model.suppressed / max(model.records, 1)
    found = DriftReport(
        records=int(records.sum()),
        unseen=regions[-1],
        suppressed=lost,
        expected=expected,
        columns=columns,
        distance=distance,
        chance=chance,
        learn_again=False,
        why=(),
    )
    return _concluded(found, limits or Limits())


def _judge(job: EncodeJob, model: RecodingModel) -> Judge:
    """Return the promise, without models whose sensitive column the new records lack."""
    asked = Judge.of(model.schema, model.privacy).models
    return Judge.of(model.schema, [m for m in asked if m.column in (None, *job.columns)])


def _columns(
    job: EncodeJob,
    model: RecodingModel,
    codes: NDArray[np.int32],
    records: NDArray[np.int64],
    regions: Mapping[int, int],
) -> dict[str, ColumnDrift]:
    found = {}
    for j, column in enumerate(model.columns):
        blocks = len(job.encoder.blocks)
        covered = np.array([any(covers[:blocks]) for covers in job.cover.coded[j].sets])
        unseen = int(records[~covered[codes[:, j]]].sum())
        before: Counter[int] = Counter({-1: model.suppressed})
        after: Counter[int] = Counter()
        for number, region in enumerate(model.regions):
            before[region[j]] += 0 if model.counts is None else model.counts[number]
            after[region[j]] += regions.get(number, 0)
        after[-1] = regions.get(-1, 0)
        distance, chance = _apart(None if model.counts is None else before, after)
        found[column.name] = ColumnDrift(unseen=unseen, distance=distance, chance=chance)
    return found


def _apart(
    before: Mapping[int, int] | None, after: Mapping[int, int]
) -> tuple[float | None, float | None]:
    """Return the total variation between two counts, and what chance would make of it.

    The mean distance between two samples of one distribution: each share differs by a
    normal error of variance p (1 - p) (1/n + 1/m), whose mean size is √(2/π) of its spread.
    """
    if before is None:
        return None, None
    n, m = sum(before.values()), sum(after.values())
    if not n or not m:
        return None, None
    apart = chance = 0.0
    for key in before.keys() | after.keys():
        old, new = before.get(key, 0), after.get(key, 0)
        apart += abs(old / n - new / m)
        pooled = (old + new) / (n + m)
        chance += math.sqrt(2 / math.pi * pooled * (1 - pooled) * (1 / n + 1 / m))
    return apart / 2, chance / 2


def _concluded(found: DriftReport, limits: Limits) -> DriftReport:
    if found.records < FEWEST:
        few = f"{found.records} records are too few to tell; bring at least {FEWEST}"
        return replace(found, why=(few,))
    why = []
    unseen, lost = found.unseen / found.records, found.suppressed / found.records
    if unseen > found.expected + limits.unseen:
        why.append(
            f"{unseen:.1%} of the records are covered by no class "
            f"({found.expected:.1%} at learning)"
        )
    if lost > found.expected + limits.suppressed:
        why.append(
            f"encode-safe would suppress {lost:.1%} of the records "
            f"({found.expected:.1%} at learning)"
        )
    for name, column in found.columns.items():
        if column.distance is not None and column.distance > (column.chance or 0) + limits.distance:
            why.append(
                f"column {name!r} is distributed differently (distance {column.distance:.2f}, "
                f"{column.chance:.2f} by chance)"
            )
    if not why:
        calm = (
            f"{unseen:.1%} of the records are covered by no class, encode-safe would suppress "
            f"{lost:.1%}, and no column moved by more than {limits.distance:g} beyond chance"
        )
        return replace(found, why=(calm,))
    return replace(found, learn_again=True, why=tuple(why))
