"""Releases of a ledger laid over a new one, without files."""

from __future__ import annotations

import io

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.history import cells

from shoal.core.errors import InputError
from shoal.core.release_ledger import LedgerEntry
from shoal.engines.local.history import History, Known, identity_of
from shoal.engines.local.identities import CLASS, ID, WHO, Identity
from shoal.engines.local.source import open_source
from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("a ledger knows the order of the input")

SCHEMA = Schema.from_document(
    {"columns": {"nr": "identifying", "age": "quasi", "ill": "sensitive"}, "others": "drop"}
)
NUMBER = Identity(("nr",), is_key=True)


def known(numbers, ills=None):
    frame = pl.DataFrame(
        {
            "nr": pl.Series(numbers, dtype=pl.String),
            "age": pl.Series([1] * len(numbers), dtype=pl.Int64),
            "ill": pl.Series(ills or ["flu"] * len(numbers), dtype=pl.String),
        }
    )
    return Known(open_source(frame), SCHEMA, b"k" * 32)


def entry(number, classes, *promise):
    sizes = [list(classes).count(c) for c in set(classes) - {-1}]
    return LedgerEntry(
        number=number, at="2026-01-02T03:04:05+00:00", name=f"{number}.csv",
        records=len(classes), released=sum(sizes), classes=len(sizes),
        smallest_class=min(sizes, default=0),
        promise=[each.to_document() for each in promise or (KAnonymity(2),)],
        quasi=["age"], shown=["ill"], identity=["nr"], is_key=True,
    )  # fmt: skip


def past(now, number, numbers, classes, *promise):
    members = known(numbers).members(NUMBER, np.array(classes, dtype=np.int64))
    return now.past(entry(number, classes, *promise), members)


@st.composite
def states(draw):
    """Who is in each of three releases, and in which class."""
    people = st.lists(st.integers(0, 11), min_size=1, max_size=12, unique=True)
    found = []
    for _ in range(3):
        names = [f"p{i}" for i in draw(people)]
        some = st.lists(st.integers(-1, 2), min_size=len(names), max_size=len(names))
        found.append((names, draw(some)))
    return found


@given(states())
@settings(max_examples=60, deadline=None)
def test_everybody_is_looked_for_in_every_release(made):
    (*before, (names, classes)) = made
    now = known(names)
    earlier = tuple(past(now, i + 1, *each) for i, each in enumerate(before))
    smallest = entry(9, classes).smallest_class
    found = History(
        now, earlier, np.array(classes, dtype=np.int64), (KAnonymity(2),), smallest
    ).compose()
    released = [{name: c for name, c in zip(*each, strict=True) if c >= 0} for each in made]
    naive = cells([*released])
    assert found.published == len(naive)
    assert found.alone == sum(size == 1 for size in naive.values())
    assert found.smallest_class == min(naive.values(), default=0)
    least = max(min(2, *(entry(0, c).smallest_class for _, c in made)), 1)
    assert found.holds == (min(naive.values(), default=least) >= least)


def test_what_is_entered_has_neither_order_nor_numbers_of_the_release():
    names = [f"p{i}" for i in range(50)]
    held = known(names).members(NUMBER, np.array([i // 10 for i in range(50)], dtype=np.int64))
    frame = pl.read_ipc(io.BytesIO(held))
    assert frame.columns == [ID, WHO, CLASS]
    assert frame[ID].is_sorted()
    assert frame.group_by(CLASS).len()["len"].to_list() == [10] * 5
    again = known(names).members(NUMBER, np.array([i // 10 for i in range(50)], dtype=np.int64))
    other = pl.read_ipc(io.BytesIO(again))
    assert other[ID].to_list() == frame[ID].to_list()


def test_a_promise_that_a_release_breaks_alone_is_not_asked_of_both():
    names, ills = list("abcdefgh"), ["flu", "gout"] * 4
    now = known(names, ills)
    same = np.array([0, 0, 0, 0, 1, 1, 1, 1])  # two values each
    own = np.array([0, 1, 0, 1, 0, 1, 0, 1])  # one value each
    diverse = LDiversity(2, column="ill")
    first = past(now, 1, names, own.tolist(), KAnonymity(2))
    laid = History(now, (first,), same, (KAnonymity(2), diverse), 4)
    assert laid.values == ()  # the first release showed it, and never promised more
    promised = past(now, 1, names, same.tolist(), KAnonymity(2), diverse)
    laid = History(now, (promised,), same, (KAnonymity(2), diverse), 4)
    assert laid.values == (diverse,)
    assert laid.compose().holds
    weaker = History(now, (promised,), own, (KAnonymity(2),), 4)
    assert weaker.values == ()  # the new one shows it, and says that it promises less
    assert weaker.size == 2


def test_what_those_had_who_left_is_not_known():
    names, ills = list("abcdefgh"), ["flu", "gout"] * 4
    now = known(names[:4], ills[:4])
    diverse = LDiversity(2, column="ill")
    first = past(now, 1, names, [0] * 4 + [1] * 4, KAnonymity(2), diverse)
    found = History(now, (first,), np.zeros(4, dtype=np.int64), (KAnonymity(2),), 4).compose()
    assert found.unknown == 4
    assert not found.holds
    assert found.alone == 0
    assert any("4 of its records are not in the table any more" in w for w in found.warnings)


def test_a_release_is_looked_for_by_its_own_columns():
    now = known(["a", "b"])
    assert identity_of(entry(1, [0, 0])) == NUMBER
    lost = LedgerEntry(**{**_facts(entry(1, [0, 0])), "identity": ["ssn"]})
    assert now.is_like(lost)
    with pytest.raises(InputError, match=r"recognised by 'ssn'.*--waive-composition 1"):
        now.past(lost, b"")
    other = LedgerEntry(**{**_facts(lost), "quasi": ["height"]})
    assert not now.is_like(other)


def _facts(found):
    return found.to_document()


def test_a_table_that_changed_meanwhile_is_not_entered():
    with pytest.raises(InputError, match="changed while it was released"):
        known(["a", "b"]).members(NUMBER, np.zeros(3, dtype=np.int64))
