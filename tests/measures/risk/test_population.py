"""The people behind the classes: estimated, matched, or covered by released labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.hierarchies.tree import Hierarchy
from shoal.measures.attacks.linkage import MOST_WORK
from shoal.measures.risk import population
from shoal.measures.risk.population import Population, is_comparable, people_covered
from shoal.measures.risk.question import RiskQuestion
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain, tree_domain

AGE = line_domain("age", Kind.NUMERIC, [None, "20", "30", "40"], [np.nan, 20, 30, 40])
PLACE = tree_domain(
    "place", Kind.CATEGORICAL, ["Rome", "Bari", "Nice"],
    Hierarchy.from_tree("place", {"*": {"Italy": ["Rome", "Bari"], "France": ["Nice"]}}),
    missing=True, weight=1.0,
)  # fmt: skip


def test_nothing_known_is_nobody_known():
    found = Population.estimate(RiskQuestion(quasi=("x",)), np.array([1, 2]), None)
    assert found == Population()
    assert (found.people, found.estimated, found.facts, found.notices) == (None, False, None, ())


def test_a_fraction_and_weights_are_estimates():
    sizes = np.array([1, 2])
    found = Population.estimate(RiskQuestion(quasi=("x",), sampling_fraction=0.1), sizes, None)
    assert (found.people.tolist(), found.estimated) == ([10.0, 20.0], True)
    weights = np.array([7.5, 9.0])
    found = Population.estimate(RiskQuestion(quasi=("x",), weights="w"), sizes, weights)
    assert (found.people.tolist(), found.estimated) == ([7.5, 9.0], True)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6)), min_size=1, max_size=12),
    st.integers(0, 50),
)
def test_a_population_table_against_a_count_by_hand(pairs, more):
    sizes = np.array([size for size, _ in pairs])
    people = np.array([float(number) for _, number in pairs])
    total = int(people.sum()) + more
    found = Population.match(sizes, people, total)
    known = [(size, max(size, number)) for size, number in pairs]
    short = sum(number < size for size, number in pairs)
    assert not found.estimated
    assert found.facts == {
        "people": total,
        "smallest_class": min(number for _, number in known),
        "below": {
            str(limit): sum(size for size, number in known if number < limit) for limit in (2, 3, 5)
        },
        "population_unique_records": sum(size == number == 1 for size, number in known),
        "classes_larger_than_in_population": short,
    }
    assert bool(found.notices) == bool(short)
    if short:
        assert found.notices[0].startswith(f"{short} classes have more records than people")


def naive_covered(everybody, counts, classes):
    """Add up, class by class, the people whose values every label covers."""
    ages = {"20": {"20"}, "[20, 30]": {"20", "30"}, "*": {"20", "30", "40", None}, None: {None}}
    places = {"Rome": {"Rome"}, "Italy": {"Rome", "Bari"}, "*": {"Rome", "Bari", "Nice", None}}
    return [
        sum(
            count
            for (age, place), count in zip(everybody, counts, strict=True)
            if age in ages[a] and place in places[p]
        )
        for a, p in classes
    ]


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.tuples(
            st.sampled_from(["20", "30", "40", None]),
            st.sampled_from(["Rome", "Bari", "Nice", None]),
        ),
        st.integers(1, 9),
        max_size=12,
    ),
    st.lists(
        st.tuples(
            st.sampled_from(["20", "[20, 30]", "*", None]), st.sampled_from(["Rome", "Italy", "*"])
        ),
        min_size=1, max_size=6, unique=True,
    ),
)  # fmt: skip
def test_labels_cover_people_as_by_hand(everybody, classes):
    counts = np.array(list(everybody.values()), dtype=np.float64)
    columns = [[row[j] for row in everybody] for j in (0, 1)]
    labels = [[row[j] for row in classes] for j in (0, 1)]
    found = people_covered([AGE, PLACE], columns, counts, labels)
    assert found.tolist() == naive_covered(everybody, counts, classes)


def test_the_size_of_a_chunk_does_not_matter(monkeypatch):
    everybody = [["20", "30", "40", None], ["Rome", "Nice", "Bari", "Rome"]]
    counts, labels = np.array([1.0, 2.0, 4.0, 8.0]), [["[20, 30]", "*"], ["*", "Italy"]]
    whole = people_covered([AGE, PLACE], everybody, counts, labels)
    monkeypatch.setattr(population, "_CELLS", 1)
    assert people_covered([AGE, PLACE], everybody, counts, labels).tolist() == whole.tolist()
    assert whole.tolist() == [3.0, 13.0]


@pytest.mark.parametrize(("people", "fits"), [(MOST_WORK // 6, True), (MOST_WORK // 6 + 1, False)])
def test_too_many_people_are_not_compared(people, fits):
    assert is_comparable(people, 2, 3) is fits
