"""Minimality against counting every way to share out the value."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import MethodError
from shoal.measures.attacks.minimality import (
    MergedClass,
    credibility,
    merged_classes,
    minimality,
)


def by_counting(parts, held, l):
    people = [i for i, size in enumerate(parts) for _ in range(size)]
    ways = [0] * len(parts)
    number = 0
    for chosen in combinations(range(len(people)), held):
        holders = [sum(people[c] == i for c in chosen) for i in range(len(parts))]
        if any(h * l > size for h, size in zip(holders, parts, strict=True)):
            number += 1
            ways = [w + h for w, h in zip(ways, holders, strict=True)]
    if not number:
        return [held / len(people)] * len(parts)
    return [w / number / size for w, size in zip(ways, parts, strict=True)]


@settings(deadline=None, max_examples=60)
@given(
    parts=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    l=st.integers(1, 4),
    share=st.floats(0, 1),
)
def test_credibility_counts_the_ways(parts, l, share):
    held = round(share * sum(parts))
    assert credibility(parts, held, l=l) == pytest.approx(by_counting(parts, held, l))


def test_the_example_of_the_literature_is_caught():
    # Two people of one kind who both have the value, joined with eight others to hide it.
    found = minimality([MergedClass(parts=(2, 8), holders=(2, 0))], k=2, l=4)
    assert found.targets == 2
    assert found.success == 1.0
    assert found.baseline == pytest.approx(0.2)
    assert found.detail["highest_credibility"] == pytest.approx(18 / 34)


def test_classes_that_k_explains_say_nothing():
    for each in (
        MergedClass(parts=(10,), holders=(2,)),
        MergedClass(parts=(1, 9), holders=(1, 1)),
        MergedClass(parts=(5, 5), holders=(0, 0)),
        MergedClass(parts=(5, 5), holders=(5, 4)),
    ):
        assert minimality([each], k=2, l=2).targets == 0


def test_promises_that_cannot_be_meant_are_refused():
    with pytest.raises(MethodError):
        minimality([], k=0, l=2)


def test_tuples_are_put_into_their_classes_and_the_commonest_value_is_attacked():
    cells = [
        (7, 0, "flu", 2), (7, 0, None, 1), (7, 1, "flu", 1), (7, 1, "cold", 3),
        (3, 2, "cold", 1), (3, 2, "flu", 1),
    ]  # fmt: skip
    assert merged_classes(cells) == [
        # flu 3, cold 3: of equal values the first by its text
        MergedClass(parts=(3, 4), holders=(0, 3)),
        MergedClass(parts=(2,), holders=(1,)),
    ]
    assert merged_classes([]) == []
