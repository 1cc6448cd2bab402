"""The encoder of CPython releases what the plain one does, whatever it remembers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.made import document, models_and_tuples, numeric

from shoal.edge import fast as module
from shoal.edge.fast import FastEncoder
from shoal.model import cell_index as index
from shoal.model.column import Rejected
from shoal.model.runtime import Encoder


def released_or_why(encoder, record):
    """Return what is released, or why it is not."""
    try:
        return encoder.encode(record)
    except Rejected as problem:
        return str(problem)


@settings(max_examples=120, deadline=None)
@given(
    models_and_tuples(), st.sampled_from(["suppress", "nearest", "error"]),
    st.sampled_from(["star", "remove"]), st.sampled_from(["drop", "keep", "fault"]), st.booleans(),
)  # fmt: skip
def test_it_releases_what_the_plain_encoder_does(case, on_unseen, suppressed, others, more):
    made, tuples = case
    made["schema"]["others"] = others
    made["released"] = ["note", *made["released"]]
    quick, plain = FastEncoder(made, on_unseen, suppressed), Encoder(made, on_unseen, suppressed)
    for values in [*tuples, *tuples]:
        record = dict(zip(plain.names, values, strict=True))
        record |= {"note": 1, "b": 2, "a": 3} if more else {}
        found, wanted = released_or_why(quick, record), released_or_why(plain, record)
        assert found == wanted
        assert isinstance(wanted, str | None) or list(found) == list(wanted)


def test_it_forgets_when_it_has_met_too_much(monkeypatch):
    monkeypatch.setattr(module, "MOST_TEMPLATES", 4)
    monkeypatch.setattr(index, "MEMO", 4)
    cells = [{"low": str(i), "high": str(i)} for i in range(20)]
    quick = FastEncoder(document([numeric(*cells)], [[i] for i in range(20)]))
    for i in [*range(20), *range(20)]:
        assert quick.encode({"x": str(i)}) == {"x": str(i)}
        assert len(quick.index.columns[0].memo) <= 4
        assert len(quick.templates) <= 4


def test_a_template_is_never_handed_out_itself():
    quick = FastEncoder(document([numeric({"any": "*"})], [[0]]))
    first = quick.encode({"x": 1})
    first["x"] = "spoilt"
    assert quick.encode({"x": 1}) == {"x": "*"}


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({"y": "Alice"}, "a quasi-identifier is not there"),
        ({"x": ["Alice"]}, "a list or an object"),
        ({"x": {"Alice": 1}}, "a list or an object"),
    ],
)
def test_what_is_no_record_is_rejected_without_its_values(record, problem):
    one, two = numeric({"any": "*"}), {**numeric({"any": "*"}), "name": "x2"}
    for columns in ([one], [one, two]):
        quick = FastEncoder(document(columns, [[0] * len(columns)]))
        with pytest.raises(Rejected, match=problem) as caught:
            quick.encode({"x2": 1, **record})
        assert "Alice" not in str(caught.value)


def test_one_and_true_and_one_point_zero_are_not_mixed_up():
    quick = FastEncoder(document([numeric({"low": "1", "high": "1"})], [[0]]))
    for value, label in ((1, "1"), (True, "*"), (1.0, "1"), ("1", "1"), ("true", "*")):
        assert quick.encode({"x": value}) == {"x": label}
