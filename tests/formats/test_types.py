"""Types that databases, Parquet, Arrow, pandas and Polars bring: released, not changed."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from tests.naive import release as naive

import shoal
from shoal import api
from shoal.core.errors import InputError, NoSolutionError
from shoal.formats.types import plain_types
from shoal.schema.schema import Attribute, Kind, Others, Role, Schema

pytestmark = pytest.mark.local("types of frames; what Spark has of them is in spark/test_types.py")

BERLIN = ZoneInfo("Europe/Berlin")
SERIES = {
    "decimal": pl.Series([Decimal("10.50"), Decimal("20.25"), Decimal("0.10")],
                         dtype=pl.Decimal(10, 2)),
    "long decimal": pl.Series([Decimal(i * 10**30 + 1) for i in (1, 2, 3)],
                              dtype=pl.Decimal(38, 0)),
    "duration": pl.Series([timedelta(hours=1), timedelta(minutes=3), timedelta(milliseconds=1)]),
    "time": pl.Series([time(1), time(2, 30), time(23, 59, 59, 5)]),
    "date": pl.Series([date(2024, 1, 1), date(2024, 7, 1), date(2024, 1, 2)]),
    "datetime": pl.Series([datetime(2024, 1, 1), datetime(2024, 7, 1, 5), datetime(2024, 1, 2)]),
    "nanoseconds": pl.Series([datetime(2024, 1, 1), datetime(2024, 7, 1, 5), datetime(2024, 1, 2)],
                             dtype=pl.Datetime("ns")),
    "zone": pl.Series([datetime(2024, 1, 1, tzinfo=BERLIN), datetime(2024, 7, 1, tzinfo=BERLIN),
                       datetime(2024, 1, 2, tzinfo=BERLIN)]),
    "float32": pl.Series([0.1, 0.2, 1.7], dtype=pl.Float32),
    "unsigned": pl.Series([2**64 - 1, 2**64 - 2, 5], dtype=pl.UInt64),
    "int128": pl.Series([2**100 + 1, 2**101 + 1, -5], dtype=pl.Int128),
    "boolean": pl.Series([True, False, None]),
    "enum": pl.Series(["low", "mid", "high"], dtype=pl.Enum(["low", "mid", "high"])),
    "categorical": pl.Series(["low", "mid", "high"], dtype=pl.Categorical),
}  # fmt: skip
LABELS = {
    "decimal": {"0.1", "10.5", "20.25"},
    "long decimal": {str(i * 10**30 + 1) for i in (1, 2, 3)},
    "duration": {"3600", "180", "0.001"},
    "time": {"01:00:00", "02:30:00", "23:59:59.000005"},
    "date": {"2024-01-01", "2024-07-01", "2024-01-02"},
    "datetime": {"2024-01-01", "2024-07-01 05:00:00", "2024-01-02"},
    "nanoseconds": {"2024-01-01", "2024-07-01 05:00:00", "2024-01-02"},
    "zone": {"2024-01-01", "2024-07-01", "2024-01-02"},
    "float32": {"0.1", "0.2", "1.7"},
    "unsigned": {"18446744073709551615", "18446744073709551614", "5"},
    "int128": {str(2**100 + 1), str(2**101 + 1), "-5"},
    "boolean": {"true", "false", None},
    "enum": {"low", "mid", "high"},
    "categorical": {"low", "mid", "high"},
}  # fmt: skip
every_type = pytest.mark.parametrize("name", SERIES)
PROMISE = [shoal.KAnonymity(3)]


def frame_of(name: str) -> pl.DataFrame:
    series = SERIES[name]
    many = pl.concat([series] * 4).sort()
    return pl.DataFrame({"group": ["a", "b", "c", "d"] * 3, "x": many})


def schema_of(role: Role) -> Schema:
    group = Role.NEUTRAL if role is Role.QUASI else Role.QUASI
    return Schema(attributes=(Attribute(name="group", role=group), Attribute(name="x", role=role)))


def released(table: Any, role: Role, out: Path | None) -> pl.DataFrame:
    """Release a table and read back what was written; it is judged once more."""
    schema = schema_of(role)
    promise = [*PROMISE, shoal.LDiversity(3, column="x")] if role is Role.SENSITIVE else PROMISE
    made = api.anonymize(table, schema, privacy=promise, out=out)
    assert api.verify(made.table if out is None else out, schema, privacy=promise).holds
    if out is None:
        return pl.DataFrame(made.table)
    if out.suffix == ".csv":
        return pl.read_csv(out, infer_schema=False)
    return pl.read_parquet(out)


@every_type
@pytest.mark.parametrize("ending", [None, ".csv", ".parquet"])
def test_a_type_as_quasi_identifier_is_released_by_its_own_digits(
    name: str, ending: str | None, tmp_path: Path
) -> None:
    out = None if ending is None else tmp_path / f"r{ending}"
    found = released(frame_of(name), Role.QUASI, out)
    assert set(found["x"].to_list()) == LABELS[name]


@pytest.mark.sampled
@every_type
@pytest.mark.parametrize("role", [Role.SENSITIVE, Role.NEUTRAL])
@pytest.mark.parametrize("ending", [None, ".csv", ".parquet"])
def test_a_type_that_is_kept_keeps_its_values(
    name: str, role: Role, ending: str | None, tmp_path: Path
) -> None:
    frame = frame_of(name)
    frame = frame.with_columns(group=pl.Series(["a"] * 12))
    found = released(frame, role, None if ending is None else tmp_path / f"r{ending}")
    assert found.height == 12
    if ending != ".csv" and name not in ("enum", "categorical", "duration"):
        assert found["x"].dtype == frame["x"].dtype
        assert found["x"].sort().equals(frame["x"].sort())
    assert found["x"].n_unique() == 3


@every_type
@pytest.mark.parametrize("form", ["parquet", "arrow file", "arrow", "pandas"])
def test_a_type_comes_the_same_way_from_every_place(name: str, form: str, tmp_path: Path) -> None:
    frame = frame_of(name)
    table: Any = tmp_path / "t.parquet"
    if form == "parquet":
        frame.write_parquet(table)
    elif form == "arrow file":
        table = tmp_path / "t.arrow"
        frame.write_ipc(table)
    else:
        pytest.importorskip("pyarrow")
        if name == "int128":
            pytest.skip("Arrow has no such integers")
        table = frame.to_arrow()
    if form == "pandas":
        pandas = pytest.importorskip("pandas")
        # Decimals, dates and times are columns of objects there.
        table = pandas.DataFrame({n: s.to_list() for n, s in frame.to_dict().items()})
        if name == "float32":
            table["x"] = table["x"].astype("float32")
    found = released(table, Role.QUASI, tmp_path / "r.csv")
    assert set(found["x"].to_list()) == LABELS[name]


def test_berlin_dates_do_not_become_the_day_before(tmp_path: Path) -> None:
    """In a typed column, and in a text with an offset."""
    texts = ["2024-01-01T00:00:00+01:00", "2024-07-01T00:00:00+02:00"] * 3
    (tmp_path / "t.csv").write_text("x\n" + "\n".join(texts) + "\n")
    for table in (tmp_path / "t.csv", pl.DataFrame({"x": SERIES["zone"]})):
        schema = Schema(attributes=(Attribute(name="x", role=Role.QUASI, kind=Kind.DATE),))
        api.anonymize(table, schema, privacy=[shoal.KAnonymity(3)], out=tmp_path / "r.csv")
        found = pl.read_csv(tmp_path / "r.csv", infer_schema=False)["x"].to_list()
        assert all("2023-12-31" not in label and "2024-06-30" not in label for label in found)
    model = api.learn(tmp_path / "t.csv", schema, privacy=[shoal.KAnonymity(3)])
    again = api.encode(tmp_path / "t.csv", model).table
    labels = sorted(set(again["x"].cast(pl.String).to_list()))
    assert labels == ["2024-07", "2024-Q1–2024-Q2"]


def test_times_of_different_zones_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n2024-01-01T10:00:00+05:00\n2024-01-01T10:00:00-05:00\n")
    schema = Schema(attributes=(Attribute(name="x", role=Role.QUASI, kind=Kind.DATE),))
    with pytest.raises(InputError, match="different zones"):
        api.anonymize(tmp_path / "t.csv", schema, privacy=[shoal.KAnonymity(2)])


DATES = ("date", "datetime", "nanoseconds", "zone")
TEXTS = ("boolean", "enum", "categorical")


def stands_for(label: str | None, text: str | None, name: str) -> bool:
    """Say whether the label of a model covers a value of a type."""
    if name in TEXTS or label is None or text is None:
        return label == text
    if name == "time":
        low, high = label.split("–")
        return low <= text[:5] <= high
    return naive.covers(label, text, {"kind": "date" if name in DATES else "numeric"})


@every_type
def test_a_model_encodes_the_types_that_it_was_learned_from(name: str) -> None:
    """Its labels end at public places, and cover the values of their records."""
    frame = frame_of(name)
    model = api.learn(frame, schema_of(Role.QUASI), privacy=PROMISE)
    done = api.encode(frame, model)
    assert (done.report.unseen, done.report.suppressed) == (0, 0)
    is_number = name not in (*DATES, *TEXTS, "time")
    own = sorted(LABELS[name] - {None}, key=Fraction if is_number else str)
    if name == "enum":
        own = ["low", "mid", "high"]
    values = frame["x"].drop_nulls().unique(maintain_order=True).to_list()  # ascending, as own
    text_of = {**dict(zip(values, own, strict=True)), None: None}
    labels = done.table["x"].cast(pl.String).to_list()
    texts = [text_of[value] for value in frame["x"]]
    assert all(stands_for(*pair, name) for pair in zip(labels, texts, strict=True))
    assert min(Counter(labels).values()) >= 3
    assert len(set(labels)) > 1
    again = api.encode(frame, model, safe=True).table
    assert again["x"].cast(pl.String).to_list() == labels


NESTED = {
    "List": pl.Series([[1], [2], [3]]),
    "Array": pl.Series([[1], [2], [3]], dtype=pl.Array(pl.Int64, 1)),
    "Struct": pl.Series([{"a": 1}, {"a": 2}, {"a": 3}]),
    "Binary": pl.Series([b"a", b"b", b"\xff"]),
    "Object": pl.Series([object(), object(), object()], dtype=pl.Object),
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("role", [Role.QUASI, Role.SENSITIVE, Role.NEUTRAL])
def test_lists_and_the_like_are_refused_by_the_name_of_their_type(
    name: str, role: Role, tmp_path: Path
) -> None:
    frame = pl.DataFrame({"group": ["a"] * 3, "x": NESTED[name]})
    for out in (None, tmp_path / "r.csv", tmp_path / "r.parquet"):
        with pytest.raises(InputError, match=rf"column 'x': holds {name} values"):
            api.anonymize(frame, schema_of(role), privacy=PROMISE, out=out)
    group = Attribute(name="group", role=Role.QUASI)
    left = Schema(attributes=(group,), others=Others.DROP)
    made = api.anonymize(frame, left, privacy=PROMISE)
    assert made.table.columns == ["group"]


def test_lists_in_a_column_of_pandas_objects_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = pandas.DataFrame({"group": ["a"] * 3, "x": [[1], [2], [3]]})
    with pytest.raises(InputError, match="column 'x': holds List values"):
        api.anonymize(table, schema_of(Role.NEUTRAL), privacy=PROMISE)
    table = pandas.DataFrame({"group": ["a"] * 3, "x": [1, "two", 3.0]})
    with pytest.raises(InputError, match="mixes kinds"):
        api.anonymize(table, schema_of(Role.NEUTRAL), privacy=PROMISE)


@pytest.mark.parametrize("ending", [None, ".csv", ".parquet"])
def test_a_column_without_any_value_is_missing_everywhere(
    ending: str | None, tmp_path: Path
) -> None:
    out = None if ending is None else tmp_path / f"r{ending}"
    frame = pl.DataFrame({"group": ["a", "b", "c"], "x": pl.Series([None] * 3)})
    assert released(frame, Role.QUASI, out)["x"].to_list() == [None] * 3
    frame = frame.with_columns(group=pl.Series(["a"] * 3))
    assert released(frame, Role.NEUTRAL, out)["x"].to_list() == [None] * 3
    with pytest.raises(NoSolutionError):
        released(frame, Role.SENSITIVE, out)


def test_postgresql_numeric_is_a_number() -> None:
    """As ADBC returns it: a wrapped text."""
    pyarrow = pytest.importorskip("pyarrow")
    kind = pyarrow.opaque(pyarrow.string(), "numeric", "PostgreSQL")
    texts = pyarrow.array(["10.50", "20.25", "NaN"], pyarrow.string())
    table = pyarrow.table({"price": pyarrow.ExtensionArray.from_storage(kind, texts)})
    found = plain_types(pl.DataFrame(table).lazy()).collect()
    assert found["price"].to_list() == ["10.50", "20.25", None]
    table = pyarrow.concat_tables([table.slice(0, 2)] * 3)
    schema = Schema(attributes=(Attribute(name="price", role=Role.QUASI),))
    made = api.anonymize(table, schema, privacy=PROMISE)
    assert set(pl.DataFrame(made.table)["price"].to_list()) == {"10.5", "20.25"}
