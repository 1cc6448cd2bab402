"""Answering a search where persons are counted.

k different persons, and distinct l as a matching of persons and values, only get better on the way
up: what breaks them breaks them at every finer node. Shares and spreads of (person, value) pairs do
not: two classes may keep them apart and break them together. So only the first rule nodes out; by
the others every node that is left is judged, and judged to the end: a class that fails is
suppressed, and those left are compared with what is left.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.lattice.classes import Classes
from shoal.kernels.lattice.persons import persons_of_classes
from shoal.methods.judging import failing_classes
from shoal.methods.lattice.constraint import Constraint
from shoal.methods.lattice.evaluate import MEMORY, Answer, Evaluator, _ends
from shoal.methods.lattice.measures import Tally
from shoal.methods.lattice.space import Node, Space
from shoal.privacy import Promise
from shoal.table.frequency import ONCE
from shoal.table.recoding import SUPPRESSED, Recoding


def evaluator_for(
    space: Space, constraint: Constraint, *, threads: int = 2, memory: int = MEMORY
) -> Evaluator:
    """Return what counts the nodes of a table: its records, or its persons."""
    kind = Evaluator if space.table.persons is None else PersonEvaluator
    return kind(space, constraint, threads=threads, memory=memory)


class PersonEvaluator(Evaluator):
    """Counts nodes of a table whose rows say who they are about.

    Every node is made from the finest classes: only their rows know their persons.
    """

    def __init__(
        self, space: Space, constraint: Constraint, *, threads: int = 2, memory: int = MEMORY
    ) -> None:
        super().__init__(space, constraint, threads=threads, memory=memory)
        table = space.table
        assert table.persons is not None
        who = table.persons.astype(np.int64)
        once, known = who == ONCE, np.flatnonzero(who >= 0)
        groups = int(self.finest.max()) + 1
        self._once = np.bincount(
            self.finest[once], weights=table.counts[once], minlength=groups
        ).astype(np.int64)
        order = known[np.argsort(who[known], kind="stable")]
        self._group, self._who = self.finest[order], who[order]
        spread = [model for model in constraint.models if model.column is not None]
        self._lasting = [model for model in spread if model.monotone_with_persons]
        self._others = [model for model in spread if not model.monotone_with_persons]

    def _keep(self, node: Node, classes: Classes, *, floor: float) -> None:
        """Keep nothing: what a node is made from must know its rows."""

    def _count(self, node: Node, source: int, *, whole: bool = False) -> Answer:
        most = self.space.table.records if whole else self.constraint.most_classes
        label, codes, sizes, widths = self._grouped(node, 0, most)
        old = self._kept[0]
        classes = Classes(codes, sizes, *old[2:])
        if not sizes.size:
            return Answer(label, classes, sizes, _ends(widths), sizes)
        persons = persons_of_classes(label, self._once, self._group, self._who, sizes.size)
        due = sizes * (persons < self.promise.k)
        budget = self.space.table.records if whole else self.constraint.budget
        if self._lasting and due.sum() <= budget:
            due[self._failing(label, due, self._lasting)] = -1
            due = np.where(due < 0, sizes, due)
        least = due.copy()
        if self._others and least.sum() <= budget:
            due = self._judged_to_the_end(label, sizes, due)
        return Answer(label, classes, due, _ends(widths), least)

    def _judged_to_the_end(
        self, label: NDArray[np.uint32], sizes: NDArray[np.int64], due: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Suppress classes until those left keep every model among themselves."""
        found = due.copy()
        while (wrong := self._failing(label, found, self._others)).size:
            found[wrong] = sizes[wrong]
        return found

    def _failing(
        self, label: NDArray[np.uint32], due: NDArray[np.int64], models: list[Promise]
    ) -> NDArray[np.int64]:
        """Return the classes, of those that are not yet due, that break a model."""
        kept = np.flatnonzero(due == 0)
        rank = np.full(due.size, SUPPRESSED, dtype=np.int64)
        rank[kept] = np.arange(kept.size)
        table = self.space.table
        boxes = np.zeros((kept.size, len(table.domains)), dtype=np.int32)
        recoding = Recoding(
            table=table, low=boxes, high=boxes, row=np.arange(table.rows),
            label=rank[label][self.finest], count=table.counts,
        )  # fmt: skip
        return kept[failing_classes(recoding, models)]

    def read(self, node: Node, answer: Answer) -> Tally:
        """Add up what a node's classes lose; only what lasts says something of finer nodes."""
        budget, found = self.constraint.budget, answer.classes.counts.size
        if not found:
            return super().read(node, answer)
        assert answer.least is not None
        least = int(answer.least.sum())
        if least > budget:
            return Tally(node=node, suppressed=least, least=least, classes=found)
        every = self._summed(node, answer, self.space.table.records)
        lasting = self._summed(node, answer._replace(due=answer.least), budget)
        return replace(
            every,
            least=least,
            paid=np.stack((every.paid[0], lasting.paid[1])),
            lost=[
                np.stack((one[0], other[1]))
                for one, other in zip(every.lost, lasting.lost, strict=True)
            ],
        )
