"""The command `metrics`."""

from __future__ import annotations

import json

import pytest

TEXT = (
    "name,age,zip,dx,pay\n"
    + "".join(f"Zq{i},{300 + i % 9},Z{i % 3},D{i % 4},{i * 7}\n" for i in range(60))
)  # fmt: skip
FLAGS = ("--qi", "age,zip", "--numeric", "age", "--sensitive", "dx")


@pytest.fixture
def table(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text(TEXT)
    return place


def test_metrics_of_a_release(tmp_path, table, run):
    out = tmp_path / "o.csv"
    made = json.loads(run("anonymize", table, *FLAGS, "-k", 5, "--out", out, "--json").out)
    answer = run("metrics", table, out, *FLAGS, "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    for name, value in made["utility"].items():
        if value is not None and found["utility"][name] is not None:
            assert found["utility"][name] == pytest.approx(value), name


def test_metrics_of_another_table_is_refused(tmp_path, table, run):
    other = tmp_path / "x.csv"
    other.write_text("age,zip\n999,Zz\n")
    answer = run("metrics", table, other, "--qi", "age,zip", "--numeric", "age")
    assert answer.code == 2
    assert answer.err.count("\n") == 1


@pytest.fixture
def release(tmp_path, table, run):
    place = tmp_path / "o.csv"
    assert run("anonymize", table, *FLAGS, "-k", 5, "--out", place, "--quiet").code == 0
    return place


def test_people_read_every_measure_once_by_its_true_name(table, release, run):
    document = json.loads(run("metrics", table, release, *FLAGS, "--json").out)
    head, *lines = run("metrics", table, release, *FLAGS).out.splitlines()
    assert head.startswith("60 of 60 records released, 0 suppressed, ")
    drawn = next(i for i, line in enumerate(lines) if line.startswith("  lost in"))
    listed = [line.split()[0] for line in lines[:drawn] if not line.startswith("  notice")]
    losses = [n for n in document["utility"] if n not in ("entropy", "height")]
    assert listed[: len(losses)] == losses
    assert listed[len(losses) :] == [
        "k-marginal", "query", "pMSE", "total", "Kolmogorov–Smirnov", "associations", "unique",
    ]  # fmt: skip


def test_how_a_release_suppresses_is_remove_or_star(table, release, run):
    for word in ("remove", "star"):
        found = run("metrics", table, release, *FLAGS, "--suppressed", word, "--json")
        assert json.loads(found.out)["suppressed"] == 0
    answer = run("metrics", table, release, *FLAGS, "--suppressed", "zap")
    assert (answer.code, answer.err) == (2, "shoal: --suppressed: must be remove or star\n")


def test_fidelity_is_that_of_the_release_and_is_listed(tmp_path, table, run):
    out = tmp_path / "o.csv"
    flags = (*FLAGS, "-k", 5, "--method", "mondrian", "--fidelity")
    made = json.loads(run("anonymize", table, *flags, "--out", out, "--json").out)
    found = json.loads(run("metrics", table, out, *FLAGS, "--json").out)
    for name in ("k_marginal", "query_error", "total_variation", "unique_exact_matches"):
        assert found["fidelity"][name] == pytest.approx(made["fidelity"][name])
    listed = run("metrics", table, out, *FLAGS).out
    for name in ("k-marginal score", "query error", "pMSE ratio", "total variation"):
        assert name in listed


def test_fidelity_and_models_need_the_local_engine(tmp_path, table, run):
    for asked in (("--fidelity",), ("--learn", "dx")):
        words = (*FLAGS, "-k", 5, "--engine", "spark", *asked)
        answer = run("anonymize", table, *words, "--out", tmp_path / "o.csv")
        assert answer.code == 2
        assert "local engine" in answer.err
