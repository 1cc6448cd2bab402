import numpy as np
import pytest

from shoal.hierarchies.tree import Hierarchy
from shoal.methods.xk.correlation import correlations_of
from shoal.methods.xk.pipeline import Plan, Techniques, carry_out
from shoal.methods.xk.rows import rows_of
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain
from shoal.table.frequency import from_codes


def numeric_rows(points):
    """Return rows of a numeric table with decades as groups; None is a missing value."""
    domains, codes = [], []
    for j in range(len(points[0])):
        numbers = sorted({p[j] for p in points if p[j] is not None})
        labels = [str(number) for number in numbers]
        tree = Hierarchy.from_rows("x", [(t, f"{int(t) // 10}x", "*") for t in labels])
        places = [float(number) for number in numbers]
        if any(p[j] is None for p in points):
            labels, places = [None, *labels], [np.nan, *places]
            tree = tree.with_missing("\x00missing")
        domains.append(line_domain(f"c{j}", Kind.NUMERIC, labels, places, ladder=tree))
        codes.append([labels.index(None if p[j] is None else str(p[j])) for p in points])
    table = from_codes(
        tuple(domains), np.array(codes, dtype=np.int32).T.copy(), np.ones(len(points), np.int64)
    )
    return rows_of(table, grouped=[d.name for d in domains])


POINTS = [(11, 52), (12, 41), (25, 33), (25, 33), (31, 38), (44, 17)]


def test_correlations_before_are_pearson_s():
    rows = numeric_rows(POINTS)
    found = correlations_of(rows, rows)
    expected = np.corrcoef(np.array(POINTS).T)[0, 1]
    assert found.before[1][0] == pytest.approx(expected)
    assert found.before[0][0] == 1.0
    assert found.largest_change == 0.0


def test_false_records_count_and_suppressed_records_do_not():
    rows = numeric_rows(POINTS)
    done = carry_out(rows, Plan(k=4, xk=2))
    assert correlations_of(rows, done.after).after[1][0] is None  # one pair is left
    done = carry_out(rows, Plan(k=3, xk=1))
    weights = done.after.counts + done.after.false
    copies = np.repeat(np.array(sorted(set(POINTS))), weights, axis=0)
    found = correlations_of(rows, done.after)
    assert found.after[1][0] == pytest.approx(np.corrcoef(copies.T)[0, 1])


def test_a_generalized_cell_stands_at_the_mean_of_its_group():
    rows = numeric_rows([(11, 50), (11, 50), (12, 41), (13, 41), (20, 30), (20, 30)])
    done = carry_out(rows, Plan(
        k=2, xk=2, techniques=Techniques(generalization=True), generalized="c0"))  # fmt: skip
    group = (11 + 11 + 12 + 13) / 4
    points = [(11, 50), (11, 50), (group, 41), (group, 41), (20, 30), (20, 30)]
    found = correlations_of(rows, done.after)
    assert found.after[1][0] == pytest.approx(np.corrcoef(np.array(points).T)[0, 1])


def test_missing_and_suppressed_cells_are_left_out():
    points = [(11, 50), (12, 40), (13, 35), (None, 10), (14, None)]
    rows = numeric_rows(points)
    whole = [p for p in points if None not in p]
    assert correlations_of(rows, rows).before[1][0] == pytest.approx(
        np.corrcoef(np.array(whole).T)[0, 1]
    )


def test_a_column_that_does_not_vary_has_no_correlation():
    rows = numeric_rows([(11, 50), (11, 40)])
    found = correlations_of(rows, rows)
    assert found.before[1][0] is None
    assert "-" in found.table()
    assert found.to_document()["before"][1] == [None, 1.0]
