"""The hospital sample: reproducible, plausible, and all or nothing on disk."""

import errno
import gzip
import importlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import yaml

import shoal.samples
from shoal.core.errors import MethodError, OutputError, ShoalError
from shoal.samples import catalogue, names, stays, writer
from shoal.samples.hospital import hierarchies

SOURCE = str(Path(shoal.samples.__file__).parents[2])
TEXT = dict.fromkeys(("patient_id", "name", "sex", "zip", "diagnosis", "department"), pl.String)


def read(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, schema_overrides=TEXT, try_parse_dates=True)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> writer.SampleFiles:
    out = tmp_path_factory.mktemp("sample") / "stays.csv"
    return shoal.samples.hospital(out, records=60_000, seed=11)


@pytest.fixture(scope="module")
def table(sample: writer.SampleFiles) -> pl.DataFrame:
    days = (pl.col("admission") - pl.col("birth_date")).dt.total_days()
    return read(sample.table).with_columns(age=(days / 365.2425).floor())


def share(table: pl.DataFrame, condition: pl.Expr) -> float:
    return float(table.select(condition.fill_null(False).mean()).item())


def test_importing_the_room_loads_neither_numpy_nor_polars():
    code = (
        "import sys, shoal.samples; sys.exit(bool({'numpy', 'polars', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": SOURCE})
    assert done.returncode == 0


def test_the_functions_keep_their_names_when_the_modules_are_imported():
    importlib.import_module("shoal.samples.hospital")
    importlib.import_module("shoal.samples.zipf")
    assert callable(shoal.samples.hospital)
    assert callable(shoal.samples.zipf)


@pytest.mark.parametrize("ending", writer.ENDINGS)
def test_same_seed_same_bytes_and_another_seed_another_table(tmp_path: Path, ending: str):
    made = [
        shoal.samples.hospital(tmp_path / f"{name}{ending}", records=500, seed=seed)
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    first, again, other = (files.table.read_bytes() for files in made)
    assert first == again
    assert first != other


def test_every_format_holds_the_same_table(tmp_path: Path):
    at = {
        ending: shoal.samples.hospital(tmp_path / f"{number}{ending}", records=500).table
        for number, ending in enumerate(writer.ENDINGS)
    }
    parquet = pl.read_parquet(at[".parquet"])
    assert parquet.equals(pl.read_ipc(at[".arrow"]))
    assert parquet.equals(read(at[".csv"]).cast(dict(parquet.schema)))
    assert parquet["cost"].equals(pl.read_ndjson(at[".jsonl"])["cost"])
    assert gzip.decompress(at[".csv.gz"].read_bytes()) == at[".csv"].read_bytes()


def test_bytes_do_not_depend_on_the_number_of_threads(tmp_path: Path):
    code = "import sys, shoal.samples; shoal.samples.hospital(sys.argv[1], 260_000, seed=5)"
    made = []
    for threads in ("1", "2"):
        out = tmp_path / f"{threads}.parquet"
        env = {**os.environ, "PYTHONPATH": SOURCE, "POLARS_MAX_THREADS": threads}
        subprocess.run([sys.executable, "-c", code, str(out)], env=env, check=True)
        made.append(out.read_bytes())
    assert made[0] == made[1]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_table_of_more_than_one_chunk_is_whole(tmp_path: Path, ending: str):
    told: list[int] = []
    files = shoal.samples.hospital(
        tmp_path / f"big{ending}", records=writer.CHUNK + 1, seed=3, progress=told.append
    )
    ids = (read(files.table) if ending == ".csv" else pl.read_parquet(files.table))["patient_id"]
    assert len(ids) == writer.CHUNK + 1
    assert ids.n_unique() == len(ids)
    assert ids.str.contains(r"^P\d{10}$").all()
    assert told == [writer.CHUNK, writer.CHUNK + 1]


def test_one_row_is_a_table(tmp_path: Path):
    assert read(shoal.samples.hospital(tmp_path / "one.csv", records=1).table).height == 1


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


def test_hierarchies_are_trees_that_cover_every_value(
    sample: writer.SampleFiles, table: pl.DataFrame
):
    assert len(sample.hierarchies) == 4
    for path in sample.hierarchies:
        column = path.stem.removeprefix("hierarchy_")
        rows = [tuple(line.split(";")) for line in path.read_text().splitlines()]
        assert rows == hierarchies()[column]
        assert {row[0] for row in rows} >= set(table[column])
        assert len({row[0] for row in rows}) == len(rows)
        assert {row[-1] for row in rows} == {"*"}
        for low in range(len(rows[0]) - 1):
            parents = {(row[low], row[low + 1]) for row in rows}
            assert len(parents) == len({child for child, _ in parents})


def test_diagnosis_blocks_hold_their_codes():
    for d in catalogue.DIAGNOSES:
        low, high = d.block.split("-")
        assert low <= d.code <= high
        assert d.department in catalogue.DEPARTMENTS
        assert d.calendar in catalogue.CALENDARS


def test_schema_names_every_column_and_links_to_its_files(sample: writer.SampleFiles):
    schema = yaml.safe_load(sample.schema.read_text(encoding="utf-8"))
    columns = schema["columns"]
    assert sorted(columns) == sorted(read(sample.table).columns)
    roles = {name: spec["role"] for name, spec in columns.items()}
    assert [name for name in roles if roles[name] == "identifying"] == ["patient_id", "name"]
    assert [name for name in roles if roles[name] == "sensitive"] == ["diagnosis"]
    links = [
        spec["hierarchy"] for spec in columns.values() if isinstance(spec.get("hierarchy"), str)
    ]
    assert len(links) == 3
    assert all((sample.schema.parent / link).is_file() for link in links)
    assert all("hierarchy" not in columns[name] for name in roles if roles[name] == "neutral")


def test_a_strange_file_name_still_gives_a_valid_schema(tmp_path: Path):
    files = shoal.samples.hospital(tmp_path / 'ä "b": #1, {c}.csv', records=2)
    link = yaml.safe_load(files.schema.read_text(encoding="utf-8"))["columns"]["sex"]["hierarchy"]
    assert (tmp_path / link).is_file()


def test_names_are_put_together_from_syllables_and_unique():
    for listed in (*map(names.given_names, catalogue.SEXES), names.family_names()):
        assert len(set(listed)) == len(listed)


def test_patient_numbers_never_repeat_across_far_chunks():
    spans = [stays._patient_ids(start, 1000, seed=9) for start in (0, 10_000_000, 2**33 - 1000)]
    assert pl.concat(spans).n_unique() == 3000


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("taken", ["s.csv", "s.schema.yaml", "s_hierarchies/hierarchy_sex.csv"])
def test_an_existing_file_is_refused_and_stays_as_it_is(tmp_path: Path, taken: str):
    (tmp_path / taken).parent.mkdir(exist_ok=True)
    (tmp_path / taken).write_text("mine")
    before = everything(tmp_path)
    with pytest.raises(OutputError, match="exists already"):
        shoal.samples.hospital(tmp_path / "s.csv", records=5)
    assert everything(tmp_path) == before
    assert (tmp_path / taken).read_text() == "mine"
    files = shoal.samples.hospital(tmp_path / "s.csv", records=5, overwrite=True)
    assert files.table.read_text() != "mine"


@pytest.mark.parametrize("name", ["s.txt", "s", ".csv", "nowhere/s.csv"])
def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path, name: str):
    with pytest.raises(OutputError):
        shoal.samples.hospital(tmp_path / name, records=5)
    assert everything(tmp_path) == []


@pytest.mark.parametrize(
    "numbers", [{"records": 0}, {"records": -1}, {"records": 2.5}, {"records": True}, {"seed": -1}]
)
def test_numbers_that_cannot_be_meant_are_refused(tmp_path: Path, numbers: dict):
    with pytest.raises(MethodError, match=next(iter(numbers))):
        shoal.samples.hospital(tmp_path / "s.csv", **{"records": 5, **numbers})
    assert everything(tmp_path) == []


@pytest.mark.parametrize("ending", writer.ENDINGS)
def test_a_full_disk_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
):
    def full(handle: int) -> None:
        if os.fstat(handle).st_size > 10_000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="No space left"):
        shoal.samples.hospital(tmp_path / f"s{ending}", records=2000)
    assert everything(tmp_path) == []


@pytest.mark.parametrize("ending", writer.ENDINGS)
def test_an_interrupt_leaves_nothing_behind_and_is_handed_on(tmp_path: Path, ending: str):
    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shoal.samples.hospital(tmp_path / f"s{ending}", records=100, progress=stop)
    assert everything(tmp_path) == []


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_kill_leaves_the_old_file(tmp_path: Path, ending: str):
    out = tmp_path / f"s{ending}"
    before = shoal.samples.hospital(out, records=10).table.read_bytes()
    code = (
        "import os, sys, shoal.samples as s;"
        "s.hospital(sys.argv[1], 20, overwrite=True, progress=lambda n: os.kill(os.getpid(), 9))"
    )
    env = {**os.environ, "PYTHONPATH": SOURCE}
    done = subprocess.run([sys.executable, "-c", code, str(out)], env=env)
    assert done.returncode == -signal.SIGKILL
    assert out.read_bytes() == before


def test_errors_are_ours_and_survive_a_trip(tmp_path: Path):
    import pickle

    with pytest.raises(ShoalError) as caught:
        shoal.samples.hospital(tmp_path / "s.txt", records=5)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
