"""Lattice learning through the commands: the optima that ARX finds, too."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.methods.lattice.measures import ALIASES, MEASURES

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


@pytest.fixture
def small(tmp_path: Path) -> list[object]:
    chance = random.Random(5)
    rows = [(f"{chance.randrange(100, 140)}", chance.choice("abcd")) for _ in range(90)]
    pl.DataFrame(rows, schema=["zip", "sex"], orient="row").write_csv(tmp_path / "t.csv")
    quasi: dict[str, Any] = {"role": "quasi", "kind": "categorical"}
    columns = {"zip": {**quasi, "hierarchy": {"mask": {}}}, "sex": quasi}
    schema = {"columns": columns, "suppression_limit": 0.2}
    (tmp_path / "s.json").write_text(json.dumps(schema))
    return ["anonymize", tmp_path / "t.csv", "--schema", tmp_path / "s.json", "-k", 4,
            "--method", "flash", "--no-attacks"]  # fmt: skip


@pytest.mark.parametrize("name", ["height-utility", "class-entropy"])
def test_what_is_minimized_is_what_is_reported_under_the_same_name(
    small: list[object], run: Any, tmp_path: Path, name: str
) -> None:
    found = json.loads(run(*small, "--utility", name, "--out", tmp_path / "o.csv", "--json").out)
    best = {"height-utility": 2.0, "class-entropy": math.log2(90)}[name]
    assert found["utility_measure"] == name
    assert found["utility"][name] == pytest.approx(best - found["loss"])
    assert found["notices"] == []


@pytest.mark.parametrize(
    ("old", "name", "reported"),
    [("height", "level-sum", "height-utility"),
     ("entropy", "non-uniform-entropy", "class-entropy")],
)  # fmt: skip
def test_the_old_names_of_utilities_are_aliases_that_say_so(
    small: list[object], run: Any, tmp_path: Path, old: str, name: str, reported: str
) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    first = json.loads(run(*small, "--utility", old, "--out", one, "--json").out)
    second = json.loads(run(*small, "--utility", name, "--out", two, "--json").out)
    assert one.read_bytes() == two.read_bytes()
    assert first["utility_measure"] == second["utility_measure"] == name
    assert second["notices"] == []
    assert len(first["notices"]) == 1
    assert name in first["notices"][0]
    assert reported in first["notices"][0]
    assert first["utility"][old] == first["utility"][reported]
    text = run(*small, "--utility", old, "--out", one, "--report", tmp_path / "r.html").out
    assert f"search      {name} " in text
    page = (tmp_path / "r.html").read_text()
    assert f"<td>{reported}</td>" in page
    assert f"<td>{old}</td>" not in page


def test_the_help_names_every_utility(run: Any) -> None:
    words = "".join(run("anonymize", "--help").out.split())  # long names are broken
    for name in (*MEASURES, *ALIASES):
        assert name in words
