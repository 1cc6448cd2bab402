"""Several releases of one table, judged together by code that shares nothing with shoal."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest
from tests.jobs.test_compose import classes_in
from tests.naive.release import broken

import shoal
from shoal import api
from shoal.core.errors import NoSolutionError, UnsafeReleaseError
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("class files keep the order of the input")

SCHEMA = Schema.from_document(
    {
        "columns": {
            "age": {"role": "quasi", "kind": "numeric"},
            "zip": {"role": "quasi", "kind": "categorical", "hierarchy": {"mask": {}}},
            "sex": {"role": "quasi", "kind": "categorical"},
            "illness": "sensitive",
        }
    }
)
PROMISES = {
    "k": [shoal.KAnonymity(2)],
    "l": [shoal.KAnonymity(2), shoal.LDiversity(2, column="illness")],
    "entropy l": [shoal.LDiversity(1.3, kind="entropy", column="illness")],
    "t": [shoal.KAnonymity(2), shoal.TCloseness(0.6, column="illness")],
    "alpha": [shoal.AlphaKAnonymity(0.8, 2, column="illness")],
}
STRICTER = {
    "k": [shoal.KAnonymity(5)],
    "l": [shoal.KAnonymity(4), shoal.LDiversity(3, column="illness")],
    "entropy l": [shoal.LDiversity(2.0, kind="entropy", column="illness")],
    "t": [shoal.KAnonymity(4), shoal.TCloseness(0.4, column="illness")],
    "alpha": [shoal.AlphaKAnonymity(0.6, 3, column="illness")],
}
METHODS = ("bestcut", "mondrian", "kmember", "oka")


def dirty_table(chance: random.Random) -> pl.DataFrame:
    """Return a table with missing values, odd texts and equal records."""
    records = chance.randrange(14, 60)
    zips = [f"{a}{b}" for a in "12" for b in "345"]
    ills = ["flu", "cold", "gout", "ästhma", ""]
    frame = pl.DataFrame(
        {
            "age": [chance.choice([None, *range(20, 60)]) for _ in range(records)],
            "zip": chance.choices([*zips, None], k=records),
            "sex": chance.choices(["f", "m", "-", None], [5, 5, 1, 1], k=records),
            "illness": chance.choices(ills, [4, 3, 2, 1, 1], k=records),
        }
    )
    return pl.concat([frame, frame.head(chance.randrange(6))])


def released(
    frame: pl.DataFrame, folder: Path, name: str, promise: list[shoal.Promise], **words: object
) -> list[int]:
    """Release; return the class of each record."""
    place = folder / f"{name}.classes.csv"
    api.anonymize(frame, SCHEMA, privacy=promise, class_file=place, **words)
    return classes_in(place)


def broken_together(
    frame: pl.DataFrame, classes: list[list[int]], promise: list[shoal.Promise]
) -> int:
    """Count the records whose cell of the meet breaks a promise."""
    rows = [
        {**row, "cell": repr(cell)}
        for row, *cell in zip(
            frame.with_columns(pl.all().cast(pl.String)).to_dicts(), *classes, strict=True
        )
    ]
    documents = [each.to_document() for each in promise]
    return broken(rows, ["cell"], documents, columns={"illness": {"kind": "categorical"}})


def seeds(most: int) -> list[int]:
    return list(range(most))


@pytest.mark.sampled
@pytest.mark.parametrize("name", PROMISES)
@pytest.mark.parametrize("seed", seeds(12))
def test_nested_releases_keep_together_what_the_finer_one_keeps(tmp_path, name, seed):
    chance = random.Random(f"{name} {seed}")
    frame, method = dirty_table(chance), chance.choice(METHODS)
    order = [("weak", PROMISES[name]), ("strict", STRICTER[name])]
    chance.shuffle(order)
    (first, one), (second, two) = order
    try:
        labels = chance.choice(["round", "tight"])
        classes = [released(frame, tmp_path, first, one, method=method, labels=labels)]
        words = {
            "method": chance.choice(METHODS), "nested_in": tmp_path / f"{first}.classes.csv",
            "labels": chance.choice(["round", "tight"]),
        }  # fmt: skip
        classes.append(released(frame, tmp_path, second, two, **words))
    except NoSolutionError:  # not even the whole table keeps the stricter promise
        return
    assert broken_together(frame, classes, PROMISES[name]) == 0
    assert broken_together(frame, [classes[order.index(order[0])]], one) == 0
    assert broken_together(frame, [classes[1]], two) == 0


@pytest.mark.sampled
@pytest.mark.parametrize("name", PROMISES)
@pytest.mark.parametrize("seed", seeds(6))
def test_a_ledger_refuses_what_breaks_the_promise_and_nothing_else(tmp_path, name, seed):
    chance = random.Random(f"ledger {name} {seed}")
    frame, promise = dirty_table(chance), PROMISES[name]
    ledger = tmp_path / "l.db"
    out: list[list[int]] = []
    for number in range(4):
        words = {"method": chance.choice(METHODS), "seed": number}
        try:
            planned = released(frame, tmp_path, f"plan{number}", promise, **words)
        except NoSolutionError:
            return
        wrong = broken_together(frame, [*out, planned], promise)
        if wrong:
            with pytest.raises(UnsafeReleaseError, match="gives away what no release gives away"):
                released(frame, tmp_path, f"r{number}", promise, ledger=ledger, **words)
            assert not (tmp_path / f"r{number}.classes.csv").exists()
        else:
            out.append(released(frame, tmp_path, f"r{number}", promise, ledger=ledger, **words))
    assert [each.number for each in shoal_releases(ledger)] == list(range(1, len(out) + 1))


def shoal_releases(ledger: Path) -> list[object]:
    from shoal.jobs.ledger import releases

    return list(releases(ledger))


@pytest.mark.parametrize("seed", seeds(6))
def test_views_of_views_stay_safe_and_the_ledger_lets_them_through(tmp_path, seed):
    chance = random.Random(f"chain {seed}")
    frame, ledger = dirty_table(chance), tmp_path / "l.db"
    out = []
    for number, k in enumerate((2, 3, 6, 9)):
        nested = {} if not out else {"nested_in": str(number)}
        words = {"method": chance.choice(METHODS), "ledger": ledger, **nested}
        out.append(released(frame, tmp_path, str(number), [shoal.KAnonymity(k)], **words))
    assert broken_together(frame, out, [shoal.KAnonymity(2)]) == 0


def test_two_releases_at_once_do_not_both_pass(tmp_path):
    """The ledger is locked from the judgement to the entry: the second sees the first."""
    from concurrent.futures import ThreadPoolExecutor

    chance = random.Random(5)
    frame = pl.concat([dirty_table(chance) for _ in range(3)])
    ledger = tmp_path / "l.db"

    def one(method: str) -> bool:
        try:
            released(frame, tmp_path, method, PROMISES["k"], ledger=ledger, method=method)
        except UnsafeReleaseError:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        passed = list(pool.map(one, ["bestcut", "oka"]))
    assert sorted(passed) == [False, True]
    assert len(shoal_releases(ledger)) == 1
