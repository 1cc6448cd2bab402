"""Verdicts on many classes at once are those of the promise on each."""

import numpy as np
import pytest
from hypothesis import given, settings
from tests.methods.sensitive_tables import PROMISES, by_number, counted, histograms

from shoal.methods import verdicts
from shoal.methods.arrays import promise_of
from shoal.methods.sensitive import named, sensitive_column
from shoal.privacy import EquivalenceClass, KAnonymity


@pytest.mark.parametrize("promise", PROMISES, ids=repr)
@pytest.mark.parametrize("cells", [1, 1 << 22])
@settings(max_examples=25, deadline=None)
@given(table=counted())
def test_a_class_breaks_the_promise_if_the_plain_judge_says_so(promise, cells, table):
    recoding = by_number(table)
    counts = np.array(histograms(table, recoding.label, recoding.classes))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verdicts, "CELLS", cells)  # one class at a time, or all together
        found = verdicts.breaking(promise_of([promise], table), recoding.sizes, counts)
    seen = sensitive_column(table.sensitive_domains[0], table.reference(0))
    judge = named(promise, table.sensitive_domains[0])
    for wrong, row in zip(found, seen.histograms(counts).tolist(), strict=True):
        one = EquivalenceClass(sum(row), row, reference=seen.reference)
        assert bool(wrong) != judge.holds(one)


@given(table=counted())
@settings(max_examples=20, deadline=None)
def test_without_sensitive_promises_only_sizes_count(table):
    nothing = np.zeros((3, 0), dtype=np.int64)
    sizes = np.array([1, 3, 9])
    found = verdicts.breaking(promise_of([KAnonymity(3)], table), sizes, nothing)
    assert found.tolist() == [True, False, False]


@pytest.mark.parametrize("promise", PROMISES, ids=repr)
@settings(max_examples=25, deadline=None)
@given(table=counted())
def test_together_classes_are_no_further_from_the_promise_than_apart(promise, table):
    arrays = promise_of([promise], table)
    recoding = by_number(table)
    counts = np.array(histograms(table, recoding.label, recoding.classes))
    apart = verdicts.shortage(arrays, recoding.sizes, counts)
    whole = verdicts.shortage(arrays, recoding.sizes.sum(keepdims=True), counts.sum(0)[None])
    assert whole[0] <= apart.sum() + 1e-9
    broken = verdicts.breaking(arrays, recoding.sizes, counts)
    # r1 = c · tail breaks (c,l)-diversity by nothing; n above all records is out of reach.
    if getattr(promise, "kind", None) != "recursive" and "NT" not in type(promise).__name__:
        assert (apart[broken] > 0).all()
