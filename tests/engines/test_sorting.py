from __future__ import annotations

import errno
import os
import random
import stat
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.core.errors import OutputError
from shoal.engines.local import sorting
from shoal.engines.local.sorting import sort_records

pytestmark = pytest.mark.local("a part of the local engine itself")

POOLS = {
    "text": ["", None, "a", "a\x00b", "ab", "Ä", "z\U0001f600", "\ufffd", "b" * 50],
    "number": [None, 2, 10, -1],
    "real": [None, 0.0, -0.0, 1.5, float("nan")],
    "day": [None, date(2020, 1, 2), date(1999, 12, 31)],
    "coded": ["x", "y", None],
}


def table(records: int, columns: list[str], seed: int) -> tuple[pl.DataFrame, np.ndarray]:
    rng = random.Random(seed)
    types = {"text": pl.String, "number": pl.Int64, "real": pl.Float64, "day": pl.Date,
             "coded": pl.Categorical}  # fmt: skip
    frame = pl.DataFrame(
        [pl.Series(c, rng.choices(POOLS[c], k=records), dtype=types[c]) for c in columns]
    )
    return frame, np.array([rng.randrange(5) for _ in range(records)], dtype=np.int64)


def batches(frame: pl.DataFrame, rank: np.ndarray, size: int) -> Iterator:
    for start in range(0, len(rank), size):
        yield frame.slice(start, size), rank[start : start + size]


def naive(frame: pl.DataFrame, rank: np.ndarray) -> list[tuple]:
    texts = frame.with_columns(pl.all().cast(pl.String)).rows() if frame.width else [()] * len(rank)
    rows = zip(rank.tolist(), texts, strict=True)
    return sorted(rows, key=lambda row: (row[0], [(t is not None, t or "") for t in row[1]]))


def sorted_rows(parts: Iterator[sorting.Sorted]) -> list[tuple]:
    rows = []
    for part in parts:
        texts = part.frame.with_columns(pl.all().cast(pl.String))
        for at, (rank, count) in enumerate(zip(part.rank, part.counts, strict=True)):
            rows += [(int(rank), texts.row(at) if texts.width else ())] * int(count)
    return rows


@pytest.mark.sampled
@pytest.mark.parametrize("columns", [[], ["text"], ["coded", "text"], ["number", "text"],
                                     ["real", "day"], list(POOLS)])  # fmt: skip
@pytest.mark.parametrize("run_bytes", [64, 2000, 10**6])
def test_any_number_of_runs_is_the_naive_order(tmp_path, monkeypatch, columns, run_bytes) -> None:
    monkeypatch.setattr(sorting, "RUN_BYTES", run_bytes)
    monkeypatch.setattr(sorting, "MOST_RUNS", 3)
    monkeypatch.setattr(sorting, "BLOCKS", 4)
    for seed in range(3):
        frame, rank = table(300, columns, seed)
        found = sort_records(batches(frame, rank, 40), columns, near=tmp_path / "o.csv")
        assert sorted_rows(found) == naive(frame, rank)
    assert list(tmp_path.iterdir()) == []


def test_few_different_records_never_touch_the_disk(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sorting, "RUN_BYTES", 4000)
    monkeypatch.setattr(sorting, "beside", None)
    frame, rank = table(20_000, ["coded"], 1)
    found = list(sort_records(batches(frame, rank, 500), ["coded"], near=tmp_path / "o.csv"))
    assert sum(len(part.rank) for part in found) == 15
    assert sum(int(part.counts.sum()) for part in found) == 20_000


def test_runs_are_private_and_gone_whatever_happens(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sorting, "RUN_BYTES", 500)
    frame, rank = table(400, ["text"], 1)

    def breaks() -> Iterator:
        yield from batches(frame, rank, 50)
        (folder,) = tmp_path.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert list(folder.iterdir())
        raise RuntimeError

    with pytest.raises(RuntimeError):
        list(sort_records(breaks(), ["text"], near=tmp_path / "o.csv"))
    assert list(tmp_path.iterdir()) == []
    parts = sort_records(batches(frame, rank, 50), ["text"], near=tmp_path / "o.csv")
    next(parts)
    assert list(tmp_path.iterdir())
    parts.close()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sorting, "RUN_BYTES", 500)
    frame, rank = table(400, ["text"], 1)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(sorting._Runs, "write", full)
    with pytest.raises(OutputError, match="runs to sort cannot be written: no space left"):
        list(sort_records(batches(frame, rank, 50), ["text"], near=tmp_path / "o.csv"))
    assert list(tmp_path.iterdir()) == []
