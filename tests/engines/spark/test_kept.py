"""Kept columns on Spark: those that hold lists and the like are not asked."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal.engines.spark import kept as module
from shoal.engines.spark.kept import check_kept


def source(types):
    schema = {
        name: SimpleNamespace(dataType=SimpleNamespace(typeName=lambda kind=kind: kind))
        for name, kind in types.items()
    }
    return SimpleNamespace(frame=SimpleNamespace(schema=schema), name=lambda column: column)


def test_nested_columns_are_left_out(monkeypatch):
    asked = []
    monkeypatch.setattr(module, "_facts", lambda _, names: asked.extend(names) or [])
    types = {"t": "string", "l": "array", "s": "struct", "m": "map", "b": "binary", "n": "long"}
    found = check_kept(source(types), list(types), ["t"])
    assert asked == ["t", "n"]
    assert found.waived == ("t",)


def test_without_a_plain_column_nothing_is_counted():
    found = check_kept(source({"l": "array"}), ["l"], [])
    assert found.found == ()
