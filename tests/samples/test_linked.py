"""The linked hospital sample: reproducible, with intact keys and a schema that fits it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import polars as pl
import pytest

from shoal.core.errors import MethodError, OutputError
from shoal.samples import linked_hospital
from shoal.samples.linked import DRUGS, PRESCRIPTIONS, STAYS, USUAL
from shoal.schema.linked import LinkedSchema

PATIENTS = 3000
TABLES = ("patients", "stays", "prescriptions")


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return linked_hospital(tmp_path_factory.mktemp("sample") / "hospital", PATIENTS, seed=3)


@pytest.fixture(scope="module")
def frames(sample):
    return {n: pl.read_csv(sample.folder / f"{n}.csv", infer_schema=False) for n in TABLES}


def test_same_seed_same_bytes_and_another_seed_other_tables(tmp_path):
    made = [
        linked_hospital(tmp_path / name, 200, seed=seed)
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    texts = [
        {path.relative_to(each.folder): path.read_bytes() for path in each.folder.rglob("*.csv")}
        for each in made
    ]
    assert texts[0] == texts[1]
    assert all(texts[0][name] != texts[2][name] for name in texts[0] if name.parent.name == "")


def test_every_key_is_there_once_and_leads_to_a_parent(frames, sample):
    patients, stays, prescriptions = (frames[name] for name in TABLES)
    assert sample.rows == {name: frame.height for name, frame in frames.items()}
    for frame, key in (
        (patients, "patient_id"), (stays, "stay_id"), (prescriptions, "prescription_id")
    ):  # fmt: skip
        assert frame[key].null_count() == 0
        assert frame[key].is_unique().all()
    assert stays["patient_id"].is_in(patients["patient_id"].implode()).all()
    assert prescriptions["stay_id"].is_in(stays["stay_id"].implode()).all()


def test_rows_are_spread_as_they_should_be(frames):
    number = Counter(frames["stays"]["patient_id"].to_list())
    found = Counter(number.get(who, 0) for who in frames["patients"]["patient_id"].to_list())
    for size, share in enumerate(STAYS):
        assert found[size] / PATIENTS == pytest.approx(share, abs=0.03)
    given = Counter(frames["prescriptions"]["stay_id"].to_list())
    stays = frames["stays"].height
    told = Counter(given.get(stay, 0) for stay in frames["stays"]["stay_id"].to_list())
    for size, share in enumerate(PRESCRIPTIONS):
        assert told[size] / stays == pytest.approx(share, abs=0.03)
    assert sum(STAYS) == pytest.approx(1)
    assert sum(PRESCRIPTIONS) == pytest.approx(1)


def test_later_stays_do_not_begin_before_the_first_one(frames):
    for _, stays in frames["stays"].group_by("patient_id", maintain_order=True):
        days = stays["admission"].to_list()
        assert min(days) == days[0]
        assert all("2022-01-01" <= day <= "2024-12-31" for day in days)


def test_some_patients_come_back_for_something_else(frames):
    kinds = frames["stays"].group_by("patient_id").agg(pl.col("diagnosis").n_unique(), pl.len())
    several = kinds.filter(pl.col("len") > 1)
    assert 0.3 < (several["diagnosis"] > 1).mean() < 0.9


def test_drugs_go_with_the_diagnosis(frames):
    joined = frames["prescriptions"].join(frames["stays"], on="stay_id")
    heart = joined.filter(pl.col("diagnosis").str.starts_with("I"))
    groups = Counter(DRUGS[drug] for drug in heart["drug"].to_list())
    assert groups.most_common(1)[0][0] == USUAL["I"] == "heart"
    assert set(joined["drug"].to_list()) == set(DRUGS)


def test_the_schema_fits_the_tables(sample, frames):
    schema = LinkedSchema.load(sample.schema)
    assert [table.name for table in schema.downwards] == list(TABLES)
    for table in schema.tables:
        columns = set(frames[table.name].columns)
        assert columns == {*table.keys, *(a.name for a in table.schema.attributes)}
    assert len(schema.files()) == 4
    for table, column in (("patients", "sex"), ("stays", "department"), ("stays", "diagnosis"),
                          ("prescriptions", "drug")):  # fmt: skip
        about = next(t for t in schema.tables if t.name == table).schema.attribute(column)
        values = frames[table][column].drop_nulls().unique().to_list()
        assert all(value in about.hierarchy.labels for value in values)


def test_one_patient_is_a_sample(tmp_path):
    for seed in range(5):
        made = linked_hospital(tmp_path / str(seed), 1, seed=seed)
        assert made.rows["patients"] == 1
        assert len((made.folder / "patients.csv").read_text().splitlines()) == 2


@pytest.mark.parametrize("words", [{"patients": 0}, {"seed": -1}, {"patients": True}])
def test_numbers_that_cannot_be_meant_are_refused(tmp_path, words):
    with pytest.raises(MethodError):
        linked_hospital(tmp_path / "x", **words)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_replaced(tmp_path):
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(OutputError, match="name a new folder"):
        linked_hospital(tmp_path, 5)
    with pytest.raises(OutputError, match="name a new folder"):
        linked_hospital(tmp_path / "mine", 5)
    with pytest.raises(OutputError, match="no sample was written"):
        linked_hospital(tmp_path / "no" / "where", 5)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_patients_are_those_of_the_other_sample(sample, frames, tmp_path):
    """The same seed gives the same people, whether their stays have a table of their own or not."""
    from shoal.samples import hospital

    one = pl.read_csv(hospital(tmp_path / "x.csv", PATIENTS, seed=3).table, infer_schema=False)
    columns = ["patient_id", "name", "birth_date", "sex", "zip"]
    assert one.select(columns).equals(frames["patients"].select(columns))


def test_ids_do_not_repeat_in_order(frames):
    numbers = frames["stays"]["stay_id"].to_list()
    assert all(a < b for a, b in pairwise(numbers))
