"""The commands `releases …`."""

from __future__ import annotations

import json

import pytest
from tests.conftest import call
from tests.jobs.people import ILLS, JOBS, files_in

pytestmark = pytest.mark.local("a ledger knows the order of the input")


@pytest.fixture
def project(tmp_path):
    files = files_in(tmp_path)
    ledger = files.path("releases.db")
    asked = ("anonymize", files.table, "--schema", files.schema, "--ledger", ledger)
    answer = call(*asked, "--method", "bestcut", "--out", files.path("a.csv"))
    assert answer.code == 0, answer.err
    assert "entered in the ledger as release 1" in answer.out
    return files, ledger, asked


def test_a_second_release_is_refused_waived_and_listed(project):
    files, ledger, asked = project
    more = ("--method", "oka", "--out", files.path("b.csv"))
    answer = call(*asked, *more)
    assert answer.code == 1
    assert answer.err.startswith("shoal: not safe: beside release 1 (a.csv)")
    assert not files.path("b.csv").exists()
    document = json.loads(call(*asked, *more, "--json").out)
    assert "--waive-composition 1" in document["error"]["problem"]
    answer = call(*asked, *more, "--waive-composition", "1")
    assert answer.code == 0
    assert "WAIVED: published beside release 1" in answer.out
    listed = call("releases", "list", "--ledger", ledger).out.splitlines()
    assert ["a.csv" in listed[0], "b.csv" in listed[1]] == [True, True]
    assert "k-anonymity k 4" in listed[0]
    assert "WAIVED beside release 1" in listed[1]
    found = json.loads(call("releases", "list", "--ledger", ledger, "--json").out)["releases"]
    assert [each["number"] for each in found] == [1, 2]
    assert all("request" not in each for each in found)


def test_one_release_is_shown_with_its_request(project):
    _, ledger, _ = project
    shown = call("releases", "show", "1", "--ledger", ledger).out
    for words in ("recoded     age, job", "shown       grade, ill", "by the whole record",
                  "job: release", "a.csv"):  # fmt: skip
        assert words in shown
    assert not any(word in shown for word in (*JOBS, *ILLS))
    document = json.loads(call("releases", "show", "1", "--ledger", ledger, "--json").out)
    assert document["request"]["job"] == "release"
    assert document["state"] == "published"


def test_what_is_not_there_is_said(project, tmp_path):
    _, ledger, _ = project
    assert call("releases", "list").code == 2
    answer = call("releases", "show", "9", "--ledger", ledger)
    assert (answer.code, "it has 1" in answer.err) == (2, True)
    answer = call("releases", "list", "--ledger", tmp_path / "none.db")
    assert answer.code == 2
    assert not (tmp_path / "none.db").exists()


def test_a_series_over_time_is_released_shown_and_attacked(tmp_path):
    files = files_in(tmp_path)
    header, *lines = files.table.read_text(encoding="utf-8").splitlines()
    numbered = [f"p{number},{line}" for number, line in enumerate(lines)]
    columns = header.split(",")
    quasi = ",".join(name for name in columns if name in ("age", "job"))
    asked = (
        "--qi", quasi, "--sensitive", "ill", "--person", "who", "-k", "3", "--m", "2",
        "--suppression-limit", "0.9",
    )  # fmt: skip
    places = {}
    for name, rows in (("one", numbered), ("two", numbered[5:])):
        table = files.path(f"{name}.csv")
        table.write_text("\n".join([f"who,{header}", *rows, ""]), encoding="utf-8")
        places[name] = (files.path(f"{name}.out.csv"), files.path(f"{name}.people.csv"))
        answer = call(
            "anonymize", table, *asked, "--after", files.path("series.db"),
            "--out", places[name][0], "--person-file", places[name][1],
            "--false-records", files.path(f"{name}.false.csv"),
        )  # fmt: skip
        assert answer.code == 0, answer.err
        assert "m-uniqueness" in answer.out
        assert "m-invariance" in answer.out
    shown = call("releases", "show", "2", "--ledger", files.path("series.db")).out
    assert "over time   m 2 for ill" in shown
    assert "after release 1" in shown
    releases, people = (",".join(str(pair[i]) for pair in places.values()) for i in (0, 1))
    attack = ("compose", files.path("two.csv"), *asked[:6], "--m", "2")
    both = ("--releases", releases, "--person-files", people)
    answer = call(*attack, *both)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("safe together\nill\n")
    document = json.loads(call(*attack, *both, "--json").out)
    assert document["columns"]["ill"]["certain"] == {"one": 0, "together": 0}
    assert document["columns"]["ill"]["fewest"]["together"] >= 2
    more = call(*attack[:-1], "99", *both)
    assert more.code == 1
    assert more.out.startswith("NOT safe together")


def test_options_of_a_series_are_refused_elsewhere(project):
    files, _, asked = project
    answer = call(*asked, "--out", files.path("c.csv"), "--counterfeits", "none")
    assert answer.code == 2
    assert "--counterfeits: goes with --after" in answer.err
