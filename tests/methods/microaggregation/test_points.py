"""Rows as points: where numbers, categories and missing values stand, and in which block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import mdav
from tests.methods.clustering.tables import tables as mixed_tables
from tests.methods.microaggregation.test_mdav import line, numeric

from shoal.core.errors import MethodError
from shoal.hierarchies.tree import Hierarchy
from shoal.methods.microaggregation import points as places
from shoal.methods.microaggregation.points import blocks_of, points_of, scaled
from shoal.privacy import KAnonymity
from shoal.schema.schema import Kind
from shoal.table.domain import tree_domain
from shoal.table.frequency import from_codes


def test_numbers_are_standardized_and_weighed():
    (domain, codes) = line([1_000_000_001.0, 1_000_000_002.0, 1_000_000_006.0], weight=4.0)
    table = from_codes((domain,), np.array([codes], dtype=np.int32).T, np.array([2, 1, 1]))
    points = points_of(table)[:, 0]
    own = np.repeat(points, table.counts)
    assert own.mean() == pytest.approx(0.0, abs=1e-9)
    assert own.std(ddof=1) == pytest.approx(2.0)
    shuffled = np.random.default_rng(0).permutation(own)
    assert sum(shuffled.tolist()) == sum(own.tolist())


def test_a_column_too_wide_to_be_placed_is_refused(monkeypatch):
    monkeypatch.setattr(places, "WIDEST", 2)
    tree = Hierarchy.flat("job", ["a", "b", "secret"])
    domain = tree_domain(
        "job", Kind.CATEGORICAL, ["a", "b", "secret"], tree, missing=False, weight=1.0
    )
    table = from_codes((domain,), np.zeros((1, 1), dtype=np.int32), np.ones(1, dtype=np.int64))
    with pytest.raises(MethodError, match="column 'job'") as caught:
        mdav(table, [KAnonymity(2)])
    assert "secret" not in str(caught.value)


def test_scaling_leaves_out_what_no_space_holds():
    # Three values at distance 2 from each other, a fourth at distance 1 from all: impossible.
    apart = np.array([[0, 2, 2, 1], [2, 0, 2, 1], [2, 2, 0, 1], [1, 1, 1, 0.0]])
    placed = scaled(apart, np.array([3.0, 2.0, 1.0, 0.0]))
    gaps = np.sqrt(((placed[:3, None] - placed[None, :3]) ** 2).sum(axis=2))
    assert np.allclose(gaps, apart[:3, :3])
    assert np.isfinite(placed).all()


@given(table=mixed_tables(missing=True))
@settings(deadline=None, max_examples=40)
def test_sums_of_points_are_exact_in_any_order(table):
    points = points_of(table)
    assert np.isfinite(points).all()
    every = np.repeat(points, table.counts, axis=0)
    forth, back = every.cumsum(axis=0)[-1], every[::-1].cumsum(axis=0)[-1]
    assert (forth == back).all()


def test_what_is_the_same_everywhere_has_no_coordinate():
    assert points_of(numeric([(1, 5), (2, 5), (3, 5)])).shape == (3, 1)
    assert points_of(numeric([(1,)])).tolist() == [[0.0]]


def test_a_missing_number_is_as_far_from_all_others():
    points = points_of(numeric([(None,), (1,), (2,), (9,)]))
    assert points[0, 1] == 1.0
    assert (points[1:, 1] == 0.0).all()
    assert points[0, 0] == 0.0  # at the mean of the others


@given(
    values=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=60),
    leaf=st.integers(1, 9),
)
def test_every_point_is_in_one_block_of_at_most_leaf(values, leaf):
    points = np.array(values, dtype=np.float64).reshape(-1, 2)
    blocks = blocks_of(points, leaf=leaf)
    assert sorted(blocks.row.tolist()) == list(range(len(points)))
    sizes = np.diff(blocks.start)
    assert (sizes <= leaf).all()
    assert (sizes > 0).all()
    np.testing.assert_array_equal(blocks[0].T, points[blocks.row])
