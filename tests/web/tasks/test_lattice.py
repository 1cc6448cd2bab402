"""The lattice that the page asks for: the promise of a run, on the project's table."""

from __future__ import annotations

import pytest
from tests.jobs.people import files_in

from shoal.core.errors import MethodError
from shoal.web.tasks.lattice import run


@pytest.fixture
def asked(tmp_path):
    files = files_in(tmp_path)
    lines = files.table.read_text(encoding="utf-8").splitlines()
    uneven = [lines[0], *lines[1:31], *["20,welder,novice,gout"] * 10]
    files.table.write_text("\n".join(uneven) + "\n", encoding="utf-8")
    return {
        "request": {"job": "release", "table": str(files.table), "schema": str(files.schema),
                    "method": {"name": "flash"}},
        "levels": {"age": 0, "job": 1},
    }  # fmt: skip


def test_the_promise_of_a_run_takes_the_place_of_the_schemas(asked):
    mild = run({**asked, "privacy": [{"model": "k-anonymity", "k": 2}]}, print)
    strict = run({**asked, "privacy": [{"model": "k-anonymity", "k": 30}]}, print)
    assert mild["columns"] == strict["columns"] == ["age", "job"]
    safe = [sum(each["safe"] for each in found["nodes"]) for found in (mild, strict)]
    assert safe[0] > safe[1] >= 1


def test_a_larger_limit_makes_more_nodes_safe(asked):
    promise = [{"model": "k-anonymity", "k": 12}]
    few = run({**asked, "privacy": promise, "suppression_limit": 0.0}, print)
    many = run({**asked, "privacy": promise, "suppression_limit": 0.8}, print)
    safe = [sum(each["safe"] for each in found["nodes"]) for found in (few, many)]
    assert 1 <= safe[0] < safe[1]


def test_without_either_the_schema_decides(asked):
    found = run(asked, print)
    four = run({**asked, "privacy": [{"model": "k-anonymity", "k": 4}]}, print)
    assert found == four


def test_a_method_without_a_lattice_is_refused(asked):
    request = {**asked["request"], "method": {"name": "mondrian"}}
    with pytest.raises(MethodError, match="no lattice"):
        run({**asked, "request": request}, print)
