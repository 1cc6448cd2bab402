from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.jobs.look import BARS, look, pictures, side_by_side


def table(tmp_path, records: int):
    place = tmp_path / "t.csv"
    place.write_text("n,ill\n" + "".join(f"{i},{i % 7}\n" for i in range(records)))
    return place


def test_a_small_table_is_seen_as_a_whole(tmp_path):
    found = look(table(tmp_path, 50), most=50)
    assert (found.frame.height, found.records, found.is_sample) == (50, 50, False)


def test_of_a_large_table_a_sample_the_same_every_time_in_its_order(tmp_path):
    place = table(tmp_path, 500)
    found, again = look(place, most=20), look(place, most=20)
    assert found.is_sample
    assert found.records == 500
    assert found.frame.equals(again.frame)
    numbers = found.frame["n"].cast(pl.Int64).to_list()
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == 20


@given(st.lists(st.sampled_from(["a", "b", "c", "?", "", None]), min_size=1, max_size=50))
def test_values_are_counted_and_missing_ones_are_none(values):
    found = pictures(pl.DataFrame({"x": pl.Series(values, dtype=pl.String)}), ["?"])["x"]
    wanted = Counter(value for value in values if value not in ("?", "", None))
    assert found["missing"] == len(values) - wanted.total()
    assert found["distinct"] == len(wanted)
    assert dict(zip(found["names"], found["counts"], strict=True)) == wanted
    assert found["others"] == 0


@given(st.lists(st.integers(-1000, 1000), min_size=BARS + 1, max_size=90, unique=True))
def test_many_numbers_are_counted_in_bars_of_one_width(numbers):
    found = pictures(pl.DataFrame({"x": [str(n) for n in numbers]}))["x"]
    low, high = min(numbers), max(numbers)
    wanted = Counter(min((n - low) * BARS // (high - low), BARS - 1) for n in numbers)
    assert sum(found["counts"]) == len(numbers)
    assert found["counts"] == [wanted[bar] for bar in range(BARS)]
    assert (found["low"], found["high"]) == (low, high)


def test_numbers_that_are_names_of_categories_are_not_joined():
    frame = pl.DataFrame({"zip": [f"{n:05}" for n in range(100) for _ in range(n % 3 + 1)]})
    assert pictures(frame)["zip"]["form"] == "histogram"
    found = pictures(frame, kinds={"zip": "categorical"})["zip"]
    assert found["form"] == "values"
    assert len(found["names"]) == BARS - 1
    assert found["others"] == frame.height - sum(found["counts"])


@pytest.mark.parametrize("cells", [[], [None, None], ["", ""], ["inf", "1"], ["nan", "2"]])
def test_odd_columns_are_looked_at_all_the_same(cells):
    found = pictures(pl.DataFrame({"x": pl.Series(cells, dtype=pl.String)}))["x"]
    assert found["records"] == len(cells)
    assert found["form"] == "values"


def test_few_numbers_stand_in_their_order():
    found = pictures(pl.DataFrame({"x": ["10", "9", "9", "10", "10", "2"]}))["x"]
    assert (found["names"], found["counts"]) == (["2", "9", "10"], [1, 2, 3])


def test_records_stand_beside_what_is_released_of_them():
    before = pl.DataFrame({"zip": ["1", "2", "3", "4"], "name": list("abcd")})
    after = pl.DataFrame({"zip": ["[1, 2]", "[1, 2]", "[4, 4]"]})
    found = side_by_side(before, after, [0, 0, -1, 1], most=10)
    assert [one["zip"] for one, _ in found] == ["1", "2", "3", "4"]
    assert [None if other is None else other["zip"] for _, other in found] == [
        "[1, 2]", "[1, 2]", None, "[4, 4]"
    ]  # fmt: skip
    assert len(side_by_side(before, after, [0, 0, -1, 1], most=2)) == 2
