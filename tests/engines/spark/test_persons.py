"""People behind the records on Spark: keys as the local engine has them, codes, and refusals."""

from __future__ import annotations

from datetime import date
from types import SimpleNamespace

import polars as pl
import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal.core.errors import MethodError
from shoal.engines.person_key import PERSON as KEY
from shoal.engines.person_key import person_key
from shoal.engines.spark import persons as module
from shoal.engines.spark.persons import (
    PERSON,
    code_persons,
    repeating,
    repeats_as_it_stands,
    too_many_persons,
    with_person,
)
from shoal.engines.spark.source import open_table
from shoal.schema.schema import Schema
from shoal.schema.sensitive import EDGES

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


def spark_source(spark, frame):
    return open_table(spark.createDataFrame(frame.to_arrow()))


def keys_of(spark, frame, names, marks=("?",)):
    """Return the keys of a table on both engines."""
    source = with_person(spark_source(spark, frame), names, marks)
    there = source.polars(source.frame.select(PERSON))[PERSON].to_list()
    return frame.select(person_key(names, marks))[KEY].to_list(), there


def test_what_is_stripped_is_what_the_local_engine_strips(spark):
    spaces = [
        chr(code) for code in range(0x3100) if pl.Series([chr(code)]).str.strip_chars()[0] == ""
    ]
    assert not set(spaces) - set(EDGES)
    texts = [f"{space}p {space}" for space in EDGES]
    texts += [
        "",
        " ",
        "?",
        " ?\u3000",
        "NaN",
        "nan",
        None,
        "P",
        "p",
        "\u00e9",
        "e\u0301",
        "\U0001f600",
    ]
    here, there = keys_of(spark, pl.DataFrame({"id": texts}), ["id"])
    assert there == here


def test_a_key_of_several_columns_of_any_type_is_the_same(spark):
    frame = pl.DataFrame(
        {
            "whole": [1, 2, 2, None, -5], "yes": [True, False, False, True, None],
            "day": [date(2020, 1, 1), date(2020, 1, 2), None, date(1999, 12, 31), date(2020, 1, 2)],
            "text": ["a", " b", "b ", "", "?"],
            "real": [1.0, 12345678.0, float("nan"), 0.5, 9007199254740993.0],
        }
    )  # fmt: skip
    for names in (["whole"], ["yes"], ["day"], ["text"], ["real"], ["whole", "text"],
                  ["real", "yes", "day"]):  # fmt: skip
        here, there = keys_of(spark, frame, names)
        assert there == here, names


def test_only_who_has_several_records_gets_a_code_and_texts_decide_the_order(spark):
    texts = ["b", "a", "B", "b ", None, "a", "once", "\u00e4", "\u00e4", "?"]
    source = with_person(spark_source(spark, pl.DataFrame({"id": texts})), ["id"], ["?"])
    found = code_persons(source, most=3)
    assert found.values.to_list() == ["a", "b", "\u00e4"]
    assert found.codes.tolist() == [2, 3, 4]  # behind nobody and those with one record
    assert (found.missing, found.other, found.size) == (0, 1, 5)
    with pytest.raises(MethodError, match="more than 2 persons have several records") as caught:
        code_persons(source, most=2)
    assert "--driver-rows" in str(caught.value)


def test_where_nobody_repeats_there_are_two_codes(spark):
    source = with_person(spark_source(spark, pl.DataFrame({"id": ["a", "b"]})), ["id"], [])
    found = code_persons(source, most=0)
    assert (found.codes.tolist(), found.size) == ([], 2)


def test_a_refusal_says_how_to_go_on():
    said = str(too_many_persons("so many", 5))
    assert "so many" in said
    assert "--driver-rows" in said
    assert "the local engine" in said
