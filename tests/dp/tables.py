"""Small tables and exact laws that the tests of this room share."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import permutations
from math import erf, exp, log, sqrt
from typing import Any

import polars as pl

from shoal.dp.accounting import Accounting, Loss, open_account
from shoal.dp.answer import Answer
from shoal.dp.question import question_from
from shoal.dp.statistics import answer_question


def ask(
    table: pl.DataFrame,
    statistic: str,
    column: str | None = None,
    *,
    accounting: str = "pure",
    **options: Any,
) -> Answer:
    """Ask without a ledger: the account is large and forgets."""
    kind = Accounting(accounting)
    delta = None if kind is Accounting.PURE else 1e-3
    account = open_account("table", kind, epsilon=1000.0, delta=delta)

    def charge(cost: Loss, told: dict[str, Any]):
        return account.charged(cost)

    question = question_from(statistic, column, options)
    return answer_question(table.lazy(), question, account=account, charge=charge)


def copies(rows: Sequence[dict[str, Any]], count: int) -> pl.DataFrame:
    """Return `count` disjoint copies of a table: one question then gives `count` answers."""
    base = pl.DataFrame(list(rows)) if rows else pl.DataFrame({"x": []}, schema={"x": pl.Float64})
    many = base.join(pl.DataFrame({"copy": [str(i) for i in range(count)]}), how="cross")
    return many.with_columns(
        *([pl.col("person") + "/" + pl.col("copy")] if "person" in many.columns else [])
    )


def names(count: int) -> dict[str, Any]:
    return {"by": "copy", "groups": [str(i) for i in range(count)]}


def laplace_cdf(x: float, scale: float) -> float:
    return 1 - exp(-x / scale) / 2 if x >= 0 else exp(x / scale) / 2


def normal_cdf(x: float, scale: float) -> float:
    return (1 + erf(x / (scale * sqrt(2)))) / 2


def kolmogorov(sample: Sequence[float], cdf: Any) -> float:
    """Return the p-value of the Kolmogorov-Smirnov test."""
    ordered = sorted(sample)
    n = len(ordered)
    gap = max(max(abs((i + 1) / n - cdf(x)), abs(cdf(x) - i / n)) for i, x in enumerate(ordered))
    t = (sqrt(n) + 0.12 + 0.11 / sqrt(n)) * gap
    return min(1.0, 2 * sum((-1) ** (k - 1) * exp(-2 * k * k * t * t) for k in range(1, 101)))


def chi_square_ok(seen: Sequence[int], expected: Sequence[float]) -> bool:
    """Say whether a chi-square test passes at the level of one in ten thousand.

    The quantile is that of Wilson and Hilferty; cells under 5 are put together.
    """
    cells, rest_seen, rest_expected = [], 0.0, 0.0
    for s, e in zip(seen, expected, strict=True):
        if e >= 5:
            cells.append((float(s), e))
        else:
            rest_seen, rest_expected = rest_seen + s, rest_expected + e
    if rest_expected >= 5:
        cells.append((rest_seen, rest_expected))
    statistic = sum((s - e) ** 2 / e for s, e in cells)
    free = len(cells) - 1
    limit = free * (1 - 2 / (9 * free) + 3.719 * sqrt(2 / (9 * free))) ** 3
    return statistic <= limit


def permute_and_flip(scores: Sequence[int], scale: float) -> list[float]:
    """Return the exact chances of every candidate (the lowest score is the best one)."""
    best = min(scores)
    accept = [exp((best - s) / scale) for s in scores]
    chances = [0.0] * len(scores)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = 1 / len(orders)
        for i in order:
            chances[i] += left * accept[i]
            left *= 1 - accept[i]
    return chances


def exponential(scores: Sequence[int], scale: float) -> list[float]:
    weights = [exp(-s / scale) for s in scores]
    return [w / sum(weights) for w in weights]


def epsilon_seen(first: Sequence[float], second: Sequence[float], *, delta: float = 0.0) -> float:
    """Return a lower bound (wrong once in ten thousand) of the loss between two outputs.

    The events are half-lines; the ones that look worst on the even half of the
    samples are judged on the odd half.
    """
    cuts = _cuts(first, second)
    events = [(cut, upper) for cut in cuts for upper in (False, True)]
    worst = 0.0
    for one, two in ((first, second), (second, first)):
        seen, kept = [(sorted(one[i::2]), sorted(two[i::2])) for i in (0, 1)]
        looks = sorted(events, key=lambda event: _ratio(*seen, event, z=1.0, delta=delta))
        worst = max(worst, *(_ratio(*kept, event, z=4.0, delta=delta) for event in looks[-3:]))
    return worst


def _cuts(first: Sequence[float], second: Sequence[float]) -> list[float]:
    ordered = sorted([*first[::2], *second[::2]])
    return sorted({ordered[int(q * (len(ordered) - 1) / 24)] for q in range(25)})


def _ratio(
    one: Sequence[float],
    two: Sequence[float],
    event: tuple[float, bool],
    *,
    z: float,
    delta: float,
) -> float:
    low = _wilson(_share(one, event), len(one), -z) - delta
    high = _wilson(_share(two, event), len(two), z)
    return log(low / high) if low > 0 else 0.0


def _share(ordered: Sequence[float], event: tuple[float, bool]) -> float:
    cut, upper = event
    below = bisect_right(ordered, cut) / len(ordered)
    return 1 - below if upper else below


def _wilson(share: float, n: int, z: float) -> float:
    center = share + z * z / (2 * n)
    half = abs(z) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (center + (half if z > 0 else -half)) / (1 + z * z / n)
