"""What values say of a target, and the order that this gives."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.engines.open_job import open_job

from shoal.core.errors import MethodError
from shoal.privacy import KAnonymity
from shoal.schema.schema import Schema
from shoal.table.target_order import groups_of, rates_of, target_orders

RECORDS = (
    [("a", 1, "no")] * 9 + [("a", 2, "yes")] + [("b", 2, "no")] * 2 + [("b", 3, "yes")] * 8
    + [("c", 9, "yes")] * 5 + [("c", 9, "no")] * 5 + [("z", 5, "yes")] + [("y", 5, "no")]
)  # fmt: skip


def table(records=RECORDS, target="sensitive", **kinds):
    frame = pl.DataFrame(records, schema=["place", "age", "paid"], orient="row")
    columns = {"place": "quasi", "age": "quasi", "paid": {"role": target, **kinds}}
    schema = Schema.from_document({"columns": columns, "target": "paid"})
    return open_job(frame, schema, (KAnonymity(1),), infer=False).counts.table


def test_values_stand_in_the_order_of_what_they_say():
    found = target_orders(table(), "paid", k=1)
    assert list(found) == ["place"]  # numbers have an order
    assert found["place"] == ("a", "y", "c", "z", "b")


def test_values_of_few_people_say_nothing_by_themselves():
    found = target_orders(table(), "paid", k=2)["place"]
    at = {text: i for i, text in enumerate(found)}
    assert at["z"] == at["y"] + 1  # side by side, by their texts
    assert at["a"] < at["y"] < at["b"]


def test_numbers_stand_on_their_line_and_categories_by_their_rate():
    known = table()
    groups = groups_of(known, 0)
    ages = rates_of(known, 1, groups)
    assert ages.tolist() == pytest.approx([0, 1 / 8, 2 / 8, 4 / 8, 1])
    places = rates_of(known, 0, groups)
    assert (places.min(), places.max()) == (0, 1)
    assert places[known.domains[0].labels.index("a")] == 0


def test_a_target_on_a_line_is_parted_and_categories_are_not():
    values = [("a", 1, n) for n in range(100)]
    groups = groups_of(table(values, kind="numeric"), 0)
    assert np.bincount(groups).tolist() == [13, 12, 13, 12, 13, 12, 13, 12]
    words = [("a", 1, f"w{n}") for n in range(21)]
    with pytest.raises(MethodError, match="has 21 values"):
        groups_of(table(words), 0)
