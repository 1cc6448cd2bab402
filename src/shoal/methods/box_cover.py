"""Very many classes of a model as boxes: what finds the class of a tuple without a set a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.encoding.box_tree import BoxTree, box_tree, first_box
from shoal.model.coverage import covered_runs
from shoal.model.document_types import ModelDocument
from shoal.model.sets import SetColumn, SetEncoder


class BareEncoder(SetEncoder):
    """Knows the cells and classes of a model, and nothing of which class covers what."""

    entries: Sequence[Mapping[str, object]]  # the columns of the document

    def _block(self, entries: Sequence[Mapping[str, object]], regions: object) -> list[SetColumn]:
        self.entries = entries
        return []


@dataclass
class BoxCover:
    """Finds the class of coded tuples; knows which classes are closed. See `Cover`.

    Attributes:
        encoder: of the model.
        sizes: how many codes each column has.
    """

    encoder: SetEncoder
    sizes: list[int]
    tree: BoxTree
    closed: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, document: ModelDocument, texts: Sequence[Sequence[str | None]]) -> BoxCover:
        """Return the cover of a model document.

        texts: for each column, its values in the order of their codes.
        """
        encoder = BareEncoder(document, "suppress")
        regions = np.array(encoder.regions, dtype=np.int64).reshape(-1, len(texts))
        low: list[NDArray[np.int32]] = []
        high: list[NDArray[np.int32]] = []
        runs: list[NDArray[np.int64]] = []
        ends: list[tuple[int, int]] = []
        for j, known in enumerate(texts):
            found = covered_runs(document["columns"][j], encoder.plans[j], known)
            at = np.full(len(found), -1, dtype=np.int64)
            for cell, spans in enumerate(found):
                if len(spans) > 1:
                    at[cell] = len(ends)
                    ends += [*spans, (-1, -1)]
            # A cell that covers none of the texts is a box that nothing is in.
            first = np.array([spans[0][0] if spans else 1 for spans in found], dtype=np.int32)
            last = np.array([spans[-1][1] if spans else 0 for spans in found], dtype=np.int32)
            cells = regions[:, j]
            low.append(first[cells])
            high.append(last[cells])
            runs.append(at[cells])
        table = np.array(ends, dtype=np.int32).reshape(-1, 2)
        tree = box_tree(
            np.stack(low, axis=1), np.stack(high, axis=1), np.stack(runs, axis=1),
            (np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1])),
        )  # fmt: skip
        return cls(encoder, [max(len(known), 1) for known in texts], tree)

    def regions(
        self,
        codes: NDArray[np.int32],
        *,
        closed: bool = True,
        likely: NDArray[np.int64] | None = None,
    ) -> NDArray[np.int64]:
        """Return the first class that covers each tuple, -1 if none; `closed` ones are left out.

        likely: a class that probably covers the tuple, or did.
        """
        allowed = np.ones(len(self.encoder.regions), dtype=np.bool_)
        if closed:
            allowed[list(self.closed)] = False
        return first_box(codes, self.tree, allowed, likely)
