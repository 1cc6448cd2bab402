"""The compiled judge agrees with the exact models of the core."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from shoal.hierarchies.tree import Hierarchy
from shoal.kernels.axes import PromiseArrays
from shoal.kernels.judge import judge, packed
from shoal.methods.arrays import promise_of
from shoal.methods.verdicts import breaking
from shoal.privacy import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    EquivalenceClass,
    KAnonymity,
    LDiversity,
    NTCloseness,
    Promise,
    Reference,
    TCloseness,
)
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain, tree_domain
from shoal.table.frequency import FrequencyTable, from_codes

TREE = Hierarchy.from_tree("s", {"*": {"x": {"a": None, "y": ["b", "c"]}, "d": None}})
DOMAIN = tree_domain("s", Kind.CATEGORICAL, ["a", "b", "c", "d", "y"], TREE, missing=True, weight=1)
VALUES = len(DOMAIN)


@njit
def verdict(rules, rare, records, hist):  # type: ignore[no-untyped-def]
    if rules is None:
        return True
    return judge(rules, rare, records, hist, 0)


def ask(promise: PromiseArrays, records: int, histogram: list[int]) -> bool:
    hist = np.array([histogram], dtype=np.int64)
    return records >= promise.k and bool(verdict(*packed(promise), records, hist))


def table_of(whole: list[int]) -> FrequencyTable:
    line = line_domain("q", Kind.NUMERIC, ["0"], [0.0])
    present = [v for v in range(VALUES) if whole[v]]
    return from_codes(
        (line,),
        np.zeros((len(present), 1), dtype=np.int32),
        np.array([whole[v] for v in present], dtype=np.int64),
        sensitive_domains=(DOMAIN,),
        sensitive=np.array([[v] for v in present], dtype=np.int32),
    )


MODELS: list[Promise] = [
    KAnonymity(4),
    LDiversity(3, column="s"),
    LDiversity(2, "entropy", column="s"),
    LDiversity(2.5, "entropy", column="s"),
    LDiversity(2, "recursive", c=1.1, column="s"),
    LDiversity(3, "recursive", c=2.0, column="s"),
    LDiversity(1, "recursive", c=0.5, column="s"),
    *[
        TCloseness(t, distance, column="s")
        for t in (0.0, 0.2, 0.5)
        for distance in ("equal", "ordered", "hierarchical", "chi2")
    ],
    NTCloseness(10, 0.25, column="s"),
    AlphaKAnonymity(0.5, 2, column="s"),
    AlphaKAnonymity(1 / 3, 2, column="s", values=["a", "d"]),
    BetaLikeness(0.7, column="s"),
    BetaLikeness(2.0, enhanced=True, column="s"),
    DeltaDisclosure(0.8, column="s"),
]


@settings(max_examples=400, deadline=None)
@given(
    part=st.lists(st.integers(0, 6), min_size=VALUES, max_size=VALUES).filter(any),
    rest=st.lists(st.integers(0, 9), min_size=VALUES, max_size=VALUES),
    scale=st.sampled_from([1, 1, 1_000_000]),
)
def test_the_kernel_the_arrays_and_the_core_give_the_same_verdict(
    part: list[int], rest: list[int], scale: int
) -> None:
    part = [n * scale for n in part]
    whole = [a + b * scale for a, b in zip(part, rest, strict=True)]
    table = table_of(whole)
    reference = Reference(
        whole,
        values=DOMAIN.labels,
        parents=DOMAIN.tree.parents,  # type: ignore[union-attr]
        heights=DOMAIN.tree.heights,  # type: ignore[union-attr]
        node_of_value=[int(node) for node in DOMAIN.position],
    )
    summary = EquivalenceClass(sum(part), part, reference=reference)
    for model in MODELS:
        promise = promise_of([model], table)
        ours = ask(promise, sum(part), part)
        assert ours == model.holds(summary), model
        sizes = np.array([sum(part)], dtype=np.int64)
        assert ours != breaking(promise, sizes, np.array([part], dtype=np.int64))[0], model


def test_counts_of_three_million_records_do_not_overflow() -> None:
    whole = [0, 1_500_000, 600_000, 600_000, 300_000, 0]
    table = table_of(whole)
    for distance in ("equal", "ordered", "hierarchical", "chi2"):
        promise = promise_of([TCloseness(0.001, distance, column="s")], table)
        same = [0, 500_000, 200_000, 200_000, 100_000, 0]
        skewed = [0, 1_000_000, 0, 0, 0, 0]
        assert ask(promise, 1_000_000, same)
        assert not ask(promise, 1_000_000, skewed)
