"""Releases made on Spark: the same bytes as the local engine's, whatever the method."""

from __future__ import annotations

import stat

import polars as pl
import pytest
from tests.engines.open_job import classes_of, open_job, with_question
from tests.engines.spark.tables import PROMISE, frame, near, schema

import shoal
from shoal import api
from shoal.core.errors import InputError, MethodError, NoSolutionError, OutputError
from shoal.engines.spark import written as spark_written
from shoal.reports.release import Verdict, Verification


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spark") / "Söhne & Co %20"
    folder.mkdir()
    frame().write_csv(folder / "in.csv")
    frame().write_parquet(folder / "in.parquet")
    frame().write_ndjson(folder / "in.jsonl")
    return folder


def release(source, out, method="mondrian", utility="loss", **options):
    return api.anonymize(
        source, schema(utility=utility), privacy=PROMISE, out=out,
        method=method, **{"labels": "tight", **options},
    )  # fmt: skip


@pytest.fixture(scope="module")
def job(spark, place):
    """A table counted once on Spark, for all methods."""
    table = api.SparkTable(place / "in.csv")
    return open_job(table, schema(labels="tight"), PROMISE)


@pytest.mark.parametrize("limit", ["KNOWN", "LARGE"])
def test_every_way_to_sort_gives_the_same_records(job, place, monkeypatch, limit):
    release(place / "in.csv", place / "here.csv")
    monkeypatch.setattr(f"shoal.engines.spark.recode.{limit}", 0)
    classes = classes_of(with_question(job, job.request.schema, "mondrian"))
    found = job.records._recoder(classes, star=False).frame().toArrow()
    assert pl.from_arrow(found).rows() == pl.read_csv(place / "here.csv", infer_schema=False).rows()


def test_centroids_of_numbers_are_numbers_where_the_goal_has_types(spark, place):
    options = {"method": "mdav", "release": "aggregate"}
    quasi = schema(("whole", "real"))
    here = api.anonymize(place / "in.parquet", quasi, privacy=PROMISE, **options)
    there = api.anonymize(api.SparkTable(place / "in.parquet"), quasi, privacy=PROMISE, **options)
    found = pl.from_arrow(there.table.toArrow())
    assert found["whole"].dtype == found["real"].dtype == pl.Float64
    assert found.rows() == here.table.rows()


@pytest.mark.parametrize("method", ["mondrian", "mondrian-relaxed"])
def test_a_release_has_the_same_bytes(spark, place, method):
    here = release(place / "in.csv", place / "here.csv", method)
    there = release(api.SparkTable(place / "in.csv"), place / "there.csv", method)
    assert (place / "there.csv").read_bytes() == (place / "here.csv").read_bytes()
    assert there.report.privacy == here.report.privacy
    assert there.report.risk_before == here.report.risk_before


def test_suppressed_records_as_stars(spark, place):
    options = {"method": "flash", "suppressed": "star", "utility": "entropy"}
    here = release(place / "in.csv", place / "here.csv", **options)
    there = release(api.SparkTable(place / "in.csv"), place / "there.csv", **options)
    assert here.report.suppressed > 0
    assert (place / "there.csv").read_bytes() == (place / "here.csv").read_bytes()
    assert there.report.released == here.report.released


def rows_of(place):
    if place.is_dir():
        found = pl.read_parquet(place / "*.parquet")
    else:
        found = pl.read_ndjson(place, infer_schema_length=None)
    return found.cast(pl.String).rows()


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_other_formats_hold_the_same_records(spark, place, ending):
    release(place / "in.csv", place / "here.csv")
    wanted = pl.read_csv(place / "here.csv", infer_schema=False)
    out = place / f"formats.{ending}"
    release(api.SparkTable(place / f"in.{ending}"), out)
    assert rows_of(out) == wanted.rows()
    assert not [p.name for p in place.iterdir() if p.name.startswith(".")]
    if ending == "parquet":
        with pytest.raises(OutputError, match="folder"):  # a folder is never replaced
            release(api.SparkTable(place / "in.parquet"), out)


def test_a_dataframe_comes_in_and_goes_out(spark, place):
    table = spark.createDataFrame(frame().to_arrow()).repartition(5)
    made = shoal.anonymize(table, schema(), privacy=PROMISE)
    api.anonymize(place / "in.csv", schema(), privacy=PROMISE, out=place / "frame.csv")
    wanted = pl.read_csv(place / "frame.csv", infer_schema=False)
    assert made.table.columns == wanted.columns
    assert pl.from_arrow(made.table.toArrow()).rows() == wanted.rows()
    learned = shoal.learn(table, schema(), privacy=PROMISE)
    assert learned.to_json() == shoal.learn(frame(), schema(), privacy=PROMISE).to_json()


def test_a_release_that_fails_is_not_published(spark, place, monkeypatch):
    bad = Verdict(model=PROMISE[0], holds=False, value=1, violating_records=2)

    def fails(source, schema, models):
        return Verification(
            records=source.frame.count(), classes=9, smallest_class=1, violating_records=2,
            privacy=(bad,),
        )  # fmt: skip

    monkeypatch.setattr("shoal.engines.spark.written.verify_table", fails)
    before = sorted(p.name for p in place.iterdir())
    for ending in ("csv", "parquet"):
        with pytest.raises(shoal.ShoalError, match=r"nothing was|not safe"):
            release(api.SparkTable(place / "in.csv"), place / f"never.{ending}")
    assert sorted(p.name for p in place.iterdir()) == before


def test_what_spark_writes_is_private_until_it_is_verified(spark, place, monkeypatch):
    seen = []
    verify = spark_written.verify_table

    def looks(source, schema, models):
        (hidden,) = [p for p in place.iterdir() if p.name.startswith(".private.csv.")]
        seen.append(stat.S_IMODE(hidden.stat().st_mode))
        return verify(source, schema, models)

    monkeypatch.setattr("shoal.engines.spark.written.verify_table", looks)
    out = place / "private.csv"
    out.touch()
    out.chmod(0o600)
    release(api.SparkTable(place / "in.csv"), out)
    assert seen == [0o700]
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert not [p for p in place.iterdir() if p.name.startswith(".")]


def test_a_missing_value_of_a_one_column_release_is_quoted(spark, place):
    cells = ["10115", None, "10115", None, None, "10117", "10117", "10117", None, None]
    only = shoal.Schema.from_document({"columns": {"zip": "quasi"}})
    pl.DataFrame({"zip": cells}).write_parquet(place / "one.parquet")
    table = api.SparkTable(place / "one.parquet")
    for engine, out in ((place / "one.parquet", "one.here.csv"), (table, "one.there.csv")):
        api.anonymize(engine, only, privacy=[shoal.KAnonymity(2)], out=place / out)
    written = (place / "one.there.csv").read_bytes()
    assert written.count(b'\n""') == 5
    assert b"\n\n" not in written
    assert written == (place / "one.here.csv").read_bytes()
    assert api.verify(api.SparkTable(place / "one.there.csv"), only,
                      privacy=[shoal.KAnonymity(2)]).records == 10  # fmt: skip


def test_spreadsheet_safe_is_the_same_and_is_measured(spark, place):
    table = frame().with_columns(
        pl.col("a.b").replace({"1": "=1+1", "2": "-2"}), pl.col("flat").replace({"a": "-a"})
    )
    table.write_csv(place / "sheet.csv")
    asked = schema(("whole", "flat"))
    made = {}
    for name, source in (("here", place / "sheet.csv"), ("there", None)):
        out = place / f"sheet.{name}.csv"
        api.anonymize(
            source or api.SparkTable(place / "sheet.csv"), asked, privacy=PROMISE, out=out,
            method="mondrian", spreadsheet_safe=True,
        )  # fmt: skip
        made[name] = out.read_bytes()
    assert made["here"] == made["there"]
    assert b"'=1+1" in made["there"]
    assert b",-2," in made["there"]
    measured = api.metrics(place / "sheet.csv", place / "sheet.there.csv", asked)
    there = api.metrics(api.SparkTable(place / "sheet.csv"),
                        api.SparkTable(place / "sheet.there.csv"), asked)  # fmt: skip
    for name in ("classes", "suppressed", "column_loss"):
        assert near(there[name]) == near(measured[name])
    with pytest.raises(OutputError, match="goes with CSV"):
        api.anonymize(
            api.SparkTable(place / "sheet.csv"), asked, privacy=PROMISE, out=place / "s.parquet",
            spreadsheet_safe=True,
        )  # fmt: skip


def test_what_cannot_be_done_is_said(spark, place):
    with pytest.raises(NoSolutionError):
        api.anonymize(api.SparkTable(place / "in.csv"), schema(),
                      privacy=[shoal.KAnonymity(1000)], out=place / "no.csv")  # fmt: skip
    with pytest.raises(MethodError, match="local engine"):
        release(api.SparkTable(place / "in.csv"), place / "no.csv", keep_order=True)
    for words in ({"ledger": place / "l.db"}, {"nested_in": place / "c.csv"}):
        with pytest.raises(MethodError, match="local engine: Spark keeps no order"):
            release(api.SparkTable(place / "in.csv"), place / "no.csv", **words)
    assert not (place / "l.db").exists()
    with pytest.raises(OutputError, match="also an input"):
        release(api.SparkTable(place / "in.csv"), place / "in.csv")
    for name, problem in (("none.csv", "no such"), ("in.arrow", "Arrow"), ("x.doc", "ending")):
        if name != "none.csv":
            (place / name).write_text("x")
        with pytest.raises(InputError, match=problem):
            release(api.SparkTable(place / name), place / "no.csv")
    assert not (place / "no.csv").exists()


@pytest.mark.parametrize("method", ["mondrian", "flash"])
def test_proposed_hierarchies_are_the_same_as_here(spark, tmp_path, method):
    days = [f"19{40 + i % 50}-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(200)]
    codes = [f"{10000 + 37 * (i % 60)}" for i in range(200)]
    table = pl.DataFrame({"born": days, "zip": codes, "s": ["a", "b"] * 100})
    table.write_csv(tmp_path / "in.csv")
    roles = {"born": "quasi", "zip": "quasi", "s": "sensitive"}
    asked = shoal.Schema.from_document({"columns": roles})
    found = []
    for source in (tmp_path / "in.csv", api.SparkTable(tmp_path / "in.csv")):
        made = api.anonymize(source, asked, privacy=[shoal.KAnonymity(4)], method=method)
        rows = made.table.toPandas() if hasattr(made.table, "toPandas") else made.table
        cells = rows.values.tolist() if hasattr(rows, "values") else [*map(list, rows.rows())]
        texts = [[str(cell) for cell in row] for row in cells]
        notices = [text for text in made.report.notices if "--no-infer" in text]
        found.append((made.schema, notices, texts))
    assert found[0] == found[1]
    assert len(found[0][1]) == 1
