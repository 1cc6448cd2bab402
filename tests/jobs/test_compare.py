"""Releases side by side: every combination, each verified, and what is done is not done again."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.jobs.people import PEOPLE, files_in, plain_schema

from shoal.core.errors import SchemaError
from shoal.formats.spark_table import SparkTable
from shoal.jobs.compare import CompareRequest, compare
from shoal.jobs.documents import request_from
from shoal.jobs.release import release
from shoal.jobs.trials import Grid
from shoal.methods.registry import method_named
from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Schema

pytestmark = [
    pytest.mark.local("compare"), pytest.mark.xdist_group("compare"),
    pytest.mark.usefixtures("lent_workers"),
]  # fmt: skip


def grid(table, schema, *methods, ks=(4, 8), **words):
    return Grid(
        tables=(table,), schema=schema, methods=tuple(method_named(m) for m in methods),
        promises=tuple((KAnonymity(k),) for k in ks), **words,
    )  # fmt: skip


@pytest.fixture
def files(tmp_path):
    return files_in(tmp_path)


def test_runs_are_those_of_anonymize_and_nothing_is_published(files, tmp_path):
    schema = Schema.load(files.schema)
    before = sorted(tmp_path.iterdir())
    seen = []
    found = compare(
        CompareRequest(trials=grid(files.table, schema, "bestcut", "mondrian", "mdav").trials()),
        watch=lambda run: seen.append(run.name),
    )
    assert sorted(tmp_path.iterdir()) == before
    assert [run.error for run in found.runs] == [None] * 6
    assert sorted(seen) == sorted(run.name for run in found.runs)
    run = found.runs[0]
    assert run.name == "bestcut k=4"
    alone = release(request_from({**run.request, "output": {}}))
    assert run.loss == pytest.approx(alone.report.utility["ncp"])
    assert run.report["classes"] == alone.report.classes
    document = run.to_document()
    assert sum(document["sizes"]) == alone.report.classes
    assert document["privacy"][0]["holds"] is True


def test_a_release_that_cannot_be_made_is_a_run_with_its_reason(files):
    schema = Schema.load(files.schema)
    (found,) = compare(
        CompareRequest(trials=grid(files.table, schema, "bestcut", ks=(41,)).trials())
    ).runs
    assert "41" in found.error
    assert not found.front


def test_a_frame_is_compared_like_its_file(files):
    schema = plain_schema()
    one = compare(CompareRequest(trials=grid(PEOPLE, schema, "bestcut").trials()))
    other = compare(CompareRequest(trials=grid(files.table, schema, "bestcut").trials()))
    assert [run.loss for run in one.runs] == [run.loss for run in other.runs]


def test_what_is_finished_is_not_run_again(files, tmp_path):
    schema = Schema.load(files.schema)
    keep = tmp_path / "kept"
    trials = grid(files.table, schema, "bestcut", "mondrian").trials()
    first = compare(CompareRequest(trials=trials[:2], keep=keep))
    assert all(run.is_new for run in first.runs)
    assert stat.S_IMODE(keep.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in keep.iterdir()} == {0o600}
    again = compare(CompareRequest(trials=trials, keep=keep))
    assert [run.is_new for run in again.runs] == [False, False, True, True]
    assert [run.loss for run in again.runs[:2]] == [run.loss for run in first.runs]
    files.table.write_text(
        files.table.read_text(encoding="utf-8") + "29,baker,novice,gout\n", "utf-8"
    )
    assert all(run.is_new for run in compare(CompareRequest(trials=trials[:1], keep=keep)).runs)


def test_a_damaged_kept_run_is_run_again(files, tmp_path):
    schema, keep = Schema.load(files.schema), tmp_path / "kept"
    trials = grid(files.table, schema, "bestcut", ks=(4,)).trials()
    compare(CompareRequest(trials=trials, keep=keep))
    for text in ('{"result": ', "{}", "[]"):
        for path in keep.iterdir():
            path.write_text(text, encoding="utf-8")
        (again,) = compare(CompareRequest(trials=trials, keep=keep)).runs
        assert again.is_new
        assert again.loss is not None


@pytest.mark.parametrize(
    ("kind", "is_kept"),
    [("NoSolutionError", True), ("MissingExtraError", False), ("OutputError", False),
     ("Killed", False), ("MemoryError", False), ("Bug", False)],
)  # fmt: skip
def test_a_failure_is_kept_where_it_would_be_the_same_again(
    files, tmp_path, monkeypatch, kind, is_kept
):
    trials = grid(files.table, Schema.load(files.schema), "bestcut", ks=(4,)).trials()
    request = CompareRequest(trials=trials, keep=tmp_path / "kept")
    answer = {"error": {"kind": kind, "problem": "not today"}}
    monkeypatch.setattr("shoal.jobs.worker_process.WorkerProcess.run", lambda *_: answer)
    assert compare(request).runs[0].error == "not today"
    assert compare(request).runs[0].is_new is not is_kept


def test_what_cannot_be_meant_is_refused_together():
    trial = grid(SparkTable("a.csv"), plain_schema(), "bestcut").trials()
    with pytest.raises(SchemaError) as caught:
        CompareRequest(trials=trial, processes=0).check()
    assert "local engine" in str(caught.value)
    assert "--processes" in str(caught.value)
    with pytest.raises(SchemaError, match="nothing to compare"):
        compare(CompareRequest(trials=()))


@pytest.mark.slow
def test_stopped_in_the_middle_it_leaves_no_process_and_goes_on_where_it_was(files, tmp_path):
    keep = tmp_path / "kept"
    words = [
        sys.executable, "-m", "shoal", "compare", str(files.table), "--schema", str(files.schema),
        "--methods", "bestcut,mondrian,oka,kmember,refine,kaca", "-k", "4,5,6,7,8,9,10,11,12",
        "--keep", str(keep), "--quiet",
    ]  # fmt: skip
    mark = f"SHOAL_MARK={tmp_path}"
    env = {**os.environ, "SHOAL_MARK": str(tmp_path)}
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL, env=env)
    deadline = time.monotonic() + 60
    while len(list(keep.glob("[!.]*.json"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(_marked(mark)) >= 2  # itself, and its workers
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) != 0
    assert 3 <= len(list(keep.glob("[!.]*.json"))) < 54
    assert not _marked(mark)
    trials = grid(str(files.table), Schema.load(files.schema), "bestcut", ks=range(4, 13)).trials()
    again = compare(CompareRequest(trials=trials, keep=keep))
    assert sum(not run.is_new for run in again.runs) >= 3


def _marked(mark):
    """Return the processes that were started with a mark in their environment."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.add(entry.name)
    return found


def test_more_than_k_is_promised_to_every_run(files):
    promise = ((KAnonymity(4), LDiversity(2, column="ill")),)
    asked = replace(grid(str(files.table), plain_schema(), "bestcut"), promises=promise)
    (run,) = compare(CompareRequest(trials=asked.trials())).runs
    assert [each["model"] for each in run.report["privacy"]] == ["k-anonymity", "l-diversity"]
    assert all(each["holds"] for each in run.report["privacy"])
