"""A sensitive column has one scale: whoever judges it says the same, or all refuse.

Local verify, edge verify, what learning believed and a checker that shares no code with shoal,
on dirty columns of every kind, with and without hierarchies, and under every promise. Spark's
verify is held to the same in tests/engines/spark.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tests.laws.dirty import COLUMNS, HAS_TREE, QUASI, Dirty, as_it_is, dirty_tables
from tests.naive import release as naive
from tests.naive.sensitive import Refused
from tests.on_spark import examples

from shoal import api, edge
from shoal.core.errors import InputError, NoSolutionError, UnknownValueError
from shoal.engines.local.frequencies import frequencies
from shoal.engines.local.source import open_source
from shoal.methods.judging import judge_recoding
from shoal.privacy import expand

LAW = settings(
    max_examples=examples(25), deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)  # fmt: skip
REFUSALS = (InputError, UnknownValueError)


def learned(table):
    """What a search believes of the classes that it leaves as they are."""
    source = open_source(table.frame)
    schema = table.schema.fit(source.columns)
    lazy = source.scan(source.columns, coded=source.columns)
    counted = frequencies(source, lazy, schema, sensitive=["s"])
    found = judge_recoding(as_it_is(counted.table), expand(schema.privacy, schema.sensitive))
    return tuple(found)


def wanted(table):
    """What the naive checker says: value, holds and violating records of each model."""
    groups = naive.classes(table.rows, QUASI)
    found = naive.judged(table.rows, QUASI, table.promise, columns=table.facts)
    return [(value, not wrong, sum(len(groups[key]) for key in wrong)) for value, wrong in found]


def agree(results, told):
    assert [r.holds for r in results] == [holds for _, holds, _ in told]
    assert [r.violating_records for r in results] == [wrong for _, _, wrong in told]
    for result, (value, _, _) in zip(results, told, strict=True):
        assert result.value == pytest.approx(float(value), abs=1e-9)


@pytest.mark.parametrize("column", sorted(COLUMNS))
@LAW
@given(data=st.data())
def test_every_judge_says_the_same_of_a_dirty_column_or_all_refuse(column, data):
    table = data.draw(dirty_tables(column))
    try:
        told = wanted(table)
    except Refused:
        event("refused")
        with pytest.raises(REFUSALS):
            api.verify(table.frame, table.schema)
        with pytest.raises(REFUSALS):
            edge.verify(table.rows, table.model)
        with pytest.raises(REFUSALS):
            learned(table)
        return
    event("judged")
    found = api.verify(table.frame, table.schema)
    agree(found.privacy, told)
    there = edge.verify(table.rows, table.model)
    assert replace(there, warnings=found.warnings) == found
    assert set(there.warnings) <= set(found.warnings)  # a device does not know `infer`
    for result, (value, holds, wrong) in zip(learned(table), told, strict=True):
        if result.model.name == "(n,t)-closeness":  # a search looks at no set but the whole table
            assert result.value >= float(value) - 1e-9
            assert holds or not result.holds
        else:
            agree([result], [(value, holds, wrong)])


@pytest.mark.parametrize("column", sorted(COLUMNS))
@LAW
@given(data=st.data())
def test_a_safe_batch_of_dirty_records_holds_or_is_refused_on_every_path(column, data):
    """The local engine and a device encode the same batch; the naive checker reads both."""
    table = data.draw(dirty_tables(column))
    try:
        wanted(table)
    except Refused:
        with pytest.raises(REFUSALS):
            api.encode(table.frame, table.model, safe=True)
        with pytest.raises(REFUSALS):
            edge.encode_safe(table.rows, table.model)
        return
    records, report = edge.encode_safe(table.rows, table.model)
    if not records:
        with pytest.raises(NoSolutionError):
            api.encode(table.frame, table.model, safe=True)
        return
    done = api.encode(table.frame, table.model, safe=True)
    assert done.table.to_dicts() == records
    assert naive.broken(records, QUASI, table.promise, columns=table.facts) == 0
    assert report.warnings == done.notices


STRAYS = [
    ("numbers", "unknown"), ("numbers, tree", "unknown"), ("numbers, tree", "77777"),
    ("numbers, built", "unknown"), ("dates", "31.02.2024"), ("dates", "2024-02-25T01:00:00+02:00"),
    ("order", "higher"), ("order, tree", "quiet"), ("words, tree", "typhus"),
    ("ranks of a tree", "higher"), ("undeclared numbers", "unknown"),
    ("undeclared words", "123456"), ("undeclared, tree", "77777"),
]  # fmt: skip


@pytest.mark.parametrize(("column", "stray"), STRAYS)
def test_what_does_not_fit_the_scale_is_refused_everywhere(column, stray):
    distance = "hierarchical" if column in HAS_TREE else "ordered"
    promise = [
        {"model": "k-anonymity", "k": 1},
        {"model": "t-closeness", "t": 1.0, "distance": distance, "column": "s"},
    ]
    cells = [*COLUMNS[column][2], stray]
    rows = [{"q0": "a", "q1": "x", "s": cell} for cell in cells]
    table = Dirty(column, rows, promise, fold=False)
    works = {
        "anonymize": lambda: api.anonymize(table.frame, table.schema),
        "learn": lambda: api.learn(table.frame, table.schema, method="mondrian"),
        "verify": lambda: api.verify(table.frame, table.schema),
        "encode --safe": lambda: api.encode(table.frame, table.model, safe=True),
        "edge.verify": lambda: edge.verify(table.rows, table.model),
        "edge.encode_safe": lambda: edge.encode_safe(table.rows, table.model),
    }
    for name, work in works.items():
        with pytest.raises(REFUSALS) as caught:
            work()
        message = str(caught.value)
        assert "'s'" in message, name
        assert stray not in message, name
