from __future__ import annotations

import csv
import gzip
import io
import stat
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import shoal
from shoal import api
from shoal.core.errors import OutputError
from shoal.engines.local.recode import Chunk
from shoal.engines.local.write import all_or_nothing, write_chunks, write_text
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("a part of the local engine itself")


def test_the_old_file_stays_when_something_is_raised(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("old")

    def broken() -> None:
        with all_or_nothing(out) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken()
    assert out.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_a_keyboard_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    def broken() -> None:
        with all_or_nothing(tmp_path / "o.csv") as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken()
    assert list(tmp_path.iterdir()) == []


def test_the_new_file_appears_whole(tmp_path: Path) -> None:
    write_text(tmp_path / "o.txt", "new")
    assert (tmp_path / "o.txt").read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 1


def test_an_input_is_never_overwritten_by_any_name(tmp_path: Path) -> None:
    table = tmp_path / "in.csv"
    table.write_text("a\n1\n")
    link = tmp_path / "link.csv"
    link.symlink_to(table)
    for name in (table, link, tmp_path / "." / "in.csv"):
        with pytest.raises(OutputError, match="also an input"):
            write_text(name, "x", inputs=(table,))
    assert table.read_text() == "a\n1\n"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="lies in a folder that is not there; make it"):
        write_text(tmp_path / "none" / "o.txt", "x")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written: not a directory"):
        write_text(tmp_path / "file" / "o.txt", "x")
    with pytest.raises(OutputError, match="is a folder"):
        write_text(tmp_path, "x")


def test_a_full_disk_is_an_error_and_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "o.txt"
    out.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OutputError, match="no space left"):
        write_text(out, "new")
    assert out.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".jsonl", ".parquet", ".arrow"])
def test_every_format_is_private_until_it_is_published(tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"o{ending}"
    frame = pl.DataFrame({"a": ["x", "y"]})
    with all_or_nothing(out) as temporary:
        write_chunks(iter([Chunk(frame, None), Chunk(frame, None)]), temporary)
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
    probe = tmp_path / "probe"
    probe.touch()
    assert out.stat().st_mode == probe.stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_an_existing_output_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    out = tmp_path / "o.txt"
    out.write_text("old")
    out.chmod(mode)
    write_text(out, "new")
    assert out.read_text() == "new"
    assert stat.S_IMODE(out.stat().st_mode) == mode


def test_a_private_output_is_0600_even_where_one_was_open(tmp_path: Path) -> None:
    out = tmp_path / "o.txt"
    out.write_text("old")
    out.chmod(0o644)
    with all_or_nothing(out, private=True) as temporary:
        temporary.write_text("new")
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


ONE = Schema.from_document({"columns": {"zip": "quasi"}})
CELLS = ["10115", "", "10115", "", "", "10117", "10117", "10117", "", ""]


def one_column(folder: Path) -> Path:
    (folder / "in.csv").write_text("zip\n" + "".join(f'"{cell}"\n' for cell in CELLS))
    return folder / "in.csv"


def assert_all_readers_see(path: Path, records: int, missing: int) -> None:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    assert len(pd.read_csv(io.StringIO(text))) == records
    assert pl.read_csv(text.encode(), infer_schema=False).height == records
    rows = list(csv.reader(io.StringIO(text)))[1:]
    assert len(rows) == records
    assert [] not in rows
    assert rows.count([""]) == missing
    found = api.verify(path, ONE, privacy=[shoal.KAnonymity(2)])
    assert found.records == records
    assert found.holds


@pytest.mark.parametrize("way", ["memory", "passes", "in order", "repeated", "gz", "xk", "parquet"])
def test_a_missing_value_of_a_one_column_release_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    table, times = one_column(tmp_path), 1
    out = tmp_path / ("o.csv.gz" if way == "gz" else "o.csv")
    if way == "passes":
        monkeypatch.setattr("shoal.engines.local.source.KEEP_BYTES", 0)
        monkeypatch.setattr("shoal.engines.local.recode.BATCH", 4)
    if way == "repeated":
        times = 50
        table.write_text("zip\n" + "".join(f'"{cell}"\n' for cell in CELLS * times))
    if way == "parquet":
        table = tmp_path / "in.parquet"
        pl.DataFrame({"zip": [cell or None for cell in CELLS]}).write_parquet(table)
    if way == "xk":
        api.release_xk(table, ONE, k=2, out=out, xk=2)
    else:
        options = {"method": "mondrian", "keep_order": way == "in order"}
        api.anonymize(table, ONE, privacy=[shoal.KAnonymity(2)], out=out, **options)
    assert_all_readers_see(out, 10 * times, 5 * times)


@pytest.mark.parametrize("way", ["encode", "safe", "lines"])
def test_a_missing_value_of_an_encoded_column_is_quoted(tmp_path: Path, way: str) -> None:
    table, out = one_column(tmp_path), tmp_path / "o.csv"
    model = api.learn(table, ONE, privacy=[shoal.KAnonymity(2)])
    if way == "lines":
        (tmp_path / "m.json").write_text(model.to_json())
        with table.open("rb") as source, out.open("wb") as goal:
            api.encode_stream(tmp_path / "m.json", source, goal)
    else:
        api.encode(table, model, out=out, safe=way == "safe")
    assert_all_readers_see(out, 10, 5)
