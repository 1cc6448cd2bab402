import numpy as np
import pytest
from tests.methods.xk.coded import coded_rows

from shoal.methods.xk import steps
from shoal.methods.xk.rows import BLANK, GENERALIZED, KEPT, SUPPRESSED, pairs_of


def labels(rows, column=0):
    return [rows.columns[column].labels[code] for code in rows.codes[:, column]]


def three_pairs():
    """Return rows of a pair of 1 (a1), of 2 (a2) and of 5 (b1) records."""
    return coded_rows([((value,), ()) for value in ["a1", *["a2"] * 2, *["b1"] * 5]], columns=1)


def test_unify_takes_the_marks_of_the_seed_or_others():
    assert steps.unify(["-", " NA ", "", "n/a", None]) == [None, None, None, "n/a", None]
    assert steps.unify(["-", "n/a"], ["n/a"]) == ["-", None]
    assert steps.unify(["na", "NAN"]) == ["na", "NAN"]


def test_diversify_removes_pairs_that_are_not_diverse():
    records = [(("a1",), ("x",))] * 3 + [(("a2",), ("x",)), (("a2",), ("y",))]
    rows = coded_rows(records, columns=1, sensitive=1)
    done = steps.diversify(rows, {"s0": 2})
    assert pairs_of(done).records.tolist() == [2]
    assert rows.kept.all()  # what was given is left alone


def test_diversify_blanks_instead_where_sensitive_suppression_is_on():
    records = [(("a1",), ("x",))] * 3 + [(("a2",), ("x",)), (("a2",), ("y",))]
    rows = coded_rows(records, columns=1, sensitive=1)
    done = steps.diversify(rows, {"s0": 2}, blank=True)
    assert done.kept.all()
    assert (done.sensitive[:, 0] == BLANK).tolist() == [True, False, False]
    assert (rows.sensitive != BLANK).all()


def test_several_sensitive_columns_are_taken_one_after_another():
    records = [
        *[(("a1",), ("x", "u")), (("a1",), ("x", "v"))],  # s0 poor
        *[(("a2",), ("x", "u")), (("a2",), ("y", "u"))],  # s1 poor
        *[(("b1",), ("x", "u")), (("b1",), ("y", "v"))],
    ]
    rows = coded_rows(records, columns=1, sensitive=2)
    assert pairs_of(steps.diversify(rows, {"s0": 2})).records.tolist() == [2, 2]
    assert pairs_of(steps.diversify(rows, {"s0": 2, "s1": 2})).records.tolist() == [2]
    blanked = steps.diversify(rows, {"s0": 2, "s1": 2}, blank=True)
    assert (blanked.sensitive == BLANK).sum(axis=0).tolist() == [2, 2]
    assert steps.undiverse_pairs(rows, {"s0": 2, "s1": 2}) == {2: (2, 4)}


def test_generalize_lifts_the_pairs_under_xk_alone():
    done = steps.generalize(three_pairs(), 0, xk=3)
    assert labels(done) == ["a", "a", "b1"]
    assert done.cells[:, 0].tolist() == [GENERALIZED, GENERALIZED, KEPT]
    assert sorted(pairs_of(done).records) == [3, 5]


def test_suppress_cells_stars_what_is_still_under_xk():
    rows = steps.generalize(three_pairs(), 0, xk=2)
    assert labels(rows) == ["a", "a2", "b1"]
    done = steps.suppress_cells(rows, 0, xk=2)
    assert labels(done) == ["*", "a2", "b1"]
    assert done.cells[:, 0].tolist() == [SUPPRESSED, KEPT, KEPT]


def test_fill_fills_and_marks():
    done = steps.fill(three_pairs(), k=4, xk=2, random=np.random.default_rng(0))
    assert done.false.tolist() == [0, 2, 0]
    assert done.marked.tolist() == [True, False, False]
    assert done.kept.all()
    assert steps.suppress(done).kept.tolist() == [False, True, True]


def test_false_records_are_drawn_from_the_records_of_their_pair():
    records = [(("a1",), ("x",))] * 1 + [(("a1",), ("y",))] * 99 + [(("b1",), ("z",))] * 9
    rows = coded_rows(records, columns=1, sensitive=1)
    done = steps.fill(rows, k=1000, xk=50, random=np.random.default_rng(1))
    assert done.false.sum() == 900
    assert done.false[2] == 0
    assert done.false[1] > 850  # 99 of 100 records


@pytest.mark.parametrize(("k", "holds"), [(5, True), (6, False)])
def test_confirm_counts_again(k, holds):
    found = steps.confirm(steps.suppress(three_pairs()), k=k, diversity={})
    assert found.small_pairs == (2 if k == 5 else 3)
    assert (found.pairs, found.records) == (3, 8)
    only = coded_rows([(("b1",), ())] * 5, columns=1)
    assert steps.confirm(only, k=k, diversity={}).holds is holds


def test_confirm_finds_undiverse_pairs_and_lets_blanked_ones_pass():
    rows = coded_rows([(("a1",), ("x",))] * 5, columns=1, sensitive=1)
    assert steps.confirm(rows, k=5, diversity={"s0": 2}).undiverse_pairs == 1
    blanked = steps.diversify(rows, {"s0": 2}, blank=True)
    assert steps.confirm(blanked, k=5, diversity={"s0": 2}).holds
