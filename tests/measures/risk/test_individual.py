"""Individual risk against the integral it stands for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import risk as naive

from shoal.core.errors import KernelInputError
from shoal.measures.risk.individual import (
    exact_risk,
    household_risk,
    household_summary,
    households_at_risk,
    individual_risk,
)


@pytest.mark.parametrize(
    ("f", "big", "expected"),
    [
        (1, 215, 0.02509644), (1, 186, 0.02824728), (2, 360, 0.00542452),
        (1, 5, 0.402359478), (2, 110, 0.017144262),
    ],
)  # fmt: skip
def test_published_values(f, big, expected):
    assert individual_risk(np.array([f]), np.array([float(big)]))[0] == pytest.approx(
        expected, abs=5e-9
    )


@pytest.mark.parametrize("f", [1, 2, 3, 4, 7, 12, 40])
@pytest.mark.parametrize("p", [0.001, 0.05, 0.3, 0.6, 0.95, 0.999])
def test_exact_risk_is_the_integral(f, p):
    found = exact_risk(np.array([float(f)]), np.array([p]))[0]
    steps = 2_000_000 if f == 1 and p < 0.01 else 100_000
    assert found == pytest.approx(naive.expected_inverse(f, p, steps=steps), rel=2e-5)


def test_the_approximation_is_close_to_the_exact_value_and_equal_for_one_and_two():
    f = np.array([1, 2, 3, 5, 10, 100])
    big = f * 40.0
    near, exact = individual_risk(f, big), individual_risk(f, big, exact=True)
    assert near[:2] == pytest.approx(exact[:2])
    assert near == pytest.approx(exact, rel=0.1)


def test_the_five_cases():
    sizes = np.array([0, 4, 1, 2, 3])
    big = np.array([9.0, 4.0, 10.0, 10.0, 10.0])
    risk = individual_risk(sizes, big)
    assert risk[0] == 0
    assert risk[1] == 0.25
    assert risk[2] == pytest.approx(1 / 9 * np.log(10))
    assert risk[3] == pytest.approx(0.25 - 0.0625 * np.log(5))
    assert risk[4] == pytest.approx(0.3 / (3 - 0.7))


@given(f=st.integers(1, 500), more=st.floats(0, 1e9))
def test_risk_lies_between_nothing_and_one_over_the_class(f, more):
    sizes, big = np.array([f]), np.array([f + more])
    for exact in (False, True):
        risk = individual_risk(sizes, big, exact=exact)[0]
        assert 0 < risk <= 1 / f + 1e-12


def test_weights_below_one_count_as_one():
    assert individual_risk(np.array([3]), np.array([0.3]))[0] == pytest.approx(1 / 3)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=20))
def test_households_against_the_product(pairs):
    risks = [risk for risk, _ in pairs]
    homes = [home for _, home in pairs]
    found = household_risk(np.array(risks), np.array(homes))
    for home, expected in naive.household(risks, homes).items():
        assert found[home] == pytest.approx(expected, abs=1e-9)


def test_arrays_that_do_not_fit_are_refused():
    with pytest.raises(KernelInputError):
        individual_risk(np.array([1, 2]), np.array([1.0]))
    with pytest.raises(KernelInputError):
        individual_risk(np.array([1]), np.array([np.nan]))


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0.01, 1), st.one_of(st.none(), st.integers(0, 3))),
        min_size=1,
        max_size=20,
    )
)
def test_a_record_without_a_household_is_one_of_its_own(pairs):
    risks = np.array([risk for risk, _ in pairs])
    homes = np.array([home or 0 for _, home in pairs])
    alone = np.array([home is None for _, home in pairs])
    keys = [("alone", i) if home is None else home for i, (_, home) in enumerate(pairs)]
    expected = naive.household(risks.tolist(), keys)
    found = households_at_risk(risks, homes, alone)
    assert found["households"] == len(expected)
    assert found["maximum"] == pytest.approx(max(expected.values()))
    assert found["expected_reidentifications"] == pytest.approx(sum(expected[key] for key in keys))
    assert found["average"] == pytest.approx(found["expected_reidentifications"] / len(pairs))


def test_a_household_summary_divides_by_the_records():
    found = household_summary(2, 0.5, 3.0, records=12)
    assert found["average"] == 0.25
