"""Opening tables on Spark, as far as it needs no session: places, line ends, errors of workers."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from pathlib import Path

from shoal.core.errors import InputError, MethodError
from shoal.engines.spark.source import (
    _has_mixed_ends,
    _json_order,
    _line_ends,
    _own_error,
    address_of,
    exactly,
    guarded,
    is_url,
)


def test_places_of_this_machine_and_elsewhere(tmp_path):
    assert is_url("s3a://ward/t.csv")
    assert not is_url(tmp_path / "t.csv")
    assert address_of(Path("/a b/t.csv")) == "file:///a b/t.csv"
    assert exactly("/a*[b]{c}?\\t.csv") == r"/a\*\[b\]\{c\}\?\\t.csv"


class SparkError(Exception):
    """An error as Spark raises it: its text quotes rows and the trace of a worker."""


SparkError.__module__ = "pyspark.errors"


def test_what_spark_says_of_the_data_stays_inside():
    with pytest.raises(InputError, match="t: Spark could not finish") as caught, guarded("t"):
        raise SparkError("row: Alice, 34")
    assert "Alice" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_an_error_of_ours_comes_back_from_a_worker_as_what_it_was():
    text = "Traceback\n  File x\nshoal.core.errors.MethodError: ask for less\n\nJava trace"
    with pytest.raises(MethodError, match="ask for less"), guarded("t"):
        raise SparkError(text)
    assert _own_error("ValueError: x\nshoal.core.errors.NoSuchThing: y") is None
    assert _own_error("shoal.core.errors.reason: y") is None


def test_errors_that_are_not_sparks_pass():
    with pytest.raises(MethodError), guarded("t"):
        raise MethodError(problem="x")
    with pytest.raises(KeyError), guarded("t"):
        raise KeyError("a fault of ours")


@pytest.mark.parametrize(("text", "mixed"), [
    (b"a,b\n1,2\n", False),
    (b"a,b\r\n1,2\r\n", False),
    (b"a,b\r\n1,2\n", True),
    (b'a,b\r\n1,"x\ny"\r\n', False),  # a break inside a field is no end of a line
    (b'a,b\n1,"x\r\ny"\n', False),
])  # fmt: skip
def test_lines_that_end_in_two_ways(tmp_path, text, mixed, monkeypatch):
    place = tmp_path / "t.csv"
    place.write_bytes(text)
    for size in (3, 2**20):
        monkeypatch.setattr("shoal.engines.spark.source.CHUNK", size)
        assert _has_mixed_ends(place) is mixed


def test_two_ways_and_breaks_inside_fields_are_refused(tmp_path):
    place = tmp_path / "t.csv"
    place.write_bytes(b'a,b\r\n1,"Alice\nBob"\n2,3\n')
    with pytest.raises(InputError, match="its lines end in two ways") as caught:
        _has_mixed_ends(place)
    assert "Alice" not in str(caught.value)


def test_line_ends_are_counted_everywhere_or_outside_quotes(tmp_path):
    place = tmp_path / "t.csv"
    place.write_bytes(b'a\r\n"x\ny"\nz\r\n')
    assert _line_ends(place) == (4, 2, 2, 0)
    assert _line_ends(place, outside=True) == (3, 2, 2, 1)


def test_columns_stand_in_the_order_of_the_first_line(tmp_path):
    place = tmp_path / "t.jsonl"
    place.write_text(json.dumps({"z": 1, "a`b": 2}) + "\n")
    assert _json_order(place, ["a`b", "c", "z"]) == ["`z`", "`a``b`", "`c`"]
    assert _json_order(None, ["b", "a"]) == ["`b`", "`a`"]
    place.write_text("")
    assert _json_order(place, ["a"]) == ["`a`"]
