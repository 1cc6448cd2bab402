"""Count queries: the truth and the answer of the release, record by record."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.measures.fidelity.made import KINDS, made, releases
from tests.naive import fidelity as naive

from shoal.measures.fidelity import queries
from shoal.measures.fidelity.queries import (
    MOST_COLUMNS,
    QUERIES,
    answers,
    make_queries,
    query_errors,
    truths,
)


def conditions(found, query):
    """Return a query as sets of texts."""
    return [
        (part.column, set(found.columns[part.column].domain.labels[part.low : part.high + 1]))
        for part in query
    ]


@settings(max_examples=40, deadline=None)
@given(releases())
def test_truths_and_answers_are_those_record_by_record(found):
    kinds = [
        KINDS[name] if name == "c" else "number" if column.half else "real"
        for name, column in zip(found.names, found.columns, strict=True)
    ]
    columns = [found.column(name)[0] for name in found.names]
    asked = make_queries(found.columns, found.table.codes, found.table.counts, seed=3)[:25]
    true = truths(asked, found.table.codes, found.table.counts.astype(float))
    said = answers(asked, found.columns, found.released.sizes)
    for query, one, other in zip(asked, true, said, strict=True):
        wanted = conditions(found, query)
        assert one == naive.count(wanted, found.before)
        assert one > 0
        expected = naive.answer(wanted, found.after, columns, kinds)
        assert other == pytest.approx(expected, abs=1e-9)


def test_queries_are_conjunctions_of_a_few_columns_and_the_same_for_a_seed():
    rows = [(str(n), "red", str(n % 13), f"{n / 7:g}") for n in range(300)]
    found = made(("n", "c", "few", "r"), rows, rows)
    asked = make_queries(found.columns, found.table.codes, found.table.counts)
    assert len(asked) == QUERIES
    assert {len(query) for query in asked} == {1, 2, MOST_COLUMNS}
    assert all(len({part.column for part in query}) == len(query) for query in asked)
    assert asked == make_queries(found.columns, found.table.codes, found.table.counts)
    other = make_queries(found.columns, found.table.codes, found.table.counts, seed=1)
    assert asked != other


def test_what_is_released_as_it_is_is_answered_rightly_and_what_is_suppressed_is_missed():
    rows = [(str(n), "red" if n % 2 else "blue") for n in range(60)]
    same = made(("n", "c"), rows, rows)
    words = (same.columns, same.table.codes, same.table.counts)
    assert query_errors(*words, same.released.sizes).mean == 0.0
    half = made(("n", "c"), rows, [row for row in rows if row[1] == "red"])
    errors = query_errors(half.columns, half.table.codes, half.table.counts, half.released.sizes)
    assert errors.mean > 0.3


def test_a_large_table_is_sampled_and_it_is_said(monkeypatch):
    rng = np.random.default_rng(0)
    rows = [(str(a), str(b)) for a, b in rng.integers(0, 13, (3000, 2)).tolist()]
    found = made(("n", "few"), rows, rows)
    monkeypatch.setattr(queries, "SAMPLED", 100)
    errors = query_errors(
        found.columns, found.table.codes, found.table.counts, found.released.sizes
    )
    assert errors.sampled == 100
    assert 0 < errors.mean < 0.6
