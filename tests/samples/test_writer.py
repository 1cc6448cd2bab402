"""Samples on disk: all files or none, whatever goes wrong."""

import errno
import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import yaml
from tests.samples.stays import read

import shoal.samples
from shoal.core.errors import MethodError, OutputError, ShoalError
from shoal.samples import writer

SOURCE = str(Path(shoal.samples.__file__).parents[2])
TEXT = dict.fromkeys(("patient_id", "name", "sex", "zip", "diagnosis", "department"), pl.String)


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


def test_an_ending_chooses_the_names_of_all_files():
    files = writer.place("a/ward.csv.gz", ["sex", "zip"])
    assert [path.as_posix() for path in files.all()] == [
        "a/ward_hierarchies/hierarchy_sex.csv",
        "a/ward_hierarchies/hierarchy_zip.csv",
        "a/ward.schema.yaml",
        "a/ward.csv.gz",
    ]


@pytest.mark.parametrize("records", [0, 1, writer.CHUNK, writer.CHUNK + 1])
def test_chunks_add_up_to_the_table(records):
    sizes = list(writer.chunk_sizes(records))
    assert sum(sizes) == records
    assert all(0 < size <= writer.CHUNK for size in sizes)


@pytest.mark.parametrize("text", ["a/b.csv", "ä: #1", "", "{a}", '"', "a\nb", "1", "-"])
def test_a_text_in_a_schema_reads_back(text):
    assert yaml.safe_load(f"key: {writer.yaml_text(text)}") == {"key": text}
