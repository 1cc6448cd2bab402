"""Persons of a release get numbers that say nothing the release does not say without them."""

from collections import defaultdict

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.engines.local.numbering import numbered

pytestmark = pytest.mark.local("trajectories")
VALUE = st.sampled_from(["", "b", "aa", "1", "10", None])
ROWS = st.lists(st.tuples(VALUE, VALUE, st.sampled_from("pqrst")), min_size=1, max_size=30)


def frame_of(rows):
    names = {"x": pl.String, "y": pl.String, "who": pl.String}
    return pl.DataFrame(rows, schema=names, orient="row")


@settings(deadline=None)
@given(rows=ROWS, data=st.data())
def test_names_and_order_of_the_rows_decide_nothing(rows, data):
    found = numbered(frame_of(rows), "who", keep_order=False)
    names = dict(zip("pqrst", data.draw(st.permutations("vwxyz")), strict=True))
    other = data.draw(st.permutations([(x, y, names[who]) for x, y, who in rows]))
    assert numbered(frame_of(other), "who", keep_order=False).rows() == found.rows()


@settings(deadline=None)
@given(rows=ROWS)
def test_records_stay_with_their_person_and_in_their_place_if_that_is_asked(rows):
    found = numbered(frame_of(rows), "who", keep_order=True)
    assert found.drop("who").rows() == [row[:2] for row in rows]
    pairs = set(zip((row[2] for row in rows), found["who"], strict=True))
    assert len(pairs) == len({old for old, _ in pairs}) == len({new for _, new in pairs})
    assert {len(new) for _, new in pairs} == {2}  # p1 … p5


@settings(deadline=None)
@given(rows=ROWS)
def test_numbers_follow_what_a_person_releases(rows):
    found = numbered(frame_of(rows), "who", keep_order=False)
    content = defaultdict(list)
    for x, y, who in found.rows():
        content[who].append(((x is not None, x or ""), (y is not None, y or "")))
    in_order = [sorted(content[who]) for who in sorted(content)]
    assert in_order == sorted(in_order)


def test_a_release_of_nothing_but_the_person_has_numbers_too():
    assert numbered(pl.DataFrame({"who": ["b", "a", "b"]}), "who", keep_order=False).rows() == [
        ("p1",), ("p2",), ("p2",),
    ]  # fmt: skip
