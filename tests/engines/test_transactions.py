"""Sets in cells: read from every form, written so that they are read again, judged by class."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.transactions.tables import TREE, baskets, records_of
from tests.naive import itemsets as naive

from shoal.core.errors import InputError
from shoal.engines.local.transactions import (
    baskets_of,
    covers_of,
    items_of,
    judged_sets,
    label_texts,
    lowest_supports,
    numbered,
    open_sets,
    opens_bare,
    read_sets,
    released_sets,
    write_sets,
)
from shoal.privacy import KmAnonymity, Requirements
from shoal.schema.attribute import Attribute, Kind, Role
from shoal.schema.schema import Schema
from shoal.table.baskets import SetRecoding

pytestmark = pytest.mark.local("columns of sets")

ITEMS = Attribute(name="items", role=Role.QUASI, kind=Kind.SET)
JSON = Attribute(name="items", role=Role.QUASI, kind=Kind.SET, set_sep="json")
TREED = Attribute(name="items", role=Role.QUASI, kind=Kind.SET, hierarchy=TREE)
SCHEMA = Schema.from_document({"columns": {"items": {"role": "quasi", "kind": "set"}}})


@pytest.mark.parametrize(
    ("column", "attribute"),
    [
        (["a|b", "b||b", "", None], ITEMS),
        (['["a", "b"]', '["b", "b"]', "[]", None], JSON),
        ([["b", "a"], ["b", None, "b"], [""], None], ITEMS),
    ],
)
def test_every_form_gives_the_same_sets(column, attribute):
    found = read_sets(pl.Series("items", column), attribute, "table")
    assert found.to_list() == [["a", "b"], ["b"], [], []]
    assert found.name == "items"


def test_categories_numbers_in_lists_and_marks_of_missing_cells():
    coded = pl.Series("items", ["a|b", "a"], dtype=pl.Categorical)
    assert read_sets(coded, ITEMS, "table").to_list() == [["a", "b"], ["a"]]
    numbers = pl.Series("items", [[1, 2], [2]])
    assert read_sets(numbers, ITEMS, "table").to_list() == [["1", "2"], ["2"]]
    marked = pl.Series("items", ["?", "a"])
    assert read_sets(marked, ITEMS, "table", ("?",)).to_list() == [[], ["a"]]
    nothing = pl.Series("items", [None, None])
    assert read_sets(nothing, ITEMS, "table").to_list() == [[], []]


@pytest.mark.parametrize("column", [[1.5, 2], [True, False], [{"a": 1}], [[["a"]]]])
def test_what_holds_no_sets_is_refused(column):
    with pytest.raises(InputError, match="holds no sets"):
        read_sets(pl.Series("items", column), ITEMS, "table")


def test_broken_json_is_refused_and_not_quoted():
    with pytest.raises(InputError, match="not a list of texts") as caught:
        read_sets(pl.Series("items", ['["a"]', '{"secret": 1}']), JSON, "table")
    assert "secret" not in str(caught.value)


@given(baskets())
def test_numbers_are_the_sets(table):
    names = [[table.items[item] for item in sorted(record)] for record in records_of(table)]
    found = baskets_of(pl.Series("items", names, dtype=pl.List(pl.String)))
    assert found.items == table.items
    assert records_of(found) == records_of(table)
    assert found.codes.dtype == np.int32
    assert found.starts.dtype == np.int64


@settings(deadline=None)
@given(baskets(), st.sampled_from([ITEMS, JSON]))
def test_what_is_released_is_read_again(table, attribute):
    head = np.array([n - n % 3 for n in range(len(table.items))], dtype=np.int32)
    recoding = SetRecoding.of_partition(table, head)
    texts = label_texts(recoding, attribute)
    assert len(set(texts)) == len(texts)
    cells = released_sets(recoding, attribute, as_list=False)
    lists = released_sets(recoding, attribute, as_list=True)
    again = read_sets(cells, attribute, "table").to_list()
    assert [set(each) for each in again] == [set(each) for each in lists.to_list()]
    starts, codes = recoding.released()
    ends = pairwise(starts.tolist())
    assert [set(each) for each in again] == [{texts[c] for c in codes[a:b]} for a, b in ends]


def test_a_whole_node_is_written_by_its_name_and_stands_for_its_leaves():
    table = baskets_of(pl.Series("items", [["a", "b", "c"], ["d", "g", "h"]]))
    head = np.array([0, 0, 0, 3, 4, 4], dtype=np.int32)
    texts = label_texts(SetRecoding.of_partition(table, head), TREED)
    assert texts == ["d", "first", "third"] or sorted(texts) == ["d", "first", "third"]
    stands = dict(zip(texts, items_of(texts, TREED), strict=True))
    assert stands["first"] >= {"a", "b", "c"}
    assert stands["d"] == {"d"}
    assert covers_of(["first", "(d, e)"], TREED, ["a", "e", "z"]) == {
        "a": (0,), "e": (1,), "z": (),
    }  # fmt: skip


def test_classes_are_numbered_by_all_columns():
    frame = pl.DataFrame({"x": [1, 1, 2, None], "y": ["a", "b", "a", "a"]})
    assert len(set(numbered(frame, 4).tolist())) == 4
    assert numbered(frame.select("x"), 4)[0] == numbered(frame.select("x"), 4)[1]
    assert numbered(frame.select([]), 4).tolist() == [0, 0, 0, 0]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.frozensets(st.sampled_from("abcd"), max_size=3)),
        min_size=1, max_size=15,
    ),
    st.integers(1, 3),
    st.sampled_from([1, 2, None]),
)  # fmt: skip
def test_each_class_is_judged_by_itself(rows, k, m):
    frame = pl.DataFrame(
        {"x": [x for x, _ in rows], "items": [sorted(items) for _, items in rows]},
        schema={"x": pl.Int64, "items": pl.List(pl.String)},
    )
    table = open_sets(frame, SCHEMA, ["x"])
    required = Requirements(k, (("a", "b"),))
    verdicts, sizes, _ = judged_sets(table, ["x"], [KmAnonymity(k, m), required])
    parts = [[items for x, items in rows if x == each] for each in sorted({x for x, _ in rows})]
    assert sorted(sizes.tolist()) == sorted(map(len, parts))
    rarest = [naive.rarest(part, m) for part in parts]
    assert verdicts[0].holds == all(
        len(part) >= k and (not low or low >= k) for part, low in zip(parts, rarest, strict=True)
    )
    fits = [naive.support(part, frozenset("ab")) for part in parts]
    assert verdicts[1].holds == all(not number or number >= k for number in fits)


def test_files_of_baskets_are_told_from_tables(tmp_path):
    bare, table = tmp_path / "a.txt", tmp_path / "b.txt"
    bare.write_text("a|b\r\n\r\nb\r\n")
    table.write_text("items\na|b\n")
    assert opens_bare(bare, SCHEMA)
    assert opens_bare(tmp_path / "any.basket", SCHEMA)
    assert not opens_bare(table, SCHEMA)
    assert not opens_bare(tmp_path / "any.csv", SCHEMA)
    assert not opens_bare(pl.DataFrame(), SCHEMA)
    found = open_sets(bare, SCHEMA, [])
    assert found.sets.to_list() == [["a", "b"], [], ["b"]]
    assert found.is_bare
    out = tmp_path / "out.basket"
    write_sets(pl.DataFrame({"items": ["a|b", "", "b"]}), out, found, spreadsheet_safe=None)
    assert out.read_text() == "a|b\n\nb\n"
    assert open_sets(table, SCHEMA, []).sets.to_list() == [["a", "b"]]


def test_a_file_that_cannot_be_read_says_so_and_quotes_nothing(tmp_path):
    broken = tmp_path / "x.basket"
    broken.write_bytes(b"secret|\xff\xfe\n")
    with pytest.raises(InputError, match="file of baskets") as caught:
        open_sets(broken, SCHEMA, [])
    assert "secret" not in str(caught.value)
    with pytest.raises(InputError, match="file of baskets"):
        open_sets(Path(tmp_path) / "none.basket", SCHEMA, [])
    with pytest.raises(InputError):
        open_sets(pl.DataFrame({"other": ["a"]}), SCHEMA, [])


@settings(deadline=None, max_examples=40)
@given(baskets(), st.data())
def test_supports_are_counted_within_the_class_of_each_record(table, data):
    classes = st.lists(st.integers(0, 2), min_size=table.records, max_size=table.records)
    drawn = np.array(data.draw(classes), dtype=np.int64)
    number = np.unique(drawn, return_inverse=True)[1].astype(np.int64)
    found = lowest_supports(table, number, (1, 2, None))
    records = [frozenset(map(str, record)) for record in records_of(table)]
    for m, low in found.items():
        for row, record in enumerate(records):
            beside = [records[n] for n in np.flatnonzero(number == number[row])]
            supports = [naive.support(beside, each) for each in naive.subsets(record, m)]
            assert low[row] == min(supports, default=len(beside))
