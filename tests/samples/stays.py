"""How the tests of this room read a hospital sample."""

from pathlib import Path

import polars as pl

import shoal.samples

SOURCE = str(Path(shoal.samples.__file__).parents[2])
TEXT = dict.fromkeys(("patient_id", "name", "sex", "zip", "diagnosis", "department"), pl.String)


def read(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, schema_overrides=TEXT, try_parse_dates=True)


def share(table: pl.DataFrame, condition: pl.Expr) -> float:
    return float(table.select(condition.fill_null(False).mean()).item())
