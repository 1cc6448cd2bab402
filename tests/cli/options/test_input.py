"""Where a table is: options become files, databases and tables of Spark's."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.api import CsvFile, Database, SparkTable
from shoal.cli.options.input import FileOptions, InputOptions, is_url, names
from shoal.core.errors import InputError, SchemaError

URI = "sqlite:///ward.db"


@pytest.mark.parametrize(
    ("text", "found"),
    [(None, []), ("", []), ("a", ["a"]), (" a , b c,, ", ["a", "b c"]), (",", [])],
)
def test_names_are_apart_by_commas(text, found):
    assert names(text) == found


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"source": "t.csv"}, "t.csv"),
        ({"source": "t.csv", "sep": ";"}, "t.csv"),
        ({"source": "t.csv", "encoding": "cp1252"}, CsvFile("t.csv", encoding="cp1252")),
        ({"source": "t.csv", "skip_lines": 2}, CsvFile("t.csv", skip_lines=2)),
        ({"source": URI, "table": "stays"}, Database(uri=URI, table="stays")),
        ({"source": URI, "query": "SELECT 1"}, Database(uri=URI, query="SELECT 1")),
        ({"source": "t.csv", "engine": "spark"}, SparkTable("t.csv")),
        ({"source": "s3://b/t", "engine": "spark", "master": "local[1]", "driver_rows": 9},
         SparkTable("s3://b/t", "local[1]", driver_rows=9)),
    ],
)  # fmt: skip
def test_input_is_what_the_options_say(given, found):
    assert InputOptions(**given).input() == found


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"engine": "zap"}, "--engine: must be local or spark"),
        ({"master": "local"}, "--master: goes with --engine spark"),
        ({"driver_rows": 3}, "--driver-rows: goes with --engine spark"),
        ({"table": "x"}, "options: --table and --query go with a database URI as INPUT"),
        ({"query": "x"}, "options: --table and --query go with a database URI as INPUT"),
        ({"engine": "spark", "table": "x"}, "on Spark, INPUT is table:NAME"),
        ({"engine": "spark", "skip_lines": 1}, "Spark reads UTF-8"),
        ({"source": URI, "encoding": "cp1252"}, "go with a CSV file as INPUT"),
        ({"source": "-", "engine": "spark"}, "standard input needs the local engine"),
    ],
)
def test_options_that_do_not_go_together_are_refused(given, words):
    with pytest.raises(SchemaError) as caught:
        InputOptions(**{"source": "t.csv", **given}).input()
    assert words in str(caught.value)


def test_what_a_database_is_asked_for_must_be_named():
    with pytest.raises(InputError, match="either --table NAME or --query SQL"):
        InputOptions(source=URI).input()


def test_a_further_table_is_read_by_the_same_engine():
    assert InputOptions(source="t.csv").beside("o.csv") == "o.csv"
    spark = InputOptions(source="t.csv", engine="spark", master="local[2]")
    assert spark.beside("o.csv") == SparkTable("o.csv", "local[2]")


def test_only_files_must_not_be_written_to():
    assert InputOptions(source="t.csv").files() == (Path("t.csv"),)
    assert InputOptions(source=URI).files() == ()
    assert is_url(URI)
    assert not is_url("t.csv")


def test_a_file_is_read_plainly_unless_something_is_said():
    assert FileOptions().file("t.csv") == "t.csv"
    assert FileOptions(skip_lines=1).file("t.csv") == CsvFile("t.csv", skip_lines=1)
    with pytest.raises(InputError, match="--skip-lines: must be 0 or more"):
        FileOptions(skip_lines=-1).file("t.csv")
