"""What a sensitive value is, and how its column is ordered."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import HierarchyError, InputError, UnknownValueError
from shoal.model.batch import Judge, close_failing
from shoal.privacy import AlphaKAnonymity, LDiversity, TCloseness
from shoal.schema.schema import Kind, Schema
from shoal.schema.sensitive import Scale, folded, normal, notices

ORDERED = TCloseness(0.2, "ordered", column="s")
CLIMBED = TCloseness(0.2, "hierarchical", column="s")
TREE = {"tree": {"*": {"a": ["1", "3"], "b": ["2", "4"]}}}


def scale(entry, *models, **more):
    columns = {"q": "quasi", "s": {"role": "sensitive", **entry}}
    return Scale.of(Schema.from_document({"columns": columns, **more}), "s", models)


def read(found, *texts):
    return found.read([found.text(text) for text in texts])


def test_numbers_come_before_the_hierarchy_that_is_climbed():
    found = read(scale({"kind": "numeric", "hierarchy": TREE}, ORDERED), "1", "2", "3", "4")
    assert found.labels == ("1", "2", "3", "4")
    assert found.nodes == (0, 3, 1, 4)
    found = read(scale({"kind": "categorical", "hierarchy": TREE}, ORDERED), "1", "2", "3", "4")
    assert found.labels == ("1", "3", "2", "4")


def test_a_declared_order_is_the_whole_scale():
    entry = {"kind": "ordinal", "order": ["low", "mid", "top"]}
    assert read(scale(entry), " top", None).labels == (None, "low", "mid", "top")


@pytest.mark.parametrize(
    ("entry", "stray", "models"),
    [
        ({"kind": "numeric"}, "unknown", ()),
        ({"kind": "date"}, "31.02.2024", ()),
        ({"kind": "ordinal", "order": ["1", "2"]}, "three", ()),
        ({"kind": "numeric", "hierarchy": TREE}, "77", (CLIMBED,)),
        ({"kind": "categorical", "hierarchy": TREE}, "77", (ORDERED,)),
        ({"kind": "ordinal", "hierarchy": TREE}, "77", ()),
        ({"hierarchy": {"intervals": {"width": 5}}}, "unknown", (CLIMBED,)),
        ({}, "unknown", (ORDERED,)),
    ],
)
def test_a_stray_is_refused_and_not_named(entry, stray, models):
    good = "2024-02-01" if entry.get("kind") == "date" else "1"
    with pytest.raises((InputError, UnknownValueError, HierarchyError)) as caught:
        read(scale(entry, *models), good, stray)
    assert "'s'" in str(caught.value)
    assert stray not in str(caught.value)
    assert "1 of 2" in str(caught.value)


def test_what_nothing_is_measured_by_need_not_fit():
    diverse = LDiversity(2, column="s")
    assert read(scale({"kind": "categorical", "hierarchy": TREE}, diverse), "1", "9").tree is None
    assert read(scale({}, diverse), "1", "x").kind is None


def test_numbers_of_no_declared_kind_equal_each_other_whatever_else_is_there():
    mixed, plain = scale({}), scale({"kind": "categorical"})
    assert read(mixed, "1", "1.0", "x").labels == ("1", "x")
    assert read(mixed, "1", "1.0").kind is Kind.NUMERIC
    assert read(mixed, "01", "1").labels == ("01", "1")  # a code and a number
    assert read(plain, "1", "1.0").labels == ("1", "1.0")


def test_numbers_are_exact_beyond_28_digits():
    long = ["12345678901234567890123456789012345", "12345678901234567890123456789012346"]
    found = read(scale({"kind": "numeric"}), *long, long[0] + ".0")
    assert found.labels == tuple(long)


@given(st.text(max_size=12))
def test_reading_twice_changes_nothing(text):
    assert normal(normal(text)) == normal(text)
    assert folded(folded(text)) == folded(text)
    for entry in ({}, {"kind": "categorical"}):
        for fold in (False, True):
            own = scale(entry, fold_case=fold)
            once = own.text(text)
            assert once is None or own.text(once) == once
            assert once is None or own.label(own.label(once)) == own.label(once)


def test_spellings_are_one_value_after_trimming_and_nfc():
    own = scale({"kind": "categorical"})
    assert read(own, "HIV", "HIV ", "\ufeffHIV", "HIV\u00a0").labels == ("HIV",)
    assert read(own, "M\u00e9ni\u00e8re", "Me\u0301nie\u0300re").labels == ("M\u00e9ni\u00e8re",)


def test_values_that_differ_only_by_case_accents_or_spaces_are_counted_in_a_notice():
    values = "HIV", "hiv", "h i v", "M\u00e9ni\u00e8re", "Meniere", "flu"
    found = read(scale({"kind": "categorical"}), *values)
    assert (found.alike, len(found.labels)) == (5, 6)
    (said,) = notices({"s": found})
    assert said.startswith("5 values of column 's' differ from another one only by case, accents")
    joined = read(scale({"kind": "categorical"}, fold_case=True), *values)
    assert (joined.alike, joined.labels) == (0, ("flu", "hiv", "meniere"))
    assert notices({"s": joined}) == ()


def test_folding_keeps_letters_apart_that_a_mark_makes():
    assert folded("\u304b") != folded("\u304c")  # Japanese ka and ga
    assert folded("STRASSE") == folded("stra\u00dfe")


def test_folding_makes_no_number_of_what_is_none():
    own = scale({}, fold_case=True)
    assert read(own, "1 000", "1000").labels == ("1 000", "1000")


def test_marks_of_missing_values_are_read_as_values_are():
    own = scale({"kind": "numeric"}, missing=["n/a"])
    assert read(own, "n/a ", "", "\u00a0", None, "1").labels == (None, "1")


def test_values_that_a_promise_names_are_those_of_the_scale():
    model = AlphaKAnonymity(0.5, 2, column="s", values=["1.0", "x"])
    assert scale({"kind": "numeric"}).named(model).values == ("1",)


def test_a_hierarchy_that_is_described_is_built_of_the_values_as_they_are_counted():
    entry = {"kind": "numeric", "hierarchy": {"intervals": {"width": 10}}}
    found = read(scale(entry, CLIMBED), "1", "1.0", " 15", None)
    assert found.labels == (None, "1", "15")
    assert found.reference([1, 2, 2]).distance("hierarchical", [0, 1, 0]) == pytest.approx(0.6)


@given(st.lists(st.decimals(-999, 999, places=2), min_size=1, max_size=8))
def test_numbers_stand_by_size_and_every_text_has_its_place(numbers):
    texts = [str(number) for number in numbers]
    found = read(scale({"kind": "numeric"}), *texts)
    assert [Decimal(str(label)) for label in found.labels] == sorted(set(numbers))
    assert all(Decimal(str(found.labels[found.place[t]])) == Decimal(t) for t in texts)


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=9))
def test_records_are_counted_at_their_places(texts):
    found = read(scale({"kind": "categorical"}), *texts)
    counted = Counter(texts)
    assert dict(zip(found.labels, found.totals(counted), strict=True)) == counted
    assert (found.labels[0] is None) == (None in texts)
    assert found.reference(found.totals(counted)).counts == tuple(found.totals(counted))


def test_a_column_of_nothing_but_missing_values_has_one_place():
    found = read(scale({}, ORDERED), None, "", " ")
    assert (found.labels, found.nodes, found.kind) == ((None,), (-1,), None)
    assert found.reference([3]).distance("hierarchical", [1]) == 0


def test_no_value_at_all_is_an_empty_scale():
    found = scale({"kind": "numeric"}).read([])
    assert (found.labels, found.place, found.alike) == ((), {}, 0)


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["2024-03-17", "2024-03-17T00:00"], ("2024-03-17",)),
        (["2024-03-17T12:00+02:00", "2024-03-17T10:00Z"], ("2024-03-17 10:00:00+00:00",)),
        (["13:45", "09:00:00"], ("09:00:00", "13:45:00")),
        (["17.03.2024", "16.03.2024"], ("2024-03-16", "2024-03-17")),
    ],
)
def test_moments_are_one_value_however_they_are_written(texts, labels):
    assert read(scale({"kind": "date"}), *texts).labels == labels


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        (["2024-03-17T10:00Z", "2024-03-17T10:00"], "some times have a zone and some have none"),
        (["2024-03-17", "10:00"], "some values are dates and some are times of day"),
        (["01.02.2024", "02/01/2024"], "2 of 2 distinct values are not dates"),
    ],
)
def test_moments_that_cannot_be_ordered_are_refused(texts, problem):
    with pytest.raises(InputError, match=problem):
        read(scale({"kind": "date"}), *texts)


def test_a_promise_says_what_its_scale_is_read_for():
    plain = scale({}, ORDERED)
    assert (plain.is_ordered, plain.is_climbed) == (True, False)
    assert scale({"hierarchy": TREE}, CLIMBED).is_climbed
    assert not scale({}, TCloseness(0.2, "ordered", column="other")).is_ordered


def test_booleans_are_words():
    own = scale({"kind": "categorical"})
    assert [own.text(value) for value in (True, False, 1)] == ["true", "false", "1"]


class Boxes:
    """Classes whose records have nowhere to go."""

    def __init__(self, classes):
        self.classes = classes
        self.rank = {home: number for number, home in enumerate(classes)}

    def close(self, homes, failing):
        for home in homes:
            del self.classes[home]
        return set()


def test_what_is_left_is_judged_again_when_a_closed_class_moves_nobody():
    document = {"columns": {"q": "quasi", "s": {"role": "sensitive", "kind": "numeric"}}}
    judge = Judge.of(Schema.from_document(document), [TCloseness(0.3, "equal")])
    board = Boxes({("a",): {("1",): 5}, ("b",): {("2",): 1}, ("c",): {("1",): 1, ("2",): 1}})
    assert judge.failing(board.classes) == {("b",)}
    close_failing(board, judge)
    assert board.classes  # without b, a or c is too far from what is left
    assert len(board.classes) == 1
    assert not judge.failing(board.classes)
