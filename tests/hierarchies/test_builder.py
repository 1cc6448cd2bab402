"""What every builder keeps: documents, faults together, no influence of the input's order."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import HierarchyError
from shoal.core.specs import is_count
from shoal.hierarchies.build import BUILDERS, Dates, Intervals, Mask, Order, TopBottom
from shoal.hierarchies.builder import LARGEST, exact_number, text_of

SECRET = "Alice"
NUMBERS = st.lists(st.integers(-99, 99) | st.floats(-99, 99, width=32), min_size=1, max_size=12)


SPECS = [
    Intervals(cuts=[0, 10]), Intervals(cuts=[[0, 10, 20], [0, 20]]), Intervals(width=2.5, origin=1),
    Intervals(width=[5, 10]), Intervals(count=8, levels=3), Intervals(count=[4, 2]),
    Mask(), Mask(char="x", length=5, direction="left", pad="right", fill="0"),
    Dates(), Dates(levels=["month", "year"]),
    Order(fanout=2), Order(groups=[2, 4], order=["a", "b"]),
    TopBottom(top=90), TopBottom(bottom=1.5, intervals=Intervals(width=5)),
]  # fmt: skip


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_specification_survives_its_document(spec):
    document = spec.to_document()
    assert type(spec).from_document(document) == spec
    assert hash(type(spec).from_document(document)) == hash(spec)
    assert type(spec) in BUILDERS.values()


@pytest.mark.parametrize("spec", SPECS[:10] + SPECS[12:], ids=repr)
def test_no_values_are_refused(spec):
    with pytest.raises(HierarchyError, match="empty"):
        spec.build("x", [])


@pytest.mark.parametrize(
    ("kind", "document", "faults"),
    [
        ("intervals", {}, ["give one of"]),
        ("intervals", {"cuts": [1], "width": 2}, ["give one of"]),
        ("intervals", {"cuts": []}, ["cuts must be a list"]),
        ("intervals", {"cuts": 5}, ["cuts must be a list"]),
        ("intervals", {"cuts": [[1, 2], 3]}, ["cuts must be a list"]),
        ("intervals", {"cuts": ["1"]}, ["cuts must be a list"]),
        ("intervals", {"cuts": [2, 1]}, ["ascend"]),
        ("intervals", {"cuts": [1, 1]}, ["ascend"]),
        ("intervals", {"cuts": [[0, 10], [0, 5]]}, ["some of those"]),
        ("intervals", {"cuts": [[0, 10], [0, 10]]}, ["some of those"]),
        ("intervals", {"cuts": [[0, 10], [0]], "levels": 3}, ["number of levels listed"]),
        ("intervals", {"width": 0}, ["above 0"]),
        ("intervals", {"width": float("nan")}, ["above 0"]),
        ("intervals", {"width": True}, ["above 0"]),
        ("intervals", {"width": []}, ["number of levels listed"]),
        ("intervals", {"width": [5, 12]}, ["multiple"]),
        ("intervals", {"width": [10, 5]}, ["multiple"]),
        ("intervals", {"width": "5", "nope": 1}, ["unknown option 'nope'", "above 0"]),
        ("intervals", {"count": 0}, ["at least 1"]),
        ("intervals", {"count": [4, 3]}, ["a part of the one before"]),
        ("intervals", {"count": 2, "levels": 4}, ["a part of the one before"]),
        ("intervals", {"count": 4, "origin": 1, "levels": 0}, ["origin", "levels"]),
        ("mask", {"char": "", "length": 0, "direction": "up"}, ["char", "length", "direction"]),
        ("mask", {"char": " ", "fill": "ab"}, ["char", "fill"]),
        ("dates", {"levels": []}, ["levels must be"]),
        ("dates", {"levels": ["year", "month"]}, ["in this order"]),
        ("dates", {"levels": ["week"]}, ["levels must be"]),
        ("dates", {"levels": "day"}, ["levels must be"]),
        ("order", {}, ["give one of"]),
        ("order", {"fanout": 1}, ["fanout"]),
        ("order", {"groups": [2, 3]}, ["multiple"]),
        ("order", {"groups": 2}, ["sizes"]),
        ("order", {"fanout": 2, "order": [SECRET, SECRET]}, ["different values"]),
        ("order", {"fanout": 2, "order": [None]}, ["different values"]),
        ("top_bottom", {}, ["give top, bottom"]),
        ("top_bottom", {"top": "90"}, ["numbers"]),
        ("top_bottom", {"top": 1, "bottom": 2}, ["below top"]),
        ("top_bottom", {"top": 1, "intervals": 5}, ["intervals must be"]),
        ("top_bottom", {"intervals": {"width": -1}}, ["give top", "intervals: each width"]),
        ("mask", ["char"], ["mapping"]),
    ],
)
def test_all_faults_of_a_specification_come_together(kind, document, faults):
    with pytest.raises(ValueError) as caught:
        BUILDERS[kind].from_document(document)
    for fault in faults:
        assert fault in str(caught.value)
    assert SECRET not in str(caught.value)


@given(NUMBERS, st.randoms())
def test_the_order_of_the_input_never_matters(values, rng):
    shuffled = values[:]
    rng.shuffle(shuffled)
    for spec in (Intervals(count=[4, 2]), Intervals(width=3), Mask(), Order(fanout=3)):
        assert spec.build("x", values) == spec.build("x", shuffled)


def test_a_builder_holds_no_list_that_somebody_could_change():
    cuts = [[0, 10], [0]]
    spec = Intervals(cuts=cuts)
    cuts[0].append(5)
    assert spec.cuts == ((0, 10), (0,))


def test_options_that_are_not_set_are_not_written():
    assert Intervals(width=5).to_document() == {"width": 5}
    assert TopBottom(top=9, intervals=Intervals(width=[5, 10])).to_document() == {
        "top": 9,
        "intervals": {"width": [5, 10]},
    }


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3))
def test_a_number_is_read_exactly(number):
    assert exact_number(f" {number} ") == number


@pytest.mark.parametrize(
    "text", ["", "x", "1_0", "nan", "inf", "1e401", "1e-401", "1" * (LARGEST + 1)]
)
def test_what_is_no_number_or_too_large_is_none(text):
    assert exact_number(text) is None


def test_small_words():
    assert [text_of(value) for value in ("a", 3, 3.0, 0.5)] == ["a", "3", "3", "0.5"]
    assert [is_count(x, least=1) for x in (1, 0, True, 1.0, Decimal(1))] == [True] + [False] * 4
