from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import privacy as naive

from shoal.core.errors import PrivacyError
from shoal.privacy import (
    PROMISES,
    AlphaKAnonymity,
    EquivalenceClass,
    KAnonymity,
    LDiversity,
    NTCloseness,
    Reference,
    TCloseness,
    expand,
    from_document,
    judge_classes,
)

HISTOGRAMS = st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any)
THREE = st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any)
DECIMALS = st.integers(1, 60).map(lambda tenths: tenths / 10)
TREE = {"parents": [2, 2, 4, 4, -1], "heights": [0, 0, 1, 0, 2], "node_of_value": [0, 1, 3]}


def class_of(histogram, reference=None, supersets=()):
    return EquivalenceClass(
        int(sum(histogram)), histogram, reference=reference, supersets=supersets
    )


# What the models say of one class.


@given(st.integers(1, 9), st.integers(1, 9))
def test_k_anonymity_counts_records(records, k):
    assert KAnonymity(k).measure(EquivalenceClass(records)) == records
    assert KAnonymity(k).holds(EquivalenceClass(records)) == (records >= k)


@given(HISTOGRAMS, st.integers(1, 6))
def test_distinct_l_follows_its_definition(histogram, l):
    assert LDiversity(l).holds(class_of(histogram)) == naive.distinct_l(histogram, l)


@given(HISTOGRAMS, st.integers(1, 6))
def test_entropy_l_follows_its_definition(histogram, l):
    model = LDiversity(l, kind="entropy")
    assert model.holds(class_of(histogram)) == naive.entropy_l(histogram, l)


@given(HISTOGRAMS, DECIMALS, st.integers(1, 6))
def test_recursive_l_follows_its_definition(histogram, c, l):
    model = LDiversity(l, kind="recursive", c=c)
    assert model.holds(class_of(histogram)) == naive.recursive_l(histogram, c, l)


@given(HISTOGRAMS, DECIMALS)
def test_recursive_measure_is_the_largest_l_that_holds(histogram, c):
    attained = LDiversity(1, kind="recursive", c=c).measure(class_of(histogram))
    assert attained == max(
        (l for l in range(1, 7) if naive.recursive_l(histogram, c, l)), default=0
    )


@given(HISTOGRAMS, st.integers(1, 10), st.integers(1, 20))
def test_alpha_k_follows_its_definition(histogram, tenths, k):
    model = AlphaKAnonymity(tenths / 10, k)
    assert model.holds(class_of(histogram)) == naive.alpha_k(histogram, tenths / 10, k)


# Faults that were seen in other tools.


def test_recursive_sorts_from_the_commonest_value_downwards():
    # r = 3, 2, 1. Sorted upwards, r1 would be 1 and the tail 2 + 3: everything would pass.
    model = LDiversity(2, kind="recursive", c=1)
    assert not model.holds(class_of([1, 2, 3]))
    assert LDiversity(2, kind="recursive", c=1.1).holds(class_of([2, 1, 3]))


def test_recursive_tie_fails_also_where_floats_would_let_it_pass():
    assert 55 < 1.1 * 50  # the trap
    assert not LDiversity(2, kind="recursive", c=1.1).holds(class_of([55, 50]))


def test_recursive_fails_with_fewer_values_than_l():
    assert not LDiversity(3, kind="recursive", c=1000).holds(class_of([5, 5, 0]))


@given(st.integers(1, 400), st.integers(1, 10**7), st.integers(0, 3))
def test_entropy_of_equal_shares_reaches_exactly_l(l, each, unused):
    summary = class_of([each] * l + [0] * unused)
    assert LDiversity(l, kind="entropy").measure(summary) == l
    assert LDiversity(l, kind="entropy").holds(summary)
    assert not LDiversity(l + 1, kind="entropy").holds(summary)


def test_entropy_reaches_l_exactly_with_unequal_shares_too():
    # 1/2 and four times 1/8: two bits, so exactly 4-diverse over five values.
    assert LDiversity(4, kind="entropy").holds(class_of([4, 1, 1, 1, 1]))
    # 12^12 = 3^12 · 8^8, yet logarithms give 2.9999999999999996.
    assert naive.entropy_l([8, 1, 1, 1, 1], 3)
    assert LDiversity(3, kind="entropy").holds(class_of([8, 1, 1, 1, 1]))
    assert not LDiversity(2, kind="entropy").holds(class_of([4, 1]))


def test_entropy_l_may_be_a_fraction():
    assert LDiversity(1.5, kind="entropy").holds(class_of([4, 1]))
    assert not LDiversity(1.7, kind="entropy").holds(class_of([4, 1]))


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical", "chi2"])
def test_t_is_not_ignored(distance):
    summary = class_of([2, 1, 0], Reference([2, 2, 2], **TREE))
    attained = TCloseness(1, distance).measure(summary)
    assert 0 < attained < 1
    assert TCloseness(attained, distance).holds(summary)
    assert not TCloseness(attained * 0.999, distance).holds(summary)


@pytest.mark.parametrize("tenths", range(6))
def test_a_distance_of_exactly_t_holds(tenths):
    summary = class_of([5, 5], Reference([5 + tenths, 5 - tenths]))
    assert TCloseness(tenths / 10).holds(summary)


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


# (n,t)-closeness and (alpha,k)-anonymity in detail.


def test_nt_closeness_of_a_large_class_always_holds():
    assert NTCloseness(3, 0).holds(class_of([3, 0], Reference([3, 9])))


def test_nt_closeness_tries_the_whole_table_and_every_superset_of_n_records():
    table = Reference([10, 10])
    assert not NTCloseness(5, 0.3).holds(class_of([2, 0], table))
    assert NTCloseness(5, 0.3).holds(class_of([2, 0], table, [(5, [4, 1])]))
    # A closer set that is too small does not count.
    assert not NTCloseness(5, 0.3).holds(class_of([2, 0], table, [(3, [3, 0])]))
    assert NTCloseness(5, 0.5).holds(class_of([2, 0], table))


def test_nt_closeness_fails_in_a_table_of_fewer_than_n_records():
    summary = class_of([1, 1], Reference([2, 2]))
    assert NTCloseness(5, 1).measure(summary) == 1
    assert not NTCloseness(5, 1).holds(summary)


def test_nt_closeness_with_n_of_the_whole_table_is_t_closeness():
    table = Reference([4, 3, 3], **TREE)
    for histogram in ([1, 1, 0], [0, 0, 2], [3, 0, 1]):
        summary = class_of(histogram, table)
        for distance in ("equal", "ordered", "hierarchical", "chi2"):
            expected = TCloseness(0.2, distance).measure(summary)
            assert NTCloseness(10, 0.2, distance=distance).measure(summary) == expected


def test_merging_can_break_nt_closeness_so_it_is_not_called_monotone():
    # Each class is like its own neighbourhood; their union is like neither, nor the table.
    table, model = Reference([101, 1001]), NTCloseness(100, 0.3)
    assert model.holds(class_of([1, 0], table, [(101, [101, 0])]))
    assert model.holds(class_of([0, 1], table, [(1001, [0, 1001])]))
    both = class_of([1, 1], table, [(102, [101, 1]), (1002, [1, 1001])])
    assert not model.holds(both)
    assert not model.monotone


def test_alpha_bounds_only_the_named_values():
    table = Reference([9, 3, 1], values=["flu", "hiv", None])
    summary = class_of([3, 1, 0], table)
    assert not AlphaKAnonymity(0.5, 2).holds(summary)
    assert AlphaKAnonymity(0.5, 2, values=["hiv"]).holds(summary)
    assert AlphaKAnonymity(0.5, 2, values=["hiv"]).measure(summary) == 0.25
    assert not AlphaKAnonymity(0.2, 2, values=["hiv"]).holds(summary)
    assert AlphaKAnonymity(0.2, 2, values=["plague"]).measure(summary) == 0


def test_alpha_k_needs_both():
    assert AlphaKAnonymity(0.5, 2).holds(class_of([1, 1]))
    assert not AlphaKAnonymity(0.5, 3).holds(class_of([1, 1]))


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


# Laws.

MONOTONE = [
    KAnonymity(4),
    LDiversity(2),
    LDiversity(2, "entropy"),
    LDiversity(1.6, "entropy"),
    LDiversity(2, "recursive", c=2),
    *(TCloseness(t, d) for t in (0.2, 0.4) for d in ("equal", "ordered", "hierarchical", "chi2")),
    AlphaKAnonymity(0.6, 3),
]


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


@given(st.lists(THREE, min_size=1, max_size=6))
def test_worst_is_the_worst_of_all_classes(histograms):
    table = Reference([sum(column) + 1 for column in zip(*histograms, strict=True)], **TREE)
    classes = [class_of(histogram, table) for histogram in histograms]
    for model in MONOTONE:
        verdict = judge_classes(model, iter(classes))
        failing = [c for c in classes if not model.holds(c)]
        pick = min if model.better == "high" else max
        assert verdict.holds == (not failing)
        assert verdict.value == pick(model.measure(c) for c in classes)
        assert verdict.violating_records == sum(c.records for c in failing)


def test_worst_of_no_class_has_no_value():
    verdict = judge_classes(KAnonymity(2), [])
    assert (verdict.holds, verdict.value, verdict.violating_records) == (True, None, 0)


# Parameters.


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


def test_k_anonymity_takes_no_column():
    with pytest.raises(TypeError):
        KAnonymity(5, column="diagnosis")  # type: ignore[call-arg]
    assert KAnonymity(5).column is None


def test_array_numbers_become_plain_ones():
    assert json.dumps(KAnonymity(np.int64(5)).parameters()) == '{"k": 5}'
    assert json.dumps(TCloseness(np.float64(0.5)).to_document())


EVERY = [
    *MONOTONE,
    LDiversity(3, column="diagnosis"),
    NTCloseness(100, 0.1, distance="ordered", column="cost"),
    AlphaKAnonymity(0.5, 4, values=["flu", "hiv"], column="diagnosis"),
]


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_documents_survive_json_and_a_worker(model):
    document = json.loads(json.dumps(model.to_document()))
    assert None not in document.values()
    assert from_document(document) == model
    nested = {"model": model.name, "parameters": model.parameters()}
    assert from_document(nested) == model
    assert pickle.loads(pickle.dumps(model)) == model
    assert len({model, from_document(document)}) == 1


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({}, "no such privacy model; there are .*k-anonymity"),
        ({"model": "k-map", "k": 2}, "no such privacy model"),
        ({"model": ["k-anonymity"]}, "no such privacy model"),
        ({"model": "k-anonymity"}, "missing parameter: k"),
        ({"model": "k-anonymity", "k": 5, "t": 0.1}, "unknown parameter: t"),
        ({"model": "k-anonymity", "k": 5, "column": "x"}, "unknown parameter: column"),
        ({"model": "k-anonymity", "parameters": {"k": 5}, "k": 2}, "not both"),
        ({"model": "k-anonymity", "parameters": [5]}, "unknown parameter: parameters"),
        ({"model": "(n,t)-closeness", "parameters": {}}, "missing parameter: n, t"),
        ({"model": "l-diversity", "l": None}, "whole number"),
        ("k-anonymity", "mapping"),
    ],
)
def test_documents_with_faults_are_refused(document, problem):
    with pytest.raises(PrivacyError, match=problem):
        from_document(document)


# Against a schema.


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


def test_check_finds_misspelt_values_and_does_not_repeat_them():
    model = AlphaKAnonymity(0.5, 4, values=["flu", "hvi"])
    assert model.check({"diagnosis": "categorical"}) == []
    (fault,) = model.check({"diagnosis": "categorical"}, values={"diagnosis": ["flu", "hiv"]})
    assert "1 of 2 named values" in fault
    assert "hvi" not in fault
    assert "hvi" not in repr(model)


def test_expand_binds_models_to_every_sensitive_column():
    models = [KAnonymity(5), LDiversity(2), TCloseness(0.2, column="cost")]
    assert expand(models, ["diagnosis", "cost"]) == [
        KAnonymity(5),
        LDiversity(2, column="diagnosis"),
        LDiversity(2, column="cost"),
        TCloseness(0.2, column="cost"),
    ]
    twice = [LDiversity(2), LDiversity(2, column="cost"), KAnonymity(5), KAnonymity(5)]
    assert expand(twice, ["cost"]) == [LDiversity(2, column="cost"), KAnonymity(5)]
    hierarchical = TCloseness(0.2, "hierarchical")
    assert expand([hierarchical], ["cost"])[0].column == "cost"


def test_expand_never_loses_a_model():
    assert expand([KAnonymity(5)], []) == [KAnonymity(5)]
    with pytest.raises(PrivacyError, match="needs a sensitive column"):
        expand([LDiversity(2)], [])
    with pytest.raises(PrivacyError, match="not a sensitive column"):
        expand([LDiversity(2, column="age")], ["cost"])
