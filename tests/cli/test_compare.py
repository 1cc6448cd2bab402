"""The command `compare`, and `recommend --goal`."""

from __future__ import annotations

import csv
import json
import shlex

import pytest
from tests.conftest import call
from tests.jobs.people import files_in

pytestmark = [
    pytest.mark.local("compare"), pytest.mark.xdist_group("compare"),
    pytest.mark.usefixtures("lent_workers"),
]  # fmt: skip


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return files_in(tmp_path)


def asked(files, *words):
    return call("compare", files.table, "--schema", files.schema, *words)


def test_runs_stand_in_a_table_with_the_front_marked_and_a_command(files):
    answer = asked(files, "--methods", "bestcut,oka", "-k", "4,8")
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert lines[0] == "4 of 4 releases were made and verified; none was published"
    assert sum("bestcut k=" in line for line in lines[:6]) == 2
    assert any(line.startswith("  ●") for line in lines)
    assert lines[-1].startswith("  least loss: shoal anonymize ")


def test_the_command_of_a_run_gives_the_same_release(files):
    document = json.loads(asked(files, "--methods", "oka", "-k", "8", "--json").out)
    (run,) = document["runs"]
    words = shlex.split(run["command"])[1:]
    words[words.index("--out") + 1] = str(files.path("release.csv"))
    made = json.loads(call(*words, "--json").out)
    assert made["utility"]["ncp"] == pytest.approx(run["utility"]["ncp"])
    assert made["classes"] == run["classes"]


def test_what_is_written_has_every_run(files):
    page, out = files.path("page.html"), files.path("runs.csv")
    answer = asked(
        files, "--methods", "bestcut", "-k", "4,40,41", "--seeds", "0,1", "--report", page,
        "--out", out,
    )  # fmt: skip
    assert answer.code == 0
    rows = list(csv.DictReader(out.open(encoding="utf-8")))
    assert len(rows) == 6
    assert sum(bool(row["error"]) for row in rows) == 2
    assert "Releases side by side" in page.read_text(encoding="utf-8")
    assert "✗" in answer.out


def test_finished_runs_are_kept_for_the_user_alone_and_not_repeated(files):
    words = ("--methods", "bestcut", "-k", "4", "--json")
    assert json.loads(asked(files, *words).out)["repeated"] == 1
    assert json.loads(asked(files, *words).out)["repeated"] == 0
    assert json.loads(asked(files, *words, "--again").out)["repeated"] == 1


def test_runs_may_come_from_a_file(files):
    runs = files.path("runs.yaml")
    runs.write_text("runs:\n  - {name: one, method: bestcut}\n  - {method: mondrian}\n", "utf-8")
    document = json.loads(asked(files, "--request", runs, "--json").out)
    assert [run["name"] for run in document["runs"]] == ["one", "mondrian, run 2"]
    assert document["runs"][0]["command"] is None


def test_it_is_written_on_paper_too(files):
    for ending, words in (("md", "# Releases side by side"), ("json", '"runs"')):
        page = files.path(f"page.{ending}")
        answer = asked(files, "--methods", "bestcut", "-k", "4,8", "--report", page)
        assert answer.code == 0, answer.err
        text = page.read_text(encoding="utf-8")
        assert words in text
        assert "shoal anonymize" in text
    pytest.importorskip("typst", reason="shoal[report] is not installed")
    page = files.path("page.pdf")
    assert asked(files, "--methods", "bestcut", "-k", "4,8", "--report", page).code == 0
    assert page.read_bytes().startswith(b"%PDF")


def test_a_report_of_no_known_kind_is_refused_before_any_run(files):
    answer = asked(files, "--methods", "bestcut", "-k", "4", "--report", files.path("page.doc"))
    assert answer.code != 0
    assert "a report is one of .html" in answer.err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("-k", "4", "--labels", "rond"), "round, tight"),
        (("-k", "4,many"), "-k: must be whole numbers"),
        (("--methods", "bestcutt"), "did you mean"),
        (("--methods", "refine:efort=best"), "did you mean"),
        (("--methods", "xk"), "recommend"),
        (("-k", "2"), "asks for less"),
        (("-k", "4", "--out", "runs.txt"), "name it .csv"),
        (("-k", "4", "--suppression-limit", "x"), "--suppression-limit: must be numbers"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_any_run(files, words, text):
    answer = asked(files, *words)
    assert answer.code == 2
    assert text in answer.err


def test_where_no_release_can_be_made_the_exit_code_says_so(files):
    assert asked(files, "--methods", "bestcut", "-k", "41").code == 1


def test_a_goal_is_answered_with_a_command(files):
    answer = call(
        "recommend", files.table, "--schema", files.schema, "--goal", "loss", "--max-risk", "0.2"
    )
    assert answer.code == 0, answer.err
    assert "command     shoal anonymize" in answer.out
    words = shlex.split(answer.out.split("command     ")[1].strip())
    assert words[words.index("-k") + 1] == "5"


@pytest.mark.parametrize(
    "words", [("--max-risk", "0.1"), ("--goal", "loss"), ("--goal", "risk", "--max-risk", "0.1")]
)
def test_a_goal_and_its_bound_go_together(files, words):
    answer = call("recommend", files.table, "--schema", files.schema, *words)
    assert answer.code == 2
    assert "--goal" in answer.err


def test_fidelity_of_every_run_and_the_spread_over_seeds_are_listed(files):
    page = files.path("page.html")
    words = ("--methods", "oka", "-k", "4", "--seeds", "0,1,2", "--fidelity", "--report", page)
    document = json.loads(asked(files, *words, "--json").out)
    for run in document["runs"]:
        assert 0 < run["measured"]["k-marginal"] <= 1000
        assert run["fidelity"]["k_marginal"] == run["measured"]["k-marginal"]
        assert "--fidelity" not in run["command"]
    (spread,) = document["spread"]
    losses = sorted(run["utility"]["ncp"] for run in document["runs"])
    assert [spread["ncp"][end] for end in ("least", "median", "most")] == losses
    assert '"measured"' in page.read_text(encoding="utf-8")
    listed = asked(files, *words).out
    assert "k-marginal" in listed
    assert f"loss {losses[0]:.4f} – {losses[1]:.4f} – {losses[2]:.4f} over 3 seeds" in listed
