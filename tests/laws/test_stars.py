"""Suppressed records as the root: a class like any other, judged by the whole promise."""

from __future__ import annotations

import random

import polars as pl
import pytest

import shoal
from shoal import api
from shoal.core.errors import NoSolutionError
from shoal.schema.schema import Schema

SCHEMA = Schema.from_document(
    {
        "columns": {
            "zip": {"role": "quasi", "kind": "categorical", "hierarchy": {"mask": {}}},
            "sex": {"role": "quasi", "kind": "categorical"},
            "illness": "sensitive",
        },
        "suppression_limit": 0.5,
    }
)
PROMISES = {
    "k": [shoal.KAnonymity(3)],
    "l": [shoal.KAnonymity(2), shoal.LDiversity(2)],
    "entropy l": [shoal.KAnonymity(2), shoal.LDiversity(1.5, kind="entropy")],
    "t": [shoal.KAnonymity(2), shoal.TCloseness(0.4)],
    "alpha": [shoal.KAnonymity(2), shoal.AlphaKAnonymity(0.7, 2)],
    "l and t": [shoal.KAnonymity(2), shoal.LDiversity(2), shoal.TCloseness(0.35)],
}


def table(rng: random.Random) -> pl.DataFrame:
    records = rng.randrange(12, 60)
    zips = [f"{a}{b}" for a in "12" for b in "345"]
    odds = [rng.random() ** 2 for _ in zips]
    return pl.DataFrame(
        {
            "zip": rng.choices(zips, odds, k=records),
            "sex": rng.choices(["f", "m", None], [5, 5, rng.choice([0, 1])], k=records),
            "illness": rng.choices(["flu", "cold", "gout", "asthma"], [4, 3, 2, 1], k=records),
        }
    )


def released(frame: pl.DataFrame, promise: str, how: str) -> api.Release | None:
    options = {"method": "flash", "suppressed": how}
    try:
        return api.anonymize(frame, SCHEMA, privacy=PROMISES[promise], **options)
    except NoSolutionError:
        return None


@pytest.mark.sampled
@pytest.mark.parametrize("promise", PROMISES)
def test_stars_are_judged_by_the_whole_promise_and_never_refuse_what_removal_releases(promise):
    rng = random.Random(promise)
    starred = removed = 0
    for _ in range(60):
        frame = table(rng)
        plain, stars = released(frame, promise, "remove"), released(frame, promise, "star")
        assert (plain is None) == (stars is None)
        if plain is None or stars is None or not plain.report.suppressed:
            continue
        verified = api.verify(stars.table, SCHEMA, privacy=PROMISES[promise])
        assert verified.holds
        if stars.table.height == frame.height:
            starred += 1
            assert not stars.report.notices
            continue
        removed += 1
        assert stars.table.equals(plain.table)
        assert any("removed instead" in notice for notice in stars.report.notices)
        lost = f"{plain.report.suppressed} suppressed records, released as *, would break"
        assert stars.report.notices[0].startswith(lost)
    assert starred
    assert removed
