from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import ADULT_QUASI
from tests.table.test_rounding import CITIES, SCHEMA, recoded

from shoal import api
from shoal.measures.printed import Printed, printed_values
from shoal.schema.schema import Labels
from shoal.table.rounding import rounded


def counted(recoding):
    """Count by the definitions, class by class, from labels and values alone."""
    ends = of_one = tuples = nodes = 0
    labels = list(zip(recoding.labels(0), recoding.labels(1), strict=True))
    for number, (age, place) in enumerate(labels):
        rows = recoding.row[recoding.label == number]
        values = [tuple(row) for row in recoding.table.codes[rows].tolist()]
        if age.startswith("["):
            low, high = age[1:-1].split(", ")
            times = Counter(str(code) for code, _ in values)
            ends += 2
            of_one += (times[low] == 1) + (times[high] == 1)
            tuples += 2 if place in CITIES else 0
        nodes += place in ("coast", "south")  # nothing stands above the root
    return ends, of_one, tuples, nodes


@settings(deadline=None, max_examples=60)
@given(
    rows=st.lists(st.tuples(st.integers(0, 59), st.integers(0, 7)), min_size=1, max_size=40),
    label=st.lists(st.integers(0, 6), min_size=1, max_size=40),
)
def test_what_labels_print_is_counted_by_the_definition(rows, label):
    tight = recoded(rows, label)
    found = printed_values(tight, Labels.TIGHT)
    # A class that is recoded joins equal rows, so each row here is one record or several.
    ends, _, tuples, nodes = counted(tight)
    assert (found.ends, found.tuples, found.nodes) == (ends, tuples, nodes)
    if (tight.count == 1).all():
        assert found.ends_of_one == counted(tight)[1]
    after = printed_values(rounded(tight, SCHEMA), Labels.ROUND)
    assert after == Printed(labels=Labels.ROUND, ends=0, ends_of_one=0, tuples=0, nodes=0)


def test_without_the_tuples_of_a_class_nobody_knows_who_holds_an_end():
    tight = recoded([(21, 0), (24, 0)], [0])
    found = printed_values(tight, Labels.TIGHT, has_members=False)
    assert found.to_document() == {
        "labels": "tight", "ends": 2, "ends_of_one": None, "tuples": 2, "nodes": 0,
    }  # fmt: skip


def test_the_figures_of_adult(adult):
    tight, round_ = (
        api.anonymize(
            adult.table, qi=ADULT_QUASI.split(","), separator=";",
            hierarchies=adult.hierarchies, k=5, method="bestcut", labels=labels, attacks=False,
        ).report
        for labels in ("tight", "round")
    )  # fmt: skip
    assert tight.facts["printed"] == {
        "labels": "tight", "ends": 7044, "ends_of_one": 4474, "tuples": 3760, "nodes": 68,
    }  # fmt: skip
    assert round_.facts["printed"] == {
        "labels": "round", "ends": 0, "ends_of_one": 0, "tuples": 0, "nodes": 0,
    }  # fmt: skip
    assert tight.utility["ncp"] < round_.utility["ncp"] <= 1.1 * tight.utility["ncp"]
