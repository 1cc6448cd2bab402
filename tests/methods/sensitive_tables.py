"""Tables with one sensitive column, and a promise of every kind about it."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from shoal.hierarchies.tree import Hierarchy
from shoal.privacy import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    LDiversity,
    NTCloseness,
    TCloseness,
)
from shoal.schema.schema import Kind
from shoal.table.domain import line_domain, tree_domain
from shoal.table.frequency import from_codes
from shoal.table.recoding import recoding_of

TREE = Hierarchy.from_tree("s", {"*": {"x": {"a": None, "y": ["b", "c"]}, "d": None}})
SECRET = tree_domain("s", Kind.CATEGORICAL, ["a", "b", "c", "d"], TREE, missing=False, weight=1.0)

PROMISES = [
    KAnonymity(3),
    LDiversity(2, column="s"),
    LDiversity(1.8, "entropy", column="s"),
    LDiversity(2, "recursive", c=1.5, column="s"),
    *(TCloseness(0.3, how, column="s") for how in ("equal", "ordered", "hierarchical", "chi2")),
    NTCloseness(8, 0.25, column="s"),
    AlphaKAnonymity(0.6, 2, column="s"),
    AlphaKAnonymity(0.4, 2, column="s", values=["a", "d"]),
    BetaLikeness(0.7, column="s"),
    DeltaDisclosure(0.8, column="s"),
]


@st.composite
def counted(draw):
    """A table of one number in which every sensitive value occurs, as counting leaves it."""
    every = [(draw(st.integers(0, 3)), value, draw(st.integers(1, 5))) for value in range(4)]
    more = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 5))
    cells = [*every, *draw(st.lists(more, max_size=12))]
    codes = np.array([[q] for q, _, _ in cells], dtype=np.int32)
    line = line_domain("q", Kind.NUMERIC, list("0123"), range(4))
    return from_codes(
        (line,), codes, np.array([n for *_, n in cells], dtype=np.int64),
        sensitive_domains=(SECRET,),
        sensitive=np.array([[s] for _, s, _ in cells], dtype=np.int32),
    )  # fmt: skip


def by_number(table):
    """Return the recoding that puts equal numbers into one class."""
    distinct, label = np.unique(table.codes[:, 0], return_inverse=True)
    box = distinct[:, None].astype(np.int32)
    return recoding_of(table, box, box, (np.arange(table.rows), label, table.counts))


def histograms(table, label, classes):
    """Return the sensitive values of each class, counted one by one."""
    found = [[0] * len(SECRET) for _ in range(classes)]
    for row, mine in enumerate(label):
        if mine >= 0:
            found[mine][table.sensitive[row, 0]] += int(table.counts[row])
    return found
