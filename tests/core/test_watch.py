"""Whoever watches is told how far a job is."""

from __future__ import annotations

import threading

from shoal.core.watch import Tasks, tell, watched_by, watcher


class Heard:
    """A watcher that notes what it hears."""

    def __init__(self):
        self.stages, self.steps, self.limits, self.asked = [], [], [], []

    def __call__(self, stage):
        self.stages.append(stage)

    def advance(self, done, of=None, *, share=None):
        self.steps.append((self.stages[-1] if self.stages else None, done, of, share))

    def limit(self, seconds):
        self.limits.append(seconds)

    def ask(self, tasks):
        self.asked.append(tasks)


def test_nobody_listens_unless_somebody_says_so():
    nobody = watcher()
    assert nobody("read") is None
    assert nobody.advance(1, 2, share=0.5) is None
    assert nobody.limit(1.0) is None
    assert nobody.ask(lambda: Tasks(1, 2)) is None


def test_a_watcher_hears_what_is_done_meanwhile_and_no_more():
    heard, inner = Heard(), Heard()
    with watched_by(heard):
        tell("read")
        watcher().advance(3, 4)
        with watched_by(inner):
            tell("write")
        tell("verify")
    tell("later")
    assert heard.stages == ["read", "verify"]
    assert heard.steps == [("read", 3, 4, None)]
    assert inner.stages == ["write"]


def test_other_threads_have_watchers_of_their_own():
    heard = Heard()
    with watched_by(heard):
        thread = threading.Thread(target=tell, args=("elsewhere",))
        thread.start()
        thread.join()
    assert heard.stages == []
