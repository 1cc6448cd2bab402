"""What `anonymize` and `learn` say of their own work."""

from __future__ import annotations

import json
import time

import pytest

from shoal import api
from shoal.pipeline import Job

FLAGS = ("--qi", "age", "--numeric", "age", "--json")


@pytest.fixture
def table(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text("age\n" + "".join(f"{20 + i % 30}\n" for i in range(300)))
    return place


def test_learn_json_has_the_time_of_building_the_model_in_a_phase_and_in_the_total(
    tmp_path, table, run, monkeypatch
):
    build, write = Job.model, api.write_model

    def slow_build(*given, **more):
        time.sleep(0.4)
        return build(*given, **more)

    def slow_write(*given, **more):
        time.sleep(0.3)
        return write(*given, **more)

    monkeypatch.setattr(Job, "model", slow_build)
    monkeypatch.setattr(api, "write_model", slow_write)
    began = time.perf_counter()
    answer = run("learn", table, *FLAGS, "-k", 5, "--model", tmp_path / "m.json")
    whole = time.perf_counter() - began
    found = json.loads(answer.out)
    seconds = found["seconds"]
    assert seconds["model"] >= 0.4
    assert seconds["write"] >= 0.3
    phases = sum(spent for name, spent in seconds.items() if name != "total")
    assert phases - 0.001 <= seconds["total"] <= whole
    assert phases > 0.9 * seconds["total"]
    assert found["cpu_seconds"]["model"] >= 0
