from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import kmember
from tests.methods.clustering.tables import check_release, domains, tables
from tests.naive.clustering import Losses
from tests.naive.distortion import weighted_hierarchical_distance

from shoal.core.grids import NumberGrid
from shoal.kernels.clustering.space import FULL, SCALE, places_of
from shoal.measures.cells import cost_of_run
from shoal.measures.cells import leaves as leaves_of
from shoal.methods.clustering.clusters import box_losses, costs
from shoal.methods.clustering.space import LEAVES, space_of
from shoal.privacy import KAnonymity
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain
from shoal.table.rounding import lifts


@given(ends=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=3),
       missing=st.booleans())  # fmt: skip
def test_both_forms_of_a_column_count_what_the_domain_says(ends, missing):
    columns = domains(missing)
    pairs = [
        sorted((min(a, len(d) - 1), min(b, len(d) - 1)))
        for (a, b), d in zip(ends, columns, strict=True)
    ]
    low, high = (np.array(side, dtype=np.int32) for side in zip(*pairs, strict=True))
    expected = Losses(columns).box([tuple(low), tuple(high)])
    assert box_losses(space_of(columns), low[None], high[None]) == expected
    assert box_losses(space_of(columns, short=0), low[None], high[None]) == expected


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_weighted_heights_rise_from_nothing_to_the_whole_column(power):
    columns = domains()
    space = space_of(columns, power=power)
    whole = np.array([len(d) - 1 for d in columns], dtype=np.int32)
    assert box_losses(space, (whole * 0)[None], whole[None]) == 3 * 2**20
    assert box_losses(space, whole[None], whole[None]) == 0


@pytest.mark.parametrize("name", ["weighted", "weighted-example"])
@pytest.mark.parametrize("beta", [0.0, 1.0, 2.0])
def test_a_column_may_choose_the_weighted_hierarchical_distance(beta, name):
    line, place, sex = domains()
    chosen = replace(place, distance=name, beta=beta)
    space, plain = space_of((line, chosen, sex)), space_of((line, place, sex))
    tree = place.tree
    for low in range(len(place)):
        for high in range(low, len(place)):
            node = tree.lca((int(place.position[low]), int(place.position[high])))
            distance = weighted_hierarchical_distance(
                0, tree.heights[node], tree.height + 1, beta=beta, example=name != "weighted"
            )
            run = np.array([low]), np.array([high])
            assert costs(space, 1, *run)[0] == round(distance * 2**20)
    for j in (0, 2):  # the other columns stay as they are
        run = np.zeros(1, dtype=np.int64), np.array([2])
        assert costs(space, j, *run)[0] == costs(plain, j, *run)[0]


def test_other_distances_mean_the_height():
    line, place, sex = domains()
    named = replace(place, distance="height")
    assert (space_of((line, named, sex)).flat == space_of((line, place, sex)).flat).all()


@settings(max_examples=20, deadline=None)
@given(table=tables(), beta=st.sampled_from([0.0, 2.0]))
def test_the_chosen_distance_decides_the_clusters(table, beta):
    domain = replace(table.domains[1], distance="weighted", beta=beta)
    other = replace(table, domains=(table.domains[0], domain, table.domains[2]))
    check_release(kmember(other, [KAnonymity(2)]), 2 if table.records >= 2 else 0)


@given(ends=st.lists(st.integers(0, 5), min_size=2, max_size=2), missing=st.booleans(),
       short=st.sampled_from([0, 256]))  # fmt: skip
def test_many_runs_cost_what_one_box_costs(ends, missing, short):
    columns = domains(missing)
    space = space_of(columns, short=short)
    for j, domain in enumerate(columns):
        low, high = sorted(min(end, len(domain) - 1) for end in ends)
        expected = Losses(columns).column(j, [low, high])
        assert costs(space, j, np.array([low]), np.array([high]))[0] == expected
        if domain.tree is None:
            places = places_of(space, j)
            full = int(space.column[j, FULL])
            assert min(places[high] - places[low], full) == expected


@settings(max_examples=25, deadline=None)
@given(places=st.lists(st.integers(0, 400), min_size=2, max_size=12, unique=True))
def test_round_intervals_lose_what_the_domain_says(places):
    texts = [str(place) for place in sorted(places)]
    line = line_domain("x", Kind.NUMERIC, texts, sorted(map(float, places)))
    line = replace(line, grid=NumberGrid(digits=0))
    place = replace(domains()[1], lift=lifts(domains()[1].tree))
    space = space_of((line, place), is_round=True)
    for j, domain in enumerate((line, place)):
        for low in range(len(domain)):
            for high in range(low, len(domain)):
                lost = costs(space, j, np.array([low]), np.array([high]))[0] / SCALE
                assert lost == pytest.approx(domain.cost(low, high), abs=1e-5)


def test_leaves_are_those_of_the_hierarchy():
    line, place, sex = domains(missing=True)
    space = space_of((line, place, sex), measure=LEAVES)
    for j, domain in enumerate((line, place, sex)):
        leaves = leaves_of(domain)
        for low in range(len(domain)):
            for high in range(low, len(domain)):
                cover = cost_of_run(domain, low, high).cover
                expected = (cover * leaves - 1) / (leaves - 1)
                lost = costs(space, j, np.array([low]), np.array([high]))[0] / SCALE
                assert lost == pytest.approx(expected, abs=1e-5)
