"""Risk of sets: counted from the least support of each record."""

from __future__ import annotations

import numpy as np

from shoal.measures.risk.sets import Known, SetRisk
from shoal.table.baskets import Baskets


def test_records_are_counted_by_their_rarest_items():
    found = Known.of(np.array([1, 2, 4, 4]))
    assert (found.unique, found.maximum, found.average) == (1, 1.0, 0.5)
    assert found.below == {"2": 1, "3": 2, "5": 4, "10": 4}


def test_the_findings_are_a_document_and_lines():
    table = Baskets.of([["a"], ["a", "b"]])
    risk = SetRisk.of(table, 1, {1: np.array([2, 1]), None: np.array([2, 1])})
    document = risk.to_document()
    assert document["prosecutor"] == {"maximum": 1.0, "average": 0.75}
    assert document["expected_reidentifications"] == 1.5
    assert set(document["sets"]) == {"1", "all"}
    assert risk.lines()[0] == "2 records hold 2 items, 3 times in all"
    assert "1 item known" in risk.lines()[1]
    assert risk.within(1.0)
    assert not risk.within(0.7, measure="average")
