"""The persons of each class, against sets."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.lattice.persons import persons_of_classes

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=20)


@settings(deadline=None)
@given(
    label=st.lists(st.integers(0, 2), min_size=6, max_size=6),
    once=st.lists(st.integers(0, 4), min_size=6, max_size=6),
    pairs=PAIRS,
)
def test_persons_are_those_of_sets(label, once, pairs):
    ordered = sorted(pairs, key=lambda pair: pair[1])
    group = np.array([g for g, _ in ordered], dtype=np.int64)
    who = np.array([p for _, p in ordered], dtype=np.int64)
    found = persons_of_classes(
        np.array(label, dtype=np.uint32), np.array(once, dtype=np.int64), group, who, 3
    )
    for c in range(3):
        people = {p for g, p in pairs if label[g] == c}
        alone = sum(n for n, each in zip(once, label, strict=True) if each == c)
        assert found[c] == len(people) + alone
