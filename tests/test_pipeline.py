"""One run through the house: what is refused before any search."""

from __future__ import annotations

import time

import polars as pl
import pytest

import shoal
from shoal import api
from shoal.core.errors import NoSolutionError
from shoal.methods import registry
from shoal.pipeline import Job, Options

MASK = {"role": "quasi", "kind": "categorical", "hierarchy": {"mask": {"length": 300}}}
FEW = shoal.Schema.from_document(
    {"columns": {"a": MASK, "b": MASK}, "privacy": [{"model": "k-anonymity", "k": 5}],
     "suppression_limit": 1.0}
)  # fmt: skip


def three():
    texts = [letter * 300 for letter in "xyz"]
    return pl.DataFrame({"a": texts, "b": texts[::-1]})


@pytest.mark.parametrize("method", ["auto", *(method.name for method in api.methods())])
def test_fewer_records_than_k_are_seen_before_any_search(method, monkeypatch):
    if method not in ("auto", *registry.METHODS):
        pytest.skip("is no search for a recoding")

    def never(*args, **kwargs):
        raise AssertionError("searched")

    monkeypatch.setattr(registry.Method, "run", never)
    job = Job.open(three(), FEW, None, Options(method=method))
    with pytest.raises(NoSolutionError, match="all 3 records as one class reach 3"):
        job.search()


def test_bfs_with_3_records_and_a_mask_of_300_levels_refuses_at_once():
    began = time.process_time()
    with pytest.raises(NoSolutionError, match="k-anonymity"):
        api.anonymize(three(), FEW, options=Options(method="bfs"))
    assert time.process_time() - began < 3
