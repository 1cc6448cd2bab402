"""What the page has compared: the same trials as the command's, and a choice for each."""

from __future__ import annotations

import pytest
from tests.jobs.people import files_in

from shoal.core.errors import MethodError, SchemaError
from shoal.jobs.documents import request_from
from shoal.jobs.release import release
from shoal.privacy import from_flags
from shoal.web.tasks.compare import choice, method_said, run, trials_of, with_size


@pytest.fixture
def asked(tmp_path):
    files = files_in(tmp_path)
    text = files.schema.read_text(encoding="utf-8")
    text = text.replace("k: 4}]", "k: 4}, {model: l-diversity, l: 2, column: ill}]")
    files.schema.write_text(text, encoding="utf-8")
    request = {"job": "release", "table": str(files.table), "schema": str(files.schema)}
    return {"request": request, "methods": ["mondrian", "flash"], "k": [3, 6]}


def test_every_method_is_tried_with_every_size(asked):
    trials = trials_of(asked)
    assert [(each.facts["method"], each.facts["promise"]["k"]) for each in trials] == [
        ("mondrian", 3), ("mondrian", 6), ("flash", 3), ("flash", 6),
    ]  # fmt: skip
    own = trials[0].request.schema.privacy
    models = [each.name for each in own]
    assert models.count("k-anonymity") == 1
    assert "l-diversity" in models  # the rest of the promise stands


def test_runs_are_told_as_they_end_and_choices_repeat_them(asked):
    told = []
    found = run(asked, told.append)
    assert len(told) == len(found["runs"]) == 4
    names = {row["name"] for row in found["runs"]}
    assert {part["run"]["name"] for part in told} == names
    assert set(told[-1]["front"]) == {row["name"] for row in found["runs"] if row["front"]}
    row = next(
        row for row in found["runs"] if row["method"] == "flash" and row["promise"]["k"] == 6
    )
    assert set(row["levels"]) == {"age", "job"}
    schema = {**request_schema(asked), "privacy": row["choice"]["privacy"]}
    again = release(request_from({**asked["request"], "schema": schema,
                                  "method": row["choice"]["method"]}))  # fmt: skip
    report = again.report.to_document()
    assert report["utility"]["ncp"] == pytest.approx(row["loss"])
    assert report["classes"] == row["classes"]


def request_schema(asked):
    from shoal.jobs.documents import request_document

    return request_document(request_from(asked["request"]))["schema"]


def test_a_run_that_cannot_be_made_says_why(asked):
    found = run({**asked, "methods": ["mondrian"], "k": [10**6]}, lambda part: None)
    (row,) = found["runs"]
    assert row["error"]
    assert row["loss"] is None


def test_nothing_else_than_numbers_and_methods_is_tried(asked):
    with pytest.raises(SchemaError, match="numbers"):
        trials_of({**asked, "k": ["5"]})
    with pytest.raises(MethodError, match="no such method"):
        trials_of({**asked, "methods": ["flsh"]})
    with pytest.raises(MethodError, match="no parameter"):
        method_said("refine:efort=best")


def test_a_size_takes_the_place_of_the_promised_one_alone():
    promise = from_flags({"k": 5, "l": 2})
    found = with_size(promise, 3)
    assert [each.name for each in found] == ["k-anonymity", "l-diversity"]
    assert found[0].k == 3


def test_limits_become_part_of_the_choice(asked):
    (trial, *_) = trials_of({**asked, "limits": [0.02]})
    assert choice(trial)["suppression_limit"] == 0.02
