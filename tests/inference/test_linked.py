"""Which column is a key, which repeats it, and which table is the persons'."""

import pytest

from shoal.inference.column import ColumnFacts
from shoal.inference.linked import Link, links_of


def facts(name, values, form="text"):
    known = [value for value in values if value]
    return ColumnFacts(
        name=name, records=len(values), missing=len(values) - len(known), distinct=len(set(known)),
        commonest=max(map(known.count, known), default=0), sample=tuple(sorted(set(known))),
        form=form,
    )  # fmt: skip


def found(**tables):
    columns = {t: [facts(n, v) for n, v in own.items()] for t, own in tables.items()}
    return links_of(columns, lambda t, c, p, key: {*tables[t][c]} <= {*tables[p][key]})


PATIENTS = {"patient_id": ["p1", "p2", "p3"], "sex": ["f", "m", "f"]}
STAYS = {"stay_id": ["s1", "s2", "s3"], "patient_id": ["p1", "p1", "p2"]}
DRUGS = {"stay_id": ["s1", "s1", "s3"], "patient_id": ["p1", "p1", "p2"], "drug": ["a", "b", "a"]}


def test_the_nearest_table_is_the_parent_and_other_keys_are_named():
    links = found(drugs=DRUGS, stays=STAYS, patients=PATIENTS)
    assert links.root == "patients"
    assert links.keys == {"patients": "patient_id", "stays": "stay_id"}
    assert links.parents == {
        "stays": Link(parent="patients", foreign_key="patient_id"),
        "drugs": Link(parent="stays", foreign_key="stay_id"),
    }
    assert links.others["drugs"] == ("patient_id",)
    assert links.apart == ()


def test_an_id_is_named_by_its_table():
    links = found(patients={"id": ["1", "2"]}, visits={"id": ["1", "2"], "patient_id": ["2", "1"]})
    assert links.root == "patients"
    assert links.parents == {"visits": Link(parent="patients", foreign_key="patient_id")}


def test_a_column_with_a_value_that_no_key_has_hangs_on_nothing():
    stays = {**STAYS, "patient_id": ["p1", "p9", "p2"]}
    assert found(patients=PATIENTS, stays=stays) is None
    assert found(patients=PATIENTS, stays={**STAYS, "patient_id": ["p1", "", "p2"]}) is None


def test_a_key_that_repeats_or_is_missing_is_none():
    twice = {"patient_id": ["p1", "p1", "p2"]}
    assert found(patients=twice, stays=STAYS) is None


def test_tables_with_a_row_for_each_others_hang_on_the_one_that_the_key_names():
    links = found(details={"patient_id": ["p3", "p1", "p2"]}, patients=PATIENTS)
    assert links.root == "patients"
    assert links.parents == {"details": Link(parent="patients", foreign_key="patient_id")}


def test_a_table_that_hangs_on_nothing_is_apart():
    links = found(patients=PATIENTS, stays=STAYS, wards={"ward": ["A", "B"]})
    assert links.apart == ("wards",)


@pytest.mark.parametrize("header", ["patient_id", "PatientID", "patient id"])
def test_headers_are_compared_by_their_words(header):
    stays = {"stay_id": ["s1", "s2"], header: ["p1", "p2"]}
    assert found(patients=PATIENTS, stays=stays).parents["stays"].foreign_key == header


def test_a_circle_of_tables_has_no_persons():
    links = found(
        a={"a_id": ["1", "2"], "b_id": ["1", "2"]},
        b={"b_id": ["1", "2"], "c_id": ["1", "2"]},
        c={"c_id": ["1", "2"], "a_id": ["1", "2"]},
    )
    assert links is None
