from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.core.errors import InputError
from shoal.schema.schema import Schema

FRAME = pl.DataFrame(
    {
        "age": ["1", "1", "1", "2", "2", None, None, None],
        "ill": ["a", "b", "a", "a", "a", "b", None, "b"],
    }
)
SCHEMA = Schema.from_document({"columns": {"age": "quasi", "ill": "sensitive"}})


def test_missing_quasi_identifiers_are_a_class_of_their_own() -> None:
    found = shoal.verify(FRAME, SCHEMA, privacy=[shoal.KAnonymity(3)])
    assert not found.holds
    assert (found.records, found.classes, found.smallest_class) == (8, 3, 2)
    assert found.violating_records == 2


def test_a_missing_sensitive_value_is_a_value() -> None:
    found = shoal.verify(FRAME, SCHEMA, privacy=[shoal.LDiversity(2)])
    assert [r.value for r in found.privacy] == [1]
    assert found.violating_records == 2  # the class 2, where everybody has a


def test_several_models_and_columns_are_judged_at_once() -> None:
    frame = FRAME.with_columns(pl.Series("pay", ["1", "2", "1", "1", "2", "2", "1", "1"]))
    schema = Schema.from_document(
        {"columns": {"age": "quasi", "ill": "sensitive", "pay": "sensitive"}}
    )
    found = shoal.verify(
        frame, schema, privacy=[shoal.KAnonymity(2), shoal.LDiversity(2), shoal.TCloseness(0.9)]
    )
    names = [(r.model.name, r.model.column, r.holds) for r in found.privacy]
    assert names == [
        ("k-anonymity", None, True),
        ("l-diversity", "ill", False),
        ("l-diversity", "pay", True),
        ("t-closeness", "ill", True),
        ("t-closeness", "pay", True),
    ]


def test_n_t_closeness_looks_for_a_set_of_n_records_around_the_class() -> None:
    frame = pl.DataFrame(
        {
            "city": ["x"] * 4 + ["y"] * 8,
            "sex": ["f", "f", "m", "m"] + ["f"] * 4 + ["m"] * 4,
            "ill": ["a", "a", "a", "b"] + ["b"] * 8,
        }
    )
    roles = {"city": "quasi", "sex": "quasi", "ill": "sensitive"}
    schema = Schema.from_document({"columns": roles})
    # The class (x, f) is all a: far from the table, near the 4 records of city x.
    near = shoal.verify(frame, schema, privacy=[shoal.NTCloseness(4, 0.3)])
    assert near.holds
    far = shoal.verify(frame, schema, privacy=[shoal.NTCloseness(12, 0.3)])
    assert not far.holds


def test_sorted_files_read_by_runs_and_shuffled_ones_give_one_answer(tmp_path: Path) -> None:
    frame = pl.concat([FRAME] * 400)
    frame.sort("age", "ill").write_csv(tmp_path / "sorted.csv")
    frame.sample(fraction=1.0, shuffle=True, seed=1).write_csv(tmp_path / "mixed.csv")
    promise = [shoal.KAnonymity(900), shoal.TCloseness(0.4)]
    answers = [
        shoal.verify(tmp_path / name, SCHEMA, privacy=promise)
        for name in ("sorted.csv", "mixed.csv")
    ]
    assert answers[0] == answers[1]
    assert answers[0].records == 3200


def test_columns_that_are_not_there_and_empty_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(shoal.ShoalError, match="'ill'"):
        shoal.verify(FRAME.drop("ill"), SCHEMA, privacy=[shoal.LDiversity(2)])
    (tmp_path / "h.csv").write_text("age,ill\n")
    with pytest.raises(InputError, match="no record"):
        shoal.verify(tmp_path / "h.csv", SCHEMA, privacy=[shoal.KAnonymity(2)])
    with pytest.raises(shoal.ShoalError, match="no promise was given"):
        shoal.verify(FRAME, SCHEMA)
