"""What `auto` chooses: by sizes, by a sample, and never worse than what it chose from."""

from dataclasses import replace

import numpy as np
import pytest
from tests.methods.clustering.test_laws import numbers

from shoal.engines.base import Search
from shoal.engines.counts import CountsHere
from shoal.jobs import auto
from shoal.measures.utility import utility_of
from shoal.methods.catalogue import BestCut, Mondrian, Refine, RefineCentroids
from shoal.methods.method import Setting
from shoal.privacy import KAnonymity
from shoal.schema.schema import Schema
from shoal.table.frequency import sampled


def counts_of(table):
    return CountsHere(Schema(attributes=()), table, lambda *_: pytest.fail("no partitions"))


def asked(k=5, release="generalize", method=None):
    return Search(
        method=method or Mondrian(), release=release, promise=(KAnonymity(k),), setting=Setting()
    )


def test_a_small_table_is_searched_at_normal_effort():
    choice = auto.choose(counts_of(numbers(200, 3, 40)), asked(), learns=False)
    assert choice.method == Refine(effort="normal")
    assert "few enough" in choice.why


def test_a_large_one_is_searched_fast(monkeypatch):
    monkeypatch.setattr(auto, "ROWS", 100)
    choice = auto.choose(counts_of(numbers(200, 3, 40)), asked(), learns=False)
    assert choice.method == Refine(effort="fast")


@pytest.mark.parametrize(("gain", "effort"), [(0.0, "normal"), (1.0, "fast")])
def test_in_between_a_sample_decides(monkeypatch, gain, effort):
    monkeypatch.setattr(auto, "WORK", (1, 1 << 40))
    monkeypatch.setattr(auto, "SAMPLE", 100)
    monkeypatch.setattr(auto, "GAIN", gain)
    choice = auto.choose(counts_of(numbers(300, 3, 40)), asked(), learns=False)
    assert choice.method == Refine(effort=effort)
    assert "on a sample" in choice.why


def test_a_model_has_no_gaps():
    choice = auto.choose(counts_of(numbers(50, 2, 9)), asked(), learns=True)
    assert choice.method == Mondrian()


def test_it_never_loses_more_than_what_it_chose_from():
    counts = counts_of(numbers(300, 3, 40))
    choice = auto.choose(counts, asked(), learns=False)

    def ncp(method):
        return utility_of(counts.search(asked(method=method)).grouping(None))["ncp"]

    mine = ncp(choice.method)
    assert all(mine <= ncp(m) for m in (Mondrian(), BestCut(), Refine(effort="fast")))


def test_centroids_are_chosen_by_the_squared_error():
    counts = counts_of(numbers(120, 2, 30))
    choice = auto.choose(counts, asked(release="aggregate"), learns=False)

    def sse(method):
        return counts.search(asked(release="aggregate", method=method)).sse_loss()

    assert sse(choice.method) <= min(sse(m) for m in (Mondrian(), BestCut(), RefineCentroids()))
    assert "squared error" in choice.why


def test_the_same_table_gives_the_same_choice():
    one, two = (
        auto.choose(counts_of(numbers(90, 2, 30)), asked(release="aggregate"), learns=False)
        for _ in range(2)
    )
    assert one == two


def test_a_sample_is_spread_over_the_table():
    table = numbers(400, 2, 50)
    some = sampled(table, 40)
    assert some.rows == 40
    assert (some.codes[0] == table.codes[0]).all()
    assert (some.codes[-1] == table.codes[-1]).all()
    assert sampled(table, 5_000) is table
    known = replace(table, persons=np.arange(table.rows, dtype=np.int32))
    rows = np.linspace(0, table.rows - 1, 40).astype(int)
    assert sampled(known, 40).persons.tolist() == rows.tolist()
    assert np.all(np.diff(some.codes[:, 0]) >= 0)
