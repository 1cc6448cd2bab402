import numpy as np
import pytest
from tests.methods.xk.coded import coded_rows

from shoal.core.errors import UnknownValueError
from shoal.hierarchies.tree import Hierarchy
from shoal.methods.xk.rows import column_of, diversity_of, pairs_of
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain, tree_domain


def test_a_column_has_its_values_its_groups_and_one_mark_for_suppressed_cells():
    tree = Hierarchy.from_rows("x", [("a1", "a", "*"), ("a2", "a", "*"), ("b1", "b", "*")])
    domain = tree_domain("x", Kind.CATEGORICAL, ["a1", "b1"], tree, missing=True, weight=1.0)
    column = column_of(domain)
    assert column.labels == (None, "a1", "b1", "a", "b", "*")
    assert [column.labels[code] for code in column.up] == [None, "a", "b", "a", "b", "*"]
    assert column.labels[column.star] == "*"
    assert column.has_groups


def test_a_value_that_is_a_group_shares_the_group_s_code():
    tree = Hierarchy.from_rows("x", [("a1", "a", "*"), ("a2", "a", "*")])
    domain = tree_domain("x", Kind.CATEGORICAL, ["a", "a1"], tree, missing=False, weight=1.0)
    column = column_of(domain)
    assert sorted(column.labels) == ["*", "a", "a1"]  # who reads "a" cannot tell which it is
    assert column.up[column.labels.index("a1")] == column.labels.index("a")


def test_a_flat_hierarchy_has_no_groups():
    tree = Hierarchy.flat("x", ["a", "b"])
    domain = tree_domain("x", Kind.CATEGORICAL, ["a", "b"], tree, missing=False, weight=1.0)
    column = column_of(domain)
    assert not column.has_groups
    assert set(column.up) == {column.star}


def test_a_line_takes_its_groups_from_its_ladder():
    ladder = Hierarchy.from_rows("age", [("31", "30-39", "*"), ("47", "40-49", "*")])
    domain = line_domain("age", Kind.NUMERIC, ["31", "47"], [31.0, 47.0], ladder=ladder)
    column = column_of(domain)
    assert column.labels == ("31", "47", "30-39", "40-49", "*")
    assert column.position[:2].tolist() == [31.0, 47.0]
    assert not column_of(domain, grouped=False).has_groups
    assert not column_of(domain, level=9).has_groups  # as far as the root and no farther


def test_values_missing_from_the_hierarchy_are_counted_but_not_shown():
    ladder = Hierarchy.from_rows("age", [("31", "30-39", "*")])
    domain = line_domain("age", Kind.NUMERIC, ["31", "47"], [31.0, 47.0], ladder=ladder)
    with pytest.raises(UnknownValueError, match="1 of 2") as caught:
        column_of(domain)
    assert "47" not in str(caught.value)


def test_pairs_count_records_and_can_look_at_some_columns_only():
    rows = coded_rows([(("a1", "b1"), ()), (("a1", "b2"), ()), (("a1", "b2"), ())], columns=2)
    assert sorted(pairs_of(rows).records) == [1, 2]
    assert pairs_of(rows, [0]).records.tolist() == [3]
    assert pairs_of(rows).sizes() == {1: (1, 1), 2: (1, 2)}


def test_a_missing_sensitive_value_is_a_value_of_its_own():
    rows = coded_rows([(("a1",), ("x",)), (("a1",), (None,))], columns=1, sensitive=1)
    assert diversity_of(rows, pairs_of(rows), column=0).tolist() == [2]


def test_many_wide_columns_do_not_overflow_the_key():
    records = [(tuple("a1" if (i >> j) & 1 else "b1" for j in range(40)), ()) for i in range(50)]
    rows = coded_rows(records, columns=40)
    assert len(pairs_of(rows).records) == 50
    assert np.array_equal(np.sort(pairs_of(rows).of_row), np.arange(50))
