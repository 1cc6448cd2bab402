import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import xk as naive

from shoal.core.errors import MethodError
from shoal.methods.xk.sampling import proportional_shares

# Records of the 16 courses of Table 1, and what the seed drew of 250,000, rounded by hand.
PUBLISHED = [30002, 169621, 57406, 41592, 39602, 27870, 5665, 14215, 6139, 40811, 22235, 66731,
             57715, 21009, 31048, 9477]  # fmt: skip
PULLED = [11750, 66000, 22250, 16250, 15500, 10750, 2250, 5500, 2500, 16000, 8750, 26000, 22500,
          8250, 12000, 3750]  # fmt: skip


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8), st.data())
def test_shares_are_proportional_whole_and_complete(counts, data):
    total = sum(counts)
    if not total:
        return
    wanted = data.draw(st.integers(1, total))
    found = proportional_shares(counts, wanted)
    assert sum(found) == wanted
    for share, count in zip(found, counts, strict=True):
        assert 0 <= share <= count
        assert abs(share * total - wanted * count) < total
    assert found == naive.share_of(counts, wanted)


def test_a_proportional_sample_of_the_seed_s_courses_is_that_of_table_1_but_for_its_rounding():
    assert (sum(PUBLISHED), sum(PULLED)) == (641_138, 250_000)
    found = proportional_shares(PUBLISHED, 250_000)
    assert sum(found) == 250_000
    # Table 1 rounds each share to thousandths of the table, 250 records.
    assert all(abs(ours - theirs) <= 250 for ours, theirs in zip(found, PULLED, strict=True))


@pytest.mark.parametrize("wanted", [0, 11])
def test_a_sample_that_cannot_be_drawn_is_refused(wanted):
    with pytest.raises(MethodError, match="has 1 to 10 records"):
        proportional_shares([7, 3], wanted)
