"""Columns that link the records of a person, counted in tables: released, encoded, verified."""

from __future__ import annotations

import random

import polars as pl
import pytest

from shoal import api
from shoal.core.errors import SchemaError

QUASI = ["age", "sex"]


def stays(seed=1, persons=120):
    """Return three stays a person; card and height are theirs alone, team is not."""
    chance = random.Random(seed)
    rows = []
    for i in range(persons):
        own = f"{chance.getrandbits(40):x}", str(1000 + 7 * i), chance.choice("abcd")
        for _ in range(3):
            ill = chance.choice(["flu", "gout", "none"])
            rows.append((str(chance.randrange(18, 90)), chance.choice("mf"), ill, *own, f"p{i}"))
    return pl.DataFrame(
        rows, schema=["age", "sex", "ill", "card", "height", "team", "who"], orient="row"
    )


def asked(**more):
    return {"qi": QUASI, "sensitive": ["ill"], "person": "who", "k": 4, **more}


def naive_linked(table, column):
    """Return the records with a value that several have, all of one person."""
    found = 0
    for value in set(table[column].to_list()):
        who = [w for v, w in zip(table[column], table["who"], strict=True) if v == value]
        found += len(who) if len(who) > 1 and len(set(who)) == 1 else 0
    return found


@pytest.mark.parametrize("column", ["card", "height"])
def test_a_kept_column_that_is_one_persons_stops_a_release(column):
    table = stays()
    with pytest.raises(SchemaError, match="links the records of a person") as caught:
        api.anonymize(table, **asked(neutral=[column]))
    assert f"{naive_linked(table, column):,} of 360 records" in str(caught.value)
    assert table[column][0] not in str(caught.value)


def test_what_many_persons_share_does_not_stop_it():
    assert not api.anonymize(stays(), **asked(neutral=["team"])).report.warnings


def test_whoever_means_it_waives_it():
    made = api.anonymize(stays(), **asked(neutral=["card"], waive=["card"]))
    assert made.report.released == 360
    assert "card" in made.table.columns


@pytest.mark.local("trajectories")
def test_where_trajectories_are_judged_linked_records_are_meant():
    made = api.anonymize(
        stays(), **asked(neutral=["card"], release_person="pseudonym", method="bestcut")
    )
    assert made.report.privacy[0].holds


def test_a_release_of_somebody_else_is_warned_of():
    table = stays()
    table = table.with_columns(pl.lit("40").alias("age"))
    found = api.verify(table.drop("height", "team"), qi=QUASI, sensitive=["ill"], person="who", k=3)
    assert any("'card' is kept but links the records" in each for each in found.warnings)


def test_a_batch_that_links_is_not_encoded_safely():
    table = stays()
    plain = table.with_columns(pl.col("team").alias("card"))
    model = api.learn(plain, **asked(neutral=["card"]))
    assert api.encode(plain, model, safe=True).report.released
    with pytest.raises(SchemaError, match="links the records of a person"):
        api.encode(table, model, safe=True)


def test_columns_that_link_together_are_a_warning():
    table = stays().with_columns(
        pl.col("height").cast(pl.Int32).mod(11).cast(pl.String).alias("a"),
        pl.col("height").cast(pl.Int32).mod(13).cast(pl.String).alias("b"),
    )
    made = api.anonymize(table, **asked(neutral=["a", "b"]))
    assert any("together with 'b'" in each for each in made.report.warnings)


def test_keys_that_differ_by_case_alone_are_a_warning():
    table = stays()
    upper = pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.col("who").str.to_uppercase())
    found = api.anonymize(table.with_columns(upper.otherwise("who").alias("who")), **asked())
    assert any("120 of 240 keys differ" in each for each in found.report.warnings)


def with_nobody():
    return stays().with_columns(
        pl.when(pl.int_range(pl.len()) % 10 > 0).then(pl.col("who")).alias("who")
    )


def test_records_of_nobody_stop_a_promise_that_leaves_them_out_until_they_are_waived(tmp_path):
    table, words = with_nobody(), {**asked(), "k": 3, "l": 2}
    out = tmp_path / "out.csv"
    with pytest.raises(
        SchemaError, match=r"(?s)names nobody in some records: 36 of 360.*--waive who"
    ):
        api.anonymize(table, **words, out=out)
    assert not out.exists()
    made = api.anonymize(table, **words, waive=["who"])
    assert made.report.privacy[1].holds
    assert made.report.roles["who"]["waived"]


def test_verify_calls_no_table_safe_whose_promise_leaves_records_out():
    table = with_nobody().with_columns(pl.lit("40").alias("age"), pl.lit("f").alias("sex"))
    words = {"qi": QUASI, "sensitive": ["ill"], "person": "who", "k": 3, "l": 2}
    with pytest.raises(SchemaError, match="36 of 360"):
        api.verify(table, **words)
    assert api.verify(table, **words, waive=["who"]).holds
    assert api.verify(table, **{**words, "l": None}).holds


def test_a_batch_with_records_of_nobody_is_not_encoded_safely():
    model = api.learn(stays(), **{**asked(), "k": 3, "l": 2})
    with pytest.raises(SchemaError, match="36 of 360"):
        api.encode(with_nobody(), model, safe=True)
    assert api.encode(with_nobody(), model, safe=True, waive=["who"]).report.released
    assert api.encode(with_nobody(), model, waive=["who"]).report.released == 360


def test_records_of_nobody_are_a_warning_where_values_are_sensitive():
    table = with_nobody()
    found = api.anonymize(table, **asked())
    assert any("names nobody in some records: 36 of 360" in each for each in found.report.warnings)
    plain = {name: word for name, word in asked().items() if name != "sensitive"}
    assert not api.anonymize(table, **plain).report.warnings


@pytest.mark.local("the order of the records")
def test_an_order_that_is_kept_may_link():
    table = stays()
    mixed = table.sample(fraction=1.0, shuffle=True, seed=1)
    made = api.anonymize(table, **asked(keep_order=True)).report.warnings
    assert any("360 of 360 records" in each and "the order is kept" in each for each in made)
    assert not api.anonymize(mixed, **asked(keep_order=True)).report.warnings
    assert not api.anonymize(table, **asked()).report.warnings
    model = api.learn(mixed, **asked())
    found = [api.encode(each, model, safe=True).warnings for each in (table, mixed)]
    assert any("the order is kept" in each for each in found[0])
    assert not found[1]


@pytest.mark.local("xk-anonymity")
def test_xk_looks_at_links_too(tmp_path):
    with pytest.raises(SchemaError, match="links the records of a person"):
        api.release_xk(stays(), **asked(neutral=["card"], out=tmp_path / "out.csv"))
