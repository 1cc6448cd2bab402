"""Table and release side by side: the same whether the table is kept or read again."""

from __future__ import annotations

import json

import polars as pl
import pytest
from tests.jobs.people import PEOPLE, files_in, plain_schema

from shoal.engines.base import Checks, Output
from shoal.engines.local import source
from shoal.jobs.release import release
from shoal.jobs.requests import ReleaseRequest
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("attacks")


def compared(table, schema, **checks):
    """Release a table; return how it and its release compare."""
    request = ReleaseRequest(table=table, schema=schema, checks=Checks(**checks))
    found = release(request).compared
    attacks = [attack.to_document() for attack in found.attacks]
    whole = json.dumps([[found.before.to_document(), found.after.to_document()], attacks])
    # Groups come in any order, so that sums differ in their last digits.
    return json.loads(whole, parse_float=lambda text: round(float(text), 9))


@pytest.mark.parametrize("attacks", ["some", "all"])
def test_a_table_in_memory_and_one_that_is_read_again_compare_alike(tmp_path, monkeypatch, attacks):
    files = files_in(tmp_path)
    schema = Schema.load(files.schema)
    kept = compared(files.table, schema, attacks=attacks)
    monkeypatch.setattr(source, "KEEP_BYTES", -1)
    again = compared(files.table, schema, attacks=attacks)
    assert kept == again


def test_weights_that_are_not_released_measure_the_table_alone():
    table = PEOPLE.with_columns(pl.lit(5).alias("weight"))
    columns = {**plain_schema().to_document()["columns"], "weight": "identifying"}
    hidden = compared(table, plain_schema(columns=columns), attacks="some", weights="weight")
    columns["weight"] = "neutral"
    shown = compared(table, plain_schema(columns=columns), attacks="some", weights="weight")
    assert hidden[0][0] == shown[0][0]
    assert hidden[0][1]["journalist"] != shown[0][1]["journalist"]


def test_the_table_is_read_from_its_file_once(tmp_path, monkeypatch):
    files = files_in(tmp_path)
    read = []

    def counted(path, **words):
        read.append(str(path))
        return scan(path, **words)

    scan = pl.scan_csv
    monkeypatch.setattr(pl, "scan_csv", counted)
    request = ReleaseRequest(
        table=files.table, schema=Schema.load(files.schema), checks=Checks(attacks="all"),
        output=Output(out=files.path("r.csv")),
    )  # fmt: skip
    assert release(request).compared is not None
    assert read.count(str(files.table)) == 1
