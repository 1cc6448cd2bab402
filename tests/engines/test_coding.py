from __future__ import annotations

import polars as pl
import pytest

from shoal.core.errors import InputError, UnknownValueError
from shoal.engines.coding import Coder, code_column
from shoal.hierarchies.build import Intervals
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Attribute, Kind, Role

pytestmark = pytest.mark.local("a part of the local engine itself")

TREE = Hierarchy.from_rows("c", [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")])


def coder(values: list[str | None], marks: tuple[str, ...] = (), **facts: object) -> Coder:
    attribute = Attribute(name="c", role=Role.QUASI, **facts)  # type: ignore[arg-type]
    series = pl.Series("c", values, dtype=pl.Categorical)
    return code_column(series.unique(), attribute, marks=marks)


def test_numbers_in_any_spelling_are_one_value() -> None:
    found = coder(["1", " 1", "1.0", "+1", "1e0", "-0", "0"], kind=Kind.NUMERIC)
    assert found.domain.labels == ("0", "1")
    series = pl.Series(["1.0", "-0"], dtype=pl.Categorical)
    assert found.codes(series).tolist() == [1, 0]


def test_missing_values_and_their_marks_are_code_zero() -> None:
    found = coder(["a", None, "", "?", " "], marks=("?",))
    assert found.domain.labels == (None, "a")
    series = pl.Series(["?", None, "a", ""], dtype=pl.Categorical)
    assert found.codes(series).tolist() == [0, 0, 1, 0]


def test_the_kind_is_guessed_but_codes_with_leading_zeros_stay_categories() -> None:
    assert coder(["1", "2.5"]).domain.kind is Kind.NUMERIC
    assert coder(["01234", "99999"]).domain.kind is Kind.CATEGORICAL
    assert coder(["1", "x"]).domain.kind is Kind.CATEGORICAL
    assert coder([None, ""]).domain.labels == (None,)


@pytest.mark.parametrize("text", ["secret", "nan", "inf", "1_000", "0x10", "1,5", "--1"])
def test_what_is_not_a_number_is_counted_not_shown(text: str) -> None:
    with pytest.raises(InputError, match="1 of 2 distinct values are not numbers") as caught:
        coder(["1", text], kind=Kind.NUMERIC)
    assert text not in str(caught.value)


def test_dates_stand_in_their_order() -> None:
    found = coder(["2024-03-17", "2023-12-31", "2024-03-17 12:00:00"], kind=Kind.DATE)
    assert found.domain.labels == ("2023-12-31", "2024-03-17", "2024-03-17 12:00:00")
    assert found.domain.label(0, 1) == "[2023-12-31, 2024-03-17]"
    with pytest.raises(InputError, match="not dates"):
        coder(["17.3.2024 or so"], kind=Kind.DATE)


def test_ordinal_values_follow_their_order_and_release_as_intervals() -> None:
    found = coder(["L", "S", None], kind=Kind.ORDINAL, order=("S", "M", "L"))
    assert found.domain.labels == (None, "S", "M", "L")
    assert found.domain.label(1, 3) == "[S, L]"
    with pytest.raises(UnknownValueError):
        coder(["XL"], kind=Kind.ORDINAL, order=("S", "M", "L"))


def test_categories_follow_the_post_order_of_their_tree() -> None:
    found = coder(["c", "b", "a"], hierarchy=TREE)
    assert found.domain.labels == ("a", "b", "c")
    with pytest.raises(UnknownValueError, match="1 of 2 distinct values") as caught:
        coder(["a", "Alice"], hierarchy=TREE)
    assert "Alice" not in str(caught.value)


def test_a_flat_column_may_hold_a_star() -> None:
    found = coder(["*", "a"])
    assert found.domain.root == "**"


def test_a_builder_gives_numbers_their_ladder() -> None:
    found = coder(["21", "34", None], kind=Kind.NUMERIC, hierarchy=Intervals(width=[10]))
    ladder = found.domain.ladder
    assert ladder is not None
    assert ladder.get("[20, 30)") is not None
    assert found.domain.label(1, 2) == "[21, 34]"


def test_numbers_and_dates_with_types_are_coded_by_value() -> None:
    attribute = Attribute(name="c", role=Role.QUASI)
    series = pl.Series("c", [3.5, 1.0, None])
    found = code_column(series.unique(), attribute, marks=())
    assert found.domain.labels == (None, "1", "3.5")
    assert found.codes(series).tolist() == [2, 1, 0]
    days = pl.Series("c", ["2024-01-02", "2024-01-01"]).str.to_date()
    found = code_column(days.unique(), attribute, marks=())
    assert found.domain.kind is Kind.DATE
    assert found.codes(days).tolist() == [1, 0]


def test_a_value_that_was_not_there_before_is_refused() -> None:
    found = coder(["a", "b"])
    with pytest.raises(InputError, match="did the table change"):
        found.codes(pl.Series(["a", "zzz-never-seen"], dtype=pl.Categorical))
    with pytest.raises(InputError, match="did the table change"):
        found.codes(pl.Series([None], dtype=pl.Categorical))


def test_nested_values_are_refused() -> None:
    attribute = Attribute(name="c", role=Role.QUASI)
    with pytest.raises(InputError, match="not plain ones"):
        code_column(pl.Series("c", [[1], [2]]), attribute, marks=())
