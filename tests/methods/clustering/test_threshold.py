from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import threshold
from tests.methods.clustering.tables import tables
from tests.naive import clustering_more as naive
from tests.naive.clustering import SCALE

import shoal
from shoal import api
from shoal.core.errors import MethodError
from shoal.methods.clustering.threshold import clusters_within
from shoal.privacy import KAnonymity
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain
from shoal.table.frequency import from_codes

WEIGHTS = st.lists(st.sampled_from([0.25, 1.0, 1.0, 3.0]), min_size=4, max_size=4)


@settings(max_examples=60, deadline=None)
@given(table=tables(sensitive=True, missing=True, most=14), seed=st.integers(0, 9),
       more=st.sampled_from([0.0, 0.2, 0.5, 1.5]), weights=WEIGHTS)  # fmt: skip
def test_fast_clusters_are_the_papers_clusters(table, seed, more, weights):
    domains = [*table.domains, *table.sensitive_domains]
    domains = tuple(replace(d, weight=w) for d, w in zip(domains, weights, strict=True))
    table = replace(table, domains=domains[:3], sensitive_domains=domains[3:])
    label, limit = clusters_within(table, diversity=None, seed=seed, more=more)
    order = np.random.default_rng(seed).permutation(table.rows)
    expected = naive.threshold(table, limit=limit, order=order)
    found = [list(np.flatnonzero(label == c)) for c in range(int(label.max()) + 1)]
    assert found == [sorted(cluster) for cluster in expected]
    assert limit >= round(more * SCALE)


@settings(max_examples=5, deadline=None)
@given(table=tables())
def test_a_threshold_below_a_single_record_is_refused(table):
    with pytest.raises(MethodError, match="diversity must be"):
        threshold(table, [KAnonymity(2)], diversity=0.0)


@pytest.mark.parametrize(("weights", "together"), [((4.0, 1.0), [0, 1]), ((1.0, 4.0), [0, 2])])
def test_threshold_respects_column_weights(weights, together):
    age, pay = (
        line_domain(name, Kind.NUMERIC, ["0", "1", "2"], [0.0, 60.0, 100.0], weight=weight)
        for name, weight in zip(("age", "pay"), weights, strict=True)
    )
    codes = np.array([[0, 0], [0, 1], [1, 0], [2, 2]], dtype=np.int32)
    table = from_codes((age, pay), codes, np.ones(4, dtype=np.int64))
    for seed in range(8):  # whichever row comes first
        label, _ = clusters_within(table, diversity=None, seed=seed, more=0.3)
        assert label[together[0]] == label[together[1]] != label[3]
        assert len(set(label)) == 3


SPENDING = shoal.Schema.from_document(
    {
        "columns": {
            "age": {"role": "quasi", "kind": "numeric"},
            "pay": {"role": "sensitive", "kind": "numeric"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
)


def test_threshold_heeds_protection_when_only_k_is_promised():
    # 50 is nearer to 45 than to 56, but there the pay differs; both are not within 0.08.
    ages, pay = [0, 45, 50, 56, 100], [0, 0, 0, 100, 0]
    table = pl.DataFrame({"age": ages * 2, "pay": pay * 2})
    orders = {seed: np.random.default_rng(seed).permutation(5).tolist() for seed in range(50)}
    seed = next(s for s, o in orders.items() if o.index(2) < min(o.index(1), o.index(3)))
    options = {"method": shoal.Threshold(diversity=0.08), "seed": seed, "labels": "tight"}
    made = api.anonymize(table, SPENDING, **options)
    assert "[50, 56]" in set(made.table["age"].cast(pl.String))
    assert made.report.utility["protection"] is not None
