from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.core import temporary
from shoal.core.temporary import (
    beside,
    flush,
    flush_folder,
    mode_for,
    one_at_a_time,
    open_private,
    publish,
    publish_folder,
)

SOURCE = Path(__file__).resolve().parents[2] / "src"
DYING = """
import os, sys
from pathlib import Path
from shoal.core.temporary import beside
with beside(Path(sys.argv[1]), ending=sys.argv[2], is_folder=sys.argv[3] == "folder") as place:
    (place / "run" if place.is_dir() else place).write_text("secret")
    os.kill(os.getpid(), 9)
"""


def left_by_a_dead_process(goal: Path, ending: str = "", kind: str = "file") -> Path:
    before = set(goal.parent.iterdir())
    command = [sys.executable, "-c", DYING, str(goal), ending, kind]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(SOURCE)})
    assert done.returncode == -signal.SIGKILL
    (left,) = set(goal.parent.iterdir()) - before
    return left


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    before = os.umask(0o022)
    yield lambda mask: os.umask(mask)
    os.umask(before)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_a_temporary_file_is_its_users_alone_whatever_the_umask(tmp_path, umask, mask) -> None:
    umask(mask)
    with beside(tmp_path / "o.csv", ending=".csv") as file:
        assert mode(file) == 0o600
        assert file.name.endswith(".csv")
        assert file.name.startswith(".o.csv.")
    with beside(tmp_path / "o.csv", is_folder=True) as folder:
        assert mode(folder) == 0o700
        (folder / "run").write_text("x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_dead_process_left_is_removed_by_the_next_one_to_the_same_goal(tmp_path, kind):
    goal = tmp_path / "o.csv"
    left = left_by_a_dead_process(goal, ".csv" if kind == "file" else "", kind)
    assert mode(left) == (0o600 if kind == "file" else 0o700)
    with beside(tmp_path / "other.csv"):
        assert left.exists()
    with beside(goal):
        assert not left.exists()


def test_what_a_living_process_uses_stays(tmp_path: Path) -> None:
    goal = tmp_path / "o.csv"
    with beside(goal) as one, beside(goal, is_folder=True) as two, beside(goal) as three:
        assert one.exists()
        assert two.exists()
        assert three != one


def test_what_was_made_on_another_machine_stays(tmp_path: Path, monkeypatch) -> None:
    goal = tmp_path / "o.csv"
    left = left_by_a_dead_process(goal)
    here = temporary._here()
    monkeypatch.setattr(temporary, "_here", lambda: "0" * 12)
    with beside(goal):
        assert left.exists()
    monkeypatch.setattr(temporary, "_here", lambda: "0" * 6 + here[6:])  # started anew
    with beside(goal):
        assert not left.exists()


def test_only_names_of_our_own_are_swept(tmp_path: Path) -> None:
    goal = tmp_path / "o.csv"
    kept = [tmp_path / name for name in (".o.csv.tmp", ".o.csv.0123.tmp", "o.csv.tmp", ".o.csv")]
    link = tmp_path / f".o.csv.{temporary._here()}01234567.tmp"
    for path in kept:
        path.write_text("mine")
    link.symlink_to(kept[0])
    with beside(goal):
        pass
    assert all(path.exists() for path in (*kept, link))


def test_where_nothing_can_be_locked_nothing_is_swept_and_all_still_works(tmp_path, monkeypatch):
    goal = tmp_path / "o.csv"
    left = left_by_a_dead_process(goal)
    monkeypatch.setattr(temporary, "_fcntl", None)
    with beside(goal) as file:
        file.write_text("new")
        publish(file, goal)
    assert goal.read_text() == "new"
    assert left.exists()


def test_a_file_that_was_swept_before_it_was_locked_is_made_again(tmp_path, monkeypatch) -> None:
    real, calls = temporary._fcntl, []

    class Late:
        LOCK_EX, LOCK_NB = real.LOCK_EX, real.LOCK_NB

        @staticmethod
        def flock(handle: int, how: int) -> None:
            if not calls:
                next(tmp_path.glob(".o.csv.*")).unlink()
            calls.append(handle)
            real.flock(handle, how)

    monkeypatch.setattr(temporary, "_fcntl", Late)
    with beside(tmp_path / "o.csv") as file:
        assert file.exists()
    assert len(calls) == 2


def test_an_output_gets_the_umasks_mode_or_keeps_its_own(tmp_path: Path, umask) -> None:
    goal = tmp_path / "o.csv"
    for mask, expected in ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664)):
        umask(mask)
        assert mode_for(goal) == expected
    goal.write_text("")
    goal.chmod(0o600)
    assert mode_for(goal) == 0o600
    goal.chmod(0o640)
    assert mode_for(goal) == 0o640
    assert mode_for(goal, private=True) == 0o600
    assert os.umask(0o002) == 0o002  # left as it was


def test_a_file_is_published_under_its_goal_with_its_mode(tmp_path: Path, umask) -> None:
    os.umask(0o022)
    goal = tmp_path / "out.csv"
    with beside(goal, ending=".csv") as path:
        path.write_text("new")
        flush(path)
        assert path.parent == goal.parent
        assert path.name.endswith(".csv")
        publish(path, goal)
    flush_folder(tmp_path)
    assert (goal.read_text(), mode(goal)) == ("new", 0o644)
    assert os.listdir(tmp_path) == ["out.csv"]


def test_a_folder_that_cannot_be_flushed_is_no_fault(tmp_path: Path) -> None:
    flush_folder(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        flush(tmp_path / "none")


def test_a_private_file_stays_private_whatever_was_there(tmp_path: Path) -> None:
    goal = tmp_path / "key"
    goal.write_text("old")
    goal.chmod(0o644)
    assert mode_for(goal) == 0o644
    assert mode_for(goal, private=True) == 0o600
    with open(tmp_path / "new", "x", opener=open_private) as file:
        file.write("x")
    assert mode(tmp_path / "new") == 0o600


def test_a_temporary_folder_is_gone_with_everything_in_it(tmp_path: Path) -> None:
    with beside(tmp_path / "out", is_folder=True) as folder:
        (folder / "part").write_text("x")
        assert mode(folder) == 0o700
    assert os.listdir(tmp_path) == []


def filled(folder: Path) -> None:
    (folder / "a.csv").write_text("a")
    (folder / "deep").mkdir()
    (folder / "deep" / "b.csv").write_text("b")


@pytest.mark.parametrize(
    ("mask", "folders", "files"), [(0o022, 0o755, 0o644), (0o077, 0o700, 0o600)]
)
def test_a_folder_is_published_whole_with_the_modes_of_the_umask(
    tmp_path, umask, mask, folders, files
) -> None:
    umask(mask)
    goal = tmp_path / "out"
    with beside(goal, is_folder=True) as folder:
        filled(folder)
        publish_folder(folder, goal)
        assert not folder.exists()
    assert (mode(goal), mode(goal / "deep")) == (folders, folders)
    assert (mode(goal / "a.csv"), mode(goal / "deep" / "b.csv")) == (files, files)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_empty_folder_is_filled_and_another_one_is_not_replaced(tmp_path) -> None:
    goal = tmp_path / "out"
    goal.mkdir()
    with beside(goal, is_folder=True) as folder:
        filled(folder)
        publish_folder(folder, goal)
    assert sorted(path.name for path in goal.iterdir()) == ["a.csv", "deep"]
    with beside(goal, is_folder=True) as folder:
        (folder / "c.csv").write_text("c")
        with pytest.raises(OSError):
            publish_folder(folder, goal)
    assert sorted(path.name for path in goal.iterdir()) == ["a.csv", "deep"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_is_not_published_leaves_nothing(tmp_path) -> None:
    with beside(tmp_path / "out", is_folder=True) as folder:
        filled(folder)
    assert list(tmp_path.iterdir()) == []


def test_one_process_at_a_time_and_a_dead_one_is_not_in_the_way(tmp_path):
    program = (
        "import sys, time\nfrom pathlib import Path\n"
        "from shoal.core.temporary import one_at_a_time\n"
        "with one_at_a_time(Path(sys.argv[1])):\n    print('here', flush=True)\n    time.sleep(60)"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    first = subprocess.Popen(command, env=env, stdout=subprocess.PIPE)
    second = None
    try:
        assert first.stdout.readline() == b"here\n"
        second = subprocess.Popen(command, env=env, stdout=subprocess.PIPE)
        os.set_blocking(second.stdout.fileno(), False)
        assert not second.stdout.read()
        first.kill()
        first.wait()
        os.set_blocking(second.stdout.fileno(), True)
        assert second.stdout.readline() == b"here\n"
    finally:
        for process in (first, second):
            if process is not None:
                process.kill()
                process.wait()
                process.stdout.close()
    with one_at_a_time(tmp_path):
        assert list(tmp_path.iterdir()) == []
