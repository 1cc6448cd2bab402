"""Risk in linked tables, from counts of persons."""

import numpy as np

from shoal.measures.risk.linked import LinkedRisk, RowRisk
from shoal.measures.risk.trajectories import TrajectoryRisk


def risk_of(sizes, rarest):
    whole = TrajectoryRisk.of(np.array(sizes))
    rows = {"patients": RowRisk.of(sum(sizes), np.array(rarest, dtype=np.int64))}
    return LinkedRisk(records=9, whole=whole, tables=rows, columns={"patients.zip": 0.25})


def test_persons_are_counted_by_the_rarest_tuple_of_theirs():
    found = risk_of([1, 2], [1, 2, 2]).tables["patients"]
    assert (found.persons, found.unique, found.smallest) == (3, 1, 1)
    assert found.below == {"2": 1, "3": 3, "5": 3, "10": 3}


def test_a_table_without_a_row_finds_nobody():
    found = risk_of([2], []).tables["patients"]
    assert (found.persons, found.smallest, found.average) == (0, 0, 0.0)


def test_a_gate_looks_at_all_rows_together():
    found = risk_of([2, 4], [6] * 6)
    assert found.within(0.5)
    assert not found.within(0.4)
    assert found.within(0.34, measure="average")


def test_the_document_has_the_fields_of_every_risk():
    document = risk_of([1, 3], [4] * 4).to_document()
    assert document["expected_reidentifications"] == 2.0
    assert document["global_risk"] == 0.5
    assert document["prosecutor"] == {"maximum": 1.0, "average": 0.5}
    assert document["columns"] == {"patients.zip": {"contribution": 0.25}}
    assert document["tables"]["patients"]["below"]["5"] == 4


def test_lines_name_columns_by_what_they_tell():
    assert risk_of([1], [1]).lines()[-1] == "  without       patients.zip: 25.0% less"
