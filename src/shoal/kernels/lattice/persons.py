"""How many different persons each class of a node has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.helpers import outer


def persons_of_classes(
    label: NDArray[np.uint32],
    once: NDArray[np.int64],
    group: NDArray[np.int64],
    who: NDArray[np.int64],
    classes: int,
) -> NDArray[np.int64]:
    """Return the persons of each class.

    Args:
        label: the class of each group of records.
        once: for each group, the persons who have no other record.
        group: of each row of the others, sorted by person.
        who: and the person of it.
        classes: how many there are.
    """
    found = np.zeros(classes, dtype=np.int64)
    count(label, once, group, who, np.full(classes, -1, dtype=np.int64), found)
    return found


@outer
def count(label, once, group, who, stamp, found):
    """Fill `found`; a class is stamped with the last person that was counted in it."""
    for g in range(label.size):
        found[label[g]] += once[g]
    for i in range(group.size):
        c = label[group[i]]
        if stamp[c] != who[i]:
            stamp[c] = who[i]
            found[c] += 1
