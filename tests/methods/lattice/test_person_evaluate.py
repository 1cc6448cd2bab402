"""Lattice searches where persons are counted, against every node tried by hand."""

from __future__ import annotations

from itertools import product

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.laws.test_persons import PROMISES, person_of
from tests.naive import persons as naive

from shoal import api
from shoal.core.errors import NoSolutionError
from shoal.schema.schema import Schema

EXACT = ("flash", "bfs", "dfs", "incognito", "best-first")
TREE = {"*": {"low": ["1", "2"], "high": ["3", "4"]}}
UP = {"1": "low", "2": "low", "3": "high", "4": "high"}
RECORD = st.tuples(
    st.sampled_from("1234"), st.sampled_from("1234"), st.sampled_from("xyz"),
    st.sampled_from(["p", "q", "r", "s", ""]),
)  # fmt: skip


def schema_of(promise, limit=0.0):
    tree = {"role": "quasi", "kind": "categorical", "hierarchy": {"tree": TREE}}
    columns = {"a": tree, "b": tree, "s": "sensitive", "who": "person"}
    return Schema.from_document(
        {"columns": columns, "privacy": [promise], "suppression_limit": limit,
         "utility": "level-sum", "waive": ["who"]}
    )  # fmt: skip


def frame_of(records):
    return pl.DataFrame(records, schema=["a", "b", "s", "who"], orient="row")


def at(value, level):
    return (value, UP[value], "*")[level]


def holding(records, promise):
    """Return the nodes at which every class keeps the promise, by trying all of them."""
    who = [person_of(record[3]) for record in records]
    found = []
    for node in product(range(3), range(3)):
        rows = [{"a": at(r[0], node[0]), "b": at(r[1], node[1]), "s": r[2]} for r in records]
        if not naive.failing(naive.classes_of(rows, ["a", "b"], who, "s"), promise):
            found.append(node)
    return found


@pytest.mark.parametrize("method", EXACT)
@given(records=st.lists(RECORD, min_size=3, max_size=20), promise=st.sampled_from(PROMISES))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_lowest_node_that_holds_is_found(method, records, promise):
    assume(any(person_of(record[3]) for record in records))
    nodes = holding(records, promise)
    try:
        report = api.anonymize(frame_of(records), schema_of(promise), method=method).report
    except NoSolutionError:
        assert not nodes
        return
    levels = report.facts["levels"]
    assert (levels["a"], levels["b"]) in nodes
    assert levels["a"] + levels["b"] == min(map(sum, nodes))
    assert report.facts["optimal"]


@given(
    records=st.lists(RECORD, min_size=3, max_size=20), promise=st.sampled_from(PROMISES),
    limit=st.sampled_from([0.1, 0.3, 0.6]),
    utility=st.sampled_from(["loss", "dm", "aecs", "non-uniform-entropy", "ncp"]),
)  # fmt: skip
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_with_suppression_every_exact_search_finds_the_same_loss(records, promise, limit, utility):
    """A bound that rules out too much would rule out other nodes in another search."""
    assume(any(person_of(record[3]) for record in records))
    found = []
    for method in EXACT:
        schema = schema_of(promise, limit)
        try:
            made = api.anonymize(frame_of(records), schema, method=method, utility=utility)
            found.append(pytest.approx(made.report.facts["loss"]))
        except NoSolutionError:
            found.append(None)
    assert all(each == found[0] for each in found)


def test_shares_of_persons_are_not_pruned_by_what_fails_above():
    """Two classes keep alpha apart and break it together: the finer node is found."""
    promise = {"model": "(alpha,k)-anonymity", "alpha": 0.5, "k": 2, "column": "s"}
    records = [
        ("1", "1", "x", "p"), ("1", "1", "y", "q"),
        ("2", "1", "y", "p"), ("2", "1", "x", "q"),
    ]  # fmt: skip
    assert holding(records, promise) == [(0, 0), (0, 1), (0, 2)]
    report = api.anonymize(frame_of(records), schema_of(promise), method="flash").report
    assert report.facts["levels"] == {"a": 0, "b": 0}


def test_nothing_holds_says_what_would_do():
    promise = {"model": "k-anonymity", "k": 3}
    records = [("1", "1", "x", "p")] * 9 + [("4", "4", "x", "q")]
    with pytest.raises(NoSolutionError, match="persons"):
        api.anonymize(frame_of(records), schema_of(promise), method="flash")
