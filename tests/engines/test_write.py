from __future__ import annotations

import stat
from pathlib import Path

import polars as pl
import pytest

from shoal.core.errors import OutputError
from shoal.engines.local.recode import Part
from shoal.engines.local.write import all_or_nothing, write_parts, write_text

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
    with pytest.raises(OutputError, match="cannot be written: no such file"):
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
        write_parts(iter([Part(frame, None), Part(frame, None)]), temporary)
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
