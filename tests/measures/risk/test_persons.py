"""Classes whose records belong to few people."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.measures.risk.persons import Repeats, asked_k, with_warnings
from shoal.privacy import KAnonymity, LDiversity
from shoal.reports.release import Verification

VERDICT = Verification(
    records=9, classes=2, smallest_class=4, violating_records=0, privacy=(),
    warnings=("its own",),
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), max_size=10), st.integers(1, 6))
def test_classes_with_few_people_against_a_count_by_hand(pairs, k):
    sizes = np.array([size for size, _ in pairs], dtype=np.int64)
    people = np.array([number for _, number in pairs], dtype=np.int64)
    found = Repeats.of("patient", (5, 9), k, sizes, people)
    few = [size for size, number in pairs if number < k]
    assert (found.classes, found.class_records) == (len(few), sum(few))
    assert found.single == sum(number <= 1 for _, number in pairs)
    counted = (found.classes, found.class_records, found.single)
    assert found == Repeats.counted("patient", (5, 9), k, counted)


def test_the_sentence_and_the_document_hold_the_same_numbers():
    found = Repeats.counted("patient", (1500, 9000), 5, (12, 3400, 2))
    assert found.to_document() == {
        "column": "patient", "values": 1500, "records": 9000, "k": 5,
        "classes": 12, "class_records": 3400, "single": 2,
    }  # fmt: skip
    assert found.text == (
        "k counts records, not people: 'patient' repeats (1,500 values on 9,000 records), and 12 "
        "classes (3,400 records) belong to fewer than 5 of its values, 2 to a single one"
    )


def test_a_verdict_says_people_first_then_the_table_then_its_own():
    found = Repeats.counted("patient", (5, 9), 5, (1, 4, 0))
    done = with_warnings(VERDICT, found, ["of the table"])
    assert done.warnings == (found.text, "of the table", "its own")
    assert done.repeats == found.to_document()
    assert done.holds is VERDICT.holds


def test_nothing_is_added_where_nobody_repeats():
    assert with_warnings(VERDICT, None, ()) == VERDICT


def test_the_largest_k_of_the_promises():
    assert asked_k([LDiversity(2, column="dx"), KAnonymity(3), KAnonymity(7)]) == 7
    assert asked_k([]) == 2
    assert asked_k([LDiversity(2, column="dx")], default=5) == 5
