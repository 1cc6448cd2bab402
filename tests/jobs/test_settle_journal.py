"""A collector that is killed anywhere leaves batch and waiting file as before, or both as after."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.jobs.test_settle import MODEL, asked, notes, sent

from shoal.core.errors import InputError, OutputError
from shoal.jobs import settle as job
from shoal.jobs import settle_journal as module
from shoal.jobs.settle_journal import Journal, digest_of


class Killed(BaseException):
    """The process ends here, whatever is caught on the way."""


STEPS = ["_write", "flush", "flush_folder", "publish", "replace"]


def killed_at(monkeypatch, number, *, after):
    """Kill at a step of those that change the disk, before or after it was done; count them."""
    seen = [0]

    def either(call):
        def step(*words, **named):
            seen[0] += 1
            is_here = seen[0] == number
            if is_here and not after:
                raise Killed
            found = call(*words, **named)
            if is_here and after:
                raise Killed
            return found

        return step

    for name in STEPS:
        owner = module.os if name == "replace" else module
        monkeypatch.setattr(owner, name, either(getattr(owner, name)))
    return seen


def left_over(folder):
    return [place.name for place in folder.iterdir() if place.name.endswith(".settling")]


@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_step_leaves_the_old_state_or_the_new_one(tmp_path, after):
    for number in range(1, 40):
        folder = tmp_path / str(number)
        folder.mkdir()
        waiting = folder / "waiting.jsonl"
        sent(folder / "first.jsonl", 0, 30)
        settle = job.settle_files
        settle(asked(folder, "first.jsonl", waiting=waiting, out=folder / "first-batch.jsonl"))
        released, held = notes(folder / "first-batch.jsonl"), notes(waiting)
        sent(folder / "sent.jsonl", 30, 120)
        second = asked(folder, waiting=waiting)
        with pytest.MonkeyPatch.context() as patch:
            seen = killed_at(patch, number, after=after)
            try:
                settle(second)
            except Killed:
                pass
            else:
                assert seen[0] < number  # there are no more steps
                break
        Journal(waiting).recover(folder / "batch.jsonl")
        assert left_over(folder) == []
        if (folder / "batch.jsonl").exists():  # the new state
            assert sorted([*notes(folder / "batch.jsonl"), *notes(waiting)]) == sorted(
                [*held, *range(30, 120)]
            )
        else:
            assert notes(waiting) == held
        found = settle(second)
        everything = released + notes(folder / "batch.jsonl") + notes(waiting)
        assert sorted(everything) == list(range(120))
        assert found["records"] == len(held) + 90
        assert found["waiting"] == len(notes(waiting))
    else:
        pytest.fail("the run never ends")
    assert number > 6


def test_a_process_that_is_killed_for_good_loses_and_doubles_nothing(tmp_path):
    """As above with a real process and a real signal, at one place between the two files."""
    (tmp_path / "m.json").write_text(MODEL.to_json(), encoding="utf-8")
    sent(tmp_path / "sent.jsonl", 0, 90)
    program = f"""
import os, signal
from pathlib import Path
from shoal.jobs import settle_journal
from shoal.jobs.settle import SettleRequest, settle_files
publish = settle_journal.publish
def once(*words, **named):
    publish(*words, **named)
    os.kill(os.getpid(), signal.SIGKILL)
settle_journal.publish = once
folder = Path({str(tmp_path)!r})
settle_files(SettleRequest(model=folder / "m.json", encoded=[folder / "sent.jsonl"],
                           out=folder / "batch.jsonl", waiting=folder / "waiting.jsonl"))
"""
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "batch.jsonl").exists() != (tmp_path / "waiting.jsonl").exists()
    found = job.settle_files(
        asked(tmp_path, model=tmp_path / "m.json", waiting=tmp_path / "waiting.jsonl")
    )
    assert found["settled_before"] is True
    assert sorted(notes(tmp_path / "batch.jsonl") + notes(tmp_path / "waiting.jsonl")) == list(
        range(90)
    )


def test_a_batch_that_somebody_took_away_is_not_written_again(tmp_path):
    waiting = tmp_path / "waiting.jsonl"
    sent(tmp_path / "sent.jsonl", 0, 90)
    first = job.settle_files(asked(tmp_path, waiting=waiting))
    os.replace(tmp_path / "batch.jsonl", tmp_path / "taken.jsonl")
    held = waiting.read_bytes()
    again = job.settle_files(asked(tmp_path, waiting=waiting))
    assert again == {**first, "settled_before": True}
    assert not (tmp_path / "batch.jsonl").exists()
    assert waiting.read_bytes() == held


def test_a_disk_that_is_full_changes_nothing(tmp_path, monkeypatch):
    waiting = tmp_path / "waiting.jsonl"
    sent(tmp_path / "sent.jsonl", 0, 90)

    def full(place):
        raise OSError(28, "No space left on device")

    for at in (1, 2, 3):
        calls = []
        with monkeypatch.context() as patch:
            flush = module.flush
            patch.setattr(
                module,
                "flush",
                lambda p, calls=calls, at=at, flush=flush: (
                    full(p) if len(calls) == at - 1 else (calls.append(p), flush(p))
                ),
            )
            with pytest.raises(OutputError, match="cannot be written"):
                job.settle_files(asked(tmp_path, waiting=waiting))
        assert sorted(place.name for place in tmp_path.iterdir()) == ["sent.jsonl"]
    assert job.settle_files(asked(tmp_path, waiting=waiting))["records"] == 90


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "{}", '{"token": "1"}', "\x00"])
def test_a_journal_that_cannot_be_read_stops_everything(tmp_path, text):
    waiting = tmp_path / "waiting.jsonl"
    sent(tmp_path / "sent.jsonl", 0, 20)
    Journal(waiting).place.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="what was settled last"):
        job.settle_files(asked(tmp_path, waiting=waiting))
    assert not (tmp_path / "batch.jsonl").exists()


def test_strange_names_and_neighbours_are_left_alone(tmp_path):
    waiting = tmp_path / "w[a]*.jsonl"
    sent(tmp_path / "sent.jsonl", 0, 60)
    beside = tmp_path / ".batch.jsonl.0123456789ab-77.settling"  # another collector's
    beside.write_text("mine", encoding="utf-8")
    lost = tmp_path / f".{waiting.name}.{Journal(waiting)._mark}-dead.settling"
    lost.write_text("undecided", encoding="utf-8")
    job.settle_files(asked(tmp_path, waiting=waiting))
    assert beside.read_text(encoding="utf-8") == "mine"
    assert not lost.exists()
    assert Journal(waiting).place.stat().st_mode & 0o077 == 0
    about = json.loads(Journal(waiting).place.read_text(encoding="utf-8"))
    assert set(about) == {"token", "inputs", "out", "counts"}
    for value in ("nurse", "Malmö"):  # no value of a record is in it
        assert value not in json.dumps(about, ensure_ascii=False)


def test_files_are_told_apart_by_content_name_and_time(tmp_path):
    places = [sent(tmp_path / f"{i}.jsonl", 0, 5) for i in range(2)]
    for place in places:
        os.utime(place, (9, 9))
    known = digest_of(places, "model")
    assert digest_of(places[::-1], "model") == known
    others = [digest_of(places, "other"), digest_of(places[:1], "model")]
    os.utime(places[0], (10, 10))
    others.append(digest_of(places, "model"))
    sent(places[0], 1, 6)
    os.utime(places[0], (9, 9))
    others.append(digest_of(places, "model"))
    assert len({known, *others}) == 5


def test_chance_days_with_chance_kills(tmp_path):
    chance = random.Random(8)
    waiting, first, released = tmp_path / "waiting.jsonl", 0, []
    for day in range(12):
        many = chance.randrange(5, 30)
        sent(tmp_path / f"sent{day}.jsonl", first, first + many)
        first += many
        about = asked(tmp_path, f"sent{day}.jsonl", waiting=waiting, out=tmp_path / f"{day}.jsonl")
        for _ in range(3):
            with pytest.MonkeyPatch.context() as patch:
                killed_at(patch, chance.randrange(1, 14), after=chance.random() < 0.5)
                try:
                    job.settle_files(about)
                except Killed:
                    continue
        job.settle_files(about)
        released += notes(Path(about.out))
        assert sorted(released + notes(waiting)) == list(range(first))
