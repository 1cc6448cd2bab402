"""Distances on hierarchies against the definitions, and which nodes can be centroids."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.methods.microaggregation.mixed import DISTANCES, TREE, columns, tables, twin_of

from shoal.core.errors import MethodError
from shoal.hierarchies.tree import Hierarchy
from shoal.kernels.microaggregation import semantic as kernel
from shoal.kernels.microaggregation.semantic_mdav import grow
from shoal.methods.microaggregation import semantic
from shoal.methods.microaggregation.semantic import (
    SCALE,
    between,
    candidates,
    distance_name,
    distance_table,
    semantics_of,
    units_of,
)
from shoal.methods.microaggregation.smdav import distinct_tuples
from shoal.schema.schema import Kind
from shoal.table.domain import tree_domain


@st.composite
def trees(draw):
    """Return a random tree; any of its nodes may be a value."""
    size = draw(st.integers(1, 14))
    links = {"n0": None}
    for i in range(1, size):
        links[f"n{i}"] = f"n{draw(st.integers(0, i - 1))}"
    return Hierarchy.from_parents("x", links)


@st.composite
def domains(draw):
    tree = draw(trees())
    values = draw(st.lists(st.sampled_from(tree.labels), min_size=1, unique=True))
    domain = tree_domain(
        "x", Kind.CATEGORICAL, values, tree, missing=draw(st.booleans()), weight=1.0
    )
    beta = draw(st.sampled_from([0.0, 1.0, 2.0]))
    return replace(domain, distance=draw(st.sampled_from(DISTANCES)), beta=beta)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", ["tree", "flat", "number", "rank"])
@pytest.mark.parametrize("distance", DISTANCES)
def test_a_table_of_distances_has_the_definitions_numbers(kind, missing, distance):
    domain = replace(columns(missing)[kind], distance=distance)
    twin, values = twin_of(domain)
    table = distance_table(domain)
    wanted = [[twin.between(a, b) / SCALE for b in values] for a in values]
    assert table == pytest.approx(np.array(wanted), abs=2 / SCALE)
    assert (table == table.T).all()
    assert not table.diagonal().any()


def test_wu_palmer_counts_the_root_as_depth_one():
    tree = Hierarchy.from_tree("x", {"*": {"a": ["b", "c"], "d": None}})
    domain = tree_domain("x", Kind.CATEGORICAL, ["b", "c", "d", "a"], tree, missing=False, weight=1)
    code = {label: i for i, label in enumerate(domain.labels)}
    table = distance_table(domain)
    assert table[code["b"], code["c"]] == pytest.approx(1 - 2 * 2 / 6)
    assert table[code["b"], code["d"]] == pytest.approx(1 - 2 * 1 / 5)
    assert table[code["a"], code["b"]] == pytest.approx(1 - 2 * 2 / 5)


def test_a_missing_value_makes_no_path_longer():
    tree = Hierarchy.from_tree("x", {"*": {"a": ["b", "c"]}})
    shares = []
    for missing in (False, True):
        domain = tree_domain("x", Kind.CATEGORICAL, ["b", "c"], tree, missing=missing, weight=1.0)
        nodes = [domain.tree.labels.index(label) for label in ("b", "c", "*")]
        at = np.array(nodes)
        shares.append(between(domain.tree, at[:, None], at[None, :], "path").tolist())
    assert shares[0] == shares[1] == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


@settings(max_examples=150, deadline=None)
@given(domain=domains(), data=st.data())
def test_the_best_of_all_nodes_is_found_among_the_candidates(domain, data):
    weights = data.draw(st.lists(st.integers(0, 5), min_size=len(domain), max_size=len(domain)))
    # By `path`, two nodes of equal sums may be told apart by their rounding.
    assume(sum(weights) and domain.distance != "path")
    twin, values = twin_of(domain)
    wanted = twin.centroid([pair for pair in zip(values, weights, strict=True) if pair[1]])
    semantics = semantics_of((domain,))
    shown = [place for place, w in zip(semantics.flat[: len(domain)], weights, strict=True) if w]
    out = kernel.centroids_of(
        semantics, 0, np.array(shown), np.array([w for w in weights if w]),
        np.array([0, len(shown)]),
    )  # fmt: skip
    inner = domain.position[int(domain.has_missing) :].astype(np.int64)
    nodes = candidates(domain.tree, inner)
    assert (None if out[0] < 0 else domain.tree.labels[nodes[out[0]]]) == wanted


@settings(max_examples=40, deadline=None)
@given(table=tables(), k=st.integers(1, 4))
def test_with_and_without_a_table_distances_are_the_same(table, k):
    codes, counts = distinct_tuples(table)
    short, found = semantic.SHORT, []
    try:
        for semantic.SHORT in (short, 0):
            columns_ = semantics_of(table.domains)
            found.append(
                grow(codes, counts, k=k, semantics=columns_, whole=True, moving=True).tolist()
            )
    finally:
        semantic.SHORT = short
    assert found[0] == found[1]


def test_only_nodes_above_occurring_values_are_looked_at():
    smith = TREE.index("smith")
    found = candidates(TREE, np.array([smith]))
    table = between(TREE, found[:, None], np.array([[smith]]), "wu-palmer")
    assert [TREE.labels[node] for node in found] == ["smith", "craft", "worker", "*"]
    assert table.shape == (4, 1)
    assert table[0, 0] == 0


def test_values_only_at_inner_nodes():
    domain = tree_domain(
        "job", Kind.CATEGORICAL, ["craft", "chief", "lone"], TREE, missing=False, weight=1.0
    )
    twin, values = twin_of(domain)
    wanted = np.array([[twin.between(a, b) for b in values] for a in values]) / SCALE
    assert distance_table(domain) == pytest.approx(wanted, abs=2 / SCALE)


def test_strange_names_and_too_large_tables_are_refused():
    domain = columns(False)["tree"]
    with pytest.raises(MethodError, match="no such distance"):
        distance_table(domain, "manhattan")
    wide = Hierarchy.flat("x", [f"v{i}" for i in range(12_000)])
    many = tree_domain("x", Kind.CATEGORICAL, wide.labels[:-1], wide, missing=False, weight=1.0)
    with pytest.raises(MethodError, match="too many for a table"):
        distance_table(many)


def test_a_chain_that_is_too_deep_for_depths_has_another_distance():
    size = 20_000
    links = {f"n{i}": f"n{i - 1}" if i else None for i in range(size)}
    tree = Hierarchy.from_parents("x", links)
    domain = tree_domain("x", Kind.CATEGORICAL, ["n19999", "n5"], tree, missing=False, weight=1.0)
    with pytest.raises(MethodError, match="too deep"):
        semantics_of((domain,))
    assert len(semantics_of((domain,), distance="height").flat) > size


@given(domain=domains(), weight=st.sampled_from([1.0, 0.5, 0.25, 3.0]))
def test_distances_are_whole_numbers_of_units_so_ties_are_ties(domain, weight):
    """The twin computes in fractions; what a column weighs does not make them round."""
    other = replace(domain, weight=weight)
    for each, unit in zip((domain, other), units_of((domain, other)), strict=True):
        if distance_name(each) in ("weighted", "weighted-example"):
            continue
        twin, values = twin_of(each, unit)
        known = [value for value in values if value is not None]
        for a in known:
            for b in known:
                share = twin.share(a, b) if a != b else Fraction(0)
                assert (Fraction(unit) * share).denominator == 1


def test_units_are_about_as_many_as_there_were():
    known = columns(missing=False)
    (unit,) = units_of((replace(known["tree"], distance="wu-palmer"),))
    assert 0.5 * SCALE < unit <= SCALE
    deep = Hierarchy.from_rows("x", [[f"l{i}" for i in range(40)]])
    chain = tree_domain("x", Kind.CATEGORICAL, ["l0"], deep, missing=False, weight=1.0)
    assert units_of((replace(chain, distance="wu-palmer"),)) == [SCALE]  # too deep: rounded
