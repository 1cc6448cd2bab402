"""One hospital sample for all tests of this room."""

from pathlib import Path

import polars as pl
import pytest
from tests.samples.stays import read

import shoal.samples
from shoal.samples import writer

SOURCE = str(Path(shoal.samples.__file__).parents[2])
TEXT = dict.fromkeys(("patient_id", "name", "sex", "zip", "diagnosis", "department"), pl.String)


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> writer.SampleFiles:
    out = tmp_path_factory.mktemp("sample") / "stays.csv"
    return shoal.samples.hospital(out, records=60_000, seed=11)


@pytest.fixture(scope="session")
def table(sample: writer.SampleFiles) -> pl.DataFrame:
    days = (pl.col("admission") - pl.col("birth_date")).dt.total_days()
    return read(sample.table).with_columns(age=(days / 365.2425).floor())
