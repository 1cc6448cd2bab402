"""A model at work on Spark: the golden files, and the same answers as the local engine."""

from __future__ import annotations

import polars as pl
import pytest
from tests.engines.spark.tables import PROMISE, frame, schema
from tests.golden.test_golden import NAMES, columns_of

import shoal
from shoal import api
from shoal.core.errors import InputError
from shoal.engines.spark import encode
from shoal.engines.spark.trial import DistributedAssignment


@pytest.mark.parametrize("name", NAMES)
def test_golden_lines(spark, name, tmp_path):
    model, table, wanted = columns_of(name)
    api.encode(api.SparkTable(table), model, out=tmp_path / "o.jsonl")
    assert (tmp_path / "o.jsonl").read_bytes() == wanted


@pytest.fixture(scope="module")
def learned():
    return shoal.learn(frame(), schema(), privacy=PROMISE)


@pytest.mark.parametrize(
    ("safe", "suppressed", "rows"),
    [(False, "star", None), (True, "remove", None), (False, "star", 40), (True, "remove", 40),
     (True, "star", 3)],
)  # fmt: skip
def test_encoding_new_records(spark, learned, tmp_path, safe, suppressed, rows):
    fresh = frame(90, seed=8)
    fresh.write_csv(tmp_path / "new.csv")
    choices = {"safe": safe, "suppressed": suppressed}
    here = api.encode(tmp_path / "new.csv", learned, out=tmp_path / "here.csv", **choices)
    there = api.encode(
        api.SparkTable(tmp_path / "new.csv", driver_rows=rows), learned,
        out=tmp_path / "there.csv", **choices,
    )  # fmt: skip
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()
    assert there.to_document() == here.to_document()


@pytest.mark.parametrize("rows", [60, 3])
def test_unseen_records_in_the_nearest_class(spark, tmp_path, rows, monkeypatch):
    """They are decided where they are, and those of closed classes are suppressed again."""
    model = shoal.learn(frame(40, seed=4), schema(), privacy=PROMISE)
    fresh = pl.concat([frame(90, seed=8), frame(20, seed=4)])
    choices = {"safe": True, "on_unseen": "nearest"}
    here = api.encode(fresh, model, out=tmp_path / "here.csv", **choices)
    assert 0 < here.report.suppressed < here.report.unseen
    boards = []

    def board(*given, **more):
        boards.append(DistributedAssignment(*given, **more))
        return boards[0]

    monkeypatch.setattr(encode, "DistributedAssignment", board)
    table = api.SparkTable(fresh, driver_rows=rows)
    there = api.encode(table, model, out=tmp_path / "there.csv", **choices)
    assert boards[0].extra
    assert boards[0].counts_anew == (rows == 3)
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()
    assert there.to_document() == here.to_document()


def test_typed_columns_and_unseen_values(spark, tmp_path):
    table = pl.DataFrame({"age": [20, 30, 30, 40, None], "w": [1.5, 2.0, float("nan"), 2.0, 1.5]})
    schema = shoal.Schema.from_document({"columns": {"age": "quasi", "w": "quasi"}})
    model = shoal.learn(table, schema, privacy=[shoal.KAnonymity(2)])
    far = pl.DataFrame({"age": [25, 90, None], "w": [1.75, 2.0, float("nan")]})
    table.write_parquet(tmp_path / "t.parquet")
    far.write_parquet(tmp_path / "n.parquet")
    assert shoal.learn(
        api.SparkTable(tmp_path / "t.parquet"), schema, privacy=[shoal.KAnonymity(2)]
    ).to_json() == model.to_json()  # fmt: skip
    here = api.encode(far, model)
    there = api.encode(api.SparkTable(tmp_path / "n.parquet"), model)
    assert pl.from_arrow(there.table.toArrow()).rows() == here.table.cast(pl.String).rows()
    assert there.report.to_document() == here.report.to_document()
    single = shoal.Schema.from_document({"columns": {"age": "quasi"}})
    one = shoal.learn(table.select("age"), single, privacy=[shoal.KAnonymity(2)])
    ages = pl.DataFrame({"age": [25, 90, None]})
    near = api.encode(api.SparkTable(ages, driver_rows=1), one, on_unseen="nearest").table
    wanted = api.encode(ages, one, on_unseen="nearest").table
    assert pl.from_arrow(near.coalesce(1).toArrow()).rows() == wanted.cast(pl.String).rows()
    for rows in (None, 1):
        there = api.SparkTable(far, driver_rows=rows)
        assert api.encode(there, model).report.to_document() == here.report.to_document()
        with pytest.raises(InputError, match="covered by no class"):
            api.encode(there, model, on_unseen="error")


def test_building_the_model_is_a_phase_of_learning_on_spark(spark):
    _, report = api.learn_with_report(api.SparkTable(frame()), schema(), privacy=PROMISE)
    seconds = dict(report.seconds)
    total = seconds.pop("total")
    assert seconds["model"] > 0
    assert 0.8 * total < sum(seconds.values()) <= total + 0.001
