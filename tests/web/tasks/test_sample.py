from __future__ import annotations

import os

import pytest

from shoal.core.errors import ShoalError
from shoal.web.tasks import sample
from shoal.web.tasks.sample import sampled, texts_of


def test_a_table_is_read_once_and_again_when_it_changes(folder, monkeypatch):
    monkeypatch.chdir(folder)
    first = sampled("stays.csv")
    assert sampled("stays.csv") is first
    text = (folder / "stays.csv").read_text()
    (folder / "stays.csv").write_text(text + text.splitlines()[1] + "\n")
    assert sampled("stays.csv").records == 401


def test_of_a_large_table_only_a_sample_is_kept(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sample, "MOST", 100)
    monkeypatch.setattr(sample, "_kept", {})
    found = sampled("stays.csv")
    assert (found.frame.height, found.records, found.is_sample) == (100, 400, True)


def test_one_table_is_kept_at_a_time(folder, monkeypatch):
    monkeypatch.chdir(folder)
    os.link("stays.csv", "again.csv")
    sampled("stays.csv")
    sampled("again.csv")
    assert len(sample._kept) == 1


@pytest.mark.parametrize("table", ["missing.csv", None, 3, {"file": "missing.csv"}])
def test_what_is_no_table_is_refused(folder, monkeypatch, table):
    monkeypatch.chdir(folder)
    with pytest.raises((ShoalError, OSError, ValueError, TypeError)):
        sampled(table)


def test_texts_of_a_list():
    assert texts_of(["?", 3]) == ["?", "3"]
    assert texts_of("x") == texts_of(None) == []
