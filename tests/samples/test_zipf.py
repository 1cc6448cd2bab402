"""The Zipf sample: the distribution it claims, and the schema that goes with it."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

import shoal.samples
from shoal.core.errors import MethodError, OutputError
from shoal.samples.writer import CHUNK
from shoal.samples.zipf import column_names, probabilities


def make(folder: Path, **options: object) -> pl.DataFrame:
    files = shoal.samples.zipf(folder / "z.csv", **options, overwrite=True)
    return pl.read_csv(files.table)


def frequencies(table: pl.DataFrame, column: str) -> np.ndarray:
    counts = table[column].value_counts(sort=True)["count"].to_numpy()
    return counts / table.height


def entropy(share: np.ndarray) -> float:
    return float(-(share * np.log(share)).sum())


def test_same_seed_same_bytes_and_another_seed_another_table(tmp_path: Path):
    made = [
        shoal.samples.zipf(tmp_path / f"{name}.csv", records=300, seed=seed).table.read_bytes()
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    assert made[0] == made[1] != made[2]


@pytest.mark.parametrize("exponent", [0, 0.5, 1.0, 2.0])
def test_frequencies_agree_with_the_exact_probabilities(tmp_path: Path, exponent: float):
    table = make(tmp_path, records=40_000, seed=4, exponent=exponent)
    exact = probabilities(16, exponent)
    slack = 5 * np.sqrt(exact * (1 - exact) / table.height) + 1e-4
    for column in table.columns:
        assert (np.abs(frequencies(table, column) - exact) < slack).all()


@pytest.mark.parametrize(("values", "exponent"), [(2, 0.0), (5, 1.0), (16, 1.04)])
def test_probabilities_are_powers_of_the_rank(values: int, exponent: float):
    naive = [rank**-exponent for rank in range(1, values + 1)]
    expected = [weight / sum(naive) for weight in naive]
    assert probabilities(values, exponent) == pytest.approx(expected)


def test_entropy_falls_as_the_exponent_grows(tmp_path: Path):
    exponents = (0.0, 0.5, 1.0, 1.5, 2.5)
    spread = [
        entropy(frequencies(make(tmp_path, records=20_000, exponent=s), "a01")) for s in exponents
    ]
    assert spread == sorted(spread, reverse=True)
    assert spread[0] == pytest.approx(np.log(16), abs=0.01)


def test_columns_have_their_own_order_and_are_independent(tmp_path: Path):
    table = make(tmp_path, records=40_000, exponent=1.5)
    favourites = {table[column].mode()[0] for column in table.columns}
    assert len(favourites) > 4
    assert abs(table.select(pl.corr("a01", "a02")).item()) < 0.03


def test_values_and_columns_are_as_asked(tmp_path: Path):
    table = make(tmp_path, records=5_000, attributes=3, values=5, exponent=0.2)
    assert table.columns == ["a01", "a02", "a03"]
    assert all(set(table[column]) == set(range(5)) for column in table.columns)
    assert len(column_names(16)) == 16


def test_a_huge_exponent_gives_one_value(tmp_path: Path):
    table = make(tmp_path, records=100, exponent=400.0, values=1000)
    assert all(table[column].n_unique() == 1 for column in table.columns)


def test_a_table_of_more_than_one_chunk_is_whole(tmp_path: Path):
    files = shoal.samples.zipf(tmp_path / "z.parquet", records=CHUNK + 1, attributes=2)
    table = pl.read_parquet(files.table)
    assert table.height == CHUNK + 1
    assert table.null_count().sum_horizontal().item() == 0


def test_schema_has_one_sensitive_column_and_ordered_groups(tmp_path: Path):
    files = shoal.samples.zipf(tmp_path / "z.csv", records=10)
    assert files.hierarchies == ()
    schema = yaml.safe_load(files.schema.read_text())
    columns = schema["columns"]
    assert list(columns) == pl.read_csv(files.table).columns
    assert [name for name, spec in columns.items() if spec["role"] == "sensitive"] == ["a16"]
    quasi = [spec for spec in columns.values() if spec["role"] == "quasi"]
    assert (
        quasi == [{"role": "quasi", "kind": "numeric", "hierarchy": {"order": {"fanout": 4}}}] * 15
    )
    assert schema["privacy"][1] == {"model": "l-diversity", "l": 3, "column": "a16"}


@pytest.mark.parametrize(
    "options",
    [
        {"records": 0},
        {"attributes": 1},
        {"values": 1},
        {"exponent": -0.1},
        {"exponent": float("nan")},
        {"exponent": float("inf")},
        {"exponent": "1"},
        {"seed": -1},
    ],
)
def test_arguments_that_cannot_be_meant_are_refused(tmp_path: Path, options: dict):
    with pytest.raises(MethodError, match=next(iter(options))):
        make(tmp_path, **{"records": 10, **options})
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_refused(tmp_path: Path):
    shoal.samples.zipf(tmp_path / "z.csv", records=10)
    with pytest.raises(OutputError, match="exists already"):
        shoal.samples.zipf(tmp_path / "z.csv", records=10)
