import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import xk as naive

from shoal.core.errors import InputError
from shoal.engines.local.proportional import proportional_sample

pytestmark = pytest.mark.local("sampling")


@settings(max_examples=40, deadline=None)
@given(
    strata=st.lists(st.sampled_from(["a", "b", "", None, " a"]), min_size=1, max_size=60),
    data=st.data(), seed=st.integers(0, 5),
)  # fmt: skip
def test_proportional_sampling_keeps_the_share_of_every_stratum_of_dirty_tables_too(
    strata, data, seed
):
    table = pl.DataFrame({"row": range(len(strata)), "by": strata}, schema_overrides={
        "by": pl.String})  # fmt: skip
    wanted = data.draw(st.integers(1, len(strata)))
    found = proportional_sample(table, ["by"], wanted, seed=seed)
    assert found.height == wanted
    assert found["row"].is_sorted()
    assert found["row"].n_unique() == wanted
    names = list(dict.fromkeys(strata))
    shares = naive.share_of([strata.count(name) for name in names], wanted)
    for name, share in zip(names, shares, strict=True):
        assert found["by"].to_list().count(name) == share
    assert found.equals(proportional_sample(table, ["by"], wanted, seed=seed))


def test_another_seed_draws_other_records():
    table = pl.DataFrame({"by": ["a"] * 50 + ["b"] * 50, "row": range(100)})
    one, two = (proportional_sample(table, ["by"], 20, seed=seed)["row"] for seed in (1, 2))
    assert not one.equals(two)


def test_strata_of_several_columns_and_columns_that_are_not_there():
    table = pl.DataFrame({"x": ["a", "a", "b", "b"] * 5, "y": ["c", "d"] * 10})
    assert proportional_sample(table, ["x", "y"], 8).group_by("x", "y").len()["len"].to_list() == [
        2, 2, 2, 2,
    ]  # fmt: skip
    with pytest.raises(InputError, match="has no column 'z'"):
        proportional_sample(table, ["z"], 2)
    with pytest.raises(InputError, match="for the strata"):
        proportional_sample(table, [], 2)
