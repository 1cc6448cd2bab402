"""Narrow labels: finer where a rare value is not there, and hardly anybody is missed."""

from __future__ import annotations

import numpy as np

from shoal.hierarchies.tree import Hierarchy
from shoal.methods.narrow import UNSEEN, narrowed
from shoal.schema.schema import Kind
from shoal.table.domain import tree_domain
from shoal.table.frequency import FrequencyTable
from shoal.table.recoding import Recoding


def regions(counts):
    """Return two regions of m and f, and of x: of the first, as many records as are said."""
    tree = Hierarchy.flat("sex", ["f", "m", "x"], root="*")
    domain = tree_domain("sex", Kind.CATEGORICAL, ["f", "m", "x"], tree, missing=False, weight=1.0)
    rows = np.array([[0], [1], [2]], dtype=np.int32)
    table = FrequencyTable(
        domains=(domain,),
        codes=rows,
        counts=np.array(counts, np.int64),
        sensitive_domains=(),
        sensitive=np.zeros((3, 0), np.int32),
    )
    # region 0: everything up to m; region 1: m and x by its cuts, with records of m alone
    return Recoding(
        table=table,
        low=np.array([[0], [1]], np.int32),
        high=np.array([[0], [2]], np.int32),
        row=np.array([0, 1]),
        label=np.array([0, 1]),
        count=np.array(counts[:2], np.int64),
    )


def test_a_rare_value_makes_no_label_coarse():
    found = narrowed(regions([5000, 5000, 3]))
    assert found.labels(0) == ["f", "m"]


def test_a_frequent_one_does():
    found = narrowed(regions([5000, 5000, 500]))
    assert found.labels(0) == ["f", "*"]
    assert UNSEEN < 0.01


def test_a_region_with_the_missing_value_has_the_root():
    tree = Hierarchy.flat("sex", ["f", "m"], root="*")
    domain = tree_domain("sex", Kind.CATEGORICAL, ["f", "m"], tree, missing=True, weight=1.0)
    table = FrequencyTable(
        domains=(domain,),
        codes=np.array([[1], [2]], np.int32),
        counts=np.array([5000, 5000], np.int64),
        sensitive_domains=(),
        sensitive=np.zeros((2, 0), np.int32),
    )
    # Region 0 takes in the missing value, and nobody has it: f alone would not cover it.
    found = narrowed(
        Recoding(
            table=table,
            low=np.array([[0], [2]], np.int32),
            high=np.array([[1], [2]], np.int32),
            row=np.array([0, 1]),
            label=np.array([0, 1]),
            count=table.counts,
        )
    )
    assert found.low[0, 0] == 0
    assert found.labels(0)[0] == domain.root
