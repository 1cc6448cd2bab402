"""Looking at a table, against a plain list that is sorted and filtered as one would by hand."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import InputError
from shoal.jobs.browse import HEAD, KINDS, MOST_ROWS, Browsed, Condition, Filter, View

CELLS = st.sampled_from(["3", "10", "2,5", "-1", "b", "B", "ab", "é", " 7", "?", None, "1e2"])
TABLES = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.tuples(*[CELLS] * width), min_size=1, max_size=25)
)
CONDITIONS = st.builds(
    Condition, kind=st.sampled_from(KINDS), value=st.sampled_from(["3", "b", "", "2.5", "A"]),
    to=st.sampled_from(["10", "", "x"]),
)  # fmt: skip


def number(text):
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def holds(condition, text):
    """Say by hand whether a cell fits a condition."""
    kind, value = condition.kind, condition.value.lower()
    is_blank = text is None or not text.strip()
    if kind in ("blank", "notBlank"):
        return is_blank if kind == "blank" else not is_blank
    if text is None:
        return False
    low, mine, asked = text.lower(), number(text), number(condition.value)
    is_equal = low == value or (mine is not None and asked is not None and mine == asked)
    if kind in ("contains", "notContains"):
        return (value in low) == (kind == "contains")
    if kind in ("equals", "notEqual"):
        return is_equal == (kind == "equals")
    if kind in ("startsWith", "endsWith"):
        return low.startswith(value) if kind == "startsWith" else low.endswith(value)
    if mine is None or asked is None:
        return False
    to = number(condition.to)
    return {
        "lessThan": mine < asked,
        "lessThanOrEqual": mine <= asked,
        "greaterThan": mine > asked,
        "greaterThanOrEqual": mine >= asked,
        "inRange": asked <= mine and (to is None or mine <= to),
    }[kind]


def by_hand(rows, view):
    """Return the numbers of the records of a view, sorted by the last column first."""
    found = [
        at for at, row in enumerate(rows)
        if all(
            (any if each.is_any else all)(holds(c, row[each.column]) for c in each.conditions)
            for each in view.filters
        )
    ]  # fmt: skip
    for column, descends in reversed(view.sort):

        def place(at, column=column):
            value = number(rows[at][column])
            return (value is None, value or 0.0, "" if value is not None else rows[at][column])

        missing = [at for at in found if rows[at][column] is None]
        present = [at for at in found if rows[at][column] is not None]
        found = sorted(present, key=place, reverse=False)
        if descends:  # ties keep their order, so it is not the list turned round
            groups = {}
            for at in found:
                groups.setdefault(place(at), []).append(at)
            found = [at for key in reversed(groups) for at in groups[key]]
        found += missing
    return found


def frame_of(rows):
    width = len(rows[0])
    return pl.DataFrame({f"c{j}": [row[j] for row in rows] for j in range(width)},
                        schema={f"c{j}": pl.String for j in range(width)})  # fmt: skip


@given(
    TABLES,
    st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=2),
    st.lists(st.tuples(st.integers(0, 2), st.lists(CONDITIONS, min_size=1, max_size=2),
                       st.booleans()), max_size=2),
)  # fmt: skip
def test_a_view_is_what_one_would_sort_and_filter_by_hand(rows, sort, filters):
    width = len(rows[0])
    view = View(
        sort=tuple({at % width: (at % width, down) for at, down in sort}.values()),
        filters=tuple(
            Filter(column=at % width, conditions=tuple(conditions), is_any=is_any)
            for at, conditions, is_any in filters
        ),
    )
    table = Browsed(frame_of(rows))
    found = table.block(view, 0, MOST_ROWS)
    wanted = by_hand(rows, view)
    assert [n - 1 for n, _ in found.rows] == wanted
    assert [cells for _, cells in found.rows] == [rows[at] for at in wanted]
    assert found.records == len(wanted)


@pytest.mark.parametrize("descends", [False, True])
def test_a_column_without_any_value_can_be_sorted(descends):
    table = Browsed(
        pl.DataFrame({"x": [None, None], "y": ["a", "b"]}, schema_overrides={"x": pl.String})
    )
    found = table.block(View(sort=((0, descends),)), 0, 5)
    assert [n for n, _ in found.rows] == [1, 2]


def big(tmp_path, rows=3 * HEAD):
    place = tmp_path / "big.csv"
    lines = [f"{at},{at * 7 % rows},{'ab'[at % 2]}" for at in range(rows)]
    place.write_text("\n".join(["id,x,y", *lines]) + "\n", encoding="utf-8")
    return place


def test_the_first_records_are_there_before_the_rest_is_read(tmp_path, monkeypatch):
    table = Browsed(big(tmp_path))
    monkeypatch.setattr(table, "start", lambda: None)  # the rest never comes
    found = table.block(View(), 0, 100)
    assert [n for n, _ in found.rows] == list(range(1, 101))
    assert found.records == 3 * HEAD  # the file's own number, not that of the head


def test_a_block_is_bounded_whatever_is_asked(tmp_path):
    table = Browsed(big(tmp_path))
    table.wait()
    assert len(table.block(View(), 0, 10**9).rows) == MOST_ROWS
    assert table.block(View(), 10**9, 10).rows == ()
    assert table.block(View(), -5, -5).rows == ()
    assert table.records == 3 * HEAD


def test_pages_of_a_view_are_one_list(tmp_path):
    table, view = Browsed(big(tmp_path)), View(sort=((1, True),))
    seen = [row for first in range(0, 3 * HEAD, MOST_ROWS)
            for row in table.block(view, first, MOST_ROWS).rows]  # fmt: skip
    values = [int(cells[1]) for _, cells in seen]
    assert values == sorted(range(3 * HEAD), reverse=True)


def test_few_indices_are_kept(tmp_path):
    table = Browsed(big(tmp_path))
    for text in "abcdefgh":
        asked = Filter(column=2, conditions=(Condition(kind="contains", value=text),))
        table.block(View(filters=(asked,)), 0, 1)
    assert len(table._whole._indices) <= 4


def test_a_column_or_a_comparison_that_is_not_there_is_refused(tmp_path):
    table = Browsed(big(tmp_path))
    for view in (View(sort=((3, True),)), View(filters=(Filter(column=-1, conditions=()),))):
        with pytest.raises(InputError, match="column"):
            table.block(view, 0, 1)
    with pytest.raises(InputError, match="no such comparison"):
        Condition(kind="__class__")


def test_what_was_found_of_a_file_that_is_not_plain(tmp_path):
    place = tmp_path / "ward.csv"
    place.write_bytes("Station 7\n\nName;Größe;Ort\nMüller;1,80;a\nJäger;1,75;b\n".encode("cp1252"))
    table = Browsed(place)
    facts = table.facts()
    assert (facts["separator"], facts["encoding"], facts["skip_lines"]) == (";", "cp1252", 2)
    assert facts["records"] == 2
    assert table.numeric == (False, True, False)
    assert table.block(View(), 0, 5).rows[0][1] == ("Müller", "1,80", "a")


def test_typed_tables_are_shown_as_their_texts(tmp_path):
    frame = pl.DataFrame({"n": [1.5, None, 10.0], "d": pl.Series(["2024-05-01"] * 3).str.to_date()})
    frame.write_parquet(tmp_path / "t.parquet")
    table = Browsed(tmp_path / "t.parquet")
    table.wait()
    rows = table.block(View(sort=((0, True),)), 0, 9).rows
    assert [cells[0] for _, cells in rows] == ["10.0", "1.5", None]
    assert rows[0][1][1] == "2024-05-01"


def test_a_larger_table_shows_its_first_records_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.jobs.browse.MOST_BYTES", 20_000)
    table = Browsed(big(tmp_path))
    table.wait()
    facts = table.facts()
    assert not facts["is_whole"]
    assert HEAD <= facts["shown"] < 3 * HEAD
    assert table.block(View(), 0, 5).records == facts["shown"]


def test_a_fault_on_the_way_is_said_without_the_data(tmp_path, monkeypatch):
    table = Browsed(big(tmp_path))

    def broken(source):
        raise RuntimeError("Alice")

    monkeypatch.setattr("shoal.jobs.browse._Whole.read", broken)
    with pytest.raises(InputError, match="RuntimeError") as caught:
        table.wait()
    assert "Alice" not in str(caught.value)


def test_no_repr_shows_what_was_looked_for_or_found(tmp_path):
    table = Browsed(big(tmp_path))
    asked = Filter(column=2, conditions=(Condition(kind="equals", value="secret"),))
    block = table.block(View(), 0, 2)
    assert "secret" not in repr(View(filters=(asked,)))
    assert "cells" not in repr(block)
    assert "rows=" not in repr(block)
