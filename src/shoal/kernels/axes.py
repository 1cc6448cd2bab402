"""Arrays that compiled code reads about the columns and about the promise.

A kernel and everything it calls must live in one module (a cached caller does
not notice that a callee in another module changed), so this module holds only
the array groups; the loops stand in the modules that use them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.plain import PlainJudge
from shoal.privacy.compiled import Distance, Measure


class Axes(NamedTuple):
    """The quasi-identifiers, one after another in flat arrays.

    Column j owns position[start[j] : start[j+1]] (one entry a code) and, when it
    is a tree, nodes tree_start[j] : tree_start[j+1] of first, parent and height.
    `height` is already divided by the height of the tree.
    """

    is_tree: NDArray[np.bool_]
    has_missing: NDArray[np.bool_]
    span: NDArray[np.float64]
    weight: NDArray[np.float64]
    start: NDArray[np.int64]
    position: NDArray[np.float64]
    tree_start: NDArray[np.int64]
    first: NDArray[np.int32]
    parent: NDArray[np.int32]
    height: NDArray[np.float64]


class PromiseArrays(NamedTuple):
    """The privacy promise, one row a model; `kind` is one of the constants below.

    Compiled code reads it as one array (`judge.packed`).

    Sensitive column s owns reference[start[s] : start[s+1]] (the whole table's
    histogram) and nodes tree_start[s] : tree_start[s+1] of its tree, if it has one.
    `marked` says, row by row of (model, value), whether (α,k) limits the value. `plain` has,
    for each row, who answers for a promise without a compiled form.
    """

    k: int
    kind: NDArray[np.int32]
    column: NDArray[np.int32]
    first_number: NDArray[np.float64]
    second_number: NDArray[np.float64]
    distance: NDArray[np.int32]
    start: NDArray[np.int64]
    reference: NDArray[np.int64]
    node: NDArray[np.int32]
    tree_start: NDArray[np.int64]
    tree_parent: NDArray[np.int32]
    tree_height: NDArray[np.float64]
    marked: NDArray[np.bool_]
    plain: tuple[PlainJudge | None, ...] = ()


# Compiled code wants plain numbers, not members of an enumeration.
DISTINCT, ENTROPY, RECURSIVE, CLOSENESS, NT_CLOSENESS, ALPHA, PLAIN = (int(m) for m in Measure)
EQUAL, ORDERED, HIERARCHICAL, CHI2 = (int(d) for d in Distance)
