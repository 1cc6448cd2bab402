"""Drift: does a model still fit the records that arrive now, or should it be learned again?

New records are compared with what the model says of its training records: how many no
class covers, how many are in classes too small for the promise, and how far apart the
released cells are distributed. A finding counts when it is large enough to matter and when
samples of the training records hardly ever show the like: the test has a stated rate of
false alarms over all its findings together (docs/guides/model.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shoal.core.documents import Document
from shoal.core.errors import InputError, MethodError
from shoal.engines.encoding.tuples import CodedAssignment, TupleCounts, assign_tuples
from shoal.engines.local.encode import LocalEncoding
from shoal.engines.local.source import Source
from shoal.model.batch import Judge
from shoal.model.joining import extents_of, join_failing, order_of
from shoal.model.model import RecodingModel

FEWEST = 30  # records below which nothing is concluded
TRIALS = 999  # samples that are drawn to learn what chance does; more for many columns
Shares = NDArray[np.float64]
Counts = NDArray[np.int64]
_AT_ONCE = 100  # samples, and no more numbers than
_CELLS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is still taken for the same data.

    Attributes:
        unseen: share of records that no class covers, beyond that of the training data.
        suppressed: share in classes of fewer than k records or in none, beyond what is to be
            expected in as many records of the training data.
        distance: total variation between released cells, beyond what chance explains.
        false_alarm: how often samples of the training data may be taken for other data.
    """

    unseen: float = 0.05
    suppressed: float = 0.05
    distance: float = 0.1
    false_alarm: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.false_alarm < 1:
            raise MethodError(problem="--false-alarm must lie between 0 and 1, such as 0.05")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDrift:
    """How one column moved.

    Attributes:
        unseen: records whose value no cell of the column covers.
        distance: total variation between training and new records over the released
            cells (0: the same, 1: nothing in common); None where the model has no counts.
        chance: the distance to be expected if nothing had changed.
        p_value: how often a sample of the same people is as far away or further, for this
            column by itself.
    """

    unseen: int
    distance: float | None
    chance: float | None
    p_value: float | None

    def to_document(self) -> Document:
        """Return the column as plain data."""
        return {
            "unseen": self.unseen,
            "distance": self.distance,
            "chance": self.chance,
            "p_value": self.p_value,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of the records, what chance makes of it, and how often it is as large."""

    found: float
    expected: float
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftReport:
    """The answer: learn again, yes or no, and why.

    Attributes:
        suppressed: records that encode-safe would suppress.
        expected: the share that was suppressed at learning.
        covered_by_none: the share that no class covers, tested.
        in_small_classes: the share in classes of fewer than k records or in none, tested;
            None where the model has no counts, or its promise no k.
    """

    records: int
    unseen: int
    suppressed: int
    expected: float
    covered_by_none: Share
    in_small_classes: Share | None
    columns: Mapping[str, ColumnDrift]
    distance: float | None
    chance: float | None
    false_alarm: float
    learn_again: bool
    why: tuple[str, ...]

    def to_document(self) -> Document:
        """Return the report as one JSON document."""
        records = max(self.records, 1)
        small = self.in_small_classes
        return {
            "learn_again": self.learn_again,
            "why": list(self.why),
            "records": self.records,
            "unseen": self.unseen,
            "unseen_share": self.unseen / records,
            "suppressed": self.suppressed,
            "suppressed_share": self.suppressed / records,
            "suppressed_share_at_learning": self.expected,
            "small_class_share": None if small is None else small.found,
            "small_class_share_expected": None if small is None else small.expected,
            "false_alarm": self.false_alarm,
            "distance": self.distance,
            "chance": self.chance,
            "columns": {name: column.to_document() for name, column in self.columns.items()},
        }


def drift(source: Source, model: RecodingModel, *, limits: Limits | None = None) -> DriftReport:
    """Compare new original records with what a model was learned from.

    Args:
        source: the table, not yet encoded.
        model: the learned recoding.
        limits: what is still taken for the same data.

    Raises:
        InputError: a column is missing or has no role, or there is no record.
    """
    bounds = limits or Limits()
    if not set(model.schema.person) <= set(source.columns):  # records that do not say who
        model = replace(model, schema=model.schema.without_person())
    job = LocalEncoding.open(source, model, on_unseen="suppress", star=False)
    judge = _judge(job, model)
    tuples = job.count(judge)
    codes, _, records = tuples.arrays()
    if not len(codes):
        raise InputError(where=source.where, problem="the table has a header but no record")
    found_in = job.batch.cover.regions(codes)
    lost = _suppressed(job, tuples, judge)
    size = int(records.sum())
    regions = np.bincount(found_in + 1, weights=records, minlength=len(model.regions) + 1)
    after = np.roll(regions.astype(np.int64), -1)  # the last place: no class
    trials = Trials.of(model, size, bounds.false_alarm)
    distance, chance, small = _classes(model, trials, after)
    found = DriftReport(
        records=size,
        unseen=int(after[-1]),
        suppressed=lost,
        expected=model.suppressed / max(model.records, 1),
        covered_by_none=_unseen(model, trials, int(after[-1])),
        in_small_classes=small,
        columns=_columns(job, model, codes, records, after, trials),
        distance=distance,
        chance=chance,
        false_alarm=bounds.false_alarm,
        learn_again=False,
        why=(),
    )
    return _concluded(found, bounds)


@dataclass(frozen=True, slots=True)
class Trials:
    """What chance does: as many records, drawn again and again where nothing has changed.

    They may be a sample of the training records, drawn with or without putting back, or of
    the same people as these. In the last case the training records are a sample themselves
    and are drawn anew, too: distances are then the largest, so that it stands for all three.
    """

    learned: int  # training records
    size: int  # new records
    count: int
    rate: float  # of false alarms

    @classmethod
    def of(cls, model: RecodingModel, size: int, rate: float) -> Trials:
        """Return enough trials to see a finding among all that are tested."""
        looked_at = len(model.columns) + 2
        return cls(max(model.records, 1), size, max(TRIALS, int(2 * looked_at / rate)), rate)

    def draw(
        self, before: NDArray[np.int64], way: str = "people"
    ) -> Iterator[tuple[Shares, Counts]]:
        """Yield shares at learning and counts now, drawn from the training records' counts."""
        chance = np.random.default_rng(0)  # the same answer for the same records
        shares = before / before.sum()
        step = min(max(_CELLS // len(before), 1), _AT_ONCE)
        for start in range(0, self.count, step):
            many = min(step, self.count - start)
            if way == "people":
                learned = chance.multinomial(self.learned, shares, size=many) / self.learned
                yield learned, chance.multinomial(self.size, learned)
            elif way == "with":
                yield shares, chance.multinomial(self.size, shares, size=many)
            else:
                yield shares, chance.multivariate_hypergeometric(before, self.size, size=many)

    def ways(self) -> tuple[str, ...]:
        """Return in which ways the records may have been drawn."""
        return ("people", "with", "without")[: 3 if self.size <= self.learned else 2]

    def test(
        self,
        before: NDArray[np.int64],
        found: float,
        measure: Callable[[Shares, Counts], Shares],
        way: str = "people",
    ) -> tuple[float, float]:
        """Return how often what is drawn is as large as what was found, and its mean.

        measure: of shares at learning and of counts now. It ends as soon as there are too many
        such samples for an alarm: then the first number is not exact, but above the rate.
        """
        drawn: list[Shares] = []
        as_large = trials = 0
        for learned, now in self.draw(before, way):
            values = measure(learned, now)
            drawn.append(values)
            as_large += int(np.count_nonzero(values >= found - 1e-12))
            trials += len(values)
            if as_large > self.rate * self.count + 1:
                break
        return (1 + as_large) / (trials + 1), float(np.concatenate(drawn).mean())


def _judge(job: LocalEncoding, model: RecodingModel) -> Judge:
    """Return the promise, without models whose sensitive column the new records lack."""
    asked = Judge.of(model.schema, model.privacy).models
    return Judge.of(model.schema, [m for m in asked if m.column in (None, *job.batch.columns)])


def _suppressed(job: LocalEncoding, tuples: TupleCounts, judge: Judge) -> int:
    """Return how many records encode-safe would suppress: where classes can be joined, it does."""
    batch = job.batch
    if batch.model.tree is None:
        return assign_tuples(tuples, batch.cover, judge).lost.total()
    found = CodedAssignment(tuples, batch.cover)
    columns = extents_of(batch.model, batch.encoder)
    answer = join_failing(found.classes, columns, order_of(batch.model), judge)
    gone = [found.classes[key] for key, label in answer.items() if label is None]
    return found.lost.total() + sum(sum(each.values()) for each in gone)


def _unseen(model: RecodingModel, trials: Trials, unseen: int) -> Share:
    """Compare the share that no class covers with that of the training records."""
    before = np.array([max(model.records - model.suppressed, 0), model.suppressed])
    if not before.sum():
        before[0] = 1
    share = unseen / trials.size
    rarity, _ = trials.test(before, share, lambda _, now: now[:, 1] / trials.size)
    return Share(found=share, expected=float(before[1] / before.sum()), p_value=rarity)


def _classes(
    model: RecodingModel, trials: Trials, after: NDArray[np.int64]
) -> tuple[float | None, float | None, Share | None]:
    """Compare the classes: how far apart, how far by chance, and the share in small ones."""
    if model.counts is None or not model.records:
        return None, None, None
    before = np.array([*model.counts, model.suppressed], dtype=np.int64)
    least = max((getattr(m, "k", None) or 0 for m in model.privacy), default=0)
    distance = float(_apart(before / before.sum(), after / trials.size))
    learned, now = next(trials.draw(before))
    chance = float(_apart(learned, now / trials.size).mean())
    if least < 2:
        return distance, chance, None
    share = float(_small(after, least)) / trials.size
    # No way of drawing has the largest shares everywhere: the one that fits best counts.
    rarity = mean = 0.0
    for way in trials.ways():
        if rarity <= trials.rate:
            found = trials.test(before, share, lambda _, now: _small(now, least) / trials.size, way)
            rarity, mean = max((rarity, mean), found)
    return distance, chance, Share(found=share, expected=mean, p_value=rarity)


def _small(counts: Counts, least: int) -> Counts:
    """Return the records in classes of fewer than `least`; the last place is no class at all."""
    inside = counts[..., :-1]
    records: Counts = (inside * (inside < least)).sum(axis=-1) + counts[..., -1]
    return records


def _apart(one: Shares, other: Shares) -> Shares:
    """Return the total variation between shares."""
    distance: Shares = np.abs(one - other).sum(axis=-1) / 2
    return distance


def _columns(
    job: LocalEncoding,
    model: RecodingModel,
    codes: NDArray[np.int32],
    records: NDArray[np.int64],
    after: NDArray[np.int64],
    trials: Trials,
) -> dict[str, ColumnDrift]:
    found = {}
    blocks = len(job.batch.encoder.blocks)
    for j, column in enumerate(model.columns):
        covered = np.array([any(covers[:blocks]) for covers in job.batch.cover.coded[j].sets])
        unseen = int(records[~covered[codes[:, j]]].sum())
        if model.counts is None or not model.records:
            found[column.name] = ColumnDrift(
                unseen=unseen, distance=None, chance=None, p_value=None
            )
            continue
        cell = np.array([*(region[j] for region in model.regions), len(column.cells)])
        old = np.bincount(cell, weights=[*model.counts, model.suppressed]).astype(np.int64)
        new = np.bincount(cell, weights=after)
        distance = float(_apart(old / old.sum(), new / trials.size))
        rarity, chance = trials.test(old, distance, lambda was, now: _apart(was, now / trials.size))
        found[column.name] = ColumnDrift(
            unseen=unseen, distance=distance, chance=chance, p_value=rarity
        )
    return found


def _concluded(found: DriftReport, limits: Limits) -> DriftReport:
    if found.records < FEWEST:
        few = f"{found.records} records are too few to tell; bring at least {FEWEST}"
        return replace(found, why=(few,))
    unseen, small = found.covered_by_none, found.in_small_classes
    reasons: list[tuple[float, float, str]] = []  # p-value, what it exceeds its limit by, words
    reasons.append(
        (
            unseen.p_value,
            unseen.found - unseen.expected - limits.unseen,
            f"{unseen.found:.1%} of the records are covered by no class "
            f"({unseen.expected:.1%} at learning)",
        )
    )
    if small is not None:
        words = (
            f"{small.found:.1%} of the records are in classes too small for the promise "
            f"({small.expected:.1%} is to be expected of so many)"
        )
        reasons.append((small.p_value, small.found - small.expected - limits.suppressed, words))
    for name, column in found.columns.items():
        if column.distance is not None and column.p_value is not None:
            words = (
                f"column {name!r} is distributed differently (distance {column.distance:.2f}, "
                f"{column.chance:.2f} by chance)"
            )
            beyond = column.distance - (column.chance or 0) - limits.distance
            reasons.append((column.p_value, beyond, words))
    why = _rare(reasons, limits.false_alarm)
    if not why:
        return replace(found, why=_calm(found, limits))
    return replace(found, learn_again=True, why=tuple(why))


def _rare(reasons: list[tuple[float, float, str]], rate: float) -> list[str]:
    """Return what is beyond its limit and beyond chance, by Holm's rule for several tests.

    Guarantee:
        Where nothing has changed, anything is returned at most in this share of cases.
    """
    kept: list[str] = []
    ordered = sorted(range(len(reasons)), key=lambda i: reasons[i][0])
    for rank, i in enumerate(ordered):
        if reasons[i][0] * (len(reasons) - rank) > rate:
            break
        kept += [reasons[i][2]] if reasons[i][1] > 0 else []
    return [words for _, _, words in reasons if words in kept]


def holm(p_values: Mapping[str, float], rate: float) -> list[str]:
    """Return the names whose p-values are too small for chance, by Holm's rule."""
    ordered = sorted(p_values, key=lambda name: p_values[name])
    kept = []
    for rank, name in enumerate(ordered):
        if p_values[name] * (len(ordered) - rank) > rate:
            break
        kept.append(name)
    return [name for name in p_values if name in kept]


def _calm(found: DriftReport, limits: Limits) -> tuple[str, ...]:
    lost = found.suppressed / found.records
    lines = [
        f"{found.covered_by_none.found:.1%} of the records are covered by no class, and no column "
        f"moved by more than {limits.distance:g} beyond chance (false alarms: "
        f"{limits.false_alarm:.0%} of samples of the training data)"
    ]
    small = found.in_small_classes
    expected = found.expected if small is None else small.expected
    if lost > found.expected + limits.suppressed:
        line = f"encode-safe would suppress {lost:.1%} of the records"
        if lost <= expected + limits.suppressed:
            line += f"; {expected:.1%} is to be expected of so many: larger batches lose less"
        else:
            line += (
                ", most of them for the spread of their sensitive values, of which a model holds "
                "nothing to compare with"
            )
        lines.append(line)
    return tuple(lines)
