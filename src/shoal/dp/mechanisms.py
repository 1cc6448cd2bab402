"""The mechanisms: OpenDP's measurements, chosen, scaled and asked for their own proof.

Everything that goes in is an integer. Sums of floating point numbers have a
larger sensitivity than the textbook says (the order of additions and the
rounding count), so records are rounded to a grid first, one by one, and what
is added up here is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from math import exp, inf, log, nextafter, sqrt
from statistics import NormalDist
from types import ModuleType
from typing import Protocol, TypeVar

from shoal.core.errors import MissingExtraError


class Kind(StrEnum):
    """The law of the noise."""

    LAPLACE = "laplace"  # pure epsilon
    GAUSSIAN = "gaussian"  # rho of zero-concentrated privacy


@dataclass(frozen=True, slots=True)
class Noise:
    """How much privacy loss an answer may cause: epsilon for Laplace, rho for Gaussian."""

    kind: Kind
    level: float


Released = TypeVar("Released", covariant=True)


class Measurement(Protocol[Released]):
    """OpenDP's measurement of a vector of whole numbers, and its proof."""

    def __call__(self, arg: list[int], /) -> Released:
        """Return what is released of a vector."""

    def map(self, d_in: float, /) -> float:
        """Return the privacy loss of people who move the vector by so much."""


@lru_cache(maxsize=1)
def opendp() -> ModuleType:
    """Load OpenDP with the proofs that its community has vetted, and nothing beyond.

    Raises:
        MissingExtraError: OpenDP is not installed.
    """
    try:
        import opendp.prelude as dp
    except ImportError:
        raise MissingExtraError(
            feature="differential privacy", package="opendp", extra="shoal[dp]"
        ) from None
    dp.enable_features("contrib")
    return dp


def _integers() -> object:
    dp = opendp()
    return dp.vector_domain(dp.atom_domain(T=dp.i64))  # T=int would be 32 bits and saturate


@dataclass(frozen=True, slots=True)
class Additive:
    """Integer noise for a vector of integer totals.

    `sensitivity` bounds how far one person moves the whole vector (in L1 for
    Laplace, in L2 for Gaussian noise); `scale` is in the units of the totals.

    Guarantee:
        OpenDP's own privacy map at `sensitivity` is at most `noise.level`.
    """

    noise: Noise
    sensitivity: int
    scale: float
    measurement: Measurement[list[int]]

    @property
    def name(self) -> str:
        """The mechanism's name as an answer states it."""
        return f"discrete {self.noise.kind}"

    def release(self, totals: Sequence[int]) -> list[int]:
        """Return the totals with noise from the operating system's generator."""
        return [int(total) for total in self.measurement([int(total) for total in totals])]

    def within(self, tail: float) -> int:
        """Return the smallest a for which the noise leaves [-a, a] with probability <= tail."""
        return integer_tail(self.noise.kind, self.scale, tail=tail)


def additive(noise: Noise, sensitivity: int) -> Additive:
    """Build the noise for totals that one person moves by at most `sensitivity`."""
    dp = opendp()
    if noise.kind is Kind.LAPLACE:
        scale = sensitivity / noise.level
        metric: object = dp.l1_distance(T=dp.i64)
        distance: float = sensitivity
        make = dp.m.make_laplace
    else:
        scale = sensitivity / sqrt(2 * noise.level)
        metric = dp.l2_distance(T=dp.f64)
        distance = float(sensitivity)
        make = dp.m.make_gaussian
    while True:
        measurement = make(_integers(), metric, scale)
        if measurement.map(distance) <= noise.level:
            return Additive(noise, sensitivity, scale, measurement)
        scale = nextafter(scale * (1 + 2**-52), inf)  # the division was rounded to our favour


@dataclass(frozen=True, slots=True)
class Selection:
    """Private choice of the candidate with the lowest score.

    Guarantee:
        OpenDP's own privacy map at `sensitivity` (the most that one person
        changes any score, in either direction) is at most `noise.level`.
    """

    noise: Noise
    sensitivity: int
    scale: float
    measurement: Measurement[int]

    @property
    def name(self) -> str:
        """The mechanism's name as an answer states it."""
        if self.noise.kind is Kind.LAPLACE:
            return "permute-and-flip"
        return "exponential mechanism"

    def choose(self, scores: Sequence[int]) -> int:
        """Return the index of a candidate whose score is nearly the lowest."""
        return int(self.measurement([int(score) for score in scores]))

    def within(self, candidates: int, tail: float) -> float:
        """Return by how much the chosen score exceeds the best one, except with chance `tail`.

        Both mechanisms choose a candidate whose score is t above the best with
        a chance of at most exp(-t / scale), so the union over all of them holds.
        """
        return self.scale * log(candidates / tail)


def selection(noise: Noise, sensitivity: int) -> Selection:
    """Build the choice for scores that one person changes by at most `sensitivity`."""
    dp = opendp()
    if noise.kind is Kind.LAPLACE:
        scale = 2 * sensitivity / noise.level
        measure = dp.max_divergence()
    else:
        scale = sensitivity / sqrt(2 * noise.level)
        measure = dp.zero_concentrated_divergence()
    metric = dp.linf_distance(T=dp.i64)
    while True:
        measurement = dp.m.make_noisy_max(_integers(), metric, measure, scale, True)
        if measurement.map(sensitivity) <= noise.level:
            return Selection(noise, sensitivity, scale, measurement)
        scale = nextafter(scale * (1 + 2**-52), inf)


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Translate zero-concentrated privacy by OpenDP's privacy profile."""
    dp = opendp()
    noise = dp.m.make_gaussian(_integers(), dp.l2_distance(T=dp.f64), sqrt(1 / (2 * rho)))
    profile = dp.c.make_zCDP_to_approxDP(noise).map(1.0)
    return float(profile.epsilon(delta))


def integer_tail(kind: Kind, scale: float, *, tail: float) -> int:
    """Return the smallest integer a with P(|noise| > a) <= tail.

    Example:
        >>> integer_tail(Kind.LAPLACE, 1.0, tail=0.05)
        3
    """
    if kind is Kind.LAPLACE:
        # P(|X| > a) = 2 q^(a+1) / (1 + q) with q = exp(-1/scale)
        q = exp(-1 / scale)
        need = scale * (log(2 / (1 + q)) - log(tail)) - 1
        a = max(0, int(need))
        while 2 * exp(-(a + 1) / scale) / (1 + q) > tail:
            a += 1
        return a
    if scale > 1e4:  # the discrete law is the continuous one to more digits than are printed
        return int(scale * NormalDist().inv_cdf(1 - tail / 2)) + 1
    weights = [exp(-(x * x) / (2 * scale * scale)) for x in range(int(12 * scale) + 2)]
    total = 2 * sum(weights) - weights[0]
    beyond, a = total - weights[0], 0
    while beyond > tail * total:
        a += 1
        beyond -= 2 * weights[a]
    return a


def weighted_tail(kind: Kind, scale: float, weights: Sequence[float], *, tail: float) -> float:
    """Return a with P(|sum of weight x noise| > a) <= tail, for independent noises.

    For Laplace noise the tail of a weighted sum is a mixture of exponentials
    (partial fractions of its characteristic function); weights that are nearly
    equal are first moved apart, upwards, which can only widen the result.

    Example:
        >>> one = weighted_tail(Kind.LAPLACE, 1.0, [1.0], tail=0.05)
        >>> two = weighted_tail(Kind.LAPLACE, 1.0, [0.5, 0.5], tail=0.05)
        >>> round(one, 2), round(two, 2)
        (3.0, 2.08)
    """
    sizes = sorted(abs(weight) for weight in weights)
    largest = sizes[-1]
    if largest == 0:
        return 0.0
    if kind is Kind.GAUSSIAN:
        return scale * sqrt(sum(w * w for w in sizes)) * NormalDist().inv_cdf(1 - tail / 2)
    apart: list[float] = []
    for size in sizes:
        least = apart[-1] * 1.02 if apart else largest * 1e-3
        apart.append(max(size, least))
    parts = []
    for i, w in enumerate(apart):
        factor = 1.0
        for j, v in enumerate(apart):
            if j != i:
                factor *= w * w / (w * w - v * v)
        parts.append((factor, w))

    def beyond(x: float) -> float:
        return sum(factor * exp(-x / w) for factor, w in parts)

    low, high = 0.0, sum(apart) * log(len(apart) / tail)  # the union over single noises
    for _ in range(22):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) <= tail else (middle, high)
    return scale * high
