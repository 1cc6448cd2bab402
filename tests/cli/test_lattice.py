"""Lattice learning through the commands: the optima that ARX finds, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

LEVELS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass",
          "occupation")  # fmt: skip


def asked(adult: Any, out: Path, *more: object) -> list[object]:
    return ["anonymize", adult.table, "--qi", ",".join(LEVELS), "--hierarchies", adult.hierarchies,
            "--out", out, "--no-attacks", "--json", *more]  # fmt: skip


@pytest.mark.parametrize(
    ("k", "limit", "loss", "suppressed", "levels"),
    [
        (5, 0, 0.5915850, 0, (0, 4, 0, 2, 3, 2, 2, 1)),
        (5, 0.05, 0.2518517, 1458, (0, 3, 0, 0, 1, 1, 1, 2)),
        (5, 1, 0.2200499, 3049, (0, 3, 0, 0, 2, 1, 0, 1)),
        (2, 0.05, 0.1670675, None, None),
    ],
)
def test_the_optima_of_adult(
    adult: Any, run: Any, tmp_path: Path, k: int, limit: float, loss: float,
    suppressed: int | None, levels: tuple[int, ...] | None,
) -> None:  # fmt: skip
    more = ("-k", k, "--suppression-limit", limit, "--method", "flash")
    answer = run(*asked(adult, tmp_path / "o.csv", *more))
    assert answer.code == 0, answer
    found = json.loads(answer.out)
    assert found["optimal"] is True
    assert found["lattice"] == 6480
    assert found["loss"] == pytest.approx(loss, abs=5e-8)
    assert found["utility"]["loss"] == pytest.approx(loss, abs=5e-8)
    assert suppressed is None or found["suppressed"] == suppressed
    assert levels is None or tuple(found["levels"][name] for name in LEVELS) == levels
    answer = run("verify", tmp_path / "o.csv", "--qi", ",".join(LEVELS), "-k", k)
    assert answer.code == 0


def test_no_node_within_the_limit_names_the_column_and_the_limit_that_would_do(
    adult: Any, run: Any, tmp_path: Path
) -> None:
    more = ("--sensitive", "salary-class", "--alpha", "0.5", "-k", 5, "--method", "flash",
            "--suppression-limit", "0.1")  # fmt: skip
    answer = run(*asked(adult, tmp_path / "o.csv", *more))
    assert answer.code == 1
    assert "smallest limit that would do is" in answer.err
    assert "'salary-class'" in answer.err
    assert not (tmp_path / "o.csv").exists()


def test_suppressed_records_are_released_as_the_root_only_when_they_are_enough(
    run: Any, tmp_path: Path
) -> None:
    rows = ["a"] * 20 + ["b"] * 20 + ["c"] * 2
    pl.DataFrame({"x": rows, "y": ["1"] * 42}).write_csv(tmp_path / "t.csv")
    flags = ["--qi", "x,y", "--categorical", "x,y", "-k", "3", "--method", "flash",
             "--suppression-limit", "0.1", "--suppressed", "star", "--json",
             "--out", tmp_path / "o.csv"]  # fmt: skip
    found = json.loads(run("anonymize", tmp_path / "t.csv", *flags).out)
    assert found["released"] == 40
    assert any("removed instead" in notice for notice in found["notices"])
    flags[flags.index("3")] = "2"
    pl.DataFrame({"x": [*rows, "d", "e"], "y": ["1"] * 44}).write_csv(tmp_path / "t.csv")
    found = json.loads(run("anonymize", tmp_path / "t.csv", *flags).out)
    assert (found["released"], found["suppressed"]) == (44, 2)
    assert pl.read_csv(tmp_path / "o.csv").filter(pl.col("x") == "*").height == 2


@pytest.mark.parametrize(
    "flags",
    [
        ["--method", "flash", "--utility", "nonsense"],
        ["--method", "mondrian", "--utility", "loss"],
        ["--method", "flash", "--aggregate", "nonsense"],
        ["--method", "mondrian", "--seconds", "5"],
    ],
)
def test_options_that_cannot_be_meant_are_refused(
    run: Any, tmp_path: Path, flags: list[str]
) -> None:
    pl.DataFrame({"x": ["a"] * 9}).write_csv(tmp_path / "t.csv")
    answer = run("anonymize", tmp_path / "t.csv", "--qi", "x", "-k", 2,
                 "--out", tmp_path / "o.csv", *flags)  # fmt: skip
    assert answer.code == 2
    assert answer.err.count("\n") == 1


def test_explain_says_why(adult: Any, run: Any, tmp_path: Path) -> None:
    arguments = [a for a in asked(adult, tmp_path / "o.csv", "-k", 5) if a != "--json"]
    answer = run(*arguments, "--method", "flash", "--explain")
    assert "no other combination can be lower: proven" in answer.out


def test_parts_are_learned_side_by_side_and_joined(adult: Any, run: Any, tmp_path: Path) -> None:
    more = ("-k", 5, "--suppression-limit", 0.05, "--method", "flash")
    losses = {}
    for how in ("kmeans", "random"):
        coarse = ("--partitions", 8, "--partition-by", how)
        answer = run(*asked(adult, tmp_path / f"{how}.csv", *more, *coarse))
        assert answer.code == 0, answer
        found = json.loads(answer.out)
        assert found["partitions"] == 8
        assert found["privacy"][0]["holds"] is True
        assert found["suppressed"] <= 0.05 * found["records"]
        assert "levels" not in found
        losses[how] = found["utility"]["loss"]
    assert losses["kmeans"] < 0.3 < losses["random"]  # the whole table: 0.2519


def test_a_wrong_way_to_divide_is_refused(adult: Any, run: Any, tmp_path: Path) -> None:
    answer = run(*asked(adult, tmp_path / "o.csv", "-k", 5, "--partitions", 0))
    assert answer.code == 2
    assert "--partitions" in answer.err
    assert not (tmp_path / "o.csv").exists()
