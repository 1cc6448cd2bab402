"""Tables as attacks read them: classes, cells and meanings by hand."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import InputError
from shoal.engines.local.attack_tables import (
    CLASS,
    KEY,
    ROWS,
    ReleasedClasses,
    cells_of,
    coded_texts,
    meanings,
)
from shoal.engines.local.source import open_source
from shoal.hierarchies.tree import Hierarchy
from shoal.schema.schema import Attribute, Role

pytestmark = pytest.mark.local("attacks")

TEXTS = st.one_of(st.none(), st.sampled_from(["b", "a", "ä", ""]))


@settings(max_examples=40, deadline=None)
@given(st.lists(TEXTS))
def test_texts_are_numbered_in_their_order_the_missing_one_first(values):
    texts, codes = coded_texts(pl.Series(values, dtype=pl.String))
    assert [texts[code] for code in codes] == values
    assert texts == sorted(set(values), key=lambda t: (t is not None, (t or "").encode()))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1))
def test_classes_and_cells_are_counted_as_by_hand(rows):
    frame = pl.DataFrame(rows, schema={"q": pl.String, "s": pl.String}, orient="row")
    source = open_source(frame)
    found = ReleasedClasses.read(source, ["q"])
    sizes = {found.labels[0][code]: int(n) for (code,), n in zip(found.codes, found.sizes)}  # noqa: B905
    assert sizes == Counter(q for q, _ in rows)
    cells = cells_of(source, ["q"], "s")
    assert {row[:2]: row[2] for row in cells.select("q", KEY, ROWS).rows()} == Counter(rows)
    numbers = dict(cells.select("q", CLASS).unique().rows())
    assert len(numbers) == len(set(numbers.values())) == len(sizes)


def test_a_release_without_a_record_is_refused():
    empty = open_source(pl.DataFrame({"q": []}, schema={"q": pl.String}))
    with pytest.raises(InputError, match="header but no record"):
        ReleasedClasses.read(empty, ["q"])


def test_a_sensitive_column_may_be_a_quasi_identifier_too():
    source = open_source(pl.DataFrame({"q": ["x", "x", "y"]}))
    assert sorted(cells_of(source, ["q"], "q").select("q", KEY, ROWS).rows()) == [
        ("x", "x", 2), ("y", "y", 1)
    ]  # fmt: skip


def test_values_under_one_node_mean_the_same_but_the_root_means_nothing():
    tree = Hierarchy.from_rows(
        "ill", [("flu", "lungs", "*"), ("cold", "lungs", "*"), ("gout", "joints", "*")]
    )
    attribute = Attribute(name="ill", role=Role.SENSITIVE, hierarchy=tree)
    flu, cold, gout, lungs, joints, unknown, none = meanings(
        ["flu", "cold", "gout", "lungs", "joints", "never seen", None], attribute
    ).tolist()
    assert flu == cold
    assert len({flu, gout, unknown, none}) == 4
    assert lungs != joints  # their parent is the root


def test_numbers_close_together_mean_the_same_and_words_only_themselves():
    plain = Attribute(name="s", role=Role.SENSITIVE)
    near, close, far, none = meanings(["0", "9", "100", None], plain).tolist()
    assert near == close
    assert len({near, far, none}) == 3
    assert meanings(["0", "9", "Alice"], plain).tolist() == [0, 1, 2]
    assert meanings(["5", "5.0"], plain).tolist() == [0, 0]
    assert meanings([], plain).tolist() == []


@pytest.mark.parametrize("word", ["inf", "-inf", "nan", "1e999", "1_000", "١٢"])
def test_what_python_reads_as_a_number_and_a_column_does_not_is_a_word(word):
    plain = Attribute(name="s", role=Role.SENSITIVE)
    assert meanings(["0", "1", word], plain).tolist() == [0, 1, 2]


@given(st.lists(st.one_of(st.floats(), st.text(max_size=3)).map(str), unique=True))
def test_whatever_stands_in_a_sensitive_column_means_something(values):
    found = meanings(values, Attribute(name="s", role=Role.SENSITIVE)).tolist()
    assert [set(found), len(found)] == [set(range(len(set(found)))), len(values)]
