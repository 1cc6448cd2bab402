"""Tasks of Spark without Spark: what a shuffle, a broadcast and a task do, on plain lists."""

from __future__ import annotations

from collections import defaultdict


class Broadcast:
    """What every task holds."""

    def __init__(self, value):
        self.value = value


def shuffled(batches, by="part"):
    """Return the rows of batches by partition, each as a batch of its own, the last ones first."""
    found = defaultdict(list)
    for batch in batches:
        for i, number in enumerate(batch.column(by).to_pylist()):
            found[number].insert(0, batch.slice(i, 1))
    return dict(found)
