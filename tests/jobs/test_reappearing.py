"""Half of a table is released, as it was asked for, and nothing else of the request is done."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from shoal.engines.base import Checks, Output
from shoal.jobs.reappearing import reappearing
from shoal.jobs.requests import ReleaseRequest
from shoal.methods.registry import method_named
from shoal.schema.attribute import Labels
from shoal.schema.schema import Schema

SCHEMA = Schema.from_document({"columns": {"age": "quasi", "sex": "quasi", "illness": "sensitive"}})


@pytest.fixture
def table():
    """Return people who are all different."""
    return pl.DataFrame(
        {"age": list(range(40)), "sex": ["f", "m"] * 20, "illness": ["flu", "cold"] * 20}
    )


def asked(table, **words):
    return ReleaseRequest(
        table=table,
        schema=SCHEMA,
        method=method_named("bestcut"),
        release="draw",
        seed=3,
        output=Output(out="never-written.csv"),
        checks=Checks(attacks="all", fidelity=True),
        **words,
    )


def told(table, request=None):
    """Return the requests that were made, and what was found when halves are released as is."""
    made = []

    def released(request):
        made.append(request)
        return request.table

    request = request or asked(table)
    found = reappearing(request, request.schema.fit(table.columns), released)
    return made, found


def test_one_half_is_drawn_and_labelled_by_the_same_request(table):
    (drawn, labelled), _ = told(table)
    assert drawn.table.equals(labelled.table)
    assert abs(drawn.table.height - table.height / 2) <= 1
    assert drawn.release == "draw"
    assert labelled.release is None
    assert labelled.schema.labels is Labels.TIGHT
    assert drawn.seed == labelled.seed == 3
    assert drawn.method == labelled.method


def test_nothing_is_written_or_measured_for_it(table):
    for request in told(table)[0]:
        assert request.output == Output()
        assert request.checks == Checks(attacks="none")
        assert request.ledger is None
        assert request.nested_in is None


def test_a_release_of_raw_records_shows_every_member(table):
    _, found = told(table)
    assert found["members"]["exact_matches"] == found["members"]["unique"]
    assert found["members"]["covered_by_labels"] in (0.0, 1.0)
    assert found["control"]["exact_matches"] <= found["control"]["unique"]


def test_the_seed_says_who_is_a_member(table):
    one, other = (told(table, replace(asked(table), seed=seed))[0][0].table for seed in (1, 2))
    assert not one.equals(other)
