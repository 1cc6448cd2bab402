"""Drift: the same people do not call for learning again, other people do."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.golden.generate import table

from shoal.core.errors import InputError
from shoal.core.model import RecodingModel
from shoal.engines.local.drift import FEWEST, Limits, _apart, drift
from shoal.engines.local.encode import encode_safe

pytestmark = pytest.mark.local("drift")

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def golden(name):
    return RecodingModel.load(GOLDEN / f"{name}.model.json")


@pytest.mark.parametrize("name", ["mondrian", "clusters", "levels", "rules", "masks"])
def test_the_training_records_have_not_moved(name):
    found = drift(table(), golden(name))
    model = golden(name)
    assert not found.learn_again
    assert found.records == 400
    assert found.distance == pytest.approx(0, abs=1e-9)
    assert all(column.distance == pytest.approx(0, abs=1e-9) for column in found.columns.values())
    assert found.unseen == model.suppressed
    document = found.to_document()
    assert document["learn_again"] is False
    assert len(document["why"]) == 1
    assert set(document["columns"]) == set(model.schema.quasi)


def test_values_never_seen_call_for_learning_again():
    moved = table().with_columns(age=pl.lit("-99"))
    found = drift(moved, golden("mondrian"))
    assert found.learn_again
    assert found.columns["age"].unseen == 400
    assert found.columns["job"].unseen == 0
    assert found.unseen == found.suppressed == 400
    assert any("covered by no class" in reason for reason in found.why)


def test_a_column_that_moved_is_named():
    young = table().filter(pl.col("age").is_in(["-5", "0"]))
    found = drift(pl.concat([young] * 5), golden("rules"))
    assert found.learn_again
    assert any("column 'age' is distributed differently" in reason for reason in found.why)
    assert found.columns["age"].distance > 0.5


def test_the_suppression_is_that_of_encode_safe():
    part = table().head(60)
    found = drift(part, golden("mondrian"))
    assert found.suppressed == encode_safe(part, golden("mondrian")).report.suppressed
    assert found.learn_again
    assert any("encode-safe would suppress" in reason for reason in found.why)
    calm = drift(part, golden("mondrian"), limits=Limits(unseen=1, suppressed=1, distance=1))
    assert not calm.learn_again


def test_too_few_records_tell_nothing():
    found = drift(table().head(FEWEST - 1), golden("mondrian"))
    assert not found.learn_again
    assert "too few" in found.why[0]
    with pytest.raises(InputError, match="no record"):
        drift(table().head(0), golden("mondrian"))


def test_no_reason_holds_a_value():
    found = drift(table().with_columns(job=pl.lit("Alice")), golden("mondrian"))
    assert "Alice" not in str(found.to_document())


def test_chance_is_what_two_samples_differ_by():
    assert _apart({0: 50, 1: 50}, {0: 50, 1: 50})[0] == 0
    assert _apart({0: 100}, {1: 100})[0] == 1
    small, large = _apart({0: 5, 1: 5}, {0: 5, 1: 5}), _apart({0: 500, 1: 500}, {0: 500, 1: 500})
    assert small[1] > 5 * large[1]
    assert _apart(None, {0: 1}) == (None, None)
