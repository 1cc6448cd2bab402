from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import explore, search
from tests.methods.lattice.cases import PROMISES, people, random_case

from shoal.core.errors import MethodError, NoSolutionError
from shoal.methods.lattice.measures import MEASURES
from shoal.privacy import EquivalenceClass, KAnonymity, Reference, TCloseness
from shoal.table.domain import line_domain, tree_domain
from shoal.table.frequency import from_codes


def test_levels_labels_and_suppressed_records():
    table = people([21, 22, 23, 41, 42, 43, 55], "fffmmmm")
    found = search(table, [KAnonymity(3)], suppression_limit=0.2)
    assert found.facts["levels"] == {"age": 1, "sex": 0}
    assert found.suppressed == 1
    assert sorted(zip(found.labels(0), found.labels(1), strict=True)) == [
        ("20s", "f"),
        ("40s", "m"),
    ]
    assert found.facts["optimal"]
    assert found.facts["utility_measure"] == "loss"


def test_weights_keep_a_column_finer():
    def weighted(age, sex):
        table = people([21, 21, 35, 35, 44, 44], "fmfmfm")
        domains = [
            line_domain(d.name, d.kind, d.labels, d.position, ladder=d.ladder, weight=w)
            if d.tree is None
            else tree_domain(d.name, d.kind, d.labels, d.tree, missing=False, weight=w)
            for d, w in zip(table.domains, (age, sex), strict=True)
        ]
        again = from_codes(tuple(domains), table.codes, table.counts)
        return search(again, [KAnonymity(2)]).facts["levels"]

    assert weighted(9.0, 1.0) == {"age": 0, "sex": 1}
    assert weighted(1.0, 9.0) == {"age": 2, "sex": 0}


def test_unknown_names_are_refused():
    table = people([21, 35], "fm")
    with pytest.raises(MethodError, match="no utility measure"):
        search(table, [KAnonymity(2)], utility="magic")
    with pytest.raises(MethodError, match="between 0 and 1"):
        search(table, [KAnonymity(2)], suppression_limit=1.5)


def test_closeness_holds_against_the_records_that_are_left():
    """The verifier sees only the release; suppression may shift what is compared with."""
    rng = random.Random(5)
    tried = 0
    for _ in range(60):
        n = 40
        table = people(
            [rng.choice([21, 22, 34, 35, 47, 58]) for _ in range(n)],
            [rng.choice("fm") for _ in range(n)],
            [rng.choice(["flu", "flu", "gout", "asthma"]) for _ in range(n)],
        )
        model = TCloseness(0.3, column="diagnosis")
        found = search(table, [KAnonymity(2), model], suppression_limit=0.5)
        tried += bool(found.suppressed)
        kept = found.label >= 0
        counts = np.zeros((found.classes, 3), dtype=np.int64)
        np.add.at(
            counts, (found.label[kept], table.sensitive[found.row[kept], 0]), found.count[kept]
        )
        left = counts.sum(axis=0)
        reference = Reference([int(c) for c in left if c])
        for row in counts:
            shown = [int(c) for c, total in zip(row, left, strict=True) if total]
            assert model.holds(EquivalenceClass(sum(shown), shown, reference=reference))
    assert tried > 10


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    promise=st.sampled_from(["k", "distinct", "recursive", "alpha"]),
    limit=st.sampled_from([0.0, 0.3, 1.0]),
)
def test_released_classes_keep_the_promise_under_the_naive_checker(seed, promise, limit):
    space, models, naive = random_case(seed, promise, limit)
    try:
        found = search(space.table, models, suppression_limit=limit)
    except NoSolutionError:
        assert not naive.solutions()
        return
    node = tuple(found.facts["levels"].values())
    published, suppressed = naive.split(node)
    assert found.suppressed == len(suppressed) <= naive.budget
    assert sorted(found.sizes.tolist()) == sorted(len(members) for members in published.values())
    released = {tuple(row) for row in found.node.tolist()}
    assert released == set(published)


def test_every_promise_and_measure_is_named_and_runs():
    space, _, _ = random_case(11, "k", 0.3)
    for promise, models in PROMISES.items():
        for utility in MEASURES:
            found = explore(space, models(), utility=utility, suppression_limit=0.3)
            assert found.state.proven, promise
