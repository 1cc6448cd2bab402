"""Reading moments and ranks out of released totals."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.dp.estimate import Spreads, extreme_scores, rank_scores
from shoal.dp.mechanisms import Kind
from shoal.dp.records import FINEST

counts = st.lists(st.integers(0, 6), min_size=1, max_size=8)


def exact_totals(places: list[float], order: int) -> list[int]:
    from math import comb

    return [
        round(FINEST * sum(comb(order, i) * u**i * (1 - u) ** (order - i) for u in places))
        for i in range(order + 1)
    ]


@settings(max_examples=60, deadline=None)
@given(places=st.lists(st.floats(0, 1), min_size=1, max_size=20), order=st.integers(2, 5))
def test_without_noise_the_moments_are_the_moments(places: list[float], order: int):
    mean = sum(places) / len(places)
    spreads = Spreads(exact_totals(places, order), kind=Kind.LAPLACE, scale=1.0, tail=0.05)
    found = spreads.central()
    assert spreads.average(spreads.power(1)) == pytest.approx(mean, abs=1e-6)
    true = sum((u - mean) ** order for u in places) / len(places)
    assert found.value == pytest.approx(true, abs=1e-6)
    assert found.records == pytest.approx(len(places), abs=1e-6)


def test_too_few_records_give_no_value():
    for totals in ([-5, 3], [0, 0], [-FINEST, FINEST], [FINEST // 2, 0]):
        spreads = Spreads(totals, kind=Kind.LAPLACE, scale=FINEST, tail=0.05)
        assert spreads.mean().value is None
        three = Spreads([*totals, 0], kind=Kind.LAPLACE, scale=FINEST, tail=0.05)
        assert three.central().value is None


def test_a_value_no_better_than_the_middle_of_the_range_is_withheld():
    many = [100 * FINEST, 300 * FINEST]
    good = Spreads(many, kind=Kind.LAPLACE, scale=10 * FINEST, tail=0.05).mean()
    assert good.value == 0.75
    assert good.within < 0.5
    assert Spreads(many, kind=Kind.LAPLACE, scale=100 * FINEST, tail=0.05).mean().value is None


def naive_rank_scores(counts: list[int], share: tuple[int, int]) -> list[float]:
    values = [rung for rung, count in enumerate(counts) for _ in range(count)]
    target = share[0] / share[1] * len(values)
    scores = []
    for rung in range(len(counts)):
        below = sum(v < rung for v in values)
        upto = sum(v <= rung for v in values)
        scores.append(min(abs(t - target) for t in (below, upto, min(max(target, below), upto))))
    return scores


@settings(deadline=None)
@given(counts=counts, numerator=st.integers(1, 9))
def test_rank_scores_agree_with_their_definition(counts: list[int], numerator: int):
    found = rank_scores(counts, numerator=numerator, denominator=10)
    slow = naive_rank_scores(counts, (numerator, 10))
    assert [f / 10 for f in found] == pytest.approx(slow)


@settings(deadline=None)
@given(counts=counts, numerator=st.integers(1, 9), data=st.data())
def test_one_record_changes_a_score_by_no_more_than_stated(counts, numerator, data):
    more = list(counts)
    more[data.draw(st.integers(0, len(counts) - 1))] += 1
    pairs = zip(
        rank_scores(counts, numerator=numerator, denominator=10),
        rank_scores(more, numerator=numerator, denominator=10),
        strict=True,
    )
    assert max(abs(a - b) for a, b in pairs) <= max(numerator, 10 - numerator)
    pairs = zip(
        extreme_scores(counts, depth=numerator), extreme_scores(more, depth=numerator), strict=True
    )
    assert max(abs(a - b) for a, b in pairs) <= 1


def test_a_tie_at_the_minimum_is_the_minimum():
    assert extreme_scores([50, 1, 1], depth=7) == [0, 43, 44]
