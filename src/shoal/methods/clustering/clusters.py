"""Clusters as pieces: which records of which row are where, and the boxes around them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def boxes_of(
    codes: NDArray[np.int32], label: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the lowest and highest codes of each cluster 0 … c-1, none of them empty."""
    if not len(label):
        return codes[:0], codes[:0]
    order = np.argsort(label, kind="stable")
    ordered = label[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    sorted_codes = codes[order]
    return (
        np.minimum.reduceat(sorted_codes, starts, axis=0),
        np.maximum.reduceat(sorted_codes, starts, axis=0),
    )
