"""The command `learn`."""

from __future__ import annotations

import json
import time

import pytest

import shoal
from shoal import api
from shoal.jobs import learn

FLAGS = ("--qi", "age", "--numeric", "age")


@pytest.fixture
def table(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text("age\n" + "".join(f"{20 + i % 30}\n" for i in range(300)))
    return place


def test_learn_json_has_the_time_of_building_the_model_in_a_phase_and_in_the_total(
    tmp_path, table, run, monkeypatch
):
    build, write = learn.model_of_cuts, api.write_model

    def slow_build(*given, **more):
        time.sleep(0.4)
        return build(*given, **more)

    def slow_write(*given, **more):
        time.sleep(0.3)
        return write(*given, **more)

    monkeypatch.setattr(learn, "model_of_cuts", slow_build)
    monkeypatch.setattr(api, "write_model", slow_write)
    began = time.perf_counter()
    answer = run("learn", table, *FLAGS, "--json", "-k", 5, "--model", tmp_path / "m.json")
    whole = time.perf_counter() - began
    found = json.loads(answer.out)
    seconds = found["seconds"]
    assert seconds["model"] >= 0.4
    assert seconds["write"] >= 0.3
    phases = sum(spent for name, spent in seconds.items() if name != "total")
    assert phases - 0.001 <= seconds["total"] <= whole
    assert phases > 0.9 * seconds["total"]
    assert found["cpu_seconds"]["model"] >= 0


def test_the_request_of_the_report_is_what_the_flags_say(tmp_path, table, run):
    model = tmp_path / "m.json"
    more = ("--method", "flash", "--seconds", 9, "--utility", "dm", "--suppression-limit", 0.1)
    answer = run("learn", table, *FLAGS, "-k", 5, *more, "--model", model, "--json")
    asked = json.loads(answer.out)["request"]
    assert asked["job"] == "learn"
    assert asked["method"] == {"name": "flash", "seconds": 9.0}
    assert asked["schema"]["utility"] == "dm"
    assert asked["schema"]["suppression_limit"] == 0.1


def test_people_are_told_where_the_model_is_and_why_its_levels_won(tmp_path, table, run):
    model = tmp_path / "m.json"
    asked = ("learn", table, *FLAGS, "-k", 5, "--model", model)
    lines = run(*asked, "--explain").out.splitlines()
    assert lines[-2:] == [f"  model       {model}", "this method has no levels to explain"]
    assert run(*asked, "--quiet") == (0, "", "")
    assert shoal.RecodingModel.load(model).records == 300
    explained = run(*asked, "--explain", "--method", "flash").out.splitlines()
    assert explained[-1] not in ("this method has no levels to explain", f"  model       {model}")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--effort", "best"), "options: --effort: not for --method auto"),
        (("--cm", "--gamma", 1), "options: --gamma, --cm: not for --method auto"),
        (
            ("--utility", "dm"),
            "--utility: --method auto knows no measure 'dm'; choose one of",
        ),
        (("--utility", "loss"), "--utility: goes with a lattice method, such as flash"),
        (("--threads", 0), "--threads: must be at least 1"),
        (("--method", "xk"), "has no recoding and no model"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_what_the_search_would_ignore_is_refused_and_nothing_is_written(
    tmp_path, table, run, flags, words
):
    answer = run("learn", table, *FLAGS, "-k", 5, *flags, "--model", tmp_path / "m.json")
    assert answer.code == 2
    assert words in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_the_model_never_replaces_the_table(tmp_path, table, run):
    before = table.read_bytes()
    assert run("learn", table, *FLAGS, "-k", 5, "--model", table).code == 2
    assert table.read_bytes() == before
