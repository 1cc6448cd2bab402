"""Progress on standard error."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from shoal.cli import progress
from shoal.cli.progress import WORDS, Stages, duration
from shoal.core.watch import Tasks, tell, watched_by, watcher

ROOT = Path(__file__).resolve().parents[2]


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Hands:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def hands():
    return Hands()


@pytest.fixture
def stages(hands):
    return Stages(quiet=False, clock=hands)


def test_without_a_terminal_only_compiling_is_said_and_only_once(capsys):
    with progress.shown(["anonymize", "t.csv"]):
        for stage in ("read", "compile", "compile", "learn", "measure"):
            tell(stage)
        watcher().advance(5, 10)
        watcher()._show()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "shoal: compiling the kernels (once; the next run starts at once)\n"


@pytest.mark.parametrize("words", [["learn", "--quiet"], ["learn", "--json"], ["demo"], ["warm"]])
def test_where_nobody_waits_for_words_there_are_none(capsys, monkeypatch, words):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.shown(words):
        tell("compile")
        watcher()._show()
        assert not watcher()._timer.is_alive()
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("stage", [*WORDS, "something else"])
def test_a_stage_of_which_nothing_is_known_has_a_name_and_no_time(stages, stage):
    stages(stage)
    assert stages.line() == WORDS.get(stage, stage)
    assert stages.part() is None
    assert stages.left() is None


def test_records_and_the_time_that_is_left(stages, hands):
    stages("encode")
    hands.now += 30
    stages.advance(1_000_000, 4_000_000)
    assert stages.part() == 0.25
    assert stages.line() == "recoding · 1,000,000 of 4,000,000 records · 1 min 30 s left"
    stages.advance(4_000_000, 4_000_000)
    assert stages.line() == "recoding · 4,000,000 of 4,000,000 records"


def test_of_a_file_whose_records_are_not_counted_yet_the_bytes_tell_the_time(stages, hands):
    stages("read")
    hands.now += 2
    stages.advance(500_000, share=0.5)
    assert stages.line() == "reading · 500,000 records · 2 s left"
    stages.advance(None, share=0.5)
    assert stages.line() == "reading · 2 s left"


def test_no_time_is_told_before_it_can_be_known(stages, hands):
    stages("encode")
    hands.now += 0.5
    stages.advance(50, 100)
    assert stages.left() is None  # too early
    hands.now += 60
    stages.advance(1, 100)
    assert stages.left() is None  # too little, and another pass: fewer than before
    stages.advance(70, None)
    assert stages.line() == "recoding · 70 records"


def test_another_pass_over_the_records_has_a_time_of_its_own(stages, hands):
    stages("encode")
    hands.now += 100
    stages.advance(90, 100)
    stages.advance(10, 100)
    hands.now += 10
    stages.advance(50, 100)
    assert stages.left() == pytest.approx(10)


def test_a_search_with_a_limit_shows_it(stages, hands):
    stages("learn")
    stages.limit(30)
    hands.now += 12
    assert stages.line() == "searching · at most 18 s left"
    assert stages.part() == pytest.approx(0.4)
    hands.now += 60
    assert (stages.part(), stages.left()) == (1.0, 0.0)
    stages("encode")
    assert stages.left() is None


def test_tasks_of_a_cluster_are_asked_for_and_may_be_unknown(stages):
    stages("learn")
    stages.ask(lambda: Tasks(3, 16))
    assert stages.line() == "searching · 3 of 16 tasks"
    stages.ask(lambda: None)
    assert stages.line() == "searching"

    def gone():
        raise ConnectionError

    stages.ask(gone)
    assert stages.line() == "searching"


@given(
    steps=st.lists(
        st.tuples(st.integers(0, 10**9), st.integers(0, 10**9), st.floats(0, 100)), max_size=8
    )
)
def test_whatever_is_told_the_time_is_none_or_not_negative(steps):
    clock = Hands()
    stages = Stages(quiet=False, clock=clock)
    for done, of, seconds in steps:
        clock.now += seconds
        stages.advance(min(done, of), of)
        left, part = stages.left(), stages.part()
        assert left is None or left >= 0
        assert part is None or 0 <= part <= 1
        assert "\n" not in stages.line()


def test_the_bar_draws_what_is_known(stages, hands):
    stream = Terminal()
    bar = progress._bar(stages, stream)
    stages("encode")
    hands.now += 10
    stages.advance(10, 40)
    page = io.StringIO()
    console = Console(file=page, width=100, force_terminal=False)
    console.print(bar.get_renderable())
    stages("learn")
    console.print(bar.get_renderable())
    assert "recoding · 10 of 40 records · 30 s left" in page.getvalue()
    assert page.getvalue().rstrip().endswith("searching")


def test_the_bar_goes_away_when_the_work_fails(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    seen = []

    def fail():
        with progress.shown(["anonymize"]):
            seen.append(watcher())
            watcher()._show()
            assert watcher()._bar.live.is_started
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert seen[0]._bar is None
    assert seen[0]._timer.finished.is_set()


def test_the_bar_goes_away_before_an_answer_and_does_not_come_back(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress.shown(["anonymize"]):
        watcher()._show()
        progress.clear()
        assert watcher()._bar is None
        watcher()._show()
        assert watcher()._bar is None
    progress.clear()  # nobody watches


def test_clearing_leaves_watchers_of_others_alone():
    class Other:
        pass

    with watched_by(Other()):
        progress.clear()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "1 s"), (59.4, "59 s"), (60, "1 min 0 s"), (3599, "59 min 59 s"), (3600, "1 h 0 min")],
)
def test_durations(seconds, words):
    assert duration(seconds) == words


CODE = """
import sys, time
from shoal.cli import main as cli
from shoal.core.watch import tell, watcher
import shoal.jobs.verify as job

def slow(request):
    tell("judge")
    for i in range(1, 9):
        time.sleep(0.3)
        watcher().advance(i * 100, 800)
    raise MemoryError

job.verify = slow
sys.exit(cli.main(["verify", "secret.csv", "--qi", "a", "-k", "2"]))
"""


def test_a_real_terminal_shows_it_after_a_second_and_a_pipe_never(tmp_path):
    (tmp_path / "secret.csv").write_text("a\nvalue\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "xterm", "COLUMNS": "100"}
    command = [sys.executable, "-c", CODE]
    mine, theirs = pty.openpty()
    with subprocess.Popen(command, stderr=theirs, cwd=tmp_path, env=environment) as process:
        os.close(theirs)
        text = b""
        try:
            while chunk := os.read(mine, 65536):
                text += chunk
        except OSError:  # the terminal is gone: the process has ended
            pass
    os.close(mine)
    seen = text.decode()
    found = re.findall(r"judging the table · (\d+) of 800 records · (\d+) s left", seen)
    assert found
    assert [int(done) for done, _ in found] == sorted(int(done) for done, _ in found)
    assert "secret" not in seen
    assert "value" not in seen
    assert process.returncode == 2
    piped = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert piped.stdout == ""
    assert piped.stderr.startswith("shoal: not enough memory")
    assert piped.stderr.count("\n") == 1
