"""Facts of a column from its counted values."""

import re
from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import InputError
from shoal.engines.column_facts import column_facts, dense_codes, row_codes
from shoal.inference.column import MARKS, SAMPLE, identifying_power

CELLS = st.lists(
    st.one_of(
        st.none(), st.sampled_from(["", " ", "?", "NA", "007", "1", "2.5", "x y", "ß"]),
        st.integers(-5, 500).map(str),
    ),
    max_size=30,
)  # fmt: skip


def facts(values, dtype=pl.String):
    return column_facts(
        "x", pl.DataFrame({"x": pl.Series(values, dtype=dtype)}).group_by("x").len()
    )


@settings(max_examples=60, deadline=None)
@given(CELLS)
def test_texts_against_a_count_by_hand(values):
    found = facts(values)
    absent = [v for v in values if v is None or v.strip() == "" or v.strip() in MARKS]
    present = Counter(v for v in values if v not in absent)
    assert (found.records, found.missing) == (len(values), len(absent))
    assert (found.distinct, found.commonest) == (len(present), max(present.values(), default=0))
    assert found.sample == tuple(sorted(present, key=lambda v: v.encode()))
    assert set(found.marks) == {v.strip() for v in absent if v} - {""}
    assert found.widths == len({len(v) for v in present})
    assert found.most_words == max((len(v.split()) for v in present), default=0)
    assert found.length == pytest.approx(sum(map(len, present)) / len(present) if present else 0.0)
    integers = bool(present) and all(re.fullmatch(r"[+-]?\d+", v) for v in present)
    assert (found.form == "integer") is integers
    if integers:
        numbers = [float(v) for v in present]
        assert (found.lowest, found.highest) == (min(numbers), max(numbers))
        assert found.leading_zeros is ("007" in present)
    sizes = pl.Series(list(Counter(values).values()), dtype=pl.Int64).to_numpy()
    assert found.alone == pytest.approx(identifying_power(sizes))


@pytest.mark.parametrize(
    ("values", "dtype", "form"),
    [
        ([1, 2], pl.Int64, "integer"), ([1.5, None], pl.Float64, "decimal"),
        ([True, False], pl.Boolean, "boolean"), ([0, 1], pl.Date, "date"),
        (["2024-01-31", "2024-02-01T10:00"], pl.String, "date"),
        (["1e3", ".5", "-2."], pl.String, "decimal"), (["1", "a"], pl.String, "text"),
        ([None], pl.String, "text"), ([], pl.Int64, "text"),
    ],
)  # fmt: skip
def test_forms_are_what_all_values_are(values, dtype, form):
    assert facts(values, dtype).form == form


def test_a_sample_is_spread_over_the_order_of_the_values():
    found = facts([f"{i:05}" for i in range(4 * SAMPLE)])
    assert len(found.sample) == SAMPLE
    assert (found.sample[0], found.sample[-1]) == ("00000", f"{4 * (SAMPLE - 1):05}")


def test_identifiers_inside_texts_are_counted():
    found = facts(["call 0171 1234567 now", "write to qz@example.org", "nothing here", "nor here"])
    assert found.embedded["email"] == 1
    assert facts(["1", "2"]).embedded == {}


def test_lists_are_refused_without_a_value():
    with pytest.raises(InputError, match=r"^column 'x': holds List values, not plain ones$"):
        facts([["Qzx"]], pl.List(pl.String))


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), st.sampled_from("abcd")), max_size=12))
def test_codes_are_dense_and_missing_is_a_value_of_its_own(values):
    for series in (pl.Series(values, dtype=pl.String), pl.Series(values, dtype=pl.Categorical)):
        codes = dense_codes(series).tolist()
        pairs = set(zip(values, codes, strict=True))
        assert len(pairs) == len(set(values)) == len(set(codes))
        assert {code for value, code in pairs if value is None} <= {0}


def test_rows_are_equal_where_their_codes_are():
    rows = pl.DataFrame({"x": ["b", "a", None, "b"], "y": [1, 1, 2, 1]})
    found = row_codes(rows, ["y", "x"])
    assert (found.dtype, found.flags.c_contiguous) == ("int32", True)
    assert found[0].tolist() == found[3].tolist() != found[1].tolist()
    assert row_codes(rows.clear(), ["x"]).shape == (0, 1)
