"""The filter language: read, applied, and refused with a word on how to write it."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import MethodError
from shoal.dp.where import Condition, as_number, expression, parse_where

TABLE = pl.DataFrame(
    {
        "age": [17, 18, 40, None],
        "written": ["17", " 18 ", "forty", None],
        "sex": ["F", "M", None, "it's"],
        "ill": [True, False, None, True],
        "x": [1.0, float("nan"), 2.5, None],
    }
)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("age >= 18", [1, 2]),
        ("age < 18", [0]),
        ("written >= 18", [1]),
        ("sex = F", [0]),
        ("sex == 'F'", [0]),
        ("sex != F", [1, 2, 3]),
        ("sex = 'it''s'", [3]),
        ("sex in (F, M)", [0, 1]),
        ("age in (17, 40)", [0, 2]),
        ("sex is missing", [2]),
        ("age is not missing and sex = M", [1]),
        ("ill = true", [0, 3]),
        ("x > 1", [2]),
        ("age = 17.0", [0]),
        ("age = old", []),
    ],
)
def test_a_filter_keeps_the_records_it_says(text: str, rows: list[int]):
    types = dict(TABLE.schema)
    test = expression(parse_where(text), types)
    assert TABLE.with_row_index("row").filter(test)["row"].to_list() == rows


@pytest.mark.parametrize(
    "text",
    ["", "age", "age >", "age > 1 or sex = F", "age ~ 3", "sex in F", "sex in (F", "sex = 'F",
     "and age > 1", "age is", "age > 1 and", "> 3", "sex in ()"],
)  # fmt: skip
def test_what_is_no_filter_is_refused(text: str):
    with pytest.raises(MethodError, match="where: "):
        parse_where(text)


def test_an_order_of_texts_is_refused():
    with pytest.raises(MethodError, match="numbers only"):
        expression(parse_where("sex > F"), dict(TABLE.schema))


def test_code_is_only_text():
    condition = parse_where("sex = '__import__(\"os\")'")[0]
    assert condition.values == ('__import__("os")',)


def number(value):
    """Return a cell or a text as a number, None where it is none."""
    if value is None or isinstance(value, bool):
        return None
    try:
        found = float(value)
    except ValueError:
        return None
    return None if found != found else found


def naive_keeps(condition: Condition, value: object) -> bool:
    """Say by the words of the guide whether one record passes one comparison."""
    sign, values = condition.sign, condition.values
    if sign in ("missing", "present"):
        return (value is None) == (sign == "missing")
    if sign in ("=", "in", "!="):
        if isinstance(value, str):
            same = value in values
        else:
            same = value is not None and number(value) in [number(v) for v in values]
            same = same and number(value) is not None
        return same != (sign == "!=")
    left, right = number(value), number(values[0])
    if left is None:
        return False
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[sign]


CELLS = {
    "n": st.one_of(st.none(), st.integers(-3, 3)),
    "x": st.one_of(st.none(), st.sampled_from([-1.5, 0.0, 2.0, float("nan")])),
    "t": st.one_of(st.none(), st.sampled_from(["", "0", "2", "-1.5", " 2", "a b", "it's"])),
}
TYPES = {"n": pl.Int64(), "x": pl.Float64(), "t": pl.String()}


@st.composite
def conditions(draw):
    column = draw(st.sampled_from(list(CELLS)))
    sign = draw(st.sampled_from(["<", "<=", ">", ">=", "=", "!=", "in", "missing", "present"]))
    words = st.sampled_from(["0", "2", "-1.5", "2.0"] if sign[0] in "<>" else
                            ["0", "2", "-1.5", "a b", "it's", "nothing"])  # fmt: skip
    most = {"missing": 0, "present": 0, "in": 3}.get(sign, 1)
    values = draw(st.lists(words, min_size=min(most, 1), max_size=most))
    return Condition(column, sign, tuple(values))


def written(condition: Condition) -> str:
    quoted = ["'" + value.replace("'", "''") + "'" for value in condition.values]
    if condition.sign in ("missing", "present"):
        return f"{condition.column} is {'not ' * (condition.sign == 'present')}missing"
    if condition.sign == "in":
        return f"{condition.column} in ({', '.join(quoted)})"
    return f"{condition.column} {condition.sign} {quoted[0]}"


@settings(max_examples=80, deadline=None)
@given(
    rows=st.lists(st.fixed_dictionaries(CELLS), max_size=6),
    asked=st.lists(conditions(), min_size=1, max_size=3),
)
def test_a_filter_agrees_with_a_person_who_reads_it(rows, asked):
    text = " and ".join(map(written, asked))
    assert parse_where(text) == tuple(asked)
    table = pl.DataFrame(rows, schema=TYPES)
    kept = table.with_columns(expression(tuple(asked), TYPES).alias("kept"))["kept"]
    expected = [all(naive_keeps(each, row[each.column]) for each in asked) for row in rows]
    assert kept.to_list() == expected


@settings(deadline=None)
@given(st.text(max_size=25))
def test_any_text_is_read_or_refused(text):
    found: object = None
    try:
        found = parse_where(text)
    except MethodError as error:
        found = str(error)
    assert isinstance(found, tuple) or found.endswith("Write it like: age >= 18 and sex = 'F'")


@pytest.mark.parametrize(
    ("values", "kind", "numbers"),
    [
        (["1", " 2.5 ", "x", None], pl.String(), [1.0, 2.5, None, None]),
        ([True, None], pl.Boolean(), [1, None]),
        ([1, 2], pl.Int32(), [1, 2]),
        ([1, 2], pl.UInt64(), [1.0, 2.0]),
        ([1.5], pl.Float32(), [1.5]),
    ],
)
def test_columns_become_numbers(values, kind, numbers):
    found = pl.DataFrame({"x": pl.Series(values, dtype=kind)}).select(as_number(pl.col("x"), kind))
    assert found["x"].to_list() == numbers
    assert found["x"].dtype in (pl.Int64, pl.Float64)
