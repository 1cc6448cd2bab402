"""Columnar encoding: the same as record by record, in bulk, and safe."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.golden.generate import lines, table
from tests.on_spark import ARROW, PACKED, read_parquet

from shoal import api, edge
from shoal.core.errors import InputError, NoSolutionError, OutputError
from shoal.engines.encoding import tuples as encode_tuples
from shoal.engines.local import encode as engine
from shoal.engines.local import source
from shoal.model import coverage
from shoal.model.model import ModelColumn, RecodingModel
from shoal.model.sets import SetEncoder
from shoal.schema.schema import Schema
from shoal.table import distinct

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
NAMES = ["mondrian", "clusters", "levels", "rules", "masks", "centroids"]
SOURCE = Path(__file__).resolve().parents[2] / "src"


def golden(name):
    return RecodingModel.load(GOLDEN / f"{name}.model.json")


def strange_people(records=2000, seed=3):
    rows = [json.loads(line) for line in lines(records=records, seed=seed)]
    return pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("on_unseen", ["suppress", "nearest"])
def test_a_table_is_encoded_as_its_records_are(name, on_unseen):
    frame = strange_people()
    encoder = edge.load(golden(name), on_unseen=on_unseen)
    found = api.encode(frame, golden(name), on_unseen=on_unseen)
    wanted = [encoder.encode(row) for row in frame.to_dicts()]
    assert found.table.to_dicts() == wanted
    assert "name" not in found.table.columns
    assert found.report.records == found.report.released == frame.height


@pytest.mark.local("memory of one process")
@pytest.mark.parametrize("name", NAMES)
def test_small_batches_and_small_tables_of_keys_change_nothing(name, monkeypatch, tmp_path):
    frame = strange_people()
    whole = api.encode(frame, golden(name), on_unseen="nearest").table
    frame.write_csv(tmp_path / "t.csv")
    monkeypatch.setattr(source, "KEEP_BYTES", 0)
    monkeypatch.setattr(engine, "BATCH", 123)
    monkeypatch.setattr(distinct, "_ROOM", 8)
    monkeypatch.setattr(coverage, "_MOST_BYTES", 0)
    monkeypatch.setattr(encode_tuples, "_MOST_ROWS", 100)
    pieces = api.encode(tmp_path / "t.csv", golden(name), on_unseen="nearest").table
    texts = pl.all().cast(pl.String)
    assert pieces.select(texts).equals(whole.select(texts).select(pieces.columns))
    safe = api.encode(tmp_path / "t.csv", golden(name), out=tmp_path / "o.csv", safe=True)
    assert safe.verification.holds
    written = pl.read_csv(tmp_path / "o.csv", infer_schema=False)
    assert written.height == safe.report.released
    rows, report = edge.encode_safe(frame.to_dicts(), golden(name), suppressed="remove")
    assert safe.report.to_document() == report.to_document()
    pairs = zip(written.to_dicts(), rows, strict=True)
    assert all({k: v or "" for k, v in a.items()} == {k: v or "" for k, v in b.items()}
               for a, b in pairs)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("suppressed", ["star", "remove"])
def test_encode_safe_is_the_same_on_a_device(name, suppressed):
    for size in (5, 60, 700):
        frame = strange_people(size, seed=size)
        try:
            found = api.encode(frame, golden(name), suppressed=suppressed, safe=True)
        except NoSolutionError:
            continue
        rows, report = edge.encode_safe(frame.to_dicts(), golden(name), suppressed=suppressed)
        assert found.table.to_dicts() == rows
        assert found.report.to_document() == report.to_document()
        assert found.verification.holds
        assert edge.verify(rows, golden(name)).holds
        is_removed = suppressed == "star" and report.released < report.records
        assert bool(found.notices) == is_removed
        assert ("notices" in found.to_document()) == is_removed


@pytest.mark.parametrize("ending", ["csv", PACKED, "parquet", "jsonl", ARROW])
def test_every_kind_of_file(ending, tmp_path):
    frame = strange_people(300)
    inputs = tmp_path / f"in.{ending if ending != 'csv.gz' else 'csv'}"
    writers = {
        "parquet": frame.write_parquet, "jsonl": frame.write_ndjson, "arrow": frame.write_ipc,
    }  # fmt: skip
    writers.get(ending, frame.write_csv)(inputs)
    out = tmp_path / f"out.{ending}"
    found = api.encode(inputs, golden("mondrian"), out=out)
    assert found.table is None
    assert found.report.released == 300
    whole = api.encode(frame, golden("mondrian")).table
    if ending == "parquet":
        read = read_parquet(out)
    else:
        again = source.open_source(out)
        read = again.collect(again.scan(again.columns))
    assert read["age"].cast(pl.String).to_list() == whole["age"].cast(pl.String).to_list()


def numbers_model():
    schema = Schema.from_document(
        {
            "columns": {"x": {"role": "quasi", "kind": "numeric"}},
            "privacy": [{"model": "k-anonymity", "k": 1}],
        }
    )
    cells = (
        {"low": "0", "high": "0.5"},
        {"low": "1", "high": "9007199254740993"},
        {"missing": True},
    )
    column = ModelColumn(name="x", scale="number", root="*", cells=cells)
    return RecodingModel(
        method="mondrian", schema=schema, records=3, suppressed=0, columns=(column,),
        regions=((0,), (1,), (2,)), counts=(1, 1, 1), utility={},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("series", "wanted"),
    [
        (pl.Series([0.0, -0.0, 0.5, 0.75, 1e300, float("nan"), None]),
         ["[0, 0.5]", "[0, 0.5]", "[0, 0.5]", "*", "*", None, None]),
        (pl.Series([0, 1, 9007199254740993, 9007199254740994, None]),
         ["[0, 0.5]", "[1, 9007199254740993]", "[1, 9007199254740993]", "*", None]),
        (pl.Series(["1e0", " 1 ", "", "x"]),
         ["[1, 9007199254740993]", "[1, 9007199254740993]", None, "*"]),
        (pl.Series([True, False]), ["*", "*"]),
    ],
)  # fmt: skip
def test_numbers_of_every_type(series, wanted):
    found = api.encode(pl.DataFrame({"x": series}), numbers_model())
    assert found.table["x"].cast(pl.String).to_list() == wanted
    encoder = edge.load(numbers_model())
    assert [encoder.encode({"x": x})["x"] for x in series.to_list()] == wanted


def test_records_that_no_class_covers_can_be_refused():
    with pytest.raises(InputError, match="records are covered by no class"):
        api.encode(strange_people(), golden("mondrian"), on_unseen="error")
    with pytest.raises(InputError, match="records are covered by no class"):
        api.encode(strange_people(), golden("mondrian"), on_unseen="error", safe=True)


def test_columns_that_do_not_fit_are_refused(tmp_path):
    frame = strange_people(20)
    with pytest.raises(InputError, match="has no column 'age'"):
        api.encode(frame.drop("age"), golden("mondrian"))
    with pytest.raises(InputError, match="not plain ones"):
        api.encode(frame.with_columns(age=pl.lit([1, 2])), golden("mondrian"))
    with pytest.raises(InputError, match="1 columns have no role"):
        api.encode(pl.DataFrame({"x": [1], "y": [2]}), numbers_model())
    frame.write_csv(tmp_path / "t.csv")
    with pytest.raises(OutputError, match="also an input"):
        api.encode(tmp_path / "t.csv", golden("mondrian"), out=tmp_path / "t.csv")


def test_a_table_without_records(tmp_path):
    empty = strange_people(20).head(0)
    found = api.encode(empty, golden("mondrian"))
    assert found.table.height == 0
    with pytest.raises(NoSolutionError):
        api.encode(empty, golden("mondrian"), safe=True)


def test_a_batch_where_nothing_is_safe_is_no_release(tmp_path):
    out = tmp_path / "o.csv"
    with pytest.raises(NoSolutionError, match="every record"):
        api.encode(strange_people(2), golden("mondrian"), out=out, safe=True)
    assert not out.exists()


SLOW = """
import sys, time
from shoal import api
from shoal.engines.encoding.batch import Batch
from shoal.engines.local import encode, source
source.KEEP_BYTES, encode.BATCH = 0, 100
wait = Batch.labels
def slowly(self):
    print("going", flush=True)
    time.sleep(0.3)
    return wait(self)
Batch.labels = slowly
api.encode(sys.argv[1], sys.argv[2], out=sys.argv[3])
"""


@pytest.mark.local("a process of its own")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_killed_encode_leaves_no_half_file(tmp_path, how):
    strange_people(5000).write_csv(tmp_path / "t.csv")
    out = tmp_path / "o.csv"
    out.write_text("the old release\n")
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(tmp_path / "t.csv"),
         str(GOLDEN / "mondrian.model.json"), str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={"PYTHONPATH": str(SOURCE), "PATH": ""},
    )  # fmt: skip
    process.stdout.readline()
    time.sleep(0.4)
    process.send_signal(how)
    process.wait(30)
    process.stdout.close()
    assert process.returncode != 0
    assert out.read_text() == "the old release\n"


def test_caller_and_order_are_left_alone():
    frame = strange_people(200)
    before = frame.clone()
    found = api.encode(frame, golden("levels")).table
    assert frame.equals(before)
    assert found["note"].to_list() == frame["note"].to_list()
    shuffled = list(range(200))
    random.Random(1).shuffle(shuffled)
    again = api.encode(frame[shuffled], golden("levels")).table
    texts = pl.all().cast(pl.String)
    assert again.select(texts).equals(found[shuffled].select(texts))


def test_distinct_rows_with_and_without_a_sort(monkeypatch):
    chance = np.random.default_rng(1)
    codes = [chance.integers(0, size, 5000).astype(np.int32) for size in (3, 1, 50, 7, 900)]
    sizes = [3, 1, 50, 7, 900]
    rows = np.stack(codes, axis=1)
    for room in (2, 100, 2**22):
        monkeypatch.setattr(distinct, "_ROOM", room)
        present, local = distinct.distinct_rows(codes, sizes)
        assert (present[local] == rows).all()
        assert len(np.unique(present, axis=0)) == len(present) == len(np.unique(rows, axis=0))


@pytest.mark.local("files of one engine")
def test_a_file_is_read_again_only_where_it_is_judged(monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(
        engine,
        "open_source",
        lambda *given, **words: opened.append(given) or again(*given, **words),
    )
    again = source.open_source
    api.encode(strange_people(300), golden("levels"), out=tmp_path / "o.csv")
    assert not opened
    safe = api.encode(strange_people(300), golden("levels"), out=tmp_path / "s.csv", safe=True)
    assert len(opened) == 1
    assert safe.verification.records == safe.report.released


@pytest.mark.parametrize("name", NAMES)
def test_regions_that_are_known_are_those_of_the_document(name):
    model = golden(name)
    given = SetEncoder(model.to_document(), regions=model.regions)
    found = SetEncoder(model.to_document())
    assert [list(region) for region in given.regions] == [list(region) for region in found.regions]


def test_the_sample_table_has_what_the_tests_need():
    assert table().height == 400


def test_two_strays_among_240_numbers_are_refused_by_every_command(run, tmp_path):
    """As texts, "10" stands before "2", and classes that are far apart look close."""
    numbers = [str(n) for n in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13) for _ in range(20)]
    rows = [("mf"[i % 2], number) for i, number in enumerate(numbers)]
    clean, dirty = tmp_path / "clean.csv", tmp_path / "dirty.csv"
    clean.write_text("q,s\n" + "".join(f"{q},{s}\n" for q, s in rows))
    rows[0], rows[100] = ("m", "unknown"), ("f", "unknown")
    dirty.write_text("q,s\n" + "".join(f"{q},{s}\n" for q, s in rows))
    schema = tmp_path / "schema.yaml"
    schema.write_text(
        "columns:\n  q: quasi\n  s: {role: sensitive, kind: numeric}\n"
        "privacy:\n- {model: k-anonymity, k: 2}\n"
        "- {model: t-closeness, t: 0.2, distance: ordered}\n"
    )
    model, out = tmp_path / "m.json", tmp_path / "o.csv"
    assert run("learn", clean, "--schema", schema, "--model", model, "--quiet").code == 0
    flags = ("--schema", schema)
    for argv in (
        ("anonymize", dirty, *flags, "--out", out),
        ("learn", dirty, *flags, "--model", tmp_path / "n.json"),
        ("verify", dirty, *flags),
        ("encode", model, dirty, "--safe", "--out", out),
    ):
        answer = run(*argv)
        assert answer.code == 2, argv[0]
        assert "column 's': 1 of 13 distinct values are not numbers" in answer.err.replace(
            "\n", " "
        )
        assert "--missing" in answer.err
        assert "unknown" not in answer.out + answer.err
        assert not out.exists()
    assert run("verify", dirty, *flags, "--missing", "unknown").code == 0


def test_a_model_keeps_the_kind_that_learning_found_out(tmp_path):
    """A later batch is judged on the same scale, not guessed anew."""
    frame = pl.DataFrame({"q": ["a"] * 8, "s": ["1", "2", "10", "20"] * 2})
    schema = Schema.from_document({
        "columns": {"q": "quasi", "s": "sensitive"},
        "privacy": [{"model": "k-anonymity", "k": 2},
                    {"model": "t-closeness", "t": 0.5, "distance": "ordered"}],
    })  # fmt: skip
    model = api.learn(frame, schema, method="mondrian")
    assert model.schema.attribute("s").kind == "numeric"
    strays = frame.with_columns(pl.Series("s", ["x", "y"] * 4))
    with pytest.raises(InputError, match="2 of 2 distinct values are not numbers"):
        api.encode(strays, model, safe=True)
    with pytest.raises(InputError, match="2 of 2 distinct values are not numbers"):
        edge.verify(strays.to_dicts(), model)
