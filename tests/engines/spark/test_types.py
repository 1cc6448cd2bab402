"""Types of a Spark DataFrame: released and judged as the local engine does it."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal

import polars as pl
import pytest

import shoal
from shoal import api
from shoal.core.errors import InputError
from shoal.schema.schema import Attribute, Kind, Role, Schema

VALUES = {
    "decimal(10,2)": ([Decimal("10.50"), Decimal("20.25")], {"10.5", "20.25"}),
    "decimal(38,0)": ([Decimal(10**30 + 1), Decimal(10**31 + 1)],
                      {str(10**30 + 1), str(10**31 + 1)}),
    "float": ([0.1, 1.7], {"0.1", "1.7"}),
    "bigint": ([2**62 + 1, 5], {str(2**62 + 1), "5"}),
    "boolean": ([True, False], {"true", "false"}),
    "date": ([date(2024, 7, 1), date(2024, 1, 1)], {"2024-07-01", "2024-01-01"}),
    "timestamp": ([datetime(2024, 7, 1), datetime(2024, 1, 1)], {"2024-07-01", "2024-01-01"}),
    "timestamp_ntz": ([datetime(2024, 7, 1), datetime(2024, 1, 1)], {"2024-07-01", "2024-01-01"}),
}  # fmt: skip


@pytest.fixture
def berlin(spark):
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    yield spark
    spark.conf.set("spark.sql.session.timeZone", zone)


def table(spark, kind, values):
    texts = [str(value).lower() for value in values] * 3
    rows = spark.createDataFrame([("a", text) for text in texts], "one string, x string")
    return rows.selectExpr("one", f"cast(x as {kind}) as x")


def schema_of(role):
    first = Attribute(name="one", role=Role.NEUTRAL if role is Role.QUASI else Role.QUASI)
    return Schema(attributes=(first, Attribute(name="x", role=role)))


@pytest.mark.sampled
@pytest.mark.parametrize("kind", VALUES)
def test_types_of_a_spark_frame(berlin, kind, tmp_path):
    values, labels = VALUES[kind]
    frame = table(berlin, kind, values)
    for role in (Role.QUASI, Role.SENSITIVE, Role.NEUTRAL):
        promise = [shoal.KAnonymity(3)]
        if role is Role.SENSITIVE:
            promise.append(shoal.LDiversity(2, column="x"))
        out = tmp_path / f"{role.value}.csv"
        api.anonymize(frame, schema_of(role), privacy=promise, out=out)
        assert api.verify(str(out), schema_of(role), privacy=promise).holds
        found = pl.read_csv(out, infer_schema=False)["x"].to_list()
        assert len(found) == 6
        if role is Role.QUASI:
            assert set(found) == labels


def test_lists_and_intervals_of_a_spark_frame_are_refused(spark, tmp_path):
    frame = spark.createDataFrame([("a", [1], timedelta(days=1))] * 3, ["one", "x", "y"])
    for name, problem in (("x", "holds array values"), ("y", "holds .*interval.* values")):
        kept = frame.select("one", frame[name].alias("x"))
        for role in (Role.QUASI, Role.SENSITIVE, Role.NEUTRAL):
            with pytest.raises(InputError, match=f"column 'x': {problem}"):
                api.anonymize(
                    kept, schema_of(role), privacy=[shoal.KAnonymity(3)], out=tmp_path / "r.csv"
                )


def test_dates_in_a_form_of_a_spark_frame(spark, tmp_path):
    frame = table(spark, "string", ["13.09.1967", "02.01.1968"])
    column = Attribute(name="x", role=Role.QUASI, kind=Kind.DATE)
    schema = Schema(attributes=(Attribute(name="one", role=Role.NEUTRAL), column))
    api.anonymize(frame, schema, privacy=[shoal.KAnonymity(3)], out=tmp_path / "r.csv")
    found = pl.read_csv(tmp_path / "r.csv", infer_schema=False)["x"].to_list()
    assert set(found) == {"1967-09-13", "1968-01-02"}
    model = api.learn(frame, schema, privacy=[shoal.KAnonymity(3)])
    assert model.schema.attribute("x").date_format == "%d.%m.%Y"
    assert api.encode(frame, model).report.unseen == 0
