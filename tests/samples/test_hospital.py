"""The hospital sample: reproducible, with a schema and hierarchies that fit it."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import yaml
from tests.samples.stays import read

import shoal.samples
from shoal.samples import writer
from shoal.samples.hospital import hierarchies

SOURCE = str(Path(shoal.samples.__file__).parents[2])
TEXT = dict.fromkeys(("patient_id", "name", "sex", "zip", "diagnosis", "department"), pl.String)


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


def test_bytes_do_not_depend_on_the_number_of_threads(tmp_path: Path):
    code = "import sys, shoal.samples; shoal.samples.hospital(sys.argv[1], 260_000, seed=5)"
    made = []
    for threads in ("1", "2"):
        out = tmp_path / f"{threads}.parquet"
        env = {**os.environ, "PYTHONPATH": SOURCE, "POLARS_MAX_THREADS": threads}
        subprocess.run([sys.executable, "-c", code, str(out)], env=env, check=True)
        made.append(out.read_bytes())
    assert made[0] == made[1]


def test_one_row_is_a_table(tmp_path: Path):
    assert read(shoal.samples.hospital(tmp_path / "one.csv", records=1).table).height == 1


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


def test_an_odd_file_name_still_gives_a_valid_schema(tmp_path: Path):
    files = shoal.samples.hospital(tmp_path / 'ä "b": #1, {c}.csv', records=2)
    link = yaml.safe_load(files.schema.read_text(encoding="utf-8"))["columns"]["sex"]["hierarchy"]
    assert (tmp_path / link).is_file()
