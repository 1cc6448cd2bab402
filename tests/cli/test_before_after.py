"""`anonymize` compares every risk of the table and of its release."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytestmark = pytest.mark.local("attacks and the comparison of risks after a release")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    chance = random.Random(8)
    rows = 300
    pl.DataFrame(
        {
            "age": [chance.randint(18, 80) for _ in range(rows)],
            "sex": [chance.choice("fm") for _ in range(rows)],
            "ill": [chance.choice(["flu", "cold", "rash"]) for _ in range(rows)],
            "home": [i // 3 for i in range(rows)],
            "weight": [chance.choice([5.0, 10.0]) for _ in range(rows)],
        }
    ).write_csv(tmp_path / "t.csv")
    return tmp_path / "t.csv"


def asked(table: Path, *more: object) -> list[object]:
    return ["anonymize", table, "--qi", "age,sex", "--sensitive", "ill", "-k", 5,
            "--out", table.with_name("o.csv"), *more]  # fmt: skip


def test_everything_stands_side_by_side(run: Any, table: Path) -> None:
    more = ("--neutral", "home", "--household", "home", "--sampling-fraction", 0.1, "--attacks")
    answer = run(*asked(table, *more, "--json"))
    assert answer.code == 0, answer
    risk = json.loads(answer.out)["risk"]
    before, after = risk["before"], risk["after"]
    assert after["smallest_class"] >= 5
    for path in (("prosecutor", "maximum"), ("journalist", "average"), ("individual", "maximum"),
                 ("household", "maximum"), ("marketer", "average")):  # fmt: skip
        assert after[path[0]][path[1]] < before[path[0]][path[1]], path
    assert before["special_uniques"]["records"] > 0 == after["special_uniques"]["records"]
    assert after["below"]["5"] == 0 < before["below"]["5"]


def test_a_person_reads_it_too(run: Any, table: Path) -> None:
    answer = run(*asked(table, "--neutral", "home", "--household", "home"))
    assert answer.code == 0, answer
    for words in ("prosecutor, highest", "individual, average", "household, highest"):
        assert words in answer.out
    assert "special uniques" not in answer.out  # only with --attacks
    assert "journalist" not in answer.out  # nothing is known of a population


def test_what_was_not_released_cannot_be_used_against_it(run: Any, table: Path) -> None:
    answer = run(*asked(table, "--household", "home", "--json"))
    assert answer.code == 0, answer
    risk = json.loads(answer.out)["risk"]
    assert risk["before"]["household"]["maximum"] > 0
    assert risk["after"]["household"] is None


def test_nobody_looks_when_nobody_asks(run: Any, table: Path) -> None:
    answer = run(*asked(table, "--no-attacks", "--json"))
    assert json.loads(answer.out)["risk"] is None


def test_a_population_is_compared_with_the_released_labels(
    run: Any, table: Path, tmp_path: Path
) -> None:
    sample = pl.read_csv(table)
    everybody = pl.concat([sample.select("age", "sex")] * 4)
    everybody.write_csv(tmp_path / "all.csv")
    answer = run(*asked(table, "--population", tmp_path / "all.csv", "--json"))
    assert answer.code == 0, answer
    risk = json.loads(answer.out)["risk"]
    sizes = sample.group_by("age", "sex").len()["len"]
    assert risk["before"]["population"]["smallest_class"] == 4 * sizes.min()
    release = pl.read_csv(tmp_path / "o.csv", infer_schema=False)
    least = None
    for age, sex in release.select("age", "sex").unique().rows():
        low, _, high = age.partition("–")
        fits = pl.col("age").is_between(int(low), int(high or low))
        if sex != "*":
            fits &= pl.col("sex") == sex
        people = everybody.filter(fits).height
        least = people if least is None else min(least, people)
    assert risk["after"]["population"]["smallest_class"] == least
    assert risk["after"]["journalist"]["maximum"] < risk["before"]["journalist"]["maximum"]
    assert risk["after"]["journalist"]["maximum"] == pytest.approx(1 / least)


@pytest.mark.parametrize(
    "more",
    [
        ("--household", "nobody"),
        ("--weights", "nobody"),
        ("--population", "nowhere.csv"),
        ("--sampling-fraction", 2),
        ("--sampling-fraction", 0.5, "--weights", "weight"),
        ("--household", "home", "--no-attacks"),
        ("--household", "home", "--method", "xk"),
        ("--partitions", 2, "--method", "xk"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_before_anything_is_written(
    run: Any, table: Path, more: tuple[object, ...]
) -> None:
    answer = run(*asked(table, *more))
    assert answer.code == 2, answer
    assert answer.err.count("\n") == 1
    assert not table.with_name("o.csv").exists()
