"""Searching for releases in which whole persons are alike."""

from __future__ import annotations

import numpy as np
import pytest
from tests.laws.test_trajectories import frame_of, released, schema_of
from tests.naive import trajectories as naive

from shoal.core.errors import NoSolutionError
from shoal.methods.trajectories import Histories
from shoal.table.frequency import NOBODY, ONCE, FrequencyTable

K2 = {"model": "k-anonymity", "k": 2}


def history(person, *tuples):
    return [(a, b, "x", person) for a, b in tuples]


def table_of(persons, counts):
    """Return a table without quasi-identifiers: only who its rows are about matters here."""
    return FrequencyTable(
        domains=(),
        codes=np.zeros((len(counts), 0), dtype=np.int32),
        counts=np.array(counts, dtype=np.int64),
        sensitive_domains=(),
        sensitive=np.zeros((len(counts), 0), dtype=np.int32),
        persons=np.array(persons, dtype=np.int32),
    )


def test_records_are_put_together_by_persons():
    table = table_of([0, ONCE, 1, 0, NOBODY], [2, 2, 3, 1, 4])
    found = Histories.of(table)
    assert sorted(found.number.tolist()) == [1, 1, 3, 3]
    whole = [
        found.row[start : start + number].tolist()
        for start, number in zip(found.start, found.number, strict=True)
    ]
    assert sorted(whole) == [[0, 0, 3], [1], [1], [2, 2, 2]]
    three = np.flatnonzero(found.number == 3)
    assert found.rows(three, 3).tolist() == [[0, 0, 3], [2, 2, 2]]
    assert found.rows(three, 1).tolist() == [[0], [2]]  # the middle one


def test_persons_with_more_records_are_brought_down_and_the_rest_is_counted(tmp_path):
    records = [
        *history("p", ("1", "a"), ("2", "a"), ("3", "a")),
        *history("q", ("1", "a"), ("2", "a")),
    ]  # fmt: skip
    made, rows = released(tmp_path, records, schema_of(K2, limit=0.2))
    assert made.report.suppressed == 1
    assert made.report.facts["trajectories"]["records_a_person"] == {"2": 2}
    assert set(naive.alike(rows, ["a", "b"], [row["who"] for row in rows]).values()) == {2}


def test_what_the_limit_does_not_allow_is_said(tmp_path):
    records = [
        *history("p", ("1", "a"), ("2", "a"), ("3", "a")),
        *history("q", ("1", "a"), ("2", "a")),
    ]  # fmt: skip
    with pytest.raises(NoSolutionError, match=r"1 of 5 records .* --suppression-limit 0\.2"):
        released(tmp_path, records, schema_of(K2, limit=0.0))


def test_uniqueness_before_is_that_of_the_table(tmp_path):
    records = [
        *history("p", ("1", "a"), ("2", "a")), *history("q", ("2", "a"), ("1", "a")),
        *history("r", ("1", "a"), ("3", "b")), *history("s", ("5", "b"), ("3", "b")),
    ]  # fmt: skip
    made, _ = released(tmp_path, records, schema_of(K2))
    facts = made.report.facts["trajectories"]
    rows, who = frame_of(records).to_dicts(), [record[3] for record in records]
    alone = sum(size == 1 for size in naive.alike(rows, ["a", "b"], who).values())
    assert (facts["persons_before"], facts["unique_before"]) == (4, alone) == (4, 2)
    assert (facts["unique"], facts["persons"]) == (0, 4)
