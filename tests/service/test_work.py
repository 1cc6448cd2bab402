from __future__ import annotations

import asyncio

import pytest

from shoal.service.limits import Limits
from shoal.service.refusals import Refusal
from shoal.service.store import Store
from shoal.service.work import Queue
from shoal.web.child import Standing


class Pretended:
    """A child that works until it is told to end."""

    alive = 0

    def __init__(self, folder, *, tasks):
        self.folder = folder
        self.ended = asyncio.Event()

    async def run(self, job):
        Pretended.alive += 1
        (self.folder / "table.csv").write_text("a\n")
        await self.ended.wait()
        if job.is_running:
            job.hear({"result": {"records": 1}})

    async def stop(self):
        if not self.ended.is_set():
            Pretended.alive -= 1
        self.ended.set()


@pytest.fixture
def queue(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.service.work.Child", Pretended)
    Pretended.alive = 0
    now = [0.0]
    limits = Limits(running=2, waiting=1, keep=10, seconds=0.5)
    found = Queue(Store(tmp_path, limits, clock=lambda: now[0]), limits)
    return found, now


async def settled():
    for _ in range(20):
        await asyncio.sleep(0)


def test_so_many_work_so_many_wait_and_more_are_turned_away(queue, tmp_path):
    works, _ = queue

    async def act():
        one, two, three = (works.add("a", "infer", {}) for _ in range(3))
        await settled()
        assert [each.state for each in (one, two, three)] == ["running", "running", "queued"]
        assert Pretended.alive == 2
        with pytest.raises(Refusal) as caught:
            works.add("a", "infer", {})
        assert caught.value.status == 503
        works._busy[one].ended.set()
        await settled()
        assert (one.state, three.state) == ("done", "running")
        assert one.files == ["table.csv"]
        assert works.file("a", one.id, "table.csv").read_text() == "a\n"
        for name in ("../x", "/etc/passwd", "", "nothing"):
            with pytest.raises(Refusal):
                works.file("a", one.id, name)
        await works.stop()

    asyncio.run(act())
    assert list(tmp_path.iterdir()) == []


def test_a_job_that_takes_too_long_is_ended_and_says_so(queue, tmp_path):
    works, _ = queue

    async def act():
        work = works.add("a", "infer", {})
        await asyncio.sleep(0.8)
        assert work.state == "failed"
        assert work.job.kind == "TooLong"
        assert not work.folder.exists()
        assert not works._busy

    asyncio.run(act())


@pytest.mark.parametrize("error", [RuntimeError, OSError, ValueError])
def test_a_job_whose_process_breaks_has_failed_and_the_next_one_begins(queue, monkeypatch, error):
    works, _ = queue

    async def breaks(self, job):
        raise error("the pipe of Beatrix")

    async def act():
        one, two, three = (works.add("a", "infer", {}) for _ in range(3))
        await settled()
        assert {each.state for each in (one, two, three)} == {"failed"}
        assert one.job.kind == "Killed"
        assert "Beatrix" not in str(one.job.error)
        assert not one.folder.exists()
        await works.stop()

    monkeypatch.setattr(Pretended, "run", breaks)
    asyncio.run(act())


def test_what_is_ended_is_forgotten_on_time(queue, tmp_path):
    works, now = queue

    async def act():
        work = works.add("a", "infer", {})
        await settled()
        works._busy[work].ended.set()
        await settled()
        now[0] = 9.9
        await works.sweep()
        assert works.works("a") == [work]
        now[0] = 10.1
        await works.sweep()
        assert works.works("a") == []
        with pytest.raises(Refusal):
            works.work("a", work.id)

    asyncio.run(act())
    assert list(tmp_path.iterdir()) == []


def test_a_job_is_ended_while_it_waits_and_while_it_works(queue, tmp_path):
    works, _ = queue

    async def act():
        one, two, three = (works.add("a", "infer", {}) for _ in range(3))
        await settled()
        await works.remove(three)
        await works.remove(one)
        await settled()
        assert works.works("a") == [two]
        assert one.job.standing is Standing.CANCELLED
        assert list(tmp_path.iterdir()) == [two.folder]
        assert Pretended.alive == 1
        await works.stop()

    asyncio.run(act())
