"""Records drawn one by one: what a model that draws releases where there is no batch.

Each cell is drawn by itself, as often as its weights say; a batch is drawn by quotas and is nearer
to the table's distributions.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING

from shoal.core.errors import ModelFormatError
from shoal.edge.fast import FastEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.model.document_types import Labels, ModelDocument, Record, Released


class DrawingEncoder(FastEncoder):
    """Encodes records to values that their labels leave open.

    Args:
        model: the document of a model that was learned with `--release draw`.
        seed: the same records in the same order are drawn alike by the same seed.

    Raises:
        ModelFormatError: the model has nothing to draw from.
    """

    def __init__(
        self,
        model: ModelDocument,
        on_unseen: str | None = None,
        suppressed: str = "star",
        *,
        seed: int = 0,
    ) -> None:
        super().__init__(model, on_unseen, suppressed)
        drawn = model.get("drawn")
        if drawn is None:
            raise ModelFormatError(
                problem="it has nothing to draw from; learn it with --release draw"
            )
        self.random = Random(seed)
        self.open = [column["values"] for column in drawn]
        self.rising = [[0.0, *accumulate(column["weights"])] for column in drawn]
        self.runs: list[dict[str | None, tuple[int, int]]] = []
        for column, labels, root in zip(drawn, self.labels, self.roots, strict=True):
            runs: dict[str | None, tuple[int, int]] = {root: (0, len(column["values"]))}
            for label, (first, last) in zip(labels, column["runs"], strict=True):
                runs[label] = (first, last)
            self.runs.append(runs)

    def tuple_of(self, values: Sequence[object]) -> tuple[Labels | None, int]:
        """Return (values, class); a suppressed record that is released is drawn from the roots."""
        labels, region = super().tuple_of(values)
        if labels is None:
            return (None if self.suppressed == "remove" else self.drawn(self.roots)), -2
        return self.drawn(labels), region

    def drawn(self, labels: Labels) -> Labels:
        """Return a value for each label; one that was widened to no cell's label stays."""
        return [self._value(column, label) for column, label in enumerate(labels)]

    def _value(self, column: int, label: str | None) -> str | None:
        run = self.runs[column].get(label)
        if run is None:
            return label
        first, last = run
        rising = self.rising[column]
        at = rising[first] + self.random.random() * (rising[last] - rising[first])
        place = bisect_right(rising, at, first + 1, last) - 1
        return self.open[column][place]

    def encode(self, record: Record) -> Released | None:
        """Return the released record, its numbers as numbers; None if it is removed."""
        values = self.values(record)
        found, _ = self.tuple_of(values)
        if found is None:
            return self.release(record, None)
        released = self.with_labels(record, found)
        for name, text, was in zip(self.names, found, values, strict=True):
            released[name] = _like(text, was)
        return released

    def is_number(self, text: str | None, token: str) -> bool:
        """Say whether a cell is released as a JSON number: where the record had one."""
        return token[:1] not in ('"', "n", "t", "f") and isinstance(_like(text, 1), (int, float))


def _like(text: str | None, was: object) -> str | int | float | None:
    """Return a drawn text as a number, where the record had one and it is one."""
    if text is None or isinstance(was, bool) or not isinstance(was, (int, float)):
        return text
    try:
        return int(text) if isinstance(was, int) and text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text
