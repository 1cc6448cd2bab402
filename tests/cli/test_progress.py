"""Progress on standard error."""

from __future__ import annotations

import io
import sys

import pytest

from shoal.cli import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_without_a_terminal_only_compiling_is_said_and_only_once(capsys):
    with progress.stages(quiet=False) as shown:
        for stage in ("read", "compile", "compile", "learn", "measure"):
            shown(stage)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "shoal: compiling the kernels (once; the next run starts at once)\n"


def test_quiet_says_nothing(capsys):
    with progress.stages(quiet=True) as shown:
        shown("compile")
        shown._show()
    assert capsys.readouterr() == ("", "")
    assert not shown._timer.is_alive()


@pytest.mark.parametrize("stage", [*progress.STAGES, "something else"])
def test_a_terminal_shows_a_bar_after_the_first_second(monkeypatch, stage):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress.stages(quiet=False) as shown:
        assert shown._bar is None
        shown._show()  # what the timer does
        shown(stage)
        (task,) = shown._bar.tasks
        assert task.description == progress._WORDS.get(stage, stage)
        assert task.completed == (progress.STAGES.index(stage) if stage in progress.STAGES else 0)
        assert task.total == len(progress.STAGES)


def test_the_bar_goes_away_when_the_work_fails(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    seen = []

    def fail():
        with progress.stages(quiet=False) as shown:
            shown._show()
            seen.append(shown)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not seen[0]._bar.live.is_started
    assert seen[0]._timer.finished.is_set()


def test_every_stage_has_words():
    assert set(progress._WORDS) == set(progress.STAGES)
