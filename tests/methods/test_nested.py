"""Classes inside earlier ones, and unions of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.methods.clustering.tables import domains, tables
from tests.naive.nested import is_nested
from tests.naive.persons import failing

from shoal.core.errors import MethodError, NoSolutionError
from shoal.core.grids import NumberGrid
from shoal.methods.judging import failing_classes, one_class
from shoal.methods.method import Setting
from shoal.methods.nested import nested_notices, search_nested
from shoal.methods.registry import method_named
from shoal.privacy import AlphaKAnonymity, KAnonymity, LDiversity, TCloseness
from shoal.table.frequency import NOBODY, ONCE, join_rows
from shoal.table.recoding import recoding_of
from shoal.table.rounding import lifts


@st.composite
def earlier_tables(draw, persons=False, absent=False):
    """A table with sensitive values whose records have a class in an earlier release."""
    table = draw(tables(sensitive=True))
    rows = table.rows
    classes = draw(st.lists(st.integers(-1 if absent else 0, 4), min_size=rows, max_size=rows))
    who = draw(st.lists(st.integers(-1, 5), min_size=rows, max_size=rows))
    found, _ = join_rows(
        table.domains, table.codes, table.counts,
        sensitive_domains=table.sensitive_domains, sensitive=table.sensitive,
        persons=np.array(who, dtype=np.int32) if persons else None,
        earlier=np.array(classes, dtype=np.int32),
    )  # fmt: skip
    return found


def records(found, table):
    """Return the new and the earlier class of every record."""
    new = np.repeat(found.label, found.count).tolist()
    earlier = np.repeat(table.earlier[found.row], found.count).tolist()
    return new, earlier


def who_of(found, table):
    """Return who every record is about: somebody else each, where nobody has two."""
    if table.persons is None:
        return list(range(int(found.count.sum())))
    who = np.repeat(table.persons[found.row], found.count).tolist()
    return [f"only {at}" if one == ONCE else one for at, one in enumerate(who)]


@pytest.mark.parametrize("name", ["bestcut", "mondrian", "kmember"])
@pytest.mark.parametrize("persons", [False, True])
@settings(max_examples=25, deadline=None)
@given(data=st.data(), k=st.integers(1, 5), l=st.integers(1, 2))
def test_classes_are_unions_of_the_earlier_ones_or_lie_inside_them(name, persons, data, k, l):
    table = data.draw(earlier_tables(persons=persons))
    models = [KAnonymity(k), LDiversity(l, column="disease")]
    assume(not failing_classes(one_class(replace(table, earlier=None)), models).any())
    found = search_nested(table, models, method_named(name), Setting())
    new, earlier = records(found, table)
    assert not failing_classes(found, models).any()
    assert np.bincount(found.row, weights=found.count).tolist() == table.counts.tolist()
    view = found.facts["nested"]["view"]
    if view == "coarser":
        assert is_nested(earlier, new)
    else:
        # Parts with the same labels are one class to a reader; each of them holds by itself.
        people = who_of(found, table)
        for cell in set(zip(new, earlier, strict=True)):
            own = [who for *at, who in zip(new, earlier, people, strict=True) if tuple(at) == cell]
            assert len(set(own)) >= k
        assert found.suppressed == 0
    assert len(nested_notices(found)) == 1
    assert view in nested_notices(found)[0]


OTHERS = (
    [LDiversity(2, column="disease")],
    [LDiversity(1.4, kind="entropy", column="disease")],
    [LDiversity(2, kind="recursive", c=2.0, column="disease")],
    [AlphaKAnonymity(0.7, 2, column="disease")],
    [TCloseness(0.4, column="disease")],
)


def with_round_labels(table):
    """Return a table whose ages end at a grid, and whose nodes with two children give way."""
    line, place, sex = table.domains
    return replace(
        table,
        domains=(
            replace(line, grid=NumberGrid(0)), replace(place, lift=lifts(place.tree)),
            replace(sex, lift=lifts(sex.tree)),
        ),
    )  # fmt: skip


@pytest.mark.parametrize("models", OTHERS, ids=lambda models: models[0].name)
@pytest.mark.parametrize("name", ["bestcut", "mondrian", "refine"])
@settings(max_examples=15, deadline=None)
@given(table=earlier_tables(persons=True), k=st.integers(1, 3))
def test_what_shares_round_labels_and_an_earlier_class_keeps_every_promise(models, name, table, k):
    """Parts of an earlier class whose labels become equal may break what each of them kept."""
    table = with_round_labels(table)
    models = [KAnonymity(k), *models]
    if failing_classes(one_class(replace(table, earlier=None)), models).any():
        return
    found = search_nested(table, models, method_named(name), Setting())
    assert not failing_classes(found, models).any()
    written = list(zip(*(found.labels(j) for j in range(3)), strict=True))
    assert len(set(written)) == found.classes
    if found.facts["nested"]["view"] == "coarser":
        return
    new, earlier = records(found, table)
    values = np.repeat(table.sensitive[found.row, 0], found.count).tolist()
    cells = {}
    for at, who, value in zip(
        zip(new, earlier, strict=True), who_of(found, table), values, strict=True
    ):
        cells.setdefault(at, []).append((None if who == NOBODY else who, str(value)))
    for model in models:
        assert not failing(cells, model.to_document())


class Careless:
    """A method that puts every row into a class of its own, whatever is promised."""

    name, family = "careless", "clustering"

    def search(self, table, promise, setting):
        members = (np.arange(table.rows), np.arange(table.rows), table.counts)
        return recoding_of(table, table.codes, table.codes, members)


def test_parts_that_hold_only_together_with_those_of_another_class_are_not_released():
    codes = np.array([[i % 4, 0, 0] for i in range(8)], dtype=np.int32)
    table, _ = join_rows(
        domains(), codes, np.ones(8, dtype=np.int64),
        earlier=np.array([i // 4 for i in range(8)], dtype=np.int32),
    )  # fmt: skip
    found = search_nested(table, [KAnonymity(2)], Careless(), Setting())
    assert found.classes == 1  # both classes stay whole, and have the same labels


@settings(max_examples=40, deadline=None)
@given(table=earlier_tables(absent=True), k=st.integers(1, 4), limit=st.sampled_from([0.0, 0.5, 1]))
def test_what_the_earlier_release_left_out_stays_out(table, k, limit):
    models = [KAnonymity(k)]
    if not (table.earlier >= 0).any():
        with pytest.raises(NoSolutionError, match="none of the records"):
            search_nested(table, models, method_named("bestcut"), Setting())
        return
    found = search_nested(table, models, method_named("bestcut"), Setting(suppression_limit=limit))
    new, earlier = records(found, table)
    assert all(now == -1 for now, then in zip(new, earlier, strict=True) if then == -1)
    gone = {then for now, then in zip(new, earlier, strict=True) if now == -1 and then != -1}
    kept = {then for now, then in zip(new, earlier, strict=True) if now != -1}
    assert not gone & kept  # an earlier class is left out whole, or not at all


def test_a_stricter_promise_merges_and_a_weaker_one_divides():
    table, _ = join_rows(
        domains(),
        np.array([[i // 2, 0, 0] for i in range(12)], dtype=np.int32),
        np.ones(12, dtype=np.int64),
        earlier=np.array([i // 4 for i in range(12)], dtype=np.int32),
    )
    coarser = search_nested(table, [KAnonymity(6)], method_named("bestcut"), Setting())
    assert (coarser.classes, coarser.facts["nested"]["view"]) == (1, "coarser")
    finer = search_nested(table, [KAnonymity(2)], method_named("bestcut"), Setting())
    assert (finer.classes, finer.facts["nested"]["view"]) == (6, "finer")
    same = search_nested(table, [KAnonymity(4)], method_named("refine"), Setting())
    assert (same.classes, same.facts["nested"]["view"]) == (3, "finer")


@pytest.mark.parametrize("name", ["flash", "mdav"])
def test_what_releases_no_boxes_is_refused(name):
    table, _ = join_rows(
        domains(), np.zeros((4, 3), dtype=np.int32), np.ones(4, dtype=np.int64),
        earlier=np.zeros(4, dtype=np.int32),
    )  # fmt: skip
    with pytest.raises(MethodError, match="--nested-in"):
        search_nested(table, [KAnonymity(2)], method_named(name), Setting())
