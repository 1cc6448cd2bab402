"""The same encoder for CPython, several times as fast: the walk down the tree without detours."""

from __future__ import annotations

from operator import itemgetter

from shoal.model.column import Rejected, text_of
from shoal.model.cut_tree import CutTree
from shoal.model.document_types import ModelDocument, Record, Released
from shoal.model.runtime import MOST_TEMPLATES, Encoder


class FastEncoder(Encoder):
    """Encodes as `Encoder` does."""

    def __init__(
        self, model: ModelDocument, on_unseen: str | None = None, suppressed: str = "star"
    ) -> None:
        super().__init__(model, on_unseen, suppressed)
        index = self.index
        self.tree = index if isinstance(index, CutTree) else None
        self.get = itemgetter(*self.names) if len(self.names) > 1 else None
        if isinstance(index, CutTree):
            # As pairs, taken apart once: (column, cut, classes to the left).
            self.steps = [
                (cut % index.width, cut // index.width, left)
                for cut, left in zip(index.cut, index.left, strict=True)
            ]
            self.memos = [column.memo for column in index.columns]

    def encode(self, record: Record) -> Released | None:
        """Return the released record, in the model's order; None if it is removed."""
        try:
            values = self.get(record) if self.get else (record[self.names[0]],)
            found = self._class(self.tree, values) if self.tree else self.index.find(values)
        except (KeyError, TypeError):
            for value in self.values(record):
                text_of(value)
            raise Rejected("not a plain record") from None
        if found < 0:
            return self.release(record, self.tuple_of(values)[0])
        template = self.templates.get(found)
        if template is None:
            if len(self.templates) >= MOST_TEMPLATES:
                self.templates.clear()
            template = self.templates[found] = self._template(self.labels_of(found))
        return self._fill(record, template.copy())

    def _class(self, tree: CutTree, values: tuple[object, ...]) -> int:
        """Return the class of a tuple, as `CutTree.find` does."""
        places = []
        for memo, column, value in zip(self.memos, tree.columns, values, strict=True):
            found = memo.get(value)
            places.append(column.place(value) if found is None else found)
        steps = self.steps
        node = first = 0
        many = len(steps) + 1
        while many > 1:
            j, cut, left = steps[node]
            place = places[j]
            if place > cut:
                first += left
                node += left
                many -= left
            elif place < 0:
                return -1
            else:
                node += 1
                many = left
        if tree.checked:
            region = self._region(tree, first)
            for j in tree.checked:
                if not tree.columns[j].covers(tree.entries[j][region[j]], values[j]):
                    return -1
        return first

    def _region(self, tree: CutTree, number: int) -> list[int]:
        return tree.region(number)
