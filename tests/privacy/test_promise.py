"""What every promise keeps: classes that add up, monotony, parameters that can be meant."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from tests.privacy.classes import EVERY, MONOTONE, THREE, TREE, class_of

from shoal.core.errors import PrivacyError
from shoal.privacy import (
    PROMISES,
    AlphaKAnonymity,
    Better,
    EquivalenceClass,
    KAnonymity,
    LDiversity,
    NTCloseness,
    Option,
    Promise,
    Reference,
    TCloseness,
)


def test_three_million_records_are_counted_exactly():
    histogram = np.array([1_500_000, 1_500_000], dtype=np.int32)
    summary = EquivalenceClass(3_000_000, histogram, reference=Reference([1_500_001, 1_499_999]))
    assert TCloseness(0).measure(summary) == 1 / 3_000_000
    assert not TCloseness(0).holds(summary)
    assert LDiversity(2, "entropy").holds(summary)
    assert not AlphaKAnonymity(0.5, 2).holds(class_of([1_500_001, 1_499_999]))
    assert not LDiversity(2, "recursive", c=1).holds(summary)


def test_missing_values_may_not_be_left_out_of_the_histogram():
    with pytest.raises(PrivacyError, match="3 of 4 records"):
        EquivalenceClass(4, [2, 1])


def test_a_model_without_the_facts_it_needs_fails_loudly():
    bare = EquivalenceClass(3)
    for model in (LDiversity(1), TCloseness(1), NTCloseness(1, 1), AlphaKAnonymity(1, 1)):
        with pytest.raises(PrivacyError, match="histogram"):
            model.holds(bare)
    for model in (TCloseness(1), NTCloseness(9, 1), AlphaKAnonymity(1, 1, values=["x"])):
        with pytest.raises(PrivacyError, match="reference"):
            model.holds(class_of([1, 1]))
    with pytest.raises(PrivacyError, match="which value"):
        AlphaKAnonymity(1, 1, values=["x"]).holds(class_of([1], Reference([1])))
    with pytest.raises(PrivacyError, match="hierarchy"):
        TCloseness(1, "hierarchical").holds(class_of([1], Reference([1])))


@pytest.mark.parametrize(
    "facts",
    [
        {"records": 0},
        {"records": -1},
        {"records": 2.5},
        {"records": 2, "histogram": [3, -1]},
        {"records": 2, "histogram": [1, 1], "reference": Reference([1, 1, 1])},
        {"records": 2, "histogram": [1, 1], "supersets": [(3, [1, 1])]},
        {"records": 2, "histogram": [1, 1], "supersets": [(3, [3, 0])]},
        {"records": 2, "histogram": [1, 1], "supersets": [(3, [1, 1, 1])]},
    ],
)
def test_a_summary_that_does_not_add_up_is_refused(facts):
    with pytest.raises(PrivacyError):
        EquivalenceClass(**facts)


@pytest.mark.parametrize("model", MONOTONE, ids=repr)
@given(one=THREE, two=THREE, rest=THREE)
def test_coarser_than_safe_is_safe(model, one, two, rest):
    assert model.monotone
    merged = [a + b for a, b in zip(one, two, strict=True)]
    table = Reference([a + b for a, b in zip(merged, rest, strict=True)], **TREE)
    holds = [model.holds(class_of(histogram, table)) for histogram in (one, two)]
    if all(holds) or (any(holds) and model.monotone_with_suppression):
        assert model.holds(class_of(merged, table))


def test_only_counts_that_never_shrink_stay_safe_next_to_an_unsafe_class():
    safe = {m.name for m in MONOTONE if m.monotone_with_suppression}
    assert safe == {"k-anonymity", "l-diversity"}
    assert not LDiversity(2, "entropy").monotone_with_suppression
    assert not LDiversity(2, "recursive", c=1).monotone_with_suppression
    good, spoilt = class_of([1, 1]), class_of([9, 1])
    assert LDiversity(2, "entropy").holds(good)
    assert not LDiversity(2, "entropy").holds(spoilt)


@pytest.mark.parametrize(
    "build",
    [
        lambda: KAnonymity(0),
        lambda: KAnonymity(-3),
        lambda: KAnonymity(True),
        lambda: KAnonymity(2.5),
        lambda: KAnonymity("5"),
        lambda: KAnonymity(None),
        lambda: LDiversity(0),
        lambda: LDiversity(2.5),
        lambda: LDiversity(True, kind="entropy"),
        lambda: LDiversity(0.5, kind="entropy"),
        lambda: LDiversity("2", kind="entropy"),
        lambda: LDiversity(2, kind="probabilistic"),
        lambda: LDiversity(2, kind="recursive"),
        lambda: LDiversity(2, kind="recursive", c=0),
        lambda: LDiversity(2, kind="recursive", c=math.inf),
        lambda: LDiversity(2, kind="recursive", c=10**400),
        lambda: LDiversity(2, c=3),
        lambda: LDiversity(2, column=""),
        lambda: LDiversity(2, column=7),
        lambda: TCloseness(-0.1),
        lambda: TCloseness(1.1),
        lambda: TCloseness(math.nan),
        lambda: TCloseness(True),
        lambda: TCloseness("0.2"),
        lambda: TCloseness(0.2, distance="euclid"),
        lambda: NTCloseness(0, 0.2),
        lambda: NTCloseness(5, 2),
        lambda: NTCloseness(5, 0.2, distance=None),
        lambda: AlphaKAnonymity(0, 5),
        lambda: AlphaKAnonymity(1.01, 5),
        lambda: AlphaKAnonymity(0.5, 0),
        lambda: AlphaKAnonymity(0.5, 5, values=[]),
        lambda: AlphaKAnonymity(0.5, 5, values="flu"),
        lambda: AlphaKAnonymity(0.5, 5, values=[5]),
        lambda: AlphaKAnonymity(0.5, 5, values=5),
    ],
)
def test_parameters_that_cannot_be_meant_are_refused(build):
    with pytest.raises(PrivacyError) as caught:
        build()
    assert caught.value.facts["model"] in PROMISES


def test_array_numbers_become_plain_ones():
    assert json.dumps(KAnonymity(np.int64(5)).parameters()) == '{"k": 5}'
    assert json.dumps(TCloseness(np.float64(0.5)).to_document())


def test_check_names_every_fault_of_the_schema():
    sensitive = {"diagnosis": "categorical", "cost": "numeric"}
    assert KAnonymity(5).check({}) == []
    assert "name one with --sensitive" in LDiversity(2).check({})[0]
    assert LDiversity(2).check(sensitive) == []
    assert LDiversity(2, column="age").check(sensitive) == [
        "l-diversity: column 'age' is not a sensitive column"
    ]
    assert TCloseness(0.2, "ordered").check(sensitive) == []
    assert TCloseness(0.2, "hierarchical").check(sensitive, {"diagnosis"}) == [
        "t-distance hierarchical needs a hierarchy on column 'cost'"
    ]
    bound = NTCloseness(9, 0.2, distance="hierarchical", column="diagnosis")
    assert bound.check(sensitive, {"diagnosis"}) == []
    assert len(bound.check(sensitive)) == 1


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_a_promise_is_made_of_its_parameters(model):
    assert type(model).made(model.parameters()) == model
    with pytest.raises(TypeError):
        type(model).made({**model.parameters(), "nonsense": 1})


def test_two_promises_of_one_name_are_refused():
    with pytest.raises(PrivacyError, match="there is a promise of this name already"):
        type("Other", (Promise,), {"name": "k-anonymity", "__module__": "elsewhere"})
    assert PROMISES["k-anonymity"] is KAnonymity


def test_the_worse_of_two_measures_is_the_less_safe():
    assert (Better.HIGH.worse(1, 2), Better.LOW.worse(1, 2)) == (1, 2)


def test_shares_leave_out_what_is_not_in_the_table():
    seen = class_of([1, 1, 0], Reference([2, 2, 0]))
    assert seen.shares() == [(0.5, 0.5), (0.5, 0.5)]
    with pytest.raises(PrivacyError, match="shares need the histogram"):
        EquivalenceClass(2).shares()


def test_an_option_is_named_by_its_last_flag():
    assert Option("kind", ("--l-kind",), str, "").name == "l_kind"
    assert Option("k", ("-k", "--k"), int, "").name == "k"


def test_what_is_shown_of_a_promise_has_no_value_of_the_data():
    named = AlphaKAnonymity(0.5, 2, column="ill", values=["Alice"])
    assert named.shown() == {"alpha": 0.5, "k": 2, "column": "ill"}
    assert "Alice" not in named.words() + repr(named)
    assert LDiversity(2).shown() == LDiversity(2).parameters()
