from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import xk as naive

from shoal.core.errors import InputError, MethodError, PrivacyError
from shoal.methods.xk.candidates import (
    Candidate,
    candidates_of,
    check_k,
    check_xk,
    fraction_name,
    predict,
)

PAIRS = st.dictionaries(st.integers(1, 30), st.integers(0, 20), min_size=1).filter(
    lambda counts: any(counts.values())
)


def test_thresholds_of_k_5_have_the_names_of_the_seed():
    assert [fraction_name(5, xk) for xk in (1, 2, 3, 4, 5)] == ["1/4", "1/3", "1/2", "3/4", "1"]


@pytest.mark.parametrize(
    ("k", "names"),
    [
        (1, ["1"]),
        (2, ["1/2", "1"]),
        (3, ["1/3", "2/3", "1"]),
        (4, ["1/4", "1/2", "3/4", "1"]),
        (6, ["1/6", "1/3", "1/2", "2/3", "3/4", "1"]),
    ],
)
def test_other_k_have_names_too(k, names):
    assert [fraction_name(k, xk) for xk in range(1, k + 1)] == names


@given(k=st.integers(1, 60))
def test_no_two_thresholds_share_a_name(k):
    names = [fraction_name(k, xk) for xk in range(1, k + 1)]
    assert len(set(names)) == k
    assert names[-1] == "1"
    assert [Fraction(name) for name in names] == sorted(Fraction(name) for name in names)


@given(counts=PAIRS, k=st.integers(1, 12))
def test_candidates_agree_with_the_naive_twin(counts, k):
    sizes = [size for size, number in counts.items() for _ in range(number)]
    for found in candidates_of(counts, k):
        expected = naive.candidate(sizes, k, found.xk)
        assert (found.originals, found.added, found.suppressed) == expected
        assert found.total == found.originals + found.added
        assert found.difference == abs(found.added - found.suppressed)


@given(counts=PAIRS, k=st.integers(1, 12))
def test_a_higher_fraction_never_adds_more_and_never_suppresses_less(counts, k):
    found = candidates_of(counts, k)
    for low, high in pairwise(found):
        assert high.added <= low.added
        assert high.suppressed >= low.suppressed
    assert found[-1].added == 0


def test_undiverse_pairs_are_suppressed_whatever_their_size():
    (found,) = candidates_of({2: 3, 9: 2}, 5, first=5, undiverse={9: 1})
    assert (found.originals, found.suppressed, found.undiverse) == (9, 15, 9)


def test_a_candidate_that_releases_nothing_has_precision_0():
    (_, found) = candidates_of({1: 4}, 2)
    assert (found.total, found.precision) == (0, 0.0)
    expected = predict(found, 3)
    assert (expected.low, expected.high, expected.data_loss) == (0, 0, 100)


@pytest.mark.parametrize("counts", [{}, {3: 0}, {0: 4}, {-1: 1}, {2: -1}, {1.5: 2}, {"2": 1}])
def test_counts_that_cannot_be_meant_are_refused(counts):
    with pytest.raises(InputError):
        candidates_of(counts, 5)


def test_more_undiverse_pairs_than_pairs_are_refused():
    with pytest.raises(InputError, match="more pairs of a size"):
        candidates_of({2: 1}, 5, undiverse={2: 2})


@pytest.mark.parametrize("k", [0, -3, 2.0, True, "5", None])
def test_k_must_be_a_whole_number(k):
    with pytest.raises(PrivacyError):
        check_k(k)


@pytest.mark.parametrize("xk", [0, 6, 1.0, True])
def test_xk_must_be_from_1_to_k(xk):
    with pytest.raises(MethodError, match="from 1 to k = 5"):
        check_xk(xk, 5)


def test_rounding_is_exact_at_whole_percents():
    # 97 % exactly must not become 98 by a float's last bit.
    whole = Candidate(k=5, xk=1, records_k=0, records_xk=97, added=3, suppressed=0)
    assert predict(whole, 1).high == 97
    lost = Candidate(k=5, xk=5, records_k=93, records_xk=0, added=0, suppressed=7)
    assert predict(lost, 1).data_loss == 7


def test_bounds_hold_where_one_pair_is_saved_of_a_table_that_would_release_nothing():
    # Two pairs of 2 and one of 1 record: one of three may be saved, with most of the blanked cells.
    none = Candidate(k=3, xk=3, records_k=0, records_xk=0, added=0, suppressed=5)
    assert predict(none, 2, diversity=2, columns=4, blanked=6).bounds[0] <= 25
