"""Batches of plain records: what is released is safe, what is lost is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.golden.generate import models, table
from tests.naive.release import judged

from shoal import edge
from shoal.core.errors import InputError, PrivacyError, SchemaError
from shoal.edge.batch import encode_safe, metrics, verify
from shoal.model.column import Rejected
from shoal.model.document import fingerprint_of
from shoal.model.model import ModelColumn, RecodingModel
from shoal.privacy import KAnonymity
from shoal.schema.schema import Schema

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
TREE = {"*": {"ab": ["a", "b"], "cd": ["c", "d"]}}


def model(*promise, **changes):
    """Return a model of places and ages: fine classes first, everybody last."""
    schema = Schema.from_document(
        {
            "columns": {
                "place": {"role": "quasi", "hierarchy": {"tree": TREE}},
                "age": {"role": "quasi", "kind": "numeric"},
                "ill": {"role": "sensitive"},
                "name": "identifying",
            },
            "privacy": list(promise or [{"model": "k-anonymity", "k": 2}]),
        }
    )
    places = ({"node": 0}, {"node": 2}, {"node": 5}, {"any": "*"})
    ages = ({"low": "0", "high": "9"}, {"low": "0", "high": "99"}, {"any": "*"})
    return RecodingModel(
        **{
            "method": "made", "schema": schema, "records": 0, "suppressed": 0, "utility": {},
            "columns": (
                ModelColumn(name="place", scale="text", root="*", cells=places),
                ModelColumn(name="age", scale="number", root="*", cells=ages),
            ),
            "regions": ((0, 0), (1, 0), (1, 1), (2, 1), (3, 1)),
            **changes,
        }
    )  # fmt: skip


records = st.lists(
    st.fixed_dictionaries(
        {
            "place": st.sampled_from(["a", "b", "c", "d", "elsewhere", None]),
            "age": st.sampled_from([0, 5, "9", 9.5, 50, "100", None]),
            "ill": st.sampled_from(["flu", "gout", None]),
        }
    ),
    max_size=20,
)
PROMISES = [
    [{"model": "k-anonymity", "k": 3}],
    [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "column": "ill"}],
    [{"model": "t-closeness", "t": 0.3, "column": "ill"}],
]


@settings(max_examples=80, deadline=None)
@given(
    records,
    st.sampled_from(PROMISES),
    st.sampled_from(["remove", "star"]),
    st.sampled_from(["suppress", "nearest"]),
)
def test_what_is_returned_keeps_the_promise_and_the_order(rows, promise, suppressed, on_unseen):
    rows = [{**row, "name": str(i)} for i, row in enumerate(rows)]
    made = model(*promise)
    released, report = encode_safe(rows, made, suppressed=suppressed, on_unseen=on_unseen)
    assert (report.records, report.released) == (len(rows), len(released))
    assert report.released + report.suppressed in (len(rows), len(rows) + report.suppressed)
    assert all(list(row) == ["place", "age", "ill"] for row in released)
    if not released:
        return
    texts = [{name: str(value) for name, value in row.items()} for row in released]
    assert not any(wrong for _, wrong in judged(texts, ("place", "age"), promise, columns={}))
    assert verify(released, made).holds
    kept = iter(rows)  # in order: each released record's illness comes from a later row
    assert all(any(row["ill"] == out["ill"] for row in kept) for out in released)


@settings(max_examples=60, deadline=None)
@given(records.filter(bool), st.sampled_from(PROMISES))
def test_verify_judges_as_the_slow_verifier_does(rows, promise):
    found = verify(rows, model(*promise))
    texts = [
        {name: "" if value is None else str(value) for name, value in row.items()} for row in rows
    ]
    wanted = judged(texts, ("place", "age"), promise, columns={})
    assert [verdict.holds for verdict in found.privacy] == [not wrong for _, wrong in wanted]
    assert [verdict.value for verdict in found.privacy] == [
        pytest.approx(float(value)) for value, _ in wanted
    ]
    groups = {(row["place"], row["age"]) for row in texts}
    assert (found.records, found.classes) == (len(rows), len(groups))


def test_an_empty_batch_and_one_row():
    for promise in PROMISES:
        for suppressed in ("remove", "star"):
            assert encode_safe([], model(*promise), suppressed=suppressed)[0] == []
    released, report = encode_safe([{"place": "a", "age": 1, "ill": "flu"}], model())
    assert (released, report.suppressed) == ([], 1)
    assert (
        encode_safe([{"place": "a", "age": 1, "ill": "flu"}], model(), suppressed="star")[0] == []
    )
    with pytest.raises(Rejected, match="there is no record"):
        verify([], model())
    assert not verify([{"place": "a", "age": 1}], model()).holds


def test_suppressed_records_are_starred_only_where_they_keep_the_promise_together():
    alone = [{"place": p, "age": a, "ill": "flu"} for p, a in (("a", 200), ("elsewhere", 200))]
    released, report = encode_safe(alone, model(), suppressed="star")
    assert released == [{"place": "*", "age": "*", "ill": "flu"}] * 2
    assert (report.suppressed, report.unseen, report.released) == (2, 2, 2)
    assert encode_safe(alone[:1], model(), suppressed="star")[0] == []


def test_equal_values_of_different_types_are_told_apart():
    rows = [{"place": "a", "age": age, "ill": "flu"} for age in (1, True, 1.0, "1")]
    released, report = encode_safe(rows, model({"model": "k-anonymity", "k": 3}))
    assert [row["age"] for row in released] == ["[0, 9]"] * 3  # true is no number
    assert report.unseen == 1


def test_a_promise_may_be_added_and_no_promise_is_refused():
    rows = [{"place": "a", "age": 1, "ill": "flu"}] * 3
    assert len(encode_safe(rows, model())[0]) == 3
    assert encode_safe(rows, model(), privacy=[KAnonymity(4)])[0] == []
    bare = model()
    document = json.loads(bare.to_json())
    document["schema"]["privacy"] = []
    document["fingerprint"] = fingerprint_of(document)
    with pytest.raises(PrivacyError, match="promises nothing"):
        encode_safe(rows, document)


def test_what_cannot_be_encoded_is_rejected_without_its_values():
    for row, problem in (
        ({"place": "a"}, "a quasi-identifier is not there"),
        ({"place": ["Alice"], "age": 1}, "a list or an object"),
        ({"place": "a", "age": 1, "Alice": 1}, "1 columns have no role"),
    ):
        with pytest.raises(Rejected, match=problem) as caught:
            encode_safe([row] * 5, model())
        assert "Alice" not in str(caught.value)
    with pytest.raises(Rejected, match="no class"):
        encode_safe([{"place": "elsewhere", "age": 500}], model(), on_unseen="error")
    with pytest.raises(Rejected, match="a quasi-identifier is not there"):
        verify([{"place": "a"}], model())
    numeric = model({"model": "t-closeness", "t": 0.2, "distance": "ordered", "column": "ill"})
    with pytest.raises(InputError, match="numbers") as caught:
        verify([{"place": "a", "age": 1, "ill": ill} for ill in ("1", "Alice")], numeric)
    assert "Alice" not in str(caught.value)


def test_spellings_of_one_value_are_pointed_out():
    rows = [{"place": "a", "age": 1, "ill": ill} for ill in ("flu", "Flu")]
    made = model({"model": "l-diversity", "l": 2, "column": "ill"})
    assert "only by case" in encode_safe(rows, made)[1].to_document()["warnings"][0]
    assert "only by case" in verify(rows, made).warnings[0]


def test_costs_are_heights_and_widths():
    rows = [
        {"place": "a", "age": 3},  # a leaf, and 9 of 99
        {"place": "b", "age": 3},  # half way up, and 9 of 99
        {"place": "c", "age": 3},  # half way up, and everything
        {"place": "nowhere", "age": 3},  # both
        {"place": "a", "age": 200},  # covered by no class
    ]
    found = metrics(rows, model())
    lost = [9 / 99, 0.5 + 9 / 99, 0.5 + 1, 1 + 1, 2]
    assert found["ncp"] == pytest.approx(sum(lost) / 10)
    assert (found["classes"], found["smallest_class"]) == (4, 1)
    assert (found["records"], found["released"], found["suppressed"], found["unseen"]) == (
        5,
        4,
        1,
        1,
    )
    nobody = metrics([], model())
    assert (nobody["ncp"], nobody["classes"], nobody["smallest_class"]) == (0.0, 0, 0)


@pytest.mark.parametrize("name", ["levels", "mondrian", "clusters", "rules", "masks", "centroids"])
def test_every_kind_of_model_has_costs_between_nothing_and_everything(name):
    place = GOLDEN / f"{name}.model.json"
    encoder = edge.load(place)
    rows = [{k: v for k, v in row.items() if k in encoder.known} for row in table().to_dicts()]
    found = metrics(rows, place)
    assert 0 <= found["ncp"] <= 1
    assert found["records"] == 400 == found["released"] + found["suppressed"]


def test_days_and_ranks_have_widths_too():
    schema = Schema.from_document(
        {
            "columns": {
                "day": {"role": "quasi", "kind": "date"},
                "grade": {"role": "quasi", "kind": "ordinal", "order": ["low", "middle", "top"]},
            },
            "privacy": [{"model": "k-anonymity", "k": 2}],
        }
    )
    days = (
        {"low": "2024-01-01", "high": "2024-01-02"},
        {"low": "2024-01-03", "high": "2024-01-05"},
    )
    grades = ({"low": "low", "high": "middle"}, {"low": "low", "high": "top"})
    made = RecodingModel(
        method="made", schema=schema, records=0, suppressed=0, utility={}, regions=((0, 0), (1, 1)),
        columns=(
            ModelColumn(name="day", scale="date", root="*", cells=days),
            ModelColumn(name="grade", scale="rank", root="*", cells=grades),
        ),
    )  # fmt: skip
    one = metrics([{"day": "2024-01-01", "grade": "low"}], made)
    assert one["ncp"] == pytest.approx((1 / 4 + 1 / 2) / 2)
    other = metrics([{"day": "2024-01-04", "grade": "top"}], made)
    assert other["ncp"] == pytest.approx((2 / 4 + 1) / 2)


def test_a_batch_is_judged_by_every_model_of_the_promise():
    document = models()["mondrian"].to_document()
    document["schema"]["privacy"] = [
        {"model": "k-anonymity", "k": 4},
        {"model": "l-diversity", "l": 3, "column": "illness"},
        {"model": "t-closeness", "t": 0.25, "column": "illness"},
    ]
    document["fingerprint"] = fingerprint_of(document)
    known = edge.load(document).known
    rows = [{k: v for k, v in row.items() if k in known} for row in table().to_dicts()]
    released, report = encode_safe(rows, document)
    found = verify(released, document)
    assert found.holds
    assert len(found.privacy) == 3
    assert 0 < report.suppressed < 400


DIVERSE = ({"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "column": "ill"})


def of_persons(*persons):
    """Return records of one class, who they are about, and values that differ."""
    return [
        {"place": "a", "age": "30", "ill": "flu" if at % 2 else "gout", "name": who}
        for at, who in enumerate(persons)
    ]


@pytest.mark.parametrize("nobody", [None, "", "NaN", " \ufeff"])
def test_records_of_nobody_stop_a_batch_until_they_are_waived(nobody):
    records, known = of_persons("p", "q", "r", nobody), model(*DIVERSE)
    with pytest.raises(
        SchemaError, match=r"names nobody in some records: 1 of 4.*waive=\['name'\]"
    ):
        encode_safe(records, known, person="name")
    released, report = encode_safe(records, known, person="name", waive=["name"])
    assert (len(released), report.records) == (4, 4)


def test_with_k_alone_records_of_nobody_stop_nothing():
    released, _ = encode_safe(of_persons("p", "q", None), model(), person="name")
    assert len(released) == 3


def test_where_records_are_counted_nobody_is_asked_for():
    assert len(encode_safe(of_persons(None, None), model(*DIVERSE))[0]) == 2


def test_a_release_with_records_of_nobody_is_not_called_safe():
    released, _ = encode_safe(of_persons("p", "q", "r"), model(*DIVERSE), person="name")
    assert all(v.holds for v in verify(released, model(*DIVERSE), persons=["p", "q", "r"]).privacy)
    with pytest.raises(SchemaError, match="column 'person' names nobody in some records: 1 of 3"):
        verify(released, model(*DIVERSE), persons=["p", "q", None])


def test_an_order_that_tells_who_is_who_is_warned_of():
    together = [f"p{number // 2}" for number in range(60)]
    apart = [f"p{number % 30}" for number in range(60)]
    warned = [
        encode_safe(of_persons(*persons), model(), person="name")[1].warnings
        for persons in (together, apart)
    ]
    assert any("60 of 60 records" in said and "the order is kept" in said for said in warned[0])
    assert not warned[1]
