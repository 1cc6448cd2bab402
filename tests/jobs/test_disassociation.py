"""Releases of clusters and chunks: verified as they are written, refused where that fails."""

from __future__ import annotations

import polars as pl
import pytest
from tests.jobs.test_transactions import shop
from tests.naive import itemsets as naive

import shoal
from shoal.core.errors import MethodError, UnsafeReleaseError
from shoal.jobs import disassociation as job
from shoal.methods.registry import method_named
from shoal.methods.transactions.disassociation import Cluster

pytestmark = pytest.mark.local("columns of sets")

WORDS = {"qi": ["items"], "set": ["items"], "k": 4, "m": 2, "attacks": False}
APART = method_named("disassociation", {"size": 12})


def released(table, **more):
    return shoal.anonymize(table, **{**WORDS, "method": APART, **more})


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_release_is_judged_chunk_by_chunk(tmp_path, ending):
    out = tmp_path / f"out.{ending}"
    release = released(shop(150, 12), out=str(out))
    read = pl.read_csv(out, infer_schema=False) if ending == "csv" else pl.read_parquet(out)
    assert read.columns == ["cluster", "chunk", "items", "rest"]
    parts = read.fill_null("").group_by("cluster", "chunk")
    for _, part in parts:
        cells = [frozenset(cell.split("|")) - {""} for cell in part["items"]]
        assert len(cells) >= 4
        assert naive.rarest(cells, 2) in (0, *range(4, 151))
    assert release.report.privacy[0].holds
    sets = release.report.facts["sets"]
    assert sets["clusters"] == read["cluster"].n_unique() > 3
    assert 0 < sets["suppressed_occurrences"] < 1
    told = shoal.verify(read.drop("rest"), qi=["cluster", "chunk", "items"], set=["items"],
                        k=4, m=2)  # fmt: skip
    assert told.holds


def test_a_rare_combination_in_a_chunk_stops_the_release(tmp_path, monkeypatch):
    def careless(baskets, **_):
        rows = pl.Series(range(baskets.records)).to_numpy()
        return [Cluster(rows, (tuple(range(len(baskets.items))),), ())]

    monkeypatch.setattr(job, "disassociated", careless)
    with pytest.raises(UnsafeReleaseError):
        released(shop(60, 12), out=str(tmp_path / "x.csv"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("table", "words", "text"), [
    (shop(40).with_columns(x=pl.lit("a")), {"neutral": ["x"]}, "sets alone"),
    (shop(40), {"l": 2}, "nothing else"),
    (shop(40).rename({"items": "rest"}), {"qi": ["rest"], "set": ["rest"]}, "something else"),
    (shop(40), {"out": "x.basket"}, "four columns"),
])  # fmt: skip
def test_what_does_not_go_with_clusters_is_refused(table, words, text, tmp_path):
    if "out" in words:
        words = {"out": str(tmp_path / words["out"])}
    schema = None
    if "l" in words:
        schema = {
            "columns": {"items": {"role": "quasi", "kind": "set"}},
            "privacy": [{"model": "rho-uncertainty", "rho": 0.5, "items": ["i01"]}],
        }
        with pytest.raises(MethodError, match=text):
            shoal.anonymize(table, schema, method=APART)
        return
    with pytest.raises(MethodError, match=text):
        released(table, **words)
