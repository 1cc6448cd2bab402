from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.lattice.cases import PROMISES, random_case

from shoal.core.errors import MethodError, NoSolutionError, UnknownValueError
from shoal.hierarchies.tree import Hierarchy
from shoal.methods.domain import line_domain, tree_domain
from shoal.methods.frequency import from_codes
from shoal.methods.lattice.board import Board, drive
from shoal.methods.lattice.flash import flash
from shoal.methods.lattice.measures import MEASURES, Tally, measure_of
from shoal.methods.lattice.search import METHODS, explore, search
from shoal.methods.lattice.shortage import smallest_limit
from shoal.methods.lattice.space import Lattice, space_of
from shoal.privacy import EquivalenceClass, KAnonymity, LDiversity, Reference, TCloseness
from shoal.schema.schema import Kind


def people(ages, sexes, diagnoses=None):
    rows = [(str(a), f"{a // 10 * 10}s", "*") for a in range(20, 60)]
    age = line_domain(
        "age", Kind.NUMERIC, [str(a) for a in range(20, 60)], [float(a) for a in range(20, 60)],
        ladder=Hierarchy.from_rows("age", rows),
    )  # fmt: skip
    sex = tree_domain(
        "sex", Kind.CATEGORICAL, ["f", "m"], Hierarchy.flat("sex", ["f", "m"]), missing=False,
        weight=1.0,
    )  # fmt: skip
    codes = np.array([(a - 20, "fm".index(s)) for a, s in zip(ages, sexes, strict=True)])
    counts = np.ones(len(ages), dtype=np.int64)
    if diagnoses is None:
        return from_codes((age, sex), codes.astype(np.int32), counts)
    names = ["asthma", "flu", "gout"]
    diagnosis = tree_domain(
        "diagnosis", Kind.CATEGORICAL, names, Hierarchy.flat("diagnosis", names), missing=False,
        weight=1.0,
    )  # fmt: skip
    spread = np.array([[names.index(d)] for d in diagnoses], dtype=np.int32)
    return from_codes(
        (age, sex), codes.astype(np.int32), counts, sensitive_domains=(diagnosis,), sensitive=spread
    )


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


def test_a_column_without_a_hierarchy_is_raw_or_root():
    height = line_domain("height", Kind.NUMERIC, [None, "1.5", "1.8"], [float("nan"), 1.5, 1.8])
    codes = np.array([[0], [0], [1], [1], [2]], dtype=np.int32)
    table = from_codes((height,), codes, np.ones(5, dtype=np.int64))
    kept = search(table, [KAnonymity(2)], suppression_limit=0.2)
    assert kept.facts["levels"] == {"height": 0}
    assert kept.labels(0) == [None, "1.5"]
    assert search(table, [KAnonymity(2)]).labels(0) == ["*"]


def test_numbers_are_found_in_a_hierarchy_that_writes_them_otherwise():
    tree = Hierarchy.from_rows(
        "x", [("1.0", "low", "*"), ("2.0", "low", "*"), ("9.0", "high", "*")]
    )
    x = line_domain("x", Kind.NUMERIC, ["1", "2", "9"], [1.0, 2.0, 9.0], ladder=tree)
    codes = np.array([[0], [1], [2]], dtype=np.int32)
    table = from_codes((x,), codes, np.full(3, 2, dtype=np.int64))
    assert search(table, [KAnonymity(3)], suppression_limit=0.4).labels(0) == ["low"]


def test_a_hierarchy_may_list_its_values_in_any_order():
    rows = [("9", "high", "*"), ("2", "low", "*"), ("5", "high", "*"), ("1", "low", "*")]
    tree = Hierarchy.from_rows("x", rows)
    x = line_domain("x", Kind.NUMERIC, ["1", "2", "5", "9"], [1.0, 2.0, 5.0, 9.0], ladder=tree)
    codes = np.array([[0], [1], [2], [3]], dtype=np.int32)
    table = from_codes((x,), codes, np.array([3, 1, 1, 2], dtype=np.int64))
    raised = search(table, [KAnonymity(3)])
    assert sorted(zip(raised.labels(0), raised.sizes.tolist(), strict=True)) == [
        ("high", 3),
        ("low", 4),
    ]
    raw = search(table, [KAnonymity(2)], suppression_limit=0.3)
    assert sorted(zip(raw.labels(0), raw.sizes.tolist(), strict=True)) == [("1", 3), ("9", 2)]


def test_a_value_outside_its_hierarchy_is_refused_without_showing_it():
    tree = Hierarchy.from_rows("x", [("1", "*"), ("2", "*")])
    x = line_domain("x", Kind.NUMERIC, ["1", "777"], [1.0, 777.0], ladder=tree)
    table = from_codes((x,), np.array([[0], [1]], dtype=np.int32), np.ones(2, dtype=np.int64))
    with pytest.raises(UnknownValueError, match="1 of 2") as caught:
        search(table, [KAnonymity(2)])
    assert "777" not in str(caught.value)


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


def test_no_solution_names_the_column_and_the_limit():
    # Alone, the twenties are spread enough; all together they are not.
    table = people([21] * 4 + [41] * 6, "f" * 10, ["flu", "gout"] * 2 + ["flu"] * 6)
    promise = [LDiversity(1.9, "entropy", column="diagnosis")]
    with pytest.raises(NoSolutionError, match=r"'diagnosis'.*") as caught:
        search(table, promise, suppression_limit=0.1)
    assert "smallest limit that would do is 0.6" in str(caught.value)
    assert caught.value.exit_code == 1
    assert search(table, promise, suppression_limit=0.6).suppressed == 6


def test_too_few_records_for_any_class():
    with pytest.raises(NoSolutionError, match=r"no larger limit would do.*'age'"):
        search(people([21, 35], "fm"), [KAnonymity(3)], suppression_limit=1.0)


def test_unknown_names_are_refused():
    table = people([21, 35], "fm")
    with pytest.raises(MethodError, match="no lattice search"):
        search(table, [KAnonymity(2)], method="magic")
    with pytest.raises(MethodError, match="no utility measure"):
        search(table, [KAnonymity(2)], utility="magic")
    with pytest.raises(MethodError, match="between 0 and 1"):
        search(table, [KAnonymity(2)], suppression_limit=1.5)


def test_explanation_holds_no_value_of_the_data():
    table = people([21, 22, 23, 41, 42, 43, 55], "fffmmmm")
    for method in METHODS:
        text = " ".join(search(table, [KAnonymity(3)], method=method).facts["explanation"])
        assert "proven" in text or "prove" in text
        assert "20s" not in text
        assert "55" not in text


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


def test_another_engine_can_answer():
    """A search knows nothing of arrays: a dictionary of tallies will do."""
    table = people([21, 22, 23, 41, 42, 43, 55], "fffmmmm")
    space = space_of(table)
    tallied = [
        np.bincount(table.codes[:, j], weights=table.counts, minlength=len(d)).astype(np.int64)
        for j, d in enumerate(table.domains)
    ]
    board = Board(space.lattice, measure_of("height", space, tallied), budget=0)
    asked = []

    def answer(nodes):
        asked.extend(nodes)
        return [Tally(node=n, suppressed=7 * (sum(n) < 3), least=7 * (sum(n) < 3)) for n in nodes]

    assert drive(flash(board), board, answer=answer)
    assert board.ranked()[0].node == (2, 1)
    assert len(asked) < space.lattice.size


def test_every_promise_and_measure_is_named_and_runs():
    space, _, _ = random_case(11, "k", 0.3)
    for promise, models in PROMISES.items():
        for utility in MEASURES:
            found = explore(space, models(), utility=utility, suppression_limit=0.3)
            assert found.findings.proven, promise


def test_smallest_limit_allows_what_it_says():
    assert smallest_limit(0, 10) == 0
    assert smallest_limit(1458, 30162) == pytest.approx(0.048339)
    assert int(smallest_limit(1, 3) * 3 + 1e-9) == 1


def test_lattice_counts_without_being_built():
    assert Lattice((3,) * 30).size == 4**30
    assert list(Lattice((1, 1)).finer((1, 1))) == [(0, 1), (1, 0)]
