"""Array groups of columns and promises: read by their description alone, they say all there is."""

from __future__ import annotations

import numpy as np
import pytest
from tests.methods.clustering.tables import disease, domains
from tests.methods.sensitive_tables import PROMISES, SECRET

from shoal.kernels import axes as ax
from shoal.kernels.mondrian.mondrian import split
from shoal.methods.arrays import axes_of, promise_of
from shoal.privacy import AlphaKAnonymity, KAnonymity, LDiversity
from shoal.privacy.compiled import Distance, Measure
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain
from shoal.table.frequency import from_codes


def width(axes, j, low, high):
    """Return the width of a run of codes, from what `Axes` says of its arrays."""
    if low == high:
        return 0.0
    position = axes.position[axes.start[j] : axes.start[j + 1]]
    if not axes.is_tree[j]:
        share = (position[high] - position[low]) / axes.span[j]
        return axes.weight[j] * (1.0 if low == 0 and axes.has_missing[j] else share)
    own = slice(axes.tree_start[j], axes.tree_start[j + 1])
    first, parent, height = axes.first[own], axes.parent[own], axes.height[own]
    node = int(position[high])
    while not first[node] <= position[low] <= node:  # nodes stand in post-order
        node = parent[node]
    return axes.weight[j] * height[node]


def line(name, numbers, weight=1.0):
    labels = [str(n) for n in numbers]
    return line_domain(name, Kind.NUMERIC, labels, numbers, weight=weight)


def table_of(columns, rows, values=None):
    codes = np.array(rows, dtype=np.int32).reshape(-1, len(columns))
    values = np.zeros(len(codes)) if values is None else np.array(values)
    return from_codes(
        columns, codes, np.ones(len(codes), np.int64), sensitive_domains=(disease(),),
        sensitive=values.astype(np.int32).reshape(-1, 1),
    )  # fmt: skip


def classes_of(table, k):
    """Return the rows of each class that Mondrian makes of these arrays."""
    found = split(
        table.codes, table.counts, table.sensitive, axes=axes_of(table.domains),
        promise=promise_of([KAnonymity(k)], table), relaxed=False,
    )  # fmt: skip
    return sorted(found.row[found.label == c].tolist() for c in range(len(found.low)))


@pytest.mark.parametrize("missing", [False, True])
def test_the_width_of_every_run_of_codes_can_be_read(missing):
    columns = domains(missing)
    axes = axes_of(columns)
    for j, domain in enumerate(columns):
        for low in range(len(domain)):
            for high in range(low + 1, len(domain)):
                wanted = domain.weight * domain.cost(low, high)
                assert width(axes, j, low, high) == pytest.approx(wanted)


def test_a_line_without_a_range_has_a_span_to_divide_by():
    axes = axes_of((line("x", [4.0]), line("y", [1.0, 3.0])))
    assert axes.span.tolist() == [1.0, 2.0]
    assert width(axes, 0, 0, 0) == 0.0


def test_the_root_of_every_tree_is_last_and_one_high():
    axes = axes_of(domains())
    for j in np.flatnonzero(axes.is_tree):
        last = axes.tree_start[j + 1] - 1
        assert (axes.parent[last], axes.first[last], axes.height[last]) == (-1, 0, 1.0)
    assert axes.tree_start[1] == 0  # the first column is a line and owns no node


@pytest.mark.parametrize(("weights", "classes"), [
    ((2.0, 1.0), [[0, 1], [2, 3]]), ((1.0, 2.0), [[0, 2], [1, 3]]),
])  # fmt: skip
def test_compiled_code_cuts_the_column_that_weighs_most(weights, classes):
    columns = [line(n, [0.0, 1.0], w) for n, w in zip("xy", weights, strict=True)]
    assert classes_of(table_of(columns, [(0, 0), (0, 1), (1, 0), (1, 1)]), 2) == classes


@pytest.mark.parametrize("k", [1, 2, 3])
def test_compiled_code_reads_k_from_the_promise(k):
    column = (line("x", [float(i) for i in range(6)]),)
    assert classes_of(table_of(column, [[0]]), k) == [[0]]
    assert classes_of(table_of(column, [[2]] * 6, [0, 1, 2, 0, 1, 2]), k) == [[0, 1, 2]]
    for rows in (k, 2 * k - 1):
        assert classes_of(table_of(column, range(rows)), k) == [list(range(rows))]
    assert len(classes_of(table_of(column, range(2 * k)), k)) == 2


def test_constants_are_the_members_of_their_enumerations():
    kinds = (
        ax.DISTINCT, ax.ENTROPY, ax.RECURSIVE, ax.CLOSENESS, ax.NT_CLOSENESS, ax.ALPHA, ax.PLAIN
    )  # fmt: skip
    assert [Measure(kind).name for kind in kinds] == [
        "DISTINCT", "ENTROPY", "RECURSIVE", "CLOSENESS", "NT_CLOSENESS", "LARGEST_SHARE", "PLAIN",
    ]  # fmt: skip
    distances = (ax.EQUAL, ax.ORDERED, ax.HIERARCHICAL, ax.CHI2)
    assert [Distance(d).name for d in distances] == ["EQUAL", "ORDERED", "HIERARCHICAL", "CHI2"]
    assert {type(number) for number in (*kinds, *distances)} == {int}  # not of an enumeration


def test_each_sensitive_column_owns_its_histogram():
    chance = np.random.default_rng(0)
    codes = np.stack([chance.integers(0, len(d), 30) for d in domains()], axis=1)
    values = np.stack((chance.integers(0, 4, 30), chance.integers(0, 3, 30)), axis=1)
    table = from_codes(
        domains(), codes.astype(np.int32), chance.integers(1, 4, 30),
        sensitive_domains=(SECRET, disease()), sensitive=values.astype(np.int32),
    )  # fmt: skip
    promise = promise_of([LDiversity(2, column="disease")], table)
    for s in range(2):
        own = promise.reference[promise.start[s] : promise.start[s + 1]]
        tally = np.bincount(table.sensitive[:, s], weights=table.counts, minlength=len(own))
        assert own.tolist() == tally.tolist()


@pytest.mark.parametrize("model", PROMISES, ids=repr)
def test_every_model_about_values_has_one_row_everywhere(model):
    codes = np.zeros((2, 3), np.int32)
    table = from_codes(
        domains(), codes, np.ones(2, np.int64), sensitive_domains=(SECRET,),
        sensitive=np.array([[0], [1]], np.int32),
    )  # fmt: skip
    promise = promise_of([model], table)
    models = 0 if isinstance(model, KAnonymity) else 1
    for rows in (
        promise.kind, promise.column, promise.first_number, promise.second_number,
        promise.distance, promise.marked, promise.plain,
    ):  # fmt: skip
        assert len(rows) == models
    assert [judge is not None for judge in promise.plain] == (promise.kind == ax.PLAIN).tolist()
    if isinstance(model, AlphaKAnonymity):
        named = [v in (model.values or SECRET.labels) for v in SECRET.labels]
        assert promise.marked.tolist() == [named]


def test_a_promise_without_plain_judges_needs_none():
    fields = dict.fromkeys(ax.PromiseArrays._fields[:-1], 0)
    assert ax.PromiseArrays(**fields).plain == ()
