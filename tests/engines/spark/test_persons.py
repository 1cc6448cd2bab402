"""People behind the records on Spark: where no column says whose a record is, nobody is counted."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal.engines.spark import persons as module
from shoal.engines.spark.persons import repeating, repeats_as_it_stands
from shoal.schema.schema import Schema

SCHEMA = Schema.from_document({"columns": {"id": "identifying", "age": "quasi"}})


def test_a_table_without_an_identifying_column_has_records_only():
    source = SimpleNamespace(columns=("age",))
    assert repeating(source, SCHEMA) is None
    assert repeats_as_it_stands(source, SCHEMA, 2) is None


def test_counts_of_classes_with_few_people_become_the_finding(monkeypatch):
    monkeypatch.setattr(module, "repeating", lambda *_: ("id", (3, 9)))
    monkeypatch.setattr(module, "present", lambda *_: SimpleNamespace(alias=lambda name: name))
    monkeypatch.setattr(module, "count_people", lambda source, frame, by, k: (2, 5, 1))
    source = SimpleNamespace(
        columns=("id", "age"), value=lambda name: SimpleNamespace(alias=lambda g: (name, g)),
        frame=SimpleNamespace(select=lambda *columns: columns),
    )  # fmt: skip
    found = repeats_as_it_stands(source, SCHEMA, 4)
    assert (found.column, found.k, found.single) == ("id", 4, 1)
    assert "2" in found.text
    assert "5" in found.text
