"""The command `compose`."""

from __future__ import annotations

import json

import pytest
from tests.conftest import call
from tests.jobs.people import files_in


@pytest.fixture
def made(tmp_path):
    files = files_in(tmp_path)
    for method in ("bestcut", "oka"):
        answer = call(
            "anonymize", files.table, "--schema", files.schema, "--method", method,
            "--out", files.path(f"{method}.csv"),
            "--class-file", files.path(f"{method}.classes.csv"),
        )  # fmt: skip
        assert answer.code == 0, answer.err
    return files


@pytest.mark.local("class files keep the order of the input")
def test_two_safe_releases_that_are_not_safe_together(made):
    files = ",".join(str(made.path(f"{m}.classes.csv")) for m in ("bestcut", "oka"))
    asked = ("compose", made.table, "--schema", made.schema, "--class-files", files)
    answer = call(*asked)
    assert answer.code == 1
    assert answer.out.startswith("NOT safe together\n")
    for word in ("meet", "alone", "below 4", "certain", "BROKEN"):
        assert word in answer.out
    document = json.loads(call(*asked, "--json").out)
    assert document["holds"] is False
    assert document["releases"] == 2
    assert set(document["certain"]["ill"]) == {"one", "together"}


@pytest.mark.local("class files keep the order of the input")
def test_one_release_beside_itself_is_safe(made):
    release, classes = made.path("bestcut.csv"), made.path("bestcut.classes.csv")
    answer = call(
        "compose", made.table, "--schema", made.schema,
        "--releases", release, "--class-files", classes,
    )  # fmt: skip
    assert (answer.code, answer.err) == (0, "")
    assert "safe together" in answer.out
    assert "linked" not in answer.out  # one table alone links nothing


@pytest.mark.local("attacks need the local engine")
def test_one_release_alone_cannot_be_composed(made):
    answer = call(
        "compose", made.table, "--schema", made.schema, "--releases", made.path("oka.csv")
    )
    assert answer.code == 2
    assert "at least two releases" in answer.err
