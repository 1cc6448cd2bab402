"""A drawn release is a function of labels, marginals and seed; its columns keep their types."""

from __future__ import annotations

from datetime import date, datetime, time

import polars as pl
import pytest
from tests.engines.open_job import open_job

from shoal.engines.drawing.drawing import DRAWN, Drawer, Drawing, account_of, typed
from shoal.privacy import KAnonymity
from shoal.schema.schema import Schema

PEOPLE = pl.DataFrame(
    {"age": [20, 21, 22, 23, 40, 41, 42, 43] * 5, "sex": ["f", "m"] * 20, "note": ["x", "y"] * 20}
)
SCHEMA = Schema.from_document({"columns": {"age": "quasi", "sex": "quasi", "note": "neutral"}})
LABELS = pl.DataFrame(
    {
        "age": ["[20, 23]"] * 20 + ["[40, 43]"] * 20,
        "sex": ["*"] * 40,
        "note": ["x", "y"] * 20,
    }
)


def drawer(seed=0, **words):
    job = open_job(PEOPLE, SCHEMA, (KAnonymity(3),))
    return Drawer(job.counts.table, job.schema, Drawing(seed=seed, k=3, **words))


def test_recoded_columns_are_drawn_and_others_stay():
    found = drawer().draw(LABELS)
    assert found.frame["note"].to_list() == LABELS["note"].to_list()
    ages = found.frame["age"].cast(pl.Int64).to_list()
    assert all(20 <= age <= 23 for age in ages[:20])
    assert all(age >= 40 for age in ages[20:])
    assert sorted(ages) == sorted(PEOPLE["age"].to_list())  # quotas: nobody is over-drawn
    assert set(found.misfit) == {"age", "sex"}


def test_the_records_of_a_class_do_not_stay_together():
    frame, order = drawer().draw(LABELS).sorted(keep_order=False)
    assert frame["age"].to_list() == sorted(frame["age"].to_list())
    assert sorted(order.tolist()) == list(range(40))
    kept, same = drawer().draw(LABELS).sorted(keep_order=True)
    assert same.tolist() == list(range(40))
    assert frame.equals(kept[order])


def test_noise_is_added_to_the_marginals_alone():
    asked = []

    def noise(records):
        asked.append(sum(records))
        return [1 for _ in records]

    found = drawer(noise=noise)
    assert account_of(found, found.draw(LABELS), fidelity=False)["exact_marginals"] is False
    assert asked == [40, 40]


def test_the_account_says_first_that_values_are_drawn():
    about = drawer()
    found = account_of(about, about.draw(LABELS), fidelity=True)
    assert next(iter(found.items())) == ("note", DRAWN)
    assert found["fidelity"]["k_marginal"] == pytest.approx(500)  # age says sex: draws forget it
    assert 0 < found["marginals_alone"] <= 1000


def test_drawn_texts_become_what_the_columns_were():
    texts = pl.DataFrame(
        {
            "whole": ["3", None],
            "real": ["0.5", "2"],
            "day": ["2020-02-29", None],
            "moment": ["2020-02-29", "2020-02-29 10:30:00"],
            "clock": ["10:30:00", None],
            "truth": ["true", "false"],
            "word": ["a", "b"],
            "german": ["29.02.2020", None],
        }
    )
    kinds = {"whole": pl.Int32(), "real": pl.Float64(), "day": pl.Date(), "moment":
             pl.Datetime("ms"), "clock": pl.Time(), "truth": pl.Boolean(), "word": pl.String(),
             "german": pl.Date()}  # fmt: skip
    found = typed(texts, kinds)
    assert found.row(0) == (
        3, 0.5, date(2020, 2, 29), datetime(2020, 2, 29), time(10, 30), True, "a", "29.02.2020",
    )  # fmt: skip
    assert found.row(1)[3] == datetime(2020, 2, 29, 10, 30)
    assert found.schema["whole"] == pl.Int32
    assert found.schema["german"] == pl.String
