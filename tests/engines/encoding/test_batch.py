"""A batch on its way through a model: which columns go out, which records, and as what."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.engines.encoding.test_tuples import coded, counted
from tests.engines.test_encode import golden, strange_people

from shoal.core.errors import InputError, NoSolutionError
from shoal.engines.encoding.batch import Batch, released_columns, unseen_error
from shoal.model.batch import Judge
from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("a part of the local engine itself")

SCHEMA = Schema.from_document({"columns": {"id": "identifying", "q": "quasi", "s": "sensitive"}})


def batch(name="levels", *, on_unseen="suppress", star=False, records=300):
    """Return a batch, its table, its distinct tuples, and the tuple of each record."""
    frame = strange_people(records)
    cover, tuples, which = coded(name, frame, on_unseen)
    columns = tuple(n for n in frame.columns if n != "name")
    made = Batch("t", golden(name), cover.encoder, columns, cover, star)
    return made, frame, tuples, which


@pytest.mark.parametrize(("others", "columns", "found"), [
    ("fault", ["s", "q", "id"], ("s", "q")),
    ("fault", ["q"], ("q",)),
    ("drop", ["q", "more", "s"], ("q", "s")),
    ("keep", ["q", "more", "id"], ("q", "more")),
])  # fmt: skip
def test_released_columns_stand_in_the_tables_own_order(others, columns, found):
    schema = Schema.from_document({**SCHEMA.to_document(), "others": others})
    assert released_columns("t", columns, schema) == found


def test_every_fault_of_the_columns_is_named_at_once():
    with pytest.raises(InputError, match="t: a column name stands twice") as caught:
        released_columns("t", ["s", "s", "x"], SCHEMA)
    assert "has no column 'q'" in str(caught.value)
    assert "1 columns have no role in the model: 'x'" in str(caught.value)


def test_a_batch_without_a_judged_column_is_refused():
    made, *_ = batch()
    judge = Judge.of(SCHEMA, [LDiversity(2)])
    with pytest.raises(InputError, match="t: has no column 's'"):
        made.check_judged(judge)
    made.check_judged(Judge.of(SCHEMA, [KAnonymity(2)]))


@pytest.mark.parametrize("on_unseen", ["suppress", "nearest"])
def test_every_tuple_is_released_as_the_encoder_says(on_unseen):
    made, _, tuples, _ = batch(on_unseen=on_unseen)
    row, unseen = made.rows(tuples)
    labels = made.labels().rows()
    for at, number, is_unseen in zip(tuples.tolist(), row.tolist(), unseen.tolist(), strict=True):
        wanted, region = made.encoder.tuple_of(made.cover.values(at))
        assert is_unseen == (region < 0)
        assert (None if number < 0 else labels[number]) == (wanted and tuple(wanted))
    assert unseen.any()
    assert bool(made.widened) == (on_unseen == "nearest")


def test_the_last_row_of_labels_is_the_root_and_rows_are_added_for_widened_ones():
    made, _, tuples, _ = batch(on_unseen="nearest")
    before = made.labels()
    assert before.row(-1) == tuple(made.encoder.roots)
    assert made.labels() is before  # worked out once
    made.rows(tuples)
    assert made.labels().height == before.height + len(made.widened)
    assert made.labels().row(-1) == before.row(-1)


def test_failing_classes_are_closed_and_stay_closed():
    made, frame, tuples, which = batch()
    judge = Judge.of(golden("levels").schema, [KAnonymity(4)])
    made.suppress_failing(counted(frame, tuples, which, judge), judge)
    row, _ = made.rows(tuples)
    sizes = np.bincount(row[which][row[which] >= 0])
    assert sizes[sizes > 0].min() >= 4
    assert made.closed
    assert not made.closed & set(made.labels()[row[row >= 0]].rows())


def test_a_batch_of_which_nothing_is_left_is_no_release():
    made, frame, tuples, which = batch(records=3)
    judge = Judge.of(golden("levels").schema, [KAnonymity(50)])
    with pytest.raises(NoSolutionError, match="every record would have to be suppressed"):
        made.suppress_failing(counted(frame, tuples, which, judge), judge)


def test_unseen_records_are_refused_where_that_was_asked_for_and_counted():
    made, frame, tuples, which = batch(on_unseen="error")
    judge = Judge.of(golden("levels").schema, [KAnonymity(2)])
    unseen = int((made.cover.regions(tuples)[which] < 0).sum())
    assert unseen
    with pytest.raises(InputError, match=f"t: {unseen} records are covered by no class"):
        made.suppress_failing(counted(frame, tuples, which, judge), judge)
    made.refuse_unseen(0)
    with pytest.raises(InputError, match="7 records are covered by no class"):
        made.refuse_unseen(7)
    batch(on_unseen="suppress")[0].refuse_unseen(7)  # nothing to refuse
    assert "--on-unseen suppress or nearest" in str(unseen_error("t", 1))


@pytest.mark.parametrize(("suppressed", "stays"), [(1, False), (2, True), (0, True)])
def test_stars_are_released_only_where_the_promise_holds_with_them(suppressed, stays):
    made, *_ = batch(star=True)
    judge = Judge.of(golden("levels").schema, [KAnonymity(2)])
    made.judge_star(judge, {("x",): Counter({(): 2})}, +Counter({(): suppressed}))
    assert made.star is stays
    assert len(made.notices) == (not stays)


def test_stars_join_the_class_that_is_at_the_root_already():
    made, *_ = batch(star=True)
    judge = Judge.of(golden("levels").schema, [KAnonymity(4)])
    root = tuple(made.encoder.roots)
    made.judge_star(judge, {root: Counter({(): 3})}, Counter({(): 1}))
    assert made.star
