"""Long work in a second thread: its result, its errors, and signals meanwhile."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextvars import ContextVar

import pytest
from tests.conftest import start

from shoal.core.interruptible import heard_again, interruptible, leave

WORD: ContextVar[str] = ContextVar("WORD", default="none")


def test_the_result_the_error_and_the_context_are_those_of_the_work():
    WORD.set("mine")
    assert interruptible(WORD.get) == "mine"
    assert interruptible(threading.current_thread) is not threading.main_thread()
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0)


def test_outside_of_the_main_thread_the_work_is_just_done():
    found = []
    thread = threading.Thread(target=lambda: found.append(interruptible(threading.current_thread)))
    thread.start()
    thread.join()
    assert found == [thread]


@pytest.mark.skipif(os.name == "nt", reason="sends itself a signal")
def test_what_a_handler_raises_is_raised_at_once():
    def handler(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        timer.start()
        began = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            interruptible(lambda: time.sleep(5))
        assert time.perf_counter() - began < 3
    finally:
        signal.signal(signal.SIGUSR1, before)


def used(process):
    """Return the CPU seconds of a process so far."""
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.sampled
@pytest.mark.local("a process of its own")
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT])
def test_s_mdav_on_100000_rows_ends_within_a_second_of_sigterm(tmp_path, name):
    chance = random.Random(1)
    folder = tmp_path / "out"
    folder.mkdir()
    for records in (50, 100_000):
        table = tmp_path / f"{records}.csv"
        rows = (f"{chance.randrange(10**6)},{chance.randrange(10**6)}" for _ in range(records))
        table.write_text("a,b\n" + "\n".join(rows) + "\n")
        process = start("anonymize", table, "--qi", "a,b", "--numeric", "a,b", "-k", 3, "--method",
                        "s-mdav", "--no-attacks", "--out", folder / "o.csv")  # fmt: skip
        if records == 50:  # compiled
            assert process.wait(300) == 0, process.stderr.read()
            (folder / "o.csv").unlink()
    until = time.monotonic() + 120
    while used(process) < 5 and time.monotonic() < until and process.poll() is None:
        time.sleep(0.05)
    assert process.poll() is None, process.stderr.read()
    began = time.perf_counter()
    process.send_signal(name)
    _, complaint = process.communicate(timeout=60)
    assert time.perf_counter() - began < 1.5
    assert process.returncode == 130
    assert complaint == "shoal: interrupted; every output is as it was, or whole\n"
    assert list(folder.iterdir()) == []


def test_a_process_ends_in_the_usual_way_where_nothing_goes_on(monkeypatch):
    done = threading.Thread(target=int)
    done.start()
    done.join()
    monkeypatch.setattr("shoal.core.interruptible._abandoned", [done])
    assert [leave(code) for code in (0, 3)] == [0, 3]


@pytest.mark.local("a process of its own")
@pytest.mark.skipif(os.name == "nt", reason="sends itself a signal")
def test_a_process_that_leaves_work_behind_ends_at_once_with_its_code():
    code = """
import os, signal, sys, threading, time
from shoal.core.interruptible import heard_again, interruptible, leave
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    interruptible(lambda: time.sleep(30))
except KeyboardInterrupt:
    print("removed")
sys.exit(leave(5))
"""
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (5, "removed\n")
    assert time.perf_counter() - began < 20


@pytest.mark.skipif(os.name == "nt", reason="sends itself a signal")
def test_an_interrupt_that_a_callback_swallowed_is_raised_again(capfd):
    @ctypes.CFUNCTYPE(None)
    def callback():
        signal.raise_signal(signal.SIGINT)
        for _ in range(1000):  # the handler runs in here
            pass

    def called_and_slept():
        with heard_again():
            callback()
            time.sleep(30)

    before, began = sys.unraisablehook, time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        called_and_slept()
    assert time.monotonic() - began < 20  # not when the sleep is over
    assert sys.unraisablehook is before
    assert capfd.readouterr().err == ""


def test_other_errors_that_cannot_leave_are_shown_as_ever(monkeypatch):
    shown = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: shown.append(unraisable.exc_type))
    with heard_again():
        ctypes.CFUNCTYPE(None)(lambda: 1 / 0)()
    assert shown == [ZeroDivisionError]
