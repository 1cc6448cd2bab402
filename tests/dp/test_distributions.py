"""The noise has the law that the answer states, and the error bars hold."""

from __future__ import annotations

from math import exp, sqrt

import polars as pl
import pytest

pytest.importorskip("opendp", reason="needs the extra shoal[dp]")

from tests.dp.tables import (
    ask,
    chi_square_ok,
    copies,
    exponential,
    kolmogorov,
    laplace_cdf,
    names,
    normal_cdf,
    permute_and_flip,
)

from shoal.dp.estimate import extreme_scores, rank_scores
from shoal.dp.records import FINEST

pytestmark = pytest.mark.slow

LEVEL = 1e-4  # one false alarm in ten thousand runs of one test
ROWS = [{"x": v} for v in (1.5, 2.0, 4.0, 9.5)]
KINDS = ["pure", "zcdp"]
BOUNDS = (0.0, 10.0)


def exact_weights(order: int, power: int = 1) -> list[float]:
    """Return the Bernstein totals of ROWS, the slow way."""
    low, high = BOUNDS[0] ** power, BOUNDS[1] ** power
    totals = [0.0] * (order + 1)
    for row in ROWS:
        u = (row["x"] ** power - low) / (high - low)
        binomials = {1: (1, 1), 2: (1, 2, 1), 3: (1, 3, 3, 1)}[order]
        for i, c in enumerate(binomials):
            totals[i] += c * u**i * (1 - u) ** (order - i)
    return totals


@pytest.mark.parametrize("accounting", KINDS)
@pytest.mark.parametrize("statistic", ["count", "histogram"])
def test_counts_have_discrete_noise_of_the_stated_scale(statistic: str, accounting: str):
    many = 3_000
    options = {"bounds": BOUNDS, "bins": 1} if statistic == "histogram" else {}
    column = "x" if statistic == "histogram" else None
    found = ask(copies(ROWS, many), statistic, column, accounting=accounting, epsilon=0.5,
                **names(many), **options)  # fmt: skip
    results = [r for r in found.results if statistic == "count" or r.label[-1] == "[0, 10]"]
    noises = [r.value - len(ROWS) for r in results if r.label[0] != "(others)"]
    assert len(noises) == many
    span = range(-400, 401)
    if accounting == "pure":
        assert found.scale == 2.0
        weights = [exp(-abs(x) / found.scale) for x in span]
    else:
        weights = [exp(-x * x / (2 * found.scale**2)) for x in span]
    expected = [many * w / sum(weights) for w in weights]
    assert chi_square_ok([noises.count(x) for x in span], expected)


@pytest.mark.parametrize("accounting", KINDS)
@pytest.mark.parametrize(
    ("statistic", "options", "order", "power"),
    [
        ("sum", {}, 0, 1),
        ("mean", {}, 1, 1),
        ("variance", {}, 2, 1),
        ("moment", {"order": 3}, 1, 3),
        ("moment", {"order": 3, "central": True}, 3, 1),
    ],
)
def test_sums_have_noise_of_the_stated_law(statistic, options, order, power, accounting):
    many = 800
    found = ask(copies(ROWS, many), statistic, "x", bounds=BOUNDS, accounting=accounting,
                epsilon=0.5, **names(many), **options)  # fmt: skip
    exact = [sum(r["x"] for r in ROWS)] if statistic == "sum" else exact_weights(order, power)
    law = laplace_cdf if accounting == "pure" else normal_cdf
    for i, true in enumerate(exact):
        noises = [result.parts[i].value - true for result in found.results]
        assert kolmogorov(noises, lambda x: law(x, found.scale)) > LEVEL
    if accounting == "pure":
        assert found.scale == pytest.approx((10.0 if statistic == "sum" else 1.0) / 0.5)


@pytest.mark.parametrize("accounting", KINDS)
@pytest.mark.parametrize("statistic", ["quantile", "min", "max"])
def test_a_rung_is_chosen_with_the_stated_chances(statistic: str, accounting: str):
    many, values = 3_000, [0] * 5 + [1] * 9 + [2] * 40 + [3] * 4 + [4] * 5
    table = copies([{"x": v} for v in values], many)
    options = {"alpha": 0.25} if statistic == "quantile" else {}
    epsilon = 2.0
    found = ask(table, statistic, "x", bounds=(0, 4), epsilon=epsilon, accounting=accounting,
                **names(many), **options)  # fmt: skip
    counts = [values.count(v) for v in range(5)]
    if statistic == "quantile":
        scores, unit = rank_scores(counts, numerator=1, denominator=4), 4
    else:
        counts = counts if statistic == "min" else counts[::-1]
        depth = max(1, -int(-found.within // 1))
        scores, unit = extreme_scores(counts, depth=depth), 1
        scores = scores if statistic == "min" else scores[::-1]
    law = permute_and_flip if accounting == "pure" else exponential
    chances = law(scores, found.scale * unit)
    answered = [r.value for r in found.results if r.value is not None]
    assert len(answered) > 0.9 * many  # withheld ones depend on the noisy count, not on the rung
    seen = [answered.count(v) for v in range(5)]
    assert chi_square_ok(seen, [len(answered) * c for c in chances])
    assert sum(seen) == len(answered)


def truth(statistic: str, values: list[float], options: dict) -> float:
    n = len(values)
    mean = sum(values) / n
    order = options.get("order", 2)
    return {
        "count": float(n),
        "sum": float(sum(values)),
        "mean": mean,
        "variance": sum((v - mean) ** 2 for v in values) / n,
        "moment": sum((v - (mean if options.get("central") else 0)) ** order for v in values) / n,
    }[statistic]


VALUES = [float(v % 97) / 9.7 for v in range(0, 97 * 8, 3)]  # 259 values between 0 and 10


@pytest.mark.parametrize("accounting", KINDS)
@pytest.mark.parametrize(
    ("statistic", "options"),
    [
        ("count", {}),
        ("sum", {}),
        ("mean", {}),
        ("variance", {}),
        ("moment", {"order": 2}),
        ("moment", {"order": 3, "central": True}),
    ],
)
def test_error_bars_hold_in_95_percent_of_1000_runs(statistic, options, accounting):
    runs = 1_000
    table = copies([{"x": v} for v in VALUES], runs)
    given = {} if statistic == "count" else {"bounds": BOUNDS}
    column = None if statistic == "count" else "x"
    found = ask(table, statistic, column, epsilon=0.4, accounting=accounting, **names(runs),
                **given, **options)  # fmt: skip
    true = truth(statistic, VALUES, options)
    kept = sum(abs(r.value - true) <= r.within for r in found.results)
    assert kept >= 950
    # A bar that is always right would be no statement: it may not be wildly too wide.
    errors = sorted(abs(r.value - true) for r in found.results)
    bars = sorted(r.within for r in found.results)
    assert bars[runs // 2] <= 3.5 * errors[int(0.95 * runs)]


@pytest.mark.parametrize("statistic", ["quantile", "min", "max"])
def test_rank_error_bars_hold_in_95_percent_of_1000_runs(statistic: str):
    runs = 1_000
    values = [round(v * 10) for v in VALUES]
    table = copies([{"x": v} for v in values], runs)
    options = {"alpha": 0.5} if statistic == "quantile" else {}
    found = ask(table, statistic, "x", bounds=(0, 100), epsilon=2.0, **names(runs), **options)
    n, kept = len(values), 0
    target = {"quantile": n / 2, "min": -(-found.within // 1), "max": n + found.within // -1}
    for result in found.results:
        below = sum(v < result.value for v in values)
        upto = sum(v <= result.value for v in values)
        miss = max(0, below - target[statistic], target[statistic] - upto)
        kept += miss <= result.within
    assert kept >= 950


def test_a_sum_of_bernstein_totals_is_the_number_of_records():
    many = 400
    table = copies(ROWS, many)
    found = ask(table, "mean", "x", bounds=BOUNDS, epsilon=1.0, **names(many))
    records = [r.records for r in found.results]
    spread = sqrt(sum((r - len(ROWS)) ** 2 for r in records) / many)
    assert abs(sum(records) / many - len(ROWS)) < 5 * 2 / sqrt(many)
    assert spread == pytest.approx(2.0, rel=0.35)  # two Laplace noises of scale 1
    assert FINEST == 2**32


def test_rows_beyond_the_limit_are_dropped_at_random():
    many = 2_000
    rows = [{"x": float(v), "person": "p"} for v in range(4)]
    found = ask(copies(rows, many), "histogram", "x", bounds=(0, 4), bins=4, epsilon=900.0,
                entity="person", max_rows=1, **names(many))  # fmt: skip
    seen = [
        sum(r.value for r in found.results if r.label[-1] == cell and r.label[0] != "(others)")
        for cell in found.cells[1:-1]
    ]
    assert chi_square_ok(seen, [many / 4] * 4)
    assert sum(seen) == many


def test_the_tables_of_this_file_are_what_they_seem():
    assert copies(ROWS, 3).height == 12
    assert pl.Series(VALUES).is_between(0, 10).all()
