"""The clock of a job: stages in their order, times that add up."""

from __future__ import annotations

import pytest
from tests.core.test_watch import Heard

from shoal.core.watch import watched_by
from shoal.jobs import clock as module
from shoal.jobs.clock import Clock, rounded


@pytest.fixture
def ticks(monkeypatch):
    """Let every question for the time take a second, and half of one of the processor."""

    class Ticking:
        wall = cpu = 0.0

        def perf_counter(self):
            self.wall += 1.0
            return self.wall

        def process_time(self):
            self.cpu += 0.5
            return self.cpu

    monkeypatch.setattr(module, "time", Ticking())


def test_stages_are_told_as_they_begin_and_their_times_add_up(ticks):
    told = []
    clock = Clock(told.append, started=0.0)
    with clock.time("read"):
        assert told == ["read"]
    with clock.time("learn"):
        pass
    with clock.time("read"):
        pass
    assert told == ["read", "learn", "read"]
    assert clock.seconds == {"read": 2.0, "learn": 1.0}
    assert clock.cpu == {"read": 1.0, "learn": 0.5}
    assert clock.spent() == {"read": 2.0, "learn": 1.0, "total": 7.0}


def test_a_stage_that_is_not_told_is_timed_all_the_same(ticks):
    told = []
    clock = Clock(told.append, started=0.0)
    with clock.time("compile", is_told=False):
        pass
    assert told == []
    assert clock.seconds == {"compile": 1.0}


def test_a_stage_may_begin_before_there_is_anything_to_time():
    clock = Clock()
    clock.stage("write")
    clock.stage("write")
    assert clock.seconds == clock.cpu == {"write": 0.0}


def test_work_that_fails_is_not_taken_for_done():
    clock = Clock()
    with pytest.raises(ValueError, match="broken"), clock.time("verify"):
        raise ValueError("broken")
    assert clock.seconds == {"verify": 0.0}


def test_times_are_written_to_the_microsecond():
    assert rounded({"read": 0.123456789}) == {"read": 0.123457}
    clock = Clock(seconds={"read": 1 / 3})
    assert clock.spent()["read"] == 0.333333


def test_without_a_callable_whoever_watches_is_told():
    heard = Heard()
    with watched_by(heard):
        Clock().stage("read")
    assert heard.stages == ["read"]
