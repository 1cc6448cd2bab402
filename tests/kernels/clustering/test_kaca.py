"""KACA's loop: every record stays, every class has k, stubs leave their trunk behind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import domains, groups_of, groups_of_members, records, tables
from tests.naive import clustering as naive

from shoal.core.errors import KernelInputError
from shoal.kernels.clustering.kaca import merge_classes
from shoal.methods.clustering.space import space_of
from shoal.table.frequency import from_codes


@settings(max_examples=30, deadline=None)
@given(table=tables(missing=True), k=st.integers(1, 6))
def test_the_twin_merges_the_same_classes(table, k):
    data, rows = records(table)
    found = merge_classes(table.codes, table.counts, space=space_of(table.domains), k=k)
    expected = naive.kaca(data, k, domains=table.domains)
    assert groups_of_members(*found) == groups_of(expected, rows)


def test_only_the_missing_records_leave_a_class_that_can_spare_them():
    codes = np.array([[0, 0, 0], [1, 0, 0]], dtype=np.int32)
    table = from_codes(domains(), codes, np.array([1, 9]))
    row, label, count = merge_classes(table.codes, table.counts, space=space_of(table.domains), k=3)
    assert sorted(zip(row.tolist(), label.tolist(), count.tolist(), strict=True)) == [
        (0, 0, 1), (1, 0, 2), (1, 1, 7),
    ]  # fmt: skip


def test_codes_that_do_not_fit_are_refused():
    with pytest.raises(KernelInputError, match="fit"):
        merge_classes(
            np.zeros((1, 2), np.int32), np.ones(1, np.int64), space=space_of(domains()), k=2
        )
