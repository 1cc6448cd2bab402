"""The filter language: read, applied, and refused with a word on how to write it."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.core.errors import MethodError
from shoal.dp.where import expression, parse_where

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
