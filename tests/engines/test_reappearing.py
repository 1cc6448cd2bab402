"""Who reappears: members and a control, counted by hand."""

from __future__ import annotations

import polars as pl

from shoal.engines.local.reappearing import Halves
from shoal.engines.local.source import open_source
from shoal.schema.schema import Schema

SCHEMA = Schema.from_document({"columns": {"age": {"role": "quasi", "kind": "numeric"},
                                           "sex": "quasi", "who": "person"}})  # fmt: skip


def halves(**words):
    table = pl.DataFrame(
        {"age": [float(i) for i in range(40)], "sex": ["f", "m"] * 20,
         "who": [i // 4 for i in range(40)]}
    )  # fmt: skip
    return table, Halves.of(open_source(table), SCHEMA, seed=words.get("seed", 0))


def test_all_records_of_a_person_are_in_one_half():
    table, found = halves()
    held = table.with_columns(half=found.is_member).group_by("who").agg(pl.col("half").n_unique())
    assert held["half"].to_list() == [1] * 10
    assert found.members.height == 20
    assert not found.is_member.equals(halves(seed=1)[1].is_member)


def test_matches_are_counted_in_both_halves_and_beside_the_labels():
    table, found = halves()
    drawn = table.select("age", "sex").head(10)  # as the values are: 5.0 is the domain's 5
    labels = pl.DataFrame({"age": ["[0, 19]"] * 5 + ["[20, 39]"] * 5, "sex": ["*"] * 10})
    told = found.reappear(drawn.with_columns(pl.col("age").cast(pl.Int64)), labels)
    inside = int(found.is_member.head(10).sum())
    assert told["members"]["exact_matches"] == inside
    assert told["control"]["exact_matches"] == 10 - inside
    assert told["members"]["unique"] == told["control"]["unique"] == 20
    assert told["members"]["covered_by_labels"] == 1.0
    assert told["members"]["linked_by_labels"] == told["control"]["linked_by_labels"] == 0.2


def test_labels_that_cover_nobody_link_nobody():
    _, found = halves()
    labels = pl.DataFrame({"age": ["[50, 60]"], "sex": ["f"]})
    told = found.reappear(labels, labels)
    assert told["control"]["covered_by_labels"] == told["control"]["linked_by_labels"] == 0.0
