"""What can be asked of xk-anonymity."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.jobs.people import plain_schema

from shoal.core.errors import SchemaError
from shoal.engines.base import Output
from shoal.jobs import requests
from shoal.jobs.xk_requests import RecommendRequest, XkRequest

SCHEMA = plain_schema()


def test_a_release_under_xk_is_a_sorted_file():
    asked = XkRequest(table="t.csv", schema=SCHEMA, k=5, output=Output(out="r.csv"))
    assert asked.out == "r.csv"
    assert replace(asked, output=Output(out="r.csv", suppressed="remove")).out == "r.csv"
    wrong = replace(asked, output=Output(suppressed="star", keep_order=True))
    with pytest.raises(SchemaError) as caught:
        _ = wrong.out
    assert len(caught.value.faults) == 3


def test_both_are_requests_like_any_other():
    assert requests.XkRequest is XkRequest
    assert requests.RecommendRequest is RecommendRequest
    asked = RecommendRequest(table="t.csv", schema=SCHEMA, k=5)
    assert asked.choices is None
