"""Laws of tables in which a person has several records: the judge and its naive twin agree."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import persons as naive

from shoal import api
from shoal.core.errors import InputError
from shoal.privacy import from_document
from shoal.schema.schema import Schema

PROMISES = [
    {"model": "k-anonymity", "k": 2},
    {"model": "k-anonymity", "k": 3},
    {"model": "l-diversity", "l": 2, "column": "s"},
    {"model": "l-diversity", "l": 3, "column": "s"},
    {"model": "l-diversity", "l": 2, "kind": "entropy", "column": "s"},
    {"model": "l-diversity", "l": 2, "kind": "recursive", "c": 2.0, "column": "s"},
    {"model": "(alpha,k)-anonymity", "alpha": 0.6, "k": 2, "column": "s"},
    {"model": "t-closeness", "t": 0.3, "column": "s"},
    {"model": "beta-likeness", "beta": 0.5, "column": "s"},
    {"model": "delta-disclosure", "delta": 1.0, "column": "s"},
]

RECORD = st.tuples(
    st.sampled_from(["1", "2"]),
    st.sampled_from(["a", "b", ""]),
    st.sampled_from(["x", "y", "z", ""]),
    st.sampled_from(["p", "q", "r", "s", "t", " p", "", "?"]),
)


def schema_of(promise):
    columns = {
        "a": {"role": "quasi", "kind": "categorical"},
        "b": {"role": "quasi", "kind": "categorical"},
        "s": {"role": "sensitive", "kind": "categorical"},
        "who": {"role": "person"},
    }
    return Schema.from_document({"columns": columns, "privacy": [promise], "missing": ["?"],
                                  "waive": ["who"]})  # fmt: skip


def person_of(text):
    return None if text.strip() in ("", "?") else text.strip()


@given(records=st.lists(RECORD, min_size=1, max_size=12), promise=st.sampled_from(PROMISES))
@settings(max_examples=300, deadline=None)
def test_verify_agrees_with_the_definitions(records, promise):
    frame = pl.DataFrame(records, schema=["a", "b", "s", "who"], orient="row")
    schema = schema_of(promise)
    people = [person_of(record[3]) for record in records]
    rows = frame.to_dicts()
    classes = naive.classes_of(rows, ["a", "b"], people, "s")
    if not any(people):
        with pytest.raises(InputError, match="no record says who"):
            api.verify(frame, schema)
        return
    found = api.verify(frame, schema)
    wrong = naive.failing(classes, promise)
    assert found.holds == (not wrong)
    assert found.violating_records == sum(len(classes[key]) for key in wrong)
    assert found.persons == len({person for person in people if person})
    sizes = [len({p for p, _ in pairs if p}) for pairs in classes.values()]
    assert found.smallest_class == min(sizes)


def test_a_person_alone_with_ten_values_is_not_diverse():
    frame = pl.DataFrame({"a": ["1"] * 3, "b": ["x"] * 3, "s": ["u", "v", "w"], "who": ["p"] * 3})
    assert not api.verify(frame, schema_of(PROMISES[2])).holds


def test_every_promise_of_the_package_says_what_persons_do_to_it():
    for document in PROMISES:
        assert from_document(document).monotone_with_persons == (
            document["model"] == "k-anonymity" or (document.get("kind", "distinct") == "distinct"
            and document["model"] == "l-diversity")
        )  # fmt: skip
