"""A table of texts gives each text its number, however long it is and whatever it shares."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.engines.encoding.views import views_of
from shoal.kernels.encoding.texts import TextNumbers

# Texts around the lengths at which they are laid out or compared in another way, which
# differ in one place only, or not in their first or last bytes.
LENGTHS = (0, 1, 4, 5, 11, 12, 13, 19, 20, 21, 28, 29, 36, 37, 100)
texts = st.one_of(
    st.none(),
    st.sampled_from(LENGTHS).map("x".__mul__),
    st.builds(
        lambda size, at: "x" * (at % size) + "y" + "x" * (size - at % size - 1),
        st.sampled_from(LENGTHS[1:]),
        st.integers(0, 99),
    ),
    st.sampled_from(
        ["", "\0", "\0\0", "é", "e\u0301", "Ünïcödé", "日本", "日本語のながいもの", "🐟" * 5]
    ),
    st.text(max_size=30),
)


class Naive:
    """A dictionary: numbers in the order of the first rows."""

    def __init__(self):
        self.numbers = {}

    def find(self, column, missing):
        number = self.numbers
        return [missing if t is None else number.setdefault(t, len(number)) for t in column]


def found_in(table, series, known, missing=-7, asked=None):
    """Return the numbers that a table finds, new texts being numbered by `known`."""
    found = np.empty(len(series), dtype=np.int32)
    begin = 0
    for views in views_of(series):
        part = series[begin : begin + len(views.views) // 2]

        def learn(rows, part=part):
            new = part.gather(rows).to_list()
            if asked is not None:
                asked.extend(new)
            return [known.setdefault(text, len(known)) for text in new]

        table.find(views, found[begin : begin + len(part)], missing=missing, learn=learn)
        begin += len(part)
    assert begin == len(series)
    return found.tolist()


@settings(max_examples=100, deadline=None)
@given(
    batches=st.lists(st.lists(texts, max_size=40), min_size=1, max_size=4),
    salt=st.integers(0, 2**64 - 1),
    room=st.sampled_from([2, 8, 512]),
    most=st.sampled_from([1, 3, 1 << 19]),
)
def test_a_text_has_the_number_that_a_dictionary_gives_it(batches, salt, room, most):
    naive, known, asked = Naive(), {}, []
    table = TextNumbers(salt=salt, room=room, most=most)
    for column in batches:
        series = pl.Series(column, dtype=pl.String)
        assert found_in(table, series, known, asked=asked) == naive.find(column, -7)
    if most > 1000:  # nothing was forgotten: each text was asked for once, in order
        assert asked == list(naive.numbers)


def test_many_long_texts_make_the_table_grow():
    column = [f"2026-01-01T{i:05}:00:00.000Z" for i in range(5000)] * 2
    naive, asked = Naive(), []
    found = found_in(TextNumbers(), pl.Series(column), {}, asked=asked)
    assert found == naive.find(column, -7)
    assert len(asked) == 5000


def test_one_very_long_text_finds_room():
    column = ["a", "b" * 100_000, "b" * 99_999 + "c", "b" * 50_000 + "c" + "b" * 49_999, "a"]
    assert found_in(TextNumbers(), pl.Series(column * 2), {}) == [0, 1, 2, 3, 0] * 2


def test_memory_is_bounded_when_texts_never_end():
    table = TextNumbers(most=100, room=8)
    known = {}
    for batch in range(20):
        column = [f"the text with the number {batch * 200 + i // 2}" for i in range(400)]
        assert found_in(table, pl.Series(column), known) == [known[text] for text in column]
    assert len(table._table) <= 512
    assert len(table._heap) <= 2000
    assert len(known) == 4000
