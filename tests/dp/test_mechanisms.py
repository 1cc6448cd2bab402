"""Mechanisms are scaled so that OpenDP itself vouches for them; tails are what they say."""

from __future__ import annotations

import random
from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("opendp", reason="needs the extra shoal[dp]")

from shoal.dp.mechanisms import (
    Kind,
    Noise,
    additive,
    integer_tail,
    opendp,
    selection,
    weighted_tail,
)

kinds = st.sampled_from(list(Kind))


@settings(max_examples=60, deadline=None)
@given(kind=kinds, level=st.floats(1e-3, 10), sensitivity=st.integers(1, 2**33))
def test_opendp_vouches_for_every_scale(kind: Kind, level: float, sensitivity: int):
    found = additive(Noise(kind, level), sensitivity)
    distance = sensitivity if kind is Kind.LAPLACE else float(sensitivity)
    assert 0.9999 * level < found.measurement.map(distance) <= level
    chosen = selection(Noise(kind, level), min(sensitivity, 2**20))
    assert 0.9999 * level < chosen.measurement.map(min(sensitivity, 2**20)) <= level


def test_totals_of_64_bits_do_not_saturate():
    found = additive(Noise(Kind.LAPLACE, 1.0), 1)
    assert all(abs(v - 2**62) < 1000 for v in found.release([2**62, 2**62]))


@settings(max_examples=80, deadline=None)
@given(kind=kinds, scale=st.floats(0.2, 50), tail=st.floats(0.001, 0.3))
def test_a_tail_is_the_smallest_that_holds(kind: Kind, scale: float, tail: float):
    def weight(x: int) -> float:
        return exp(-abs(x) / scale) if kind is Kind.LAPLACE else exp(-x * x / (2 * scale**2))

    span = range(-2500, 2501)
    total = sum(weight(x) for x in span)

    def beyond(a: int) -> float:
        return sum(weight(x) for x in span if abs(x) > a) / total

    found = integer_tail(kind, scale, tail=tail)
    assert beyond(found) <= tail * (1 + 1e-9)
    assert found == 0 or beyond(found - 1) > tail * (1 - 1e-9)


@pytest.mark.parametrize("weights", [[1.0], [0.5, 0.5], [1.0, -0.2, 0.1], [0.3, 0.3, 0.3, 0.4]])
def test_the_tail_of_a_weighted_sum_agrees_with_simulation(weights: list[float]):
    dice = random.Random(7)
    sums = sorted(
        abs(sum(w * dice.expovariate(1.0) * dice.choice((-1, 1)) for w in weights))
        for _ in range(40_000)
    )
    found = weighted_tail(Kind.LAPLACE, 1.0, weights, tail=0.05)
    assert 0.97 * sums[38_000] <= found <= 1.10 * sums[38_000]
    normal = sorted(abs(sum(w * dice.gauss(0, 1) for w in weights)) for _ in range(40_000))
    found = weighted_tail(Kind.GAUSSIAN, 1.0, weights, tail=0.05)
    assert found == pytest.approx(normal[38_000], rel=0.03)


def test_no_seed_can_be_set_and_no_risky_feature_is_on():
    assert not any("seed" in name for name in dir(opendp()))
    one, two = (additive(Noise(Kind.LAPLACE, 1e-3), 10**9).release([0] * 8) for _ in range(2))
    assert one != two
    with pytest.raises(opendp().OpenDPException, match="honest-but-curious"):
        opendp().m.make_user_measurement(
            opendp().atom_domain(T=int), opendp().absolute_distance(T=int),
            opendp().max_divergence(), lambda x: x, lambda d: 0.0,
        )  # fmt: skip
