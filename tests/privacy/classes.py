"""Classes and promises that the tests of several promises share."""

from __future__ import annotations

from hypothesis import strategies as st

from shoal.privacy import (
    AlphaKAnonymity,
    EquivalenceClass,
    KAnonymity,
    LDiversity,
    NTCloseness,
    TCloseness,
)

HISTOGRAMS = st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any)
THREE = st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any)
DECIMALS = st.integers(1, 60).map(lambda tenths: tenths / 10)
TREE = {"parents": [2, 2, 4, 4, -1], "heights": [0, 0, 1, 0, 2], "node_of_value": [0, 1, 3]}

MONOTONE = [
    KAnonymity(4),
    LDiversity(2),
    LDiversity(2, "entropy"),
    LDiversity(1.6, "entropy"),
    LDiversity(2, "recursive", c=2),
    *(TCloseness(t, d) for t in (0.2, 0.4) for d in ("equal", "ordered", "hierarchical", "chi2")),
    AlphaKAnonymity(0.6, 3),
]
EVERY = [
    *MONOTONE,
    LDiversity(3, column="diagnosis"),
    NTCloseness(100, 0.1, distance="ordered", column="cost"),
    AlphaKAnonymity(0.5, 4, values=["flu", "hiv"], column="diagnosis"),
]


def class_of(histogram, reference=None, supersets=()):
    return EquivalenceClass(
        int(sum(histogram)), histogram, reference=reference, supersets=supersets
    )
