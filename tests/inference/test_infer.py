"""Inference from counted columns, without any engine."""

import json
from collections import Counter
from dataclasses import dataclass, replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import infer as naive

from shoal.core.errors import InputError, MethodError
from shoal.inference.column import ColumnFacts, identifying_power
from shoal.inference.infer import infer_columns
from shoal.schema.schema import Role


def count(rows, names):
    """Return the facts of columns of text, and what counts their distinct rows."""
    columns = []
    for j, name in enumerate(names):
        sizes = Counter(row[j] for row in rows)
        columns.append(
            ColumnFacts(
                name=name, records=len(rows), missing=0, distinct=len(sizes),
                commonest=max(sizes.values(), default=0), sample=tuple(sorted(sizes)),
                words=float(max((len(value.split()) for value in sizes), default=0)),
                alone=identifying_power(np.array(list(sizes.values()), dtype=np.int64)),
            )
        )  # fmt: skip

    def distinct_rows(chosen):
        places = [names.index(name) for name in chosen]
        counted = Counter(tuple(row[j] for j in places) for row in rows)
        values = [{v: i for i, v in enumerate(sorted({key[j] for key in counted}))}
                  for j in range(len(places))]  # fmt: skip
        codes = [[values[j][v] for j, v in enumerate(key)] for key in counted]
        return np.array(codes, dtype=np.int32), np.array(list(counted.values()), dtype=np.int64)

    return columns, distinct_rows


def infer(rows, names, **more):
    return infer_columns("people.csv", *count(rows, names), **more)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(*[st.sampled_from("abc")] * 3, st.sampled_from("abcdefghij")),
        min_size=1,
        max_size=20,
    ),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_sets_are_those_of_brute_force(rows, threshold):
    found = infer(rows, ["w", "x", "y", "z"], max_size=4, threshold=threshold)
    expected = naive.minimal_sets(rows, max_size=4, threshold=threshold)
    assert sorted(each.columns for each in found.search.sets) == sorted(expected)
    assert found.search.complete
    for each in found.search.sets:
        measured = (each.residual_entropy, each.distinction, each.separation)
        assert measured == pytest.approx(naive.measures(rows, each.columns))


def test_where_every_column_identifies_alone_no_row_is_counted():
    columns, _ = count([("a",), ("b",)], ["x"])

    def nobody(names):
        raise AssertionError(names)

    found = infer_columns("t", columns, nobody)
    assert [each.columns for each in found.search.sets] == [(0,)]


@pytest.mark.parametrize("rows", [[], None])
def test_a_table_without_a_record_or_a_column_is_refused(rows):
    with pytest.raises(InputError, match=r"^people\.csv: the table has a header but no record$"):
        infer(rows or [], ["x"] if rows is not None else [])


def test_limits_that_cannot_be_meant_are_refused():
    with pytest.raises(MethodError, match="max-size"):
        infer([("a",), ("a",)], ["x"], max_size=0)
    with pytest.raises(MethodError, match="threshold"):
        infer([("a",), ("a",)], ["x"], threshold=-1)


ROWS = [
    (f"Qz{i}@example.org", "FM"[i % 2], f"Zq{i % 5}", f"Qzworp {i} walked home with a stick at {i}")
    for i in range(60)
]
NAMES = ["mail", "sex", "zzz", "remark"]


@dataclass
class Read:
    """How a file was read."""

    encoding: str | None = "cp1252"
    skip_lines: int = 2

    def flags(self) -> str:
        return "--encoding cp1252 --skip-lines 2"


def test_the_document_has_every_column_every_set_and_no_value():
    found = infer(ROWS, NAMES, seconds=None)
    document = found.to_document()
    assert list(document["columns"]) == NAMES
    assert document["columns"]["mail"]["role"] == "identifying"
    assert document["columns"]["mail"]["in_sets"] == 1
    assert document["sets"][0]["columns"] == ["mail"]
    assert document["search"]["judged_up_to_size"] == document["search"]["max_size"] == 5
    assert document["input"] == {"encoding": None, "skip_lines": 0}
    texts = (json.dumps(document), repr(found), found.schema_text())
    assert not any(value in text for text in texts for value in ("Qz1", "Qzworp", "Zq1"))


def test_what_a_person_must_look_at_is_said():
    found = infer(ROWS, NAMES)
    free, guess = found.notices()
    assert free == "free text, never released unread: 'remark'"
    assert guess == "no sign says what these are, decide yourself: 'zzz'"
    read = replace(found, read_as=Read(), search=replace(found.search, complete=False, size=1))
    first, *_, last = read.notices()
    assert first.startswith("the file was read with --encoding cp1252 --skip-lines 2")
    assert last == "sets were judged up to 1 columns, then time or memory ran out"
    assert read.to_document()["input"] == {"encoding": "cp1252", "skip_lines": 2}


def test_a_kept_column_that_identifies_alone_is_named():
    rows = [(str(1000 + i), "FM"[i % 2]) for i in range(60)]
    found = infer(rows, ["salary", "sex"])
    assert found.named(Role.SENSITIVE) == ("salary",)
    assert "kept as they are, yet each nearly identifies alone" in "".join(found.notices())


def test_a_schema_and_a_preset_come_out_of_it():
    found = infer(ROWS, NAMES)
    assert found.schema_document()["columns"]["mail"] == {"role": "identifying"}
    preset = found.preset("hipaa-safe-harbor", as_of=date(2024, 6, 30))
    assert list(preset.schema["columns"]) == ["sex", "zzz"]
    with pytest.raises(MethodError, match="no such preset"):
        found.preset("nothing")
