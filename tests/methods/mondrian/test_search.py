from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.calls import mondrian
from tests.naive import mondrian as naive

from shoal.hierarchies.tree import Hierarchy
from shoal.privacy import (
    AlphaKAnonymity,
    EquivalenceClass,
    KAnonymity,
    LDiversity,
    NTCloseness,
    Reference,
    TCloseness,
)
from shoal.schema.schema import Kind
from shoal.table.domain import Domain, line_domain, tree_domain
from shoal.table.frequency import FrequencyTable, from_codes

TREE = Hierarchy.from_tree(
    "place", {"*": {"north": ["a", "b"], "south": {"coast": ["c", "d"], "e": None}, "f": None}}
)


def domains() -> tuple[Domain, ...]:
    line = line_domain("age", Kind.NUMERIC, ["1", "2", "5", "6", "9"], [1, 2, 5, 6, 9])
    gaps = line_domain("pay", Kind.NUMERIC, [None, "0", "10", "100"], [np.nan, 0, 10, 100])
    tree = tree_domain("place", Kind.CATEGORICAL, list("abcdef"), TREE, missing=True, weight=1.0)
    return line, gaps, tree


SENSITIVE = tree_domain(
    "illness", Kind.CATEGORICAL, list("abcdef"), TREE, missing=False, weight=1.0
)
SIZES = [5, 4, 7]


@st.composite
def tables(draw: st.DrawFn) -> FrequencyTable:
    rows = draw(st.integers(1, 30))
    codes = [[draw(st.integers(0, size - 1)) for size in SIZES] for _ in range(rows)]
    counts = [draw(st.integers(1, 4)) for _ in range(rows)]
    sensitive = [[draw(st.integers(0, 5))] for _ in range(rows)]
    return from_codes(
        domains(),
        np.array(codes, dtype=np.int32),
        np.array(counts, dtype=np.int64),
        sensitive_domains=(SENSITIVE,),
        sensitive=np.array(sensitive, dtype=np.int32),
    )


PROMISES = st.sampled_from(
    [
        [KAnonymity(2)],
        [KAnonymity(3)],
        [KAnonymity(1)],
        [KAnonymity(2), LDiversity(2, column="illness")],
        [LDiversity(3, "entropy", column="illness")],
        [LDiversity(2, "recursive", c=1.5, column="illness")],
        [KAnonymity(2), TCloseness(0.3, column="illness")],
        [TCloseness(0.3, "ordered", column="illness")],
        [TCloseness(0.25, "hierarchical", column="illness")],
        [TCloseness(0.2, "chi2", column="illness")],
        [NTCloseness(8, 0.2, column="illness")],
        [AlphaKAnonymity(0.6, 3, column="illness")],
        [AlphaKAnonymity(0.3, 2, column="illness", values=["a", "c"])],
    ]
)


def expanded(table: FrequencyTable) -> list[naive.Record]:
    return [
        (tuple(int(c) for c in codes), tuple(int(s) for s in sensitive))
        for codes, sensitive, count in zip(table.codes, table.sensitive, table.counts, strict=True)
        for _ in range(count)
    ]


def judge(table: FrequencyTable, models: list) -> naive.Holds:
    counts = [int(n) for n in table.reference(0)]
    reference = Reference(
        counts,
        values=SENSITIVE.labels,
        parents=TREE.parents,
        heights=TREE.heights,
        node_of_value=[int(node) for node in SENSITIVE.position],
    )

    def holds(part: list[naive.Record]) -> bool:
        histogram = [sum(1 for record in part if record[1][0] == v) for v in range(6)]
        summary = EquivalenceClass(len(part), histogram, reference=reference)
        return all(model.holds(summary) for model in models)

    return holds


@settings(max_examples=300, deadline=None)
@given(table=tables(), models=PROMISES, relaxed=st.booleans())
def test_fast_mondrian_finds_the_classes_of_the_slow_one(
    table: FrequencyTable, models: list, relaxed: bool
) -> None:
    recoding = mondrian(table, models, relaxed=relaxed)
    boxes = naive.mondrian(
        expanded(table),
        lambda j, low, high: 0.0 if low == high else table.domains[j].cost(low, high),
        judge(table, models),
        relaxed=relaxed,
    )
    released: Counter[tuple[str | None, ...]] = Counter()
    for box, records in boxes.items():
        labels = tuple(
            domain.label(low, high) for domain, (low, high) in zip(table.domains, box, strict=True)
        )
        released[labels] += records
    columns = [recoding.labels(j) for j in range(3)]
    ours = {
        tuple(column[i] for column in columns): int(recoding.sizes[i])
        for i in range(recoding.classes)
    }
    assert ours == dict(released)


@settings(max_examples=100, deadline=None)
@given(table=tables(), models=PROMISES, relaxed=st.booleans())
def test_every_record_is_in_exactly_one_class(
    table: FrequencyTable, models: list, relaxed: bool
) -> None:
    recoding = mondrian(table, models, relaxed=relaxed)
    shared = np.zeros(table.rows, dtype=np.int64)
    np.add.at(shared, recoding.row, recoding.count)
    assert (shared == table.counts).all()
    assert (recoding.count > 0).all()
    for row, label in zip(recoding.row, recoding.label, strict=True):
        assert (recoding.low[label] <= table.codes[row]).all()
        assert (table.codes[row] <= recoding.high[label]).all()


def test_a_long_chain_of_cuts_needs_no_recursion() -> None:
    n = 200_000
    values = np.arange(n)
    domain = line_domain("x", Kind.NUMERIC, [str(v) for v in values], values.astype(float))
    table = from_codes(
        (domain,), values.astype(np.int32).reshape(-1, 1), np.ones(n, dtype=np.int64)
    )
    recoding = mondrian(table, [KAnonymity(2)])
    assert recoding.sizes.min() >= 2
    assert recoding.sizes.sum() == n


def test_codes_far_apart_are_cut_by_sorting_as_by_counting() -> None:
    rng = np.random.default_rng(5)
    values = np.sort(rng.choice(10**6, size=50_000, replace=False))
    domain = line_domain("x", Kind.NUMERIC, [str(v) for v in values], values.astype(float))
    picked = np.sort(rng.choice(50_000, size=300, replace=False)).astype(np.int32)
    table = from_codes((domain,), picked.reshape(-1, 1), np.ones(300, dtype=np.int64))
    recoding = mondrian(table, [KAnonymity(7)])
    records = [((int(code),), ()) for code in picked]
    boxes = naive.mondrian(
        records, lambda _, low, high: float(high - low), lambda part: len(part) >= 7, relaxed=False
    )
    assert sorted(boxes.values()) == sorted(int(size) for size in recoding.sizes)
