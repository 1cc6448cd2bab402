"""A flag adds a promise or makes one stricter; one that asks for less is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import PrivacyError
from shoal.privacy import (
    AlphaKAnonymity,
    EquivalenceClass,
    KAnonymity,
    LDiversity,
    NTCloseness,
    Reference,
    TCloseness,
)
from shoal.privacy.combine import combined
from shoal.schema.schema import Schema

K5, K10 = KAnonymity(5), KAnonymity(10)
L2, L3 = LDiversity(2), LDiversity(3)
RECURSIVE = LDiversity(3, "recursive", c=2)
NT = NTCloseness(1000, 0.2)


@pytest.mark.parametrize(
    ("promised", "asked", "kept"),
    [
        ([K5, L2], [K5], [K5, L2]),
        ([K5, L2], [], [K5, L2]),
        ([K5, L2], [K10], [K10, L2]),
        ([K5], [L2], [K5, L2]),
        ([K5], [KAnonymity(7), K10], [KAnonymity(7), K10]),
        ([L2], [LDiversity(3, column="dx"), K5], [LDiversity(3, column="dx"), K5]),
        ([], [K5, L2], [K5, L2]),
        ([L2], [LDiversity(2, "entropy")], [L2, LDiversity(2, "entropy")]),
        ([LDiversity(2, "entropy")], [LDiversity(2.5, "entropy")], [LDiversity(2.5, "entropy")]),
        ([RECURSIVE], [LDiversity(3, "recursive", c=1)], [LDiversity(3, "recursive", c=1)]),
        ([RECURSIVE], [LDiversity(4, "recursive", c=2)], [LDiversity(4, "recursive", c=2)]),
        ([RECURSIVE], [LDiversity(4, "recursive", c=3)],
         [RECURSIVE, LDiversity(4, "recursive", c=3)]),
        ([TCloseness(0.2)], [TCloseness(0.1)], [TCloseness(0.1)]),
        ([TCloseness(0.2)], [TCloseness(0.3, "ordered")],
         [TCloseness(0.2), TCloseness(0.3, "ordered")]),
        ([TCloseness(0.2)], [NT], [TCloseness(0.2), NT]),
        ([NT], [NTCloseness(1000, 0.1)], [NTCloseness(1000, 0.1)]),
        ([NT], [NTCloseness(2000, 0.2)], [NTCloseness(2000, 0.2)]),
        ([NT], [NTCloseness(2000, 0.3)], [NT, NTCloseness(2000, 0.3)]),
        ([AlphaKAnonymity(0.5, 5)], [K10], [AlphaKAnonymity(0.5, 5), K10]),
        ([K5], [AlphaKAnonymity(0.5, 10)], [K5, AlphaKAnonymity(0.5, 10)]),
        ([AlphaKAnonymity(0.5, 5)], [AlphaKAnonymity(0.4, 5)], [AlphaKAnonymity(0.4, 5)]),
        ([AlphaKAnonymity(0.5, 5, values=["x"])], [AlphaKAnonymity(0.5, 5)],
         [AlphaKAnonymity(0.5, 5)]),
        ([AlphaKAnonymity(0.5, 5, values=["x"])], [AlphaKAnonymity(0.5, 5, values=["y"])],
         [AlphaKAnonymity(0.5, 5, values=["x"]), AlphaKAnonymity(0.5, 5, values=["y"])]),
    ],
)  # fmt: skip
def test_a_flag_adds_a_promise_or_makes_one_stricter(promised, asked, kept):
    assert combined(promised, asked, ["dx"]) == tuple(kept)


@pytest.mark.parametrize(
    ("promised", "asked"),
    [
        ([K10], K5),
        ([L3], L2),
        ([L3], LDiversity(2, column="dx")),
        ([LDiversity(3, column="dx")], L2),
        ([LDiversity(2.5, "entropy")], LDiversity(2, "entropy")),
        ([RECURSIVE], LDiversity(3, "recursive", c=3)),
        ([RECURSIVE], LDiversity(2, "recursive", c=2)),
        ([TCloseness(0.1)], TCloseness(0.2)),
        ([NT], NTCloseness(1000, 0.3)),
        ([NT], NTCloseness(500, 0.2)),
        ([AlphaKAnonymity(0.5, 5)], AlphaKAnonymity(0.6, 5)),
        ([AlphaKAnonymity(0.5, 5)], AlphaKAnonymity(0.5, 5, values=["x"])),
        ([AlphaKAnonymity(0.5, 10)], K5),
        ([K10], AlphaKAnonymity(0.5, 5)),
    ],
)
def test_a_looser_promise_is_refused_with_a_message_that_names_both(promised, asked):
    with pytest.raises(PrivacyError) as caught:
        combined(promised, [asked], ["dx"])
    text = str(caught.value)
    assert promised[0].words() in text
    assert asked.words() in text
    assert "--replace-promise" in text


def test_a_promise_for_all_columns_and_one_for_a_single_column_are_both_kept():
    of_dx = LDiversity(3, column="dx")
    assert combined([of_dx], [L2], ["dx", "cost"]) == (of_dx, L2)
    assert combined([L2], [of_dx], ["dx", "cost"]) == (L2, of_dx)
    assert combined([L2], [LDiversity(2, column="dx")], ["dx", "cost"]) == (L2,)
    assert combined([LDiversity(2, column="dx")], [L3], ["dx", "cost"]) == (L3,)
    assert combined([of_dx], [LDiversity(2, column="cost")], ["dx", "cost"]) == (
        of_dx, LDiversity(2, column="cost"))  # fmt: skip
    assert combined([L2, of_dx], [L2], ["dx", "cost"]) == (L2, of_dx)


MODELS = st.one_of(
    st.builds(KAnonymity, st.integers(1, 6)),
    st.builds(LDiversity, st.integers(1, 3), st.sampled_from(["distinct", "entropy"])),
    st.builds(
        lambda n, c: LDiversity(n, "recursive", c=c),
        st.integers(1, 3), st.sampled_from([0.5, 1, 2]),
    ),
    st.builds(TCloseness, st.sampled_from([0.1, 0.3, 0.6]), st.sampled_from(["equal", "ordered"])),
    st.builds(NTCloseness, st.integers(1, 12), st.sampled_from([0.1, 0.3, 0.6])),
    st.builds(
        lambda alpha, k, values: AlphaKAnonymity(alpha, k, values=values),
        st.sampled_from([0.4, 0.7, 1.0]), st.integers(1, 6),
        st.sampled_from([None, ["a"], ["a", "b"]]),
    ),
)  # fmt: skip
HISTOGRAMS = st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any)


@given(st.lists(MODELS, max_size=4), st.lists(MODELS, max_size=4), HISTOGRAMS, HISTOGRAMS)
def test_what_is_combined_holds_just_where_both_promises_hold(promised, asked, inside, rest):
    table = Reference([a + b for a, b in zip(inside, rest, strict=True)], values=["a", "b", "c"])
    seen = EquivalenceClass(sum(inside), inside, reference=table)
    try:
        kept = combined(promised, asked, ["dx"])
    except PrivacyError:
        return
    both = all(model.holds(seen) for model in (*promised, *asked))
    assert all(model.holds(seen) for model in kept) == both


@given(MODELS, MODELS, HISTOGRAMS, HISTOGRAMS)
def test_what_implies_another_model_never_holds_without_it(one, other, inside, rest):
    table = Reference([a + b for a, b in zip(inside, rest, strict=True)], values=["a", "b", "c"])
    seen = EquivalenceClass(sum(inside), inside, reference=table)
    if one.implies(other) and one.holds(seen):
        assert other.holds(seen)


def test_a_schema_gives_its_promise_up_only_by_name():
    schema = Schema.from_document(
        {"columns": {"age": "quasi", "dx": "sensitive"},
         "privacy": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2}]}
    )  # fmt: skip
    assert schema.with_promise([K5]).privacy == (K5, L2)
    assert schema.with_promise([]).privacy == (K5, L2)
    assert schema.with_promise([KAnonymity(2)], replace_promise=True).privacy == (KAnonymity(2),)
    with pytest.raises(PrivacyError, match="takes the promise's place"):
        schema.with_promise([], replace_promise=True)
