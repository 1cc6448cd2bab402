"""Recognising records, whatever their order."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.engines.local.identities import Identity, hashed, named_columns, person_hashes
from shoal.engines.local.source import open_source
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("a ledger knows the order of the input")

KEY, OTHER = b"k" * 32, b"o" * 32
TEXTS = st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=3)


def schema(**columns):
    return Schema.from_document({"columns": {"age": "quasi", **columns}})


def identity(frame, known):
    return Identity.of(open_source(frame), known)


PLAIN = schema()


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12), st.randoms())
def test_hashes_follow_the_records_in_any_order_of_rows_and_columns(rows, chance):
    frame = pl.DataFrame(rows, schema={"age": pl.String, "job": pl.String}, orient="row")
    found = identity(frame, PLAIN)
    assert found == Identity(("age", "job"), is_key=False)
    hashes = found.hashes(open_source(frame), PLAIN, KEY).to_list()
    assert len(set(hashes)) == len(rows)  # equal records are told apart by their number
    mixed = list(rows)
    chance.shuffle(mixed)
    again = pl.DataFrame(mixed, schema=frame.schema, orient="row").select("job", "age")
    assert sorted(found.hashes(open_source(again), PLAIN, KEY)) == sorted(hashes)
    assert not set(found.hashes(open_source(frame), PLAIN, OTHER)) & set(hashes)


def test_no_two_records_look_alike():
    frame = pl.DataFrame({"a": ["1:x", "1", None, "-", ""], "b": ["", ":x", "-", None, None]})
    hashes = Identity(("a", "b"), is_key=False).hashes(open_source(frame), PLAIN, KEY)
    assert hashes.n_unique() == 5
    assert {len(each) for each in hashes} == {16}


@pytest.mark.parametrize(
    ("numbers", "columns"),
    [
        (["1", "2", "3"], ("id",)),
        (["1", "2", "2"], ("age", "id")),
        (["1", "2", None], ("age", "id")),
        (["1", "2", " "], ("age", "id")),
    ],
)
def test_a_key_must_be_complete_and_different_everywhere(numbers, columns):
    frame = pl.DataFrame({"id": numbers, "age": [1, 2, 3]})
    for role in ("identifying", "person"):
        found = identity(frame, schema(id=role))
        assert found == Identity(columns, is_key=columns == ("id",))


def test_a_key_recognises_a_record_that_changed():
    known = schema(id="identifying", ill="sensitive")
    frame = pl.DataFrame({"id": ["1", "2"], "age": [30, 40], "ill": ["flu", "gout"]})
    later = pl.DataFrame({"id": ["2", "1", "3"], "age": [41, 31, 5], "ill": ["flu", "flu", "flu"]})
    found = identity(frame, known)
    before = found.hashes(open_source(frame), known, KEY).to_list()
    after = found.hashes(open_source(later), known, KEY).to_list()
    assert after[:2] == before[::-1]
    assert after[2] not in before
    twice = pl.DataFrame({"id": ["1", "1", None, "4"], "age": [1, 2, 3, 4]})
    hashes = found.hashes(open_source(twice), known, KEY)
    assert hashes.is_null().to_list() == [True, True, True, False]
    assert found.missing_in(open_source(later.drop("id"))) == ["id"]


def test_persons_have_hashes_of_their_own():
    frame = pl.DataFrame({"who": ["a", "a", None], "age": [1, 2, 3]})
    known = schema(who="person")
    found = person_hashes(open_source(frame), known, KEY).to_list()
    assert found[0] == found[1] is not None
    assert found[2] is None
    assert person_hashes(open_source(frame), PLAIN, KEY).null_count() == 3
    assert found[0] != hashed(pl.Series(["a"]), KEY, "record").item()


def test_what_a_release_shows_is_named():
    known = schema(id="identifying", ill="sensitive", note="neutral")
    assert sorted(named_columns(known)) == ["ill", "note"]
