from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest

from shoal.core.errors import InputError
from shoal.core.watch import tell, watcher
from shoal.web import worker
from shoal.web.tasks import NAMES, infer


def answered(monkeypatch, run, **task):
    monkeypatch.setattr(infer, "run", run)
    return worker._answer({"task": "infer", "asked": {}, **task})


def lines_of(capsys) -> list[dict]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_refusal_says_why(monkeypatch):
    def run(asked, tell):
        raise InputError(where="a.csv", problem="no such file")

    found = answered(monkeypatch, run)
    assert found == {"error": {"kind": "InputError", "problem": "a.csv: no such file"}}


def test_the_text_of_a_bug_does_not_go_over_the_pipe(monkeypatch):
    def run(asked, tell):
        raise ValueError("could not convert 'Alice' to float")

    found = json.dumps(answered(monkeypatch, run))
    assert "ValueError" in found
    assert "Alice" not in found


def test_memory_that_ran_out_is_said(monkeypatch):
    def run(asked, tell):
        raise MemoryError

    assert answered(monkeypatch, run)["error"]["kind"] == "MemoryError"


@pytest.mark.parametrize("task", [{"task": "os"}, {"task": "../x"}, {"asked": [1]}, {"task": None}])
def test_only_tasks_that_there_are_are_done(monkeypatch, task):
    found = answered(monkeypatch, lambda asked, tell: {}, **task)
    assert found["error"]["kind"] == "Bug"


def test_how_far_a_task_is_goes_over_the_pipe_as_counts(monkeypatch, capsys):
    def run(asked, say):
        tell("read")
        watcher().advance(5, 10)
        watcher().advance(6, 10)  # too soon after the other
        watcher().limit(3.0)
        watcher().ask(lambda: None)
        say({"run": 1})
        return {"done": True}

    assert answered(monkeypatch, run) == {"result": {"done": True}}
    assert lines_of(capsys) == [
        {"stage": "read"}, {"done": 5, "of": 10, "share": 0.5}, {"part": {"run": 1}}
    ]  # fmt: skip


def test_it_answers_line_by_line_until_its_input_ends(monkeypatch, capsys):
    monkeypatch.setattr(infer, "run", lambda asked, tell: {"of": asked["n"]})
    ended = []
    monkeypatch.setattr(worker.os, "kill", lambda *_: ended.append("kill"))
    monkeypatch.setattr(worker.time, "sleep", lambda _: None)
    monkeypatch.setattr(worker.os, "_exit", lambda _: ended.append("exit"))
    monkeypatch.setattr(worker.signal, "signal", lambda *_: None)
    tasks = "".join(json.dumps({"task": "infer", "asked": {"n": n}}) + "\n" for n in (1, 2))
    monkeypatch.setattr(worker.sys, "stdin", io.StringIO(tasks))
    assert worker.main() == 0
    assert lines_of(capsys) == [{"result": {"of": 1}}, {"result": {"of": 2}}]
    assert ended[:1] == ["kill"]


def test_every_task_has_a_module():
    for name in NAMES:
        assert callable(__import__(f"shoal.web.tasks.{name}", fromlist=["run"]).run)


def test_a_process_whose_input_ends_ends_itself():
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal.web.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.close()
    process.wait(180)  # it loads what tasks need before it listens
