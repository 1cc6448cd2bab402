"""From a question to an answer: price it, charge it, add up, add noise, say how good it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import polars as pl

from shoal.core.errors import MethodError
from shoal.dp.accounting import Account, Accounting, Loss, epsilon_of, rho_of
from shoal.dp.answer import Answer, NoisyNumber, Number, Result
from shoal.dp.columns import Columns, Totals
from shoal.dp.estimate import Spreads, extreme_scores, rank_scores
from shoal.dp.mechanisms import Additive, Kind, Noise, additive, selection
from shoal.dp.question import RANKED, Question, Statistic
from shoal.dp.records import FINEST, Bins, Ladder, Spread, Tally, Total, named_cell

# A quantile of nothing would be a random number between the bounds. A tenth of
# its budget counts the records, so that such an answer can be withheld.
COUNT_SHARE = 0.1

OTHERS = "(others)"  # the cell of everything that was not named

Charge = Callable[[Loss, dict[str, object]], Account]


@dataclass(frozen=True, slots=True)
class Price:
    """What a question costs under an accounting, and the noise that buys."""

    noise: Noise
    cost: Loss
    epsilon: float
    delta: float
    rho: float | None


def price(question: Question, account: Account) -> Price:
    """Return the price of a question in the currency of an account.

    Raises:
        MethodError: the amounts do not fit the accounting.
    """
    epsilon, delta = question.epsilon, question.delta or 0.0
    if account.accounting is Accounting.ZCDP:
        at = delta or account.delta
        rho = question.rho if question.rho is not None else rho_of(float(epsilon or 0), at)
        noise = Noise(Kind.GAUSSIAN, rho)
        return Price(noise, Loss.of(rho=rho), epsilon or epsilon_of(rho, at), at, rho)
    if epsilon is None:
        raise MethodError(problem=f"a rho belongs to zcdp accounting, not to {account.accounting}")
    if not delta or question.statistic in RANKED:
        # Choosing a rung is pure in any case: its delta is not spent, and not charged.
        return Price(Noise(Kind.LAPLACE, epsilon), Loss.of(epsilon=epsilon), epsilon, 0.0, None)
    if account.accounting is Accounting.PURE:
        raise MethodError(
            problem="this budget counts pure epsilon; leave delta out, "
            "or open the budget with approximate or zcdp accounting"
        )
    noise = Noise(Kind.GAUSSIAN, rho_of(epsilon, delta))
    return Price(noise, Loss.of(epsilon=epsilon, delta=delta), epsilon, delta, None)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Results of every group (the others last, if groups were named) and how they were made."""

    results: list[Result]
    mechanism: str
    scale: float
    scale_unit: str
    unit: str
    cells: tuple[str, ...] = ()


def answer_question(
    table: pl.LazyFrame, question: Question, *, account: Account, charge: Charge
) -> Answer:
    """Answer a question, charging it first.

    Guarantee:
        `charge` has returned before any data is added up; if it raises, no
        answer exists. A failure after it costs budget, never privacy.
    """
    columns = Columns(table, question)
    paid = price(question, account)
    work = _WORK[question.statistic]
    compute = work(columns, paid.noise)  # builds the mechanisms, so their faults come first
    account = charge(paid.cost, question.describe())
    outcome = compute()
    named, others = outcome.results, None
    if question.by and not outcome.cells:
        named, others = named[:-1], named[-1]
    return Answer(
        statistic=str(question.statistic),
        column=question.column,
        results=tuple(named),
        others=others,
        cells=outcome.cells,
        epsilon=paid.epsilon,
        delta=paid.delta,
        rho=paid.rho,
        accounting=str(account.accounting),
        mechanism=outcome.mechanism,
        scale=outcome.scale,
        scale_unit=outcome.scale_unit,
        unit=outcome.unit,
        confidence=question.confidence,
        remaining=account.remaining,
        privacy_unit=_privacy_unit(question),
        dataset=account.dataset,
        bounds=(question.lower, question.upper)
        if question.lower is not None and question.upper is not None
        else None,
        notes=tuple(_notes(question)),
    )


def _labels(columns: Columns) -> list[tuple[str, ...]]:
    named = columns.question.labels
    return [*named, ()] if columns.question.by else [()]


class _Gone(NamedTuple):
    """The noisy number of records without a value, and its error bar; None: not counted."""

    records: int | None = None
    within: int | None = None


class _Missing:
    """Counting the records without a value, free of charge.

    A record either has a value or has none, so it moves the totals or this
    count, never both: the two are disjoint, like groups, and cost what one costs.
    """

    def __init__(self, question: Question, noise: Noise) -> None:
        is_counted = question.missing == "count" and question.column is not None
        self.noise = additive(noise, question.rows) if is_counted else None
        self.tail = question.tail

    def release(self, totals: Totals) -> list[_Gone]:
        if self.noise is None:
            return [_Gone() for _ in totals.missing]
        within = self.noise.within(self.tail)
        noisy = self.noise.release([int(m) for m in totals.missing])
        return [_Gone(count, within) for count in noisy]


def _count(columns: Columns, noise: Noise) -> Callable[[], Outcome]:
    question = columns.question
    mechanism, missing = additive(noise, question.rows), _Missing(question, noise)

    def compute() -> Outcome:
        totals = columns.totals(Tally())
        noisy = mechanism.release([int(v) for v in totals.values[:, 0]])
        within = mechanism.within(question.tail)
        gone = missing.release(totals)
        results = [
            Result(
                value=v,
                within=within,
                label=label,
                parts=(_noisy("count", v, mechanism),),
                missing=g.records,
                missing_within=g.within,
            )
            for v, label, g in zip(noisy, _labels(columns), gone, strict=True)
        ]
        return Outcome(results, mechanism.name, mechanism.scale, "records", "records")

    return compute


def _noisy(of: str, value: Number, mechanism: Additive, *, step: Number = 1) -> NoisyNumber:
    return NoisyNumber(of=of, value=value, scale=mechanism.scale * step, mechanism=mechanism.name)


def _sum(columns: Columns, noise: Noise) -> Callable[[], Outcome]:
    question = columns.question
    recipe = Total.over(question.bounds, whole=columns.whole)
    mechanism = additive(noise, recipe.reach * question.rows)
    missing, step = _Missing(question, noise), recipe.step

    def number(steps: int) -> Number:
        exact = steps * step  # whole steps of 1 or more stay whole numbers of any size
        return int(exact) if recipe.whole else float(exact)

    def compute() -> Outcome:
        totals = columns.totals(recipe)
        noisy = mechanism.release([int(v) for v in totals.values[:, 0]])
        within = number(mechanism.within(question.tail))
        gone = missing.release(totals)
        results = [
            Result(value=number(v), within=within, label=label,
                   parts=(_noisy("sum", number(v), mechanism, step=float(step)),),
                   missing=g.records, missing_within=g.within)
            for v, label, g in zip(noisy, _labels(columns), gone, strict=True)
        ]  # fmt: skip
        scale = mechanism.scale * float(step)
        return Outcome(results, mechanism.name, scale, "column", "column")

    return compute


def _spread(columns: Columns, noise: Noise) -> Callable[[], Outcome]:
    """Mean, variance and moments: all read from one vector of Bernstein totals."""
    question = columns.question
    recipe, central = _spread_recipe(question)
    mechanism = additive(noise, recipe.reach * question.rows)
    missing = _Missing(question, noise)
    width = recipe.range.width ** (recipe.order if central else 1)
    start = 0.0 if central else recipe.range.lower

    def result(noisy: list[int], label: tuple[str, ...], gone: _Gone) -> Result:
        spreads = Spreads(noisy, kind=noise.kind, scale=mechanism.scale, tail=question.tail)
        found = spreads.central() if central else spreads.mean()
        parts = tuple(
            _noisy(f"weight {i} of {recipe.order}", float(Fraction(total, FINEST)), mechanism,
                  step=1 / FINEST)
            for i, total in enumerate(noisy)
        )  # fmt: skip
        return Result(
            value=None if found.value is None else start + width * found.value,
            within=None if found.value is None else width * found.within,
            label=label, records=found.records, parts=parts,
            missing=gone.records, missing_within=gone.within,
        )  # fmt: skip

    def compute() -> Outcome:
        totals = columns.totals(recipe)
        many = recipe.order + 1
        noisy = mechanism.release([int(v) for v in totals.values.ravel()])
        rows = [noisy[i : i + many] for i in range(0, len(noisy), many)]
        results = [
            result(row, label, gone)
            for row, label, gone in zip(
                rows, _labels(columns), missing.release(totals), strict=True
            )
        ]
        return Outcome(results, mechanism.name, mechanism.scale / FINEST, "records", "column")

    return compute


def _spread_recipe(question: Question) -> tuple[Spread, bool]:
    if question.statistic is Statistic.MEAN:
        return Spread(question.bounds), False
    if question.statistic is Statistic.VARIANCE:
        return Spread(question.bounds, order=2), True
    order = question.order or 1
    if question.central and order > 1:
        return Spread(question.bounds, order=order), True
    if question.central:
        raise MethodError(problem="the first central moment is 0 by definition; ask for order 2")
    return Spread(question.bounds, power=order), False


def _rank(columns: Columns, noise: Noise) -> Callable[[], Outcome]:
    """Quantile, minimum and maximum: choose a rung of a ladder by rank."""
    question = columns.question
    ladder = Ladder.over(question.bounds, whole=columns.whole)
    counting = additive(Noise(noise.kind, COUNT_SHARE * noise.level), question.rows)
    share = question.share if question.alpha is not None else None
    unit = share.denominator if share is not None else 1
    moves = max(share.numerator, unit - share.numerator) if share is not None else 1
    choice = selection(Noise(noise.kind, (1 - COUNT_SHARE) * noise.level), moves * question.rows)
    missing, tail = _Missing(question, noise), question.tail / 2
    reach = choice.within(ladder.rungs, tail) / unit
    depth = max(1, ceil(reach))

    def choose(counts: list[int]) -> int:
        if share is not None:
            scores = rank_scores(counts, numerator=share.numerator, denominator=unit)
            return choice.choose(scores)
        if question.statistic is Statistic.MIN:
            return choice.choose(extreme_scores(counts, depth=depth))
        return ladder.rungs - 1 - choice.choose(extreme_scores(counts[::-1], depth=depth))

    def compute() -> Outcome:
        totals = columns.counts(ladder.rung(pl.col("value")), ladder.rungs)
        records = counting.release([int(v) for v in totals.values.sum(axis=1)])
        least = (reach if share is not None else 2 * depth) + counting.within(tail)
        results = []
        gone = missing.release(totals)
        for counts, n, label, g in zip(
            totals.values.tolist(), records, _labels(columns), gone, strict=True
        ):
            value = ladder.value(choose(counts))  # always drawn, so that time tells nothing
            few = n < least
            results.append(
                Result(value=None if few else value, within=None if few else reach, label=label,
                       records=float(n), parts=(_noisy("records", n, counting),),
                       missing=g.records, missing_within=g.within)
            )  # fmt: skip
        return Outcome(results, choice.name, choice.scale / unit, "records", "records in rank")

    return compute


def _histogram(columns: Columns, noise: Noise) -> Callable[[], Outcome]:
    question = columns.question
    name = str(question.column)
    value = pl.col("value")
    if question.categories:
        labels = (*question.categories, OTHERS)
        cell = named_cell(value, question.categories, kind=columns.types[name])
    else:
        bins = Bins(question.bounds, question.bins or 10)
        labels, cell = bins.labels, bins.cell(value)
    mechanism, missing = additive(noise, question.rows), _Missing(question, noise)

    def compute() -> Outcome:
        totals = columns.counts(cell, len(labels))
        noisy = mechanism.release([int(v) for v in totals.values.ravel()])
        within = mechanism.within(question.tail)
        # A group's records without a value stand with its first cell.
        gone = [
            g for each in missing.release(totals) for g in [each] + [_Gone()] * (len(labels) - 1)
        ]
        groups = _labels(columns)
        if question.by:
            groups[-1] = tuple(OTHERS for _ in question.by)
        names = [(*group, label) for group in groups for label in labels]
        results = [
            Result(value=v, within=within, label=named, parts=(_noisy("count", v, mechanism),),
                   missing=g.records, missing_within=g.within)
            for v, named, g in zip(noisy, names, gone, strict=True)
        ]  # fmt: skip
        return Outcome(results, mechanism.name, mechanism.scale, "records", "records", labels)

    return compute


_WORK: dict[Statistic, Callable[[Columns, Noise], Callable[[], Outcome]]] = {
    Statistic.COUNT: _count,
    Statistic.SUM: _sum,
    Statistic.MEAN: _spread,
    Statistic.VARIANCE: _spread,
    Statistic.MOMENT: _spread,
    Statistic.MIN: _rank,
    Statistic.MAX: _rank,
    Statistic.QUANTILE: _rank,
    Statistic.HISTOGRAM: _histogram,
}


def _privacy_unit(question: Question) -> str:
    if question.entity is None:
        return "one row"
    rows = "one row" if question.rows == 1 else f"at most {question.rows} rows, drawn at random"
    return f"all rows with one value of {question.entity!r} ({rows})"


def _notes(question: Question) -> list[str]:
    notes = []
    statistic = question.statistic
    if question.lower is not None and statistic is not Statistic.HISTOGRAM:
        notes.append("values outside the bounds were clamped to them; the answer describes those")
    if statistic in (Statistic.MIN, Statistic.MAX):
        word = "minimum" if statistic is Statistic.MIN else "maximum"
        side = "below" if statistic is Statistic.MIN else "above"
        notes.append(
            f"a near-{word}, not the {word}: a value with few records {side} it; one person's "
            "extreme value cannot be told privately"
        )
    if statistic in RANKED:
        notes.append(
            "the accuracy is in rank: how many records its place among the sorted values may be "
            "off; a tenth of the budget counted the records"
        )
        if question.delta:
            notes.append("the choice of a rung is pure: delta was not used and not charged")
    if statistic is Statistic.VARIANCE:
        notes.append("the population variance: divided by the number of records")
    if question.column is not None:
        notes.append(_missing_note(question))
    if question.by:
        notes.append("the groups are disjoint and were named in advance: charged once")
    return notes


def _missing_note(question: Question) -> str:
    if question.missing == "count":
        return "records without a value were left out; their noisy number costs nothing more"
    if question.missing == "drop":
        return "records without a value were left out"
    return f"missing cells were filled by the declared rule ({question.missing})"
