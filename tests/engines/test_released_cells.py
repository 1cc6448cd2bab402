"""Measuring a release by its counted cells: sizes, stars, loss and what is not known."""

from __future__ import annotations

import polars as pl
import pytest

from shoal.core.errors import InputError
from shoal.engines.released_cells import ROWS, ReleasedCells
from shoal.schema.schema import Kind, Schema
from shoal.table.domain import line_domain

AGE = line_domain("age", Kind.NUMERIC, ["1", "2", "3", "4"], [1, 2, 3, 4])
ILL = line_domain("ill", Kind.NUMERIC, ["7", "8"], [7, 8])
SCHEMA = Schema.from_document(
    {
        "columns": {
            "age": {"role": "quasi", "kind": "numeric"},
            "ill": {"role": "sensitive", "kind": "numeric"},
        }
    }
)


def release(rows, *, records=None, sensitive=True):
    """Return a release of (age, ill) records, as an engine counts it."""
    columns = ("age", "ill") if sensitive else ("age",)
    frame = pl.DataFrame(rows, schema=dict.fromkeys(("age", "ill"), pl.String), orient="row")

    def cells(names):
        return frame.group_by(list(names)).agg(pl.len().alias(ROWS))

    return ReleasedCells(
        where="r", columns=columns, cells=cells, domains=(AGE,),
        records=len(rows) if records is None else records,
        sensitive={"ill": ILL} if sensitive else {},
    )  # fmt: skip


def test_a_release_as_it_was_lost_nothing():
    found = release([("1", "7"), ("2", "8"), ("3", "7"), ("4", "8")]).measured(SCHEMA, starred=None)
    assert (found["records"], found["released"], found["suppressed"]) == (4, 4, 0)
    assert (found["classes"], found["smallest_class"]) == (4, 1)
    assert found["utility"]["ncp"] == 0
    assert found["column_loss"] == {"age": 0}
    assert found["utility"]["cm"] == 0
    assert found["notices"] == []


def test_a_class_over_half_the_range_loses_by_hand():
    rows = [("[1, 3]", "7"), ("[1, 3]", "7"), ("[1, 3]", "8"), ("4", "8")]
    found = release(rows).measured(SCHEMA, starred=None)
    assert found["utility"]["ncp"] == pytest.approx(3 * (2 / 3) / 4)
    assert found["utility"]["dm"] == 9 + 1
    assert found["utility"]["cm"] == pytest.approx(1 / 4)  # one of three is not as the others
    assert (found["classes"], found["smallest_class"]) == (2, 1)


@pytest.mark.parametrize(("starred", "classes", "suppressed", "notices"), [
    (None, 1, 3, 1), (True, 1, 3, 0), (False, 2, 1, 0),
])  # fmt: skip
def test_records_at_the_root_are_suppressed_unless_that_is_denied(
    starred, classes, suppressed, notices
):
    rows = [("1", "7"), ("1", "8"), ("*", "7"), ("*", "8")]
    found = release(rows, records=5).measured(SCHEMA, starred=starred)
    assert (found["classes"], found["suppressed"]) == (classes, suppressed)
    assert found["released"] == 4
    assert len(found["notices"]) == notices


def test_suppressed_records_count_fully():
    found = release([("1", "7"), ("1", "7")], records=4).measured(SCHEMA, starred=None)
    assert found["utility"]["ncp"] == pytest.approx(0.5)
    assert found["suppressed"] == 2


def test_a_release_larger_than_the_original_is_another_table():
    with pytest.raises(InputError, match="r: has more records than the original"):
        release([("1", "7")] * 3, records=2).measured(SCHEMA, starred=None)


def test_what_is_not_known_is_said():
    plain = Schema.from_document({"columns": {"age": {"role": "quasi", "kind": "numeric"}}})
    found = release([("1", "7"), ("2", "7")], sensitive=False).measured(plain, starred=None)
    assert found["utility"]["cm"] is None
    assert {"cm", "protection", "sse_loss", "usefulness"} <= set(found["notes"])
    full = release([("1", "7"), ("2", "7")]).measured(SCHEMA, starred=None)
    assert "cm" not in full["notes"]


def test_a_sensitive_value_that_the_original_does_not_have_leaves_protection_unknown():
    known = release([("1", "7"), ("1", "8")]).measured(SCHEMA, starred=None)
    other = release([("1", "7"), ("1", "9")]).measured(SCHEMA, starred=None)
    assert known["utility"]["protection"] is not None
    assert other["utility"]["protection"] is None
    spelled = release([("1", "7.0"), ("1", "8")]).measured(SCHEMA, starred=None)
    assert spelled["utility"]["protection"] == known["utility"]["protection"]


def test_a_release_without_a_record():
    found = release([], records=3).measured(SCHEMA, starred=None)
    assert (found["classes"], found["smallest_class"], found["suppressed"]) == (0, 0, 3)
    assert found["utility"]["ncp"] == 1
