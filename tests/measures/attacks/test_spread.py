"""Attacks on sensitive values against sums over records."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import KernelInputError, MethodError
from shoal.measures.attacks.spread import Cells, background, homogeneity, similarity, skewness

records = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=60)


def cells(rows):
    labels = {label: i for i, label in enumerate(sorted({label for label, _ in rows}))}
    counted = sorted(Counter((labels[label], value) for label, value in rows).items())
    return Cells(
        *(np.array(part) for part in zip(*[(a, b, n) for (a, b), n in counted], strict=True))
    )


def classes(rows):
    found = {}
    for label, value in rows:
        found.setdefault(label, []).append(value)
    return found.values()


@given(rows=records)
def test_homogeneity_is_the_share_of_majorities(rows):
    found = homogeneity(cells(rows))
    right = sum(Counter(values).most_common(1)[0][1] for values in classes(rows))
    assert found.success == pytest.approx(right / len(rows))
    assert found.detail["certain_records"] == sum(
        len(values) for values in classes(rows) if len(set(values)) == 1
    )
    assert found.success >= found.baseline - 1e-12


@given(rows=records, known=st.integers(0, 4))
def test_background_rules_out_the_commonest_others(rows, known):
    found = background(cells(rows), known)
    sure = 0
    total = 0.0
    for values in classes(rows):
        counted = Counter(values)
        for value, n in counted.items():
            others = sorted((m for v, m in counted.items() if v != value), reverse=True)
            left = len(values) - sum(others[:known])
            sure += n * (left == n)
            total += n * n / left
    assert found.detail["certain_records"] == sure
    assert found.success == pytest.approx(total / len(rows))


@given(rows=records)
def test_more_background_never_hurts_the_attacker(rows):
    shares = [background(cells(rows), m).success for m in range(4)]
    assert shares == sorted(shares)


@given(rows=records)
def test_similarity_of_single_values_is_homogeneity_and_of_one_meaning_is_certainty(rows):
    table = cells(rows)
    alone = similarity(table, np.arange(6))
    assert alone.success == pytest.approx(homogeneity(table).success)
    assert similarity(table, np.zeros(6, np.int64)).success == 1


@given(rows=records)
def test_skewness_bets_on_the_largest_gain(rows):
    found = skewness(cells(rows))
    n = len(rows)
    usual = Counter(value for _, value in rows)
    gains = [
        max(values.count(v) / len(values) - usual[v] / n for v in set(values))
        for values in classes(rows)
    ]
    assert found.detail["largest_gain"] == pytest.approx(max(gains))
    assert found.success - found.baseline == pytest.approx(
        sum(g * len(values) for g, values in zip(gains, classes(rows), strict=True)) / n
    )


def test_one_class_gives_nothing_away():
    table = cells([(0, value) for value in (0, 0, 1, 2, 2, 2)])
    for found in (homogeneity(table), skewness(table), background(table, 1)):
        assert found.advantage == pytest.approx(0)


def test_what_cannot_be_meant_is_refused():
    table = cells([(0, 0), (0, 3)])
    with pytest.raises(MethodError):
        background(table, -1)
    with pytest.raises(KernelInputError):
        similarity(table, np.zeros(2, np.int64))
    with pytest.raises(KernelInputError):
        Cells(np.array([0]), np.array([0, 1]), np.array([1]))
