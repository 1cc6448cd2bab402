"""The gateway: whenever it is killed, nothing is lost, doubled, or released too early."""

from __future__ import annotations

import json
import random
import sqlite3
from collections import Counter

import pytest
from tests.golden.generate import table
from tests.methods.test_cut_tree import made

from shoal.edge import gateway as module
from shoal.edge.gateway import Gateway
from shoal.model.column import Rejected

_, MODEL = made(4)
PEOPLE = table().to_dicts()


class Killed(Exception):
    """The process ends here."""


def batches(folder):
    """Return the records of all batches, and check each by itself."""
    found = []
    for place in sorted(folder.glob("batch-*.jsonl")):
        rows = [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()]
        sizes = Counter(tuple(row[n] for n in MODEL.schema.quasi) for row in rows)
        assert min(sizes.values()) >= 4
        found += rows
    return found


def test_classes_are_released_when_they_are_strong_enough(tmp_path):
    gateway = Gateway(tmp_path, MODEL)
    for i, person in enumerate(PEOPLE[:200]):
        assert gateway.receive(str(i), person)
    gateway.release()
    out = batches(tmp_path)
    assert len(out) + gateway.waiting + gateway.suppressed == 200
    assert out
    assert gateway.waiting
    gateway.release(flush=True)
    assert gateway.waiting == 0
    assert len(batches(tmp_path)) + gateway.suppressed == 200


def test_a_record_that_comes_twice_is_taken_once(tmp_path):
    gateway = Gateway(tmp_path, MODEL)
    for _ in range(3):
        fresh = [gateway.receive(str(i), person) for i, person in enumerate(PEOPLE[:40])]
    assert not any(fresh)
    assert gateway.waiting == 40
    gateway.release(flush=True)
    assert not any(gateway.receive(str(i), person) for i, person in enumerate(PEOPLE[:40]))
    assert gateway.waiting == 0


def test_waiting_is_bounded_in_number_and_time(tmp_path):
    now = [0.0]
    gateway = Gateway(tmp_path, MODEL, window=30, patience=60.0, clock=lambda: now[0])
    for i, person in enumerate(PEOPLE[:31]):
        gateway.receive(str(i), person)
    gateway.release()
    assert gateway.waiting == 0
    for i, person in enumerate(PEOPLE[40:50]):
        gateway.receive(f"late {i}", person)
    gateway.release()
    held = gateway.waiting
    now[0] = 61.0
    gateway.release()
    assert held >= gateway.waiting == 0


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 6))]
)
def test_killed_at_any_point_nothing_is_lost_or_doubled(tmp_path, seed, monkeypatch):
    chance = random.Random(seed)
    acknowledged = set()
    replace, begin = module.os.replace, module._Transaction.__enter__
    leave = module._Transaction.__exit__

    def maybe(call, share):
        def either(*words):
            if chance.random() < share:
                raise Killed
            found = call(*words)
            if chance.random() < share:
                raise Killed
            return found

        return either

    gateway = None
    for _ in range(400):
        try:
            if gateway is None:
                monkeypatch.setattr(module.os, "replace", replace)
                gateway = Gateway(tmp_path, MODEL)
                monkeypatch.setattr(module.os, "replace", maybe(replace, 0.2))
            monkeypatch.setattr(module._Transaction, "__enter__", maybe(begin, 0.02))
            i = chance.randrange(120)
            gateway.receive(str(i), {**PEOPLE[i], "note": i})
            acknowledged.add(i)
            if chance.random() < 0.1:
                gateway.release(flush=chance.random() < 0.3)
        except Killed:
            monkeypatch.setattr(module._Transaction, "__enter__", begin)
            monkeypatch.setattr(module._Transaction, "__exit__", leave)
            gateway.store.close()
            gateway = None
    monkeypatch.setattr(module.os, "replace", replace)
    monkeypatch.setattr(module._Transaction, "__enter__", begin)
    gateway = gateway or Gateway(tmp_path, MODEL)
    gateway.release(flush=True)
    notes = [row["note"] for row in batches(tmp_path)]
    assert len(notes) == len(set(notes))
    assert len(acknowledged - set(notes)) <= gateway.suppressed
    assert gateway.waiting == 0


def test_what_is_no_record_is_rejected_and_not_remembered(tmp_path):
    gateway = Gateway(tmp_path, MODEL)
    with pytest.raises(Rejected):
        gateway.receive("1", {"age": "Alice"})
    assert gateway.receive("1", PEOPLE[0])
    with pytest.raises(Rejected):
        gateway.receive("2", {"age": "*"}, encoded=True)


def test_the_buffer_is_for_its_user_alone(tmp_path):
    Gateway(tmp_path / "g", MODEL).close()
    assert (tmp_path / "g" / "buffer.sqlite").stat().st_mode & 0o077 == 0
    again = sqlite3.connect(tmp_path / "g" / "buffer.sqlite")
    assert again.execute("select count(*) from held").fetchone() == (0,)


_, NEWER = made(7)


def sizes(place, model):
    rows = [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()]
    return Counter(tuple(row[n] for n in model.schema.quasi) for row in rows)


def received(gateway, first, last):
    for i in range(first, last):
        assert gateway.receive(str(i), {**PEOPLE[i], "note": i})


def test_a_new_model_releases_what_waits_for_the_old_one(tmp_path):
    now = [0.0]
    words = {"patience": 60.0, "clock": lambda: now[0]}
    old = Gateway(tmp_path, MODEL, **words)
    received(old, 0, 30)
    old.release()
    held = old.waiting
    assert held
    old.close()
    new = Gateway(tmp_path, NEWER, **words)
    assert new.waiting == held
    received(new, 30, 60)
    before = set(tmp_path.glob("batch-*.jsonl"))
    now[0] = 61.0
    written = new.release()
    assert set(written) == set(tmp_path.glob("batch-*.jsonl")) - before
    assert new.waiting == 0
    by = dict(new.store.execute("select number, model from batches"))
    assert set(by.values()) == {old.version, new.version}
    for place in written:  # each batch is of one model, and keeps its promise
        model = MODEL if by[int(place.stem[-6:])] == old.version else NEWER
        assert min(sizes(place, model).values()) >= (4 if model is MODEL else 7)
    out = [json.loads(line)["note"] for place in tmp_path.glob("batch-*.jsonl")
           for line in place.read_text(encoding="utf-8").splitlines()]  # fmt: skip
    assert len(out) == len(set(out)) == 60 - new.suppressed


def test_a_model_is_kept_as_long_as_somebody_waits_for_it(tmp_path):
    old = Gateway(tmp_path, MODEL)
    received(old, 0, 20)
    old.close()
    new = Gateway(tmp_path, NEWER)
    new.release()
    known = {version for (version,) in new.store.execute("select version from models")}
    assert known == {old.version, new.version}
    new.release(flush=True)
    assert new.waiting == 0
    known = {version for (version,) in new.store.execute("select version from models")}
    assert known == {new.version}


def test_records_that_wait_for_a_model_nobody_kept_are_never_released_by_another(tmp_path):
    old = Gateway(tmp_path, MODEL)
    received(old, 0, 40)
    old.store.execute("delete from models")  # a buffer of before models were kept
    old.close()
    new = Gateway(tmp_path, NEWER)
    assert new.release(flush=True) == []
    assert new.waiting == 40
    new.close()
    again = Gateway(tmp_path, MODEL)  # who brings the model back gets them
    again.release(flush=True)
    assert again.waiting == 0


def test_the_window_counts_records_of_all_models(tmp_path):
    old = Gateway(tmp_path, MODEL)
    received(old, 0, 20)
    old.close()
    new = Gateway(tmp_path, NEWER, window=30)
    received(new, 20, 45)
    assert new.waiting == 45
    new.release()
    assert new.waiting == 0


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_models_that_change_while_it_is_killed_lose_and_double_nothing(tmp_path, seed, monkeypatch):
    chance = random.Random(100 + seed)
    replace = module.os.replace

    def maybe(*words):
        if chance.random() < 0.3:
            raise Killed
        replace(*words)
        if chance.random() < 0.3:
            raise Killed

    taken, gateway = set(), None
    for _ in range(150):
        try:
            if gateway is None:
                monkeypatch.setattr(module.os, "replace", replace)
                gateway = Gateway(tmp_path, chance.choice([MODEL, NEWER]))
                monkeypatch.setattr(module.os, "replace", maybe)
            i = chance.randrange(100)
            gateway.receive(str(i), {**PEOPLE[i], "note": i})
            taken.add(i)
            if chance.random() < 0.15:
                gateway.release(flush=chance.random() < 0.2)
            if chance.random() < 0.05:
                raise Killed
        except Killed:
            gateway.store.close()
            gateway = None
    monkeypatch.setattr(module.os, "replace", replace)
    gateway = gateway or Gateway(tmp_path, NEWER)
    gateway.release(flush=True)
    notes = [row["note"] for row in batches(tmp_path)]
    assert len(notes) == len(set(notes))
    assert len(taken - set(notes)) == gateway.suppressed
    assert gateway.waiting == 0
