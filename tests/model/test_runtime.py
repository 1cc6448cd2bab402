"""The encoder of every machine, held to the slow, obvious one in tests/naive/encode.py."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.made import document, models_and_tuples, numeric, place_column
from tests.naive import encode as naive

from shoal.model.column import Rejected
from shoal.model.runtime import Encoder


@settings(max_examples=150, deadline=None)
@given(models_and_tuples())
def test_the_first_class_that_covers_every_column_is_found(case):
    made, tuples = case
    encoder = Encoder(made)
    for values in tuples:
        region = naive.find(made, values)
        assert encoder.find(values) == region
        labels = None if region < 0 else naive.labels(made, region)
        assert encoder.tuple_of(values) == (labels, region)
        if region >= 0:
            assert encoder.labels_of(region) == labels


@settings(max_examples=80, deadline=None)
@given(models_and_tuples(), st.sets(st.integers(0, 4)))
def test_classes_may_be_closed(case, closed):
    made, tuples = case
    encoder = Encoder(made)
    for values in tuples:
        found = encoder.index.find(values, dict.fromkeys(closed, 1))
        assert found == naive.find(made, values, closed)


@settings(max_examples=80, deadline=None)
@given(models_and_tuples())
def test_the_nearest_class_is_the_first_that_misses_fewest_columns(case):
    made, tuples = case
    encoder = Encoder(made, "nearest")
    for values in tuples:
        assert encoder.nearest(values) == naive.nearest(made, values)
        assert encoder.find(values) == naive.find(made, values)


@settings(max_examples=60, deadline=None)
@given(models_and_tuples())
def test_what_is_widened_covers_the_value_and_what_was_released(case):
    made, tuples = case
    encoder = Encoder(made, "nearest")
    about = made["schema"]["columns"]
    for values in tuples:
        labels, region = encoder.tuple_of(values)
        best, wrong = naive.nearest(made, values)
        assert (region < 0) == bool(wrong)
        if len(wrong) == len(encoder.names):
            assert labels is None
            continue
        exact = naive.labels(made, best)
        for j, name in enumerate(encoder.names):
            if j not in wrong:
                assert labels[j] == exact[j]
            elif labels[j] != "*":  # an ancestor of both
                assert about[name]["hierarchy"]["labels"].index(labels[j]) in naive.ancestors(
                    values[j], about[name]
                )


def test_numbers_at_the_edges_of_intervals():
    cells = (
        {"low": "0", "high": "10", "open": "high", "label": "[0, 10)"},
        {"low": "10", "high": "20", "open": "both", "label": "(10, 20)"},
        {"low": "20", "high": None, "label": ">=20"},
        {"low": None, "high": "0", "open": "high", "label": "<0"},
        {"low": "10", "high": "10"},
    )
    encoder = Encoder(document([numeric(*cells)], [[i] for i in range(5)]))
    given = ["-1e-300", "-0.0", "9.9999999999999999999", "10", "10.0000000000000000001", "2e1"]
    assert [encoder.encode({"x": x})["x"] for x in given] == [
        "<0", "[0, 10)", "[0, 10)", "10", "(10, 20)", ">=20",
    ]  # fmt: skip


def test_many_classes_are_found_in_a_tree_of_boxes():
    cells = [{"low": str(i), "high": str(i)} for i in range(5000)] + [{"any": "*"}]
    encoder = Encoder(document([numeric(*cells)], [[i] for i in range(5001)]))
    wanted = {0: "0", 2047: "2047", 2048: "2048", 4999: "4999", 5000: "*"}
    assert {x: encoder.encode({"x": x})["x"] for x in wanted} == wanted
    assert encoder.nearest(["2050"]) == (2050, [])


def test_a_model_without_classes_suppresses_everything():
    encoder = Encoder(document([numeric()], []))
    assert encoder.encode({"x": "1"}) == {"x": "*"}
    assert Encoder(document([numeric()], []), "nearest").encode({"x": "1"}) == {"x": "*"}


def test_the_first_class_that_covers_is_taken():
    cells = ({"low": "1", "high": "3"}, {"low": "2", "high": "9"})
    assert Encoder(document([numeric(*cells)], [[0], [1]])).encode({"x": "2"}) == {"x": "[1, 3]"}
    assert Encoder(document([numeric(*cells)], [[1], [0]])).encode({"x": "2"}) == {"x": "[2, 9]"}


def test_unseen_is_suppressed_widened_or_refused_as_declared():
    made = document([numeric({"low": "1", "high": "3"}), place_column()], [[0, 0], [0, 1]])
    unseen = {"x": 2, "place": "b"}
    assert Encoder(made).encode(unseen) == {"x": "*", "place": "*"}
    assert Encoder(made, None, "remove").encode(unseen) is None
    with pytest.raises(Rejected, match="no class"):
        Encoder(made, "error").encode(unseen)
    near = Encoder(made, "nearest")
    assert near.encode(unseen) == {"x": "[1, 3]", "place": "ab"}
    assert near.encode({"x": 9, "place": "c"}) == {"x": "*", "place": "cd"}
    assert near.encode({"x": 2, "place": "nowhere"}) == {"x": "[1, 3]", "place": "*"}
    assert near.encode({"x": 2, "place": None}) == {"x": "[1, 3]", "place": "*"}
    assert near.encode({"x": 9, "place": "nowhere"}) == {"x": "*", "place": "*"}


def test_a_choice_that_does_not_exist_is_refused():
    made = document([numeric({"any": "*"})], [[0]])
    with pytest.raises(ValueError, match="on_unseen must be suppress, nearest or error"):
        Encoder(made, "guess")
    with pytest.raises(ValueError, match="suppressed must be star or remove"):
        Encoder(made, None, "hide")


def test_columns_without_a_role():
    made = document([numeric({"any": "*"})], [[0]])
    record = {"x": 1, "b": 2, "a": 3}
    assert Encoder(made).encode(record) == {"x": "*"}
    made["schema"]["others"] = "keep"
    assert list(Encoder(made).encode(record).items()) == [("x", "*"), ("a", 3), ("b", 2)]
    made["schema"]["others"] = "fault"
    with pytest.raises(Rejected, match="2 columns"):
        Encoder(made).encode(record)
    assert Encoder(made).kept_others(["x"]) == []


def test_a_removed_record_must_still_have_a_role_for_each_column():
    made = document([numeric({"low": "1", "high": "1"})], [[0]])
    made["schema"]["others"] = "fault"
    encoder = Encoder(made, None, "remove")
    assert encoder.encode({"x": "9"}) is None
    with pytest.raises(Rejected, match="1 columns"):
        encoder.encode({"x": "9", "y": 1})


def test_kept_columns_stay_as_they_are_and_may_be_absent():
    made = document([numeric({"any": "*"})], [[0]])
    made["released"], made["removed"] = ["note", "x"], ["name"]
    encoder = Encoder(made)
    assert list(encoder.encode({"x": 1, "note": [1], "name": "A"}).items()) == [
        ("note", [1]), ("x", "*"),
    ]  # fmt: skip
    assert encoder.encode({"x": 1}) == {"x": "*"}
    assert encoder.with_labels({"x": 1, "note": 0}, ["label"]) == {"note": 0, "x": "label"}


def test_what_is_no_record_is_rejected_without_its_values():
    encoder = Encoder(document([numeric({"any": "*"})], [[0]]))
    with pytest.raises(Rejected, match="a quasi-identifier is not there"):
        encoder.encode({"Alice": 1})
    for value in (["Alice"], {"Alice": 1}):
        with pytest.raises(Rejected, match="a list or an object") as caught:
            encoder.encode({"x": value})
        assert "Alice" not in str(caught.value)
