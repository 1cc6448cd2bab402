"""Risk on Spark: people of a population are matched by what their values say."""

from __future__ import annotations

import polars as pl
import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from tests.engines.spark.counted import cells, source_of

from shoal.engines.local import risk as local
from shoal.engines.local.source import open_source
from shoal.engines.spark import risk as spark
from shoal.measures.risk.question import RiskQuestion

QUESTION = RiskQuestion(quasi=("age", "sex"))
TABLE = pl.DataFrame({"age": ["1", "1", "2", None], "sex": ["f", "f", "m", "m"]})
EVERYBODY = pl.DataFrame(
    {"age": ["1", " 1", "2", "2 ", None, "7"], "sex": ["f", "f", "m", "m", "m", "f"]}
)


@pytest.mark.parametrize("population", [None, EVERYBODY])
def test_both_engines_measure_the_same_classes(monkeypatch, population):
    monkeypatch.setattr(spark, "cells", cells)
    monkeypatch.setattr(
        spark, "_grouped",
        lambda source, question: cells(source, question.quasi).sort("g0", "g1", nulls_last=False),
    )  # fmt: skip
    everybody = None if population is None else source_of(population)
    found = spark.risk(source_of(TABLE), QUESTION, population=everybody)
    wanted = local.risk(
        open_source(TABLE), QUESTION,
        population=None if population is None else open_source(population),
    )  # fmt: skip
    assert found.to_document() == wanted.to_document()
    assert found.classes == 3
