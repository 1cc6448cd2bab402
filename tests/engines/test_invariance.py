"""m-invariance of written releases, judged and attacked: against the naive twin."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import m_invariance as naive

from shoal.core.errors import InputError, UnsafeReleaseError
from shoal.engines.local.identities import SIGNATURE, WHO
from shoal.engines.local.invariance import (
    check_invariance,
    intersections,
    persons_alike,
    sealed_signatures,
    shown_of,
    values_by_class,
)
from shoal.engines.local.source import open_source
from shoal.engines.person_key import PERSON
from shoal.schema.schema import Schema

KEY = b"k" * 32
SCHEMA = Schema.from_document(
    {"columns": {"age": "quasi", "ill": "sensitive", "who": "person"}, "missing": ["NA"]}
)
ROW = st.tuples(
    st.sampled_from(["20", "30", None]), st.sampled_from(["flu", "cold", None]), st.integers(0, 9)
)
RELEASE = st.lists(ROW, min_size=1, max_size=10, unique_by=lambda row: row[2])


def table(rows):
    """Return a release; of persons below 2 nobody is behind the record."""
    return open_source(
        pl.DataFrame(
            {
                "age": [age for age, _, _ in rows],
                "ill": [ill for _, ill, _ in rows],
                "who": [None if who < 2 else f"p{who}" for _, _, who in rows],
            },
            schema={"age": pl.String, "ill": pl.String, "who": pl.String},
        )
    )


def plain(rows):
    return [
        {"age": age, "ill": ill, "person": None if who < 2 else f"p{who}"} for age, ill, who in rows
    ]


@settings(deadline=None)
@given(st.lists(RELEASE, min_size=2, max_size=3))
def test_it_is_judged_as_the_naive_checker_does(releases):
    shown = [shown_of(table(rows), SCHEMA, "ill", KEY) for rows in releases]
    for rows, each in zip(releases, shown, strict=True):
        assert each.counterfeits == sum(who < 2 for _, _, who in rows)
    rows = [plain(each) for each in releases]
    expected = naive.is_invariant(rows, ("age",), "ill")
    try:
        for number in range(1, len(shown)):
            earlier = [each.signatures for each in shown[:number]]
            check_invariance(shown[number], sealed_signatures(earlier, "ledger"))
    except (UnsafeReleaseError, InputError):
        assert not expected
    else:
        assert expected


@settings(deadline=None)
@given(st.lists(RELEASE, min_size=1, max_size=3))
def test_the_attack_finds_what_the_naive_one_finds(releases):
    found = intersections([values_by_class(table(rows), SCHEMA, "ill") for rows in releases])
    expected = naive.left_over([plain(each) for each in releases], ("age",), "ill")
    left = dict(found.select(PERSON, "together").iter_rows())
    assert left == {who: len(values) for who, values in expected.items()}
    assert (found["together"] <= found["alone"]).all()


@settings(deadline=None)
@given(st.lists(RELEASE, min_size=1, max_size=3))
def test_persons_are_alike_who_share_all_their_classes(releases):
    found = persons_alike([values_by_class(table(rows), SCHEMA, "ill") for rows in releases])
    known = [plain(each) for each in releases]
    classes = {}
    for number, rows in enumerate(known):
        for row in rows:
            if row["person"] is not None:
                classes.setdefault(row["person"], [[] for _ in known])[number].append(row["age"])
    of = Counter(str([sorted(each) for each in whole]) for whole in classes.values())
    expected = [of[str([sorted(each) for each in whole])] for whole in classes.values()]
    assert sorted(found.to_list()) == sorted(expected)


def test_values_are_compared_as_they_are_counted():
    rows = [("20", "flu", 2), ("20", " flu", 3), ("20", "NA", 4), ("20", None, 5)]
    (signature,) = shown_of(table(rows), SCHEMA, "ill", KEY).signatures[SIGNATURE].unique()
    assert len(signature) == 2 * 16


def test_a_person_behind_two_records_and_a_ledger_with_two_signatures_are_refused():
    twice = [("20", "flu", 2), ("30", "cold", 2)]
    with pytest.raises(UnsafeReleaseError, match="1 persons have several records"):
        shown_of(table(twice), SCHEMA, "ill", KEY)
    one, other = ([(age, ill, 2)] for age, ill in (("20", "flu"), ("20", "cold")))
    held = [shown_of(table(rows), SCHEMA, "ill", KEY).signatures for rows in (one, other)]
    with pytest.raises(InputError, match="different signatures"):
        sealed_signatures(held, "ledger")


def test_no_value_is_in_what_is_sealed():
    found = shown_of(table([("20", "flu", 2)]), SCHEMA, "ill", KEY).signatures
    assert found.schema == {WHO: pl.Binary, SIGNATURE: pl.Binary}
    assert b"flu" not in found[SIGNATURE][0]
    other = shown_of(table([("20", "flu", 2)]), SCHEMA, "ill", b"o" * 32).signatures
    assert other[SIGNATURE][0] != found[SIGNATURE][0]
