"""The stays: as skewed as a register of a hospital, and no number twice."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.samples.stays import share

import shoal.samples
from shoal.samples import catalogue, stays, writer

SOURCE = str(Path(shoal.samples.__file__).parents[2])
TEXT = dict.fromkeys(("patient_id", "name", "sex", "zip", "diagnosis", "department"), pl.String)


def test_missing_values_are_rare_and_only_where_announced(table: pl.DataFrame):
    missing = {name: share(table, pl.col(name).is_null()) for name in table.columns}
    assert missing.pop("zip") == pytest.approx(0.02, abs=0.004)
    assert missing.pop("birth_date") == pytest.approx(0.01, abs=0.003)
    missing.pop("age")
    assert set(missing.values()) == {0.0}


def test_ages_are_those_of_a_hospital(table: pl.DataFrame):
    assert 45 < table["age"].mean() < 62
    assert table["age"].min() == 0
    assert table["age"].max() < 110
    assert 0.05 < share(table, pl.col("age") < 1) < 0.12
    assert share(table, pl.col("age") >= 80) > 0.1
    assert 0 < share(table, pl.col("age") > 100) < 0.003


def test_diagnoses_depend_on_sex_and_age(table: pl.DataFrame):
    births = table.filter(pl.col("diagnosis").is_in(["O42", "O80", "O82"]))
    assert set(births["sex"]) == {"F"}
    assert births["age"].min() >= 16
    assert births["age"].max() < 60
    assert set(table.filter(pl.col("diagnosis").is_in(["C61", "N40"]))["sex"]) == {"M"}
    assert set(table.filter(diagnosis="Z38")["age"].drop_nulls()) == {0.0}
    heart = table.filter(diagnosis="I50")["age"].mean()
    assert heart > table.filter(diagnosis="K35")["age"].mean() + 30


def test_skew_and_rare_cells(table: pl.DataFrame):
    counts = table["diagnosis"].value_counts().sort("count")["count"]
    assert 55 <= len(catalogue.DIAGNOSES) <= 75
    assert counts.max() > 3 * counts.median() > 50 * counts.min()
    places = table["zip"].drop_nulls().value_counts()["count"].sort(descending=True)
    assert 850 < len(places) <= 900
    assert places[:90].sum() > 0.35 * places.sum()
    assert 0 < share(table, pl.col("sex") == "X") < 0.002


def test_zips_are_text_of_five_digits_and_some_start_with_zero(table: pl.DataFrame):
    zips = table["zip"].drop_nulls()
    assert zips.str.contains(r"^\d{5}$").all()
    assert zips.str.starts_with("0").any()
    assert len(set(stays.zip_areas())) == 900


def test_regions_differ_in_age_and_insurance(table: pl.DataFrame):
    region = table.drop_nulls("zip").with_columns(region=pl.col("zip").str.head(1))
    facts = region.group_by("region").agg(
        pl.col("age").mean(), private=pl.col("insurance").str.starts_with("private").mean()
    )
    young, old = (facts.filter(region=digit) for digit in "14")
    assert young["age"][0] + 3 < old["age"][0]
    assert young["private"][0] > 1.5 * old["private"][0]


def test_admissions_follow_week_and_season(table: pl.DataFrame):
    assert table["admission"].min().year == 2022
    assert table["admission"].max().year == 2024
    weekend = pl.col("admission").dt.weekday() >= 6
    assert 0.12 < share(table, weekend) < 0.24
    winter = pl.col("admission").dt.month().is_in([12, 1, 2])
    lungs = table.filter(pl.col("diagnosis").is_in(["J18", "J20", "J44"]))
    assert share(lungs, winter) > share(table, winter) + 0.03


def test_cost_follows_stay_and_has_outliers(sample: writer.SampleFiles, table: pl.DataFrame):
    assert table["cost"].min() > 0
    assert table["stay_days"].min() >= 0
    assert table.select(pl.corr("stay_days", "cost", method="spearman")).item() > 0.6
    usual = pl.col("cost") / pl.col("cost").median().over("diagnosis")
    assert 0.004 < share(table, usual > 5) < 0.02
    cents = sample.table.read_text().splitlines()[1:200]
    assert all(len(line.split(",")[-2].split(".")[1]) == 2 for line in cents)


def test_patient_numbers_never_repeat_across_distant_chunks():
    spans = [stays._patient_ids(start, 1000, seed=9) for start in (0, 10_000_000, 2**33 - 1000)]
    assert pl.concat(spans).n_unique() == 3000


def test_running_sums_end_in_one():
    weights = np.array([[1.0, 3.0, 0.0], [0.1, 0.2, 0.7]])
    sums = stays.cumulative(weights)
    assert sums[:, -1].tolist() == [1.0, 1.0]
    assert np.allclose(np.diff(sums, prepend=0), weights / weights.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("row", [0, 1])
def test_a_draw_agrees_with_a_search_of_its_row(row):
    table = stays.cumulative(np.array([[1.0, 0.0, 3.0], [5.0, 1.0, 1.0]]))
    uniform = np.random.default_rng(7).random(500)
    naive = [next(i for i, end in enumerate(table[row]) if u < end) for u in uniform]
    assert stays.draw(table, row, uniform).tolist() == naive
    rows = np.full(500, row)
    assert stays.draw(table, rows, uniform).tolist() == naive


def test_a_number_that_rounds_up_to_one_stays_in_its_row():
    table = stays.cumulative(np.ones((2, 4)))
    assert stays.draw(table, np.array([0, 1]), np.array([1.0, 1.0])).tolist() == [3, 3]


def test_zips_are_different_and_belong_to_their_region():
    areas = stays.zip_areas()
    assert len(set(areas)) == stays.REGIONS * stays.DISTRICTS * stays.AREAS
    assert [area[0] for area in areas] == sorted(area[0] for area in areas)


def test_chunks_have_random_streams_of_their_own(monkeypatch):
    whole = next(stays.frames(60, seed=3))
    monkeypatch.setattr(writer, "CHUNK", 20)
    first, second, third = stays.frames(60, seed=3)
    assert first.equals(next(stays.frames(20, seed=3)))
    assert second["patient_id"].to_list() == whole["patient_id"].to_list()[20:40]
    assert not third["zip"].equals(first["zip"])
