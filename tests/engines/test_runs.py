from __future__ import annotations

from pathlib import Path

import pytest

from shoal.core.errors import InputError
from shoal.engines.local.runs import WEIGHT, open_release

pytestmark = pytest.mark.local("a part of the local engine itself")


def test_runs_reach_over_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "x,1\n" * 500 + "y,\n" * 300 + "x,1\n" * 200)
    for size in (7, 64, 10**6):
        monkeypatch.setattr("shoal.engines.local.runs.CHUNK", size)
        source = open_release(tmp_path / "t.csv", separator=None)
        assert source is not None
        rows = source.collect(source.scan(["a", "b"])).rows()
        assert rows == [("x", "1", 500), ("y", None, 300), ("x", "1", 200)]
        assert source.weight == WEIGHT


def test_files_without_runs_or_with_records_over_lines_are_left_to_polars(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n" + "".join(f"{i}\n" for i in range(3000)))
    assert open_release(tmp_path / "t.csv", separator=None) is None
    (tmp_path / "q.csv").write_text('a\n"x\nx"\n')
    assert open_release(tmp_path / "q.csv", separator=None) is None
    assert open_release(tmp_path / "t.parquet", separator=None) is None


def test_a_ragged_line_is_still_found(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "x,1\n" * 2000 + "y\n")
    with pytest.raises(InputError, match="fewer fields"):
        open_release(tmp_path / "t.csv", separator=None)
