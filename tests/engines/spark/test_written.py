"""What Spark wrote and who stands behind it: both are read again, and must be the same records."""

from __future__ import annotations

import stat
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")

from shoal import api
from shoal.core.errors import UnsafeReleaseError
from shoal.engines.spark import written as module
from shoal.engines.spark.persons import PERSON
from shoal.engines.spark.source import open_table
from shoal.engines.spark.write import Goal, all_or_nothing
from shoal.engines.spark.written import check_same_cells, write_release
from shoal.privacy import KAnonymity
from shoal.schema.schema import Schema

SCHEMA = Schema.from_document({"columns": {"q": "quasi", "s": "sensitive", "id": "person"}})
RECORDS = [("=x", "1", "ann"), ("=x", None, "bob"), ("=x", "", "ann"), (None, "1", None)]


def records(spark, rows=RECORDS):
    kinds = dict.fromkeys(["q", "s", "id"], pl.String)
    return spark.createDataFrame(pl.DataFrame(rows, schema=kinds, orient="row").to_arrow())


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_what_is_read_again_are_the_records_and_a_hash_of_each_person(spark, tmp_path, ending):
    out = tmp_path / f"o.{ending}"
    with (
        all_or_nothing(spark, out, spreadsheet_safe=ending == "csv" or None) as goal,
        write_release(records(spark), ["q", "s"], goal, judged=["q", "s"]) as written,
    ):
        found = written.verify(SCHEMA, [KAnonymity(1)])
        assert (found.records, found.persons, found.smallest_class) == (4, 2, 0)
        hashes = [row[PERSON] for row in written.behind.frame.collect()]
        known = [text for text in hashes if text is not None]
        assert (len(known), len(set(known))) == (3, 2)
        assert {len(text) for text in known} == {32}
        (hidden,) = [p for p in tmp_path.iterdir() if p.name.startswith(".")]
        assert stat.S_IMODE(hidden.stat().st_mode) == 0o700
        texts = b"".join(p.read_bytes() for p in hidden.rglob("*") if p.is_file())
        assert b"ann" not in texts
        assert b"bob" not in texts
    assert [p.name for p in tmp_path.iterdir()] == [out.name]
    if ending == "csv":
        assert out.read_text().splitlines()[:2] == ["q,s", "'=x,1"]


def test_hashes_of_two_releases_have_nothing_in_common(spark):
    found = []
    for _ in range(2):
        with write_release(records(spark), ["q", "s"], None, judged=["s"]) as written:
            found.append({row[PERSON] for row in written.behind.frame.collect()} - {None})
            assert written.table.columns == ["q", "s"]
            written.table.unpersist()
    assert not found[0] & found[1]


def test_a_table_of_one_column_is_judged_as_it_is_written(spark, tmp_path):
    schema = Schema.from_document({"columns": {"q": "quasi", "id": "person"}})
    only = records(spark).select("q", "id")
    with (
        all_or_nothing(spark, tmp_path / "o.csv") as goal,
        write_release(only, ["q"], goal, judged=["q"]) as written,
    ):
        found = written.verify(schema, [KAnonymity(1)])
        assert (found.classes, found.persons) == (2, 2)


def test_without_persons_nothing_stands_behind(spark, tmp_path):
    plain = SCHEMA.without_person()
    for goal in (None, Goal(spark, tmp_path / "o.csv", ",", None)):
        released = records(spark).drop("id")
        with write_release(released, ["q", "s"], goal) as written:
            assert written.behind is None
            assert written.verify(plain, [KAnonymity(1)]).persons is None


def test_tables_that_differ_in_a_cell_or_a_number_are_told_apart(spark):
    whole = open_table(records(spark))
    check_same_cells(whole, open_table(records(spark, RECORDS[::-1])), ["q", "s"])
    other = [*RECORDS[:3], (None, "2", None)]
    check_same_cells(whole, open_table(records(spark, other)), ["q"])
    for wrong in (other, RECORDS[:3], [*RECORDS, RECORDS[0]]):
        with pytest.raises(UnsafeReleaseError, match="nothing was published") as caught:
            check_same_cells(whole, open_table(records(spark, wrong)), ["q", "s"])
        assert "ann" not in str(caught.value)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_release_that_is_not_what_was_counted_is_not_published(
    spark, tmp_path, monkeypatch, ending
):
    """Somebody spoils the bytes between writing and reading: the promise would still hold."""
    write = Goal.write

    def spoils(self, frame, names, *, behind=False):
        if not behind:
            first = frame.columns[names.index("q")]
            frame = frame.withColumn(first, module.F.lit("x"))
        write(self, frame, names, behind=behind)

    monkeypatch.setattr(Goal, "write", spoils)
    rows = [(q, s, f"p{i % 7}") for i, (q, s) in enumerate(zip("ab" * 10, "xyzw" * 5, strict=True))]
    with pytest.raises(UnsafeReleaseError, match="not those whose persons were counted"):
        api.anonymize(
            records(spark, rows), SCHEMA, privacy=[KAnonymity(2)], out=tmp_path / f"o.{ending}"
        )
    assert not list(tmp_path.iterdir())


def test_records_of_too_few_persons_are_not_published(spark, tmp_path, monkeypatch):
    """A recoding that puts one person's records into a class of their own is found out."""
    recode = module._with_hashes

    def one_person(frame, columns, goal):
        return recode(frame, columns, goal).withColumn(PERSON, module.F.lit("0" * 32))

    monkeypatch.setattr(module, "_with_hashes", one_person)
    rows = [(q, "x", f"p{i % 7}") for i, q in enumerate("ab" * 10)]
    for out in (tmp_path / "o.csv", None):
        with pytest.raises(UnsafeReleaseError, match="break k-anonymity"):
            api.anonymize(records(spark, rows), SCHEMA, privacy=[KAnonymity(2)], out=out)
    assert not list(Path(tmp_path).iterdir())
