"""Laws of tables with persons: Spark writes, judges and measures what the local engine does."""

from __future__ import annotations

import csv
import random
import re
from contextlib import nullcontext
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engines.spark.tables import measured_on_spark, near, without_cuts
from tests.laws.test_persons import PROMISES
from tests.naive import persons as naive

import shoal
from shoal import api
from shoal.core.errors import InputError, MethodError, NoSolutionError
from shoal.engines.spark.recode import Recoder
from shoal.engines.spark.source import open_table
from shoal.engines.spark.verify import verify_table
from shoal.schema.schema import Schema

K = {"model": "k-anonymity", "k": 3}
DIVERSE = {"model": "l-diversity", "l": 2, "column": "s"}
QUASI = ["a", "b", "c"]
FEW_EXAMPLES = settings(
    max_examples=4, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)  # fmt: skip
# A method of each family, with a promise each that persons change; nightly others of them.
CASES = [
    ("bestcut", [K, {"model": "t-closeness", "t": 0.4, "column": "s"}]),
    ("mondrian-relaxed", [K, {"model": "(alpha,k)-anonymity", "alpha": 0.7, "k": 2}]),
    ("mdav", [K]),
    ("flash", [K, DIVERSE]),
    *(
        pytest.param(method, promises, marks=pytest.mark.nightly)
        for method, promises in [
            ("bestcut", [K]),
            ("mondrian", [K, DIVERSE]),
            ("refine", [K, DIVERSE]),
            ("kmember", [K]),
            ("oka", [K, {"model": "l-diversity", "l": 2, "kind": "entropy", "column": "s"}]),
            ("incognito", [K, {"model": "beta-likeness", "beta": 2.0, "column": "s"}]),
        ]
    ),
]


def who_of(shape, chance, number):
    """Return who a record is about: (ward, number), parts of a key that may be missing."""
    if shape == "one in every class":  # and somebody else, once
        return ("w", "everywhere") if number % 2 else ("w", f"p{number}")
    if shape == "one has all":
        return "w", "only"
    if shape == "once each":
        return "w", f"p{number}"
    ward, name = chance.choice(["w", "v", " w"]), f"p{chance.randrange(12)}"
    if shape == "some missing" and chance.random() < 0.3:
        return chance.choice([(None, name), (ward, ""), (ward, " ?\u00a0"), (ward, "NaN")])
    return ward, name


def table_of(shape, records=90, seed=5):
    chance = random.Random(seed)
    rows = []
    for number in range(records):
        ward, name = who_of(shape, chance, number)
        rows.append({
            "a": chance.choice(["1", "2", "3", "10", ""]), "ward": ward,
            "b": chance.choice(["x", "y", None]), "s": chance.choice(["flu", "gout", "a, b", ""]),
            "c": str(chance.randrange(40)), "note": chance.choice(["", "n", None]), "name": name,
        })  # fmt: skip
    return pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))


def schema_of(*promises, person=("ward", "name"), **more):
    columns = {
        "a": {"role": "quasi", "kind": "numeric"},
        "b": {"role": "quasi", "kind": "categorical"},
        "c": {"role": "quasi", "kind": "numeric"},
        "s": {"role": "sensitive", "kind": "categorical"},
        "note": "neutral",
        **dict.fromkeys(("ward", "name"), "identifying"),
        **dict.fromkeys(person, "person"),
    }
    document = {"columns": columns, "privacy": list(promises), "missing": ["?"]}
    more["waive"] = [*more.get("waive", ()), *person]  # records of nobody
    return Schema.from_document({**document, "suppression_limit": 1.0, **more})


def both(folder, table, schema, *, name="o.csv", **asked):
    """Release on both engines; return the reports, and the places of what they wrote."""
    source = folder / "t.csv"
    table.write_csv(source)
    places = folder / f"here {name}", folder / f"there {name}"
    # Whoever stands behind the records of the local release stands behind Spark's equal bytes.
    made = [
        api.anonymize(source, schema, out=places[0], person_file=folder / "who.csv", **asked),
        api.anonymize(api.SparkTable(source), schema, out=places[1], **asked),
    ]
    return [each.report for each in made], places


def broken(folder, place, promises):
    """Return the classes of a release that break a promise, by the naive twin."""
    with place.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (folder / "who.csv").open(newline="") as file:
        who = [line[0] or None for line in list(csv.reader(file))[1:]]
    classes = naive.classes_of(rows, QUASI, who, "s")
    return [key for model in promises for key in naive.failing(classes, model)]


def alike(one, other):
    """Say whether two reports tell the same of persons, promises and risk."""
    names = (
        "records", "persons", "released", "suppressed", "classes", "smallest_class",
        "largest_share", "privacy", "risk_before", "risk_after", "utility", "notices",
    )  # fmt: skip
    return all(near(getattr(one, name)) == getattr(other, name) for name in names)


@pytest.mark.parametrize(("method", "promises"), CASES)
def test_a_release_by_persons_has_the_same_bytes_and_holds(spark, tmp_path, method, promises):
    table = table_of("some missing")
    reports, places = both(tmp_path, table, schema_of(*promises), method=method)
    assert places[1].read_bytes() == places[0].read_bytes()
    assert alike(*reports)
    assert reports[1].persons is not None
    released = [model for model in promises if reports[1].utility["sse_loss"] is None]
    assert not broken(tmp_path, places[1], [{"column": "s", **model} for model in released])


@pytest.mark.sampled
@pytest.mark.parametrize("shape", ["one in every class", "once each", "anybody"])
def test_whoever_the_persons_are_the_bytes_are_the_same(spark, tmp_path, shape):
    schema = schema_of(K, DIVERSE)
    reports, places = both(tmp_path, table_of(shape), schema, method="bestcut")
    assert places[1].read_bytes() == places[0].read_bytes()
    assert alike(*reports)
    if shape == "once each":
        out = tmp_path / "records.csv"
        plain = schema_of(K, DIVERSE, person=())
        api.anonymize(api.SparkTable(tmp_path / "t.csv"), plain, out=out, method="bestcut")
        assert out.read_bytes() == places[1].read_bytes()
        assert reports[1].persons == reports[1].records


def test_one_person_with_all_records_is_no_release(spark, tmp_path):
    table, out = table_of("one has all"), tmp_path / "o.csv"
    with pytest.raises(NoSolutionError, match="counted by 1 persons"):
        api.anonymize(api.SparkTable(table), schema_of(K), out=out, waive="note")
    nobody = api.SparkTable(table.with_columns(name=pl.lit(" ?")))
    with pytest.raises(InputError, match="no record says who"):
        api.anonymize(nobody, schema_of(K), out=out)
    with pytest.raises(InputError, match="no record says who"):
        api.verify(nobody, schema_of(K))
    assert not out.exists()


@pytest.mark.sampled
@pytest.mark.parametrize(
    "asked",
    [
        {"method": "mondrian", "partitions": 3, "partition_by": "random"},
        {"method": "bestcut", "partitions": 2, "partition_by": "random"},
        {"method": "flash", "suppressed": "star"},
        {"method": "mdav", "release": "aggregate"},
    ],
)
def test_parts_stars_and_centroids_by_persons_are_the_same(spark, tmp_path, asked):
    promises = [K] if asked["method"] == "mdav" else [{"model": "k-anonymity", "k": 6}, DIVERSE]
    limit = 0.4 if asked["method"] == "flash" else 0.0
    schema = schema_of(*promises, suppression_limit=limit)
    reports, places = both(tmp_path, table_of("some missing"), schema, **asked)
    assert places[1].read_bytes() == places[0].read_bytes()
    assert alike(*reports)
    assert (reports[1].suppressed > 0) == (asked["method"] == "flash")


def test_parts_by_kmeans_keep_the_promise_by_persons(spark, tmp_path):
    made = api.anonymize(
        api.SparkTable(table_of("some missing", 300)), schema_of(K, DIVERSE), method="mondrian",
        partitions=3, seed=2,
    )  # fmt: skip
    assert all(result.holds for result in made.report.privacy)
    assert made.report.smallest_class >= 3
    assert "name" not in made.table.columns


@pytest.mark.sampled
@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_other_formats_hold_the_same_records(spark, tmp_path, ending):
    table = table_of("some missing").with_columns(pl.col("c").cast(pl.Int64))
    table.write_parquet(tmp_path / "t.parquet")
    here = api.anonymize(tmp_path / "t.parquet", schema_of(K, DIVERSE), method="mondrian")
    out = tmp_path / f"o.{ending}"
    there = api.SparkTable(tmp_path / "t.parquet")
    made = api.anonymize(there, schema_of(K, DIVERSE), method="mondrian", out=out)
    found = pl.read_parquet(out / "*.parquet") if ending == "parquet" else pl.read_ndjson(out)
    assert found.columns == here.table.columns
    assert found.cast(pl.String).rows() == here.table.cast(pl.String).rows()
    assert alike(here.report, made.report)
    kept = api.anonymize(there, schema_of(K, DIVERSE), method="mondrian").table
    assert pl.from_arrow(kept.toArrow()).cast(pl.String).rows() == found.cast(pl.String).rows()
    assert sorted(p.name for p in tmp_path.iterdir()) == [out.name, "t.parquet"]


def test_numbers_of_people_are_the_same_persons_as_texts_of_them(spark, tmp_path):
    """Patient numbers beside missing ones come as floats, which engines write differently."""
    chance = random.Random(8)
    number = [chance.choice([None, float("nan"), *map(float, range(10**7, 10**7 + 25))])
              for _ in range(90)]  # fmt: skip
    table = table_of("anybody").with_columns(name=pl.Series(number, dtype=pl.Float64))
    table.write_parquet(tmp_path / "t.parquet")
    schema = schema_of(K, person=("name",))
    here = api.anonymize(tmp_path / "t.parquet", schema, method="bestcut")
    there = api.anonymize(api.SparkTable(tmp_path / "t.parquet"), schema, method="bestcut")
    assert pl.from_arrow(there.table.toArrow()).rows() == here.table.rows()
    assert there.report.persons == here.report.persons == len({n for n in number if n and n == n})


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("shape", "cut"), [("anybody", True), ("some missing", True), ("anybody", False)]
)
def test_models_and_safe_batches_by_persons_are_the_same(spark, tmp_path, shape, cut):
    """Classes that fail are joined in a model of cuts, and closed in one of boxes."""
    table, schema = table_of(shape, 200), schema_of(K, DIVERSE)
    table.write_csv(tmp_path / "t.csv")
    with nullcontext() if cut else without_cuts():
        model = shoal.learn(tmp_path / "t.csv", schema)
        there = shoal.learn(api.SparkTable(tmp_path / "t.csv"), schema)
    assert there.to_json() == model.to_json()
    table_of(shape, 80, seed=9).write_csv(tmp_path / "new.csv")
    for star in ("star", "remove"):
        outs = tmp_path / f"here {star}.csv", tmp_path / f"there {star}.csv"
        new = tmp_path / "new.csv", api.SparkTable(tmp_path / "new.csv")
        asked = {"safe": True, "on_unseen": "suppress", "suppressed": star}
        here, there = (
            api.encode(each, model, out=out, **asked) for each, out in zip(new, outs, strict=True)
        )
        assert outs[1].read_bytes() == outs[0].read_bytes()
        assert there.verification == here.verification
        assert there.verification.persons is not None
        assert there.report.to_document() == here.report.to_document()
    quasi = pl.read_csv(outs[1], infer_schema=False).select(model.schema.quasi)
    is_joined = not set(quasi.rows()) <= set(model.tuples())
    assert (is_joined, here.report.suppressed > 0) == (cut, not cut)
    kept = api.encode(new[1], model, **asked)
    assert kept.table.count() == there.report.released
    plain = [api.encode(each, model, on_unseen="suppress").report.to_document() for each in new]
    assert plain[0] == plain[1]  # record by record, nobody is counted


@pytest.mark.sampled
@pytest.mark.parametrize("promise", PROMISES)
@FEW_EXAMPLES
@given(data=st.data())
def test_spark_judges_persons_as_the_local_engine_does(spark, promise, data):
    """Cells that are brought to the driver, and classes that are judged where they are."""
    record = st.tuples(
        st.sampled_from(["1", "2", None]), st.sampled_from(["a", ""]),
        st.sampled_from(["x", "y", "z", " y", None]),
        st.sampled_from(["p", "q", "r", "s", "p\u2003", "", "?", None]),
    )  # fmt: skip
    records = data.draw(st.lists(record, min_size=1, max_size=24))
    table = pl.DataFrame(records, schema=dict.fromkeys("abse", pl.String), orient="row")
    columns = {"a": "quasi", "b": "quasi", "s": {"role": "sensitive", "kind": "categorical"}}
    schema = Schema.from_document(
        {"columns": {**columns, "e": "person"}, "privacy": [promise], "missing": ["?"]}
    )
    source = open_table(spark.createDataFrame(table.to_arrow()))
    try:
        wanted = api.verify(table, schema)
    except InputError as refused:
        for few in (0, 1000):
            with pytest.raises(InputError, match=re.escape(str(refused))):
                verify_table(source, schema.judged(), schema.privacy, few=few)
        return
    for few in (0, 1000):
        found = verify_table(source, schema.judged(), schema.privacy, few=few)
        assert replace(found, warnings=wanted.warnings) == wanted
        assert set(found.warnings) <= set(wanted.warnings)


def test_a_table_with_its_persons_is_verified_as_it_stands(spark, tmp_path):
    table = table_of("some missing", 150)
    table.write_csv(tmp_path / "t.csv")
    schema = schema_of(K, DIVERSE, {"model": "t-closeness", "t": 0.5, "column": "s"})
    here = api.verify(tmp_path / "t.csv", schema)
    there = api.verify(api.SparkTable(tmp_path / "t.csv"), schema)
    assert there.to_document() == here.to_document()
    assert not there.holds
    out = tmp_path / "o.csv"
    api.anonymize(api.SparkTable(tmp_path / "t.csv"), schema_of(K), out=out)
    with pytest.raises(InputError, match="so its persons cannot be counted"):
        api.verify(api.SparkTable(out), schema)


def test_risk_of_persons_is_the_same(spark, tmp_path):
    table = table_of("some missing", 200)
    table.write_csv(tmp_path / "t.csv")
    table_of("anybody", 900, seed=2).write_csv(tmp_path / "people.csv")
    schema = schema_of(K)
    for asked in ({}, {"population": "people.csv"}, {"sampling_fraction": 0.1}):
        found = []
        for far in (lambda place: place, api.SparkTable):
            more = dict(asked)
            if "population" in more:
                more["population"] = far(tmp_path / more["population"])
            found.append(api.risk(far(tmp_path / "t.csv"), schema, **more).to_document())
        assert found[1] == near(found[0])
        assert found[1]["persons"] is not None


def test_measures_of_loss_weigh_records_whoever_they_are_about(spark, tmp_path):
    schema = schema_of(K)
    _, places = both(tmp_path, table_of("anybody"), schema, method="mondrian")
    source = tmp_path / "t.csv"
    here = api.metrics(source, places[0], schema)
    there = api.metrics(api.SparkTable(source), api.SparkTable(places[1]), schema)
    assert there == near(measured_on_spark(here))
    assert here == api.metrics(source, places[0], schema_of(K, person=()))


def test_persons_that_the_driver_does_not_take_are_refused_not_counted_as_records(spark, tmp_path):
    table = spark.createDataFrame(table_of("anybody").to_arrow())
    out = tmp_path / "o.csv"
    for rows, said in ((60, "distinct tuples of persons"), (5, "persons have several records")):
        few = api.SparkTable(table, driver_rows=rows)
        for work in (
            lambda few=few: api.anonymize(few, schema_of(K), out=out),
            lambda few=few: shoal.learn(few, schema_of(K)),
        ):
            with pytest.raises(MethodError, match=said) as caught:
                work()
            assert "--driver-rows" in str(caught.value)
            assert "local engine" in str(caught.value)
    model = shoal.learn(table, schema_of(K))
    with pytest.raises(MethodError, match="distinct tuples of persons"):
        api.encode(api.SparkTable(table, driver_rows=30), model, safe=True, out=out)
    assert not list(tmp_path.iterdir())


def test_what_needs_an_order_or_a_key_is_refused_plainly(spark, tmp_path):
    table = spark.createDataFrame(table_of("anybody").to_arrow())
    out = tmp_path / "o.csv"
    with pytest.raises(MethodError, match="--person-file needs the local engine"):
        api.anonymize(table, schema_of(K), out=out, person_file=tmp_path / "who.csv")
    with pytest.raises(MethodError, match="--person-file needs the local engine"):
        api.verify(table.drop("name"), schema_of(K), person_file=tmp_path / "who.csv")
    linked = schema_of(K, person=())
    linked = Schema.from_document(
        {**linked.to_document(), "columns": {
            **linked.to_document()["columns"], "name": {"role": "person", "release": "pseudonym"},
        }}
    )  # fmt: skip
    with pytest.raises(MethodError, match="need the local engine"):
        api.anonymize(table, linked, out=out)
    with pytest.raises(MethodError, match="trajectories of persons need the local engine"):
        api.verify(table, linked)
    assert not list(tmp_path.iterdir())


@pytest.mark.sampled
@pytest.mark.parametrize("limit", ["KNOWN", "LARGE", "SORTED"])
def test_every_way_to_sort_keeps_persons_behind_their_records(spark, tmp_path, monkeypatch, limit):
    """Keys that no task holds, classes that Spark sorts, and many partitions."""
    monkeypatch.setattr(f"shoal.engines.spark.recode.{limit}", 10 if limit == "SORTED" else 0)
    table, schema = table_of("some missing"), schema_of(K, DIVERSE)
    reports, places = both(tmp_path, table, schema, method="mondrian")
    assert places[1].read_bytes() == places[0].read_bytes()
    assert alike(*reports)


@pytest.mark.parametrize("shape", ["once each", "some missing"])
def test_records_of_a_tuple_that_classes_share_are_dealt_out_alike(
    spark, tmp_path, monkeypatch, shape
):
    """Many records of few tuples: classes take a part of a row, each with its persons."""
    dealt, deal = [], Recoder._dealt
    monkeypatch.setattr(
        Recoder, "_dealt", lambda self, *given: dealt.append(given[-1]) or deal(self, *given)
    )
    table = table_of(shape, 150).with_columns(c=pl.lit("7"), a=pl.lit("1"))
    reports, places = both(tmp_path, table, schema_of(K), method="oka")
    assert places[1].read_bytes() == places[0].read_bytes()
    assert alike(*reports)
    assert dealt == [("person",)]


def test_a_place_elsewhere_has_nothing_left_beside_it(spark, tmp_path):
    table_of("some missing").write_csv(tmp_path / "t.csv")
    seen = []

    def progress(stage):
        if stage == "verify":
            seen.extend(p.name for p in tmp_path.iterdir() if p.name.startswith("."))

    made = api.anonymize(
        api.SparkTable(tmp_path / "t.csv"), schema_of(K), out=f"file://{tmp_path}/o.parquet",
        progress=progress,
    )  # fmt: skip
    assert len([name for name in seen if name.endswith(".tmp.persons")]) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["o.parquet", "t.csv"]
    assert pl.read_parquet(tmp_path / "o.parquet/*.parquet").height == made.report.released
