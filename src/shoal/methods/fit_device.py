"""The model that loses least among those that a device has room for.

The partition that a search found is taken if it fits. Beside it, a tree is grown for the room that
there is (`grow`) and pruned until it fits (`prune`): fewer and larger regions. A hierarchy of the
schema may be left out, so that its column is released as the root; which ones stay is tried: one
after the other goes while the best model gets better. What devices do not need to keep the promise
goes first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from shoal.core.errors import NoSolutionError
from shoal.hierarchies.tree import Hierarchy
from shoal.methods.cut_model import model_of_cuts
from shoal.methods.cut_tree import Cutting, cut_regions
from shoal.methods.judging import failing_classes
from shoal.methods.prune import Pruning, loss_of, prune
from shoal.privacy import Promise
from shoal.schema.schema import Kind, Schema
from shoal.table.recoding import Recoding

_TRIED = 12  # sizes of a tree that are written to find the largest one that fits
_CLASS = 26  # bytes that a class and its share of the cells take, about
_GROWN = 2  # classes that a tree is grown to, for each that there is room for
_MOST = 50_000
_WORTH = 0.03  # of the room: a smaller hierarchy is not worth trying without
_UTILITY = 0.1234567890123456  # as long as a measure can be


@dataclass(frozen=True)
class Fitted:
    """A model that fits.

    Attributes:
        cutting: its regions.
        schema: as it stands in the model, without the hierarchies that had no room.
        size: bytes of its file.
        loss: the share of the information that its regions lose.
        whole_classes, whole_loss: of the model that there was no room for.
        roots: the columns that are released as the root.
    """

    cutting: Cutting
    schema: Schema
    size: int
    loss: float
    whole_classes: int
    whole_loss: float
    roots: tuple[str, ...] = ()


def fit(
    found: Recoding, schema: Schema, promises: Sequence[Promise], *, method: str, most: int
) -> Fitted | None:
    """Return the best model of a partition with at most so many bytes.

    Returns:
        None where the partition cannot be written as cuts.

    Guarantee:
        Its regions keep the promise with all training records in them, judged after they were
        united.

    Raises:
        NoSolutionError: not even one region fits.
    """
    whole = cut_regions(found, schema, promises)
    if whole is None:
        return None
    size = _size(whole, schema, method)
    job = _Job(found, promises, method, most, whole.recoding.classes, loss_of(whole.recoding))
    as_it_is = job.fitted(whole, schema, size, ()) if size <= most else None
    small = job.best(slim(schema, promises))
    if as_it_is is not None and (small is None or as_it_is.loss <= small.loss):
        return as_it_is
    if small is None:
        raise NoSolutionError(
            problem=f"no model has at most {most:,} bytes: the columns alone take more. "
            "Allow more, or declare fewer columns"
        )
    return small


def slim(schema: Schema, promises: Sequence[Promise]) -> Schema:
    """Return a schema without the hierarchies of sensitive columns that no promise compares by."""
    if any(getattr(each, "distance", None) == "hierarchical" for each in promises):
        return schema
    return schema.with_attributes(
        replace(attribute, hierarchy=None)
        for attribute in schema.attributes
        if attribute.name not in schema.quasi and isinstance(attribute.hierarchy, Hierarchy)
    )


def without_hierarchy(schema: Schema, names: Sequence[str]) -> Schema:
    """Return a schema where some columns have no hierarchy: only the root covers them."""
    return schema.with_attributes(
        replace(
            schema.attribute(name), hierarchy=None, kind=Kind.CATEGORICAL, order=(), distance=None
        )
        for name in names
    )


@dataclass(frozen=True)
class _Job:
    """What does not change while models are tried."""

    found: Recoding
    promises: Sequence[Promise]
    method: str
    most: int
    whole_classes: int
    whole_loss: float

    def best(self, schema: Schema) -> Fitted | None:
        """Leave out hierarchies while the best model gets better, or until one fits at all."""
        best = self._grown(schema, ())
        roots: tuple[str, ...] = ()
        least = 0 if best is None else _WORTH * self.most
        waiting = [name for name in schema.quasi if _tree_size(schema, name) > least]
        while waiting:
            tried = {name: self._grown(schema, (*roots, name)) for name in waiting}
            fitting = {name: made for name, made in tried.items() if made is not None}
            if fitting:
                name = min(fitting, key=lambda each: fitting[each].loss)
                if best is not None and fitting[name].loss >= best.loss:
                    break
                best = fitting[name]
            else:  # no room for any of them: the largest goes first
                name = max(waiting, key=lambda each: _tree_size(schema, each))
            roots = (*roots, name)
            waiting.remove(name)
        return best

    def _grown(self, schema: Schema, roots: tuple[str, ...]) -> Fitted | None:
        """Grow a tree for the room that there is, and prune it until it fits."""
        most = max(min(_GROWN * self.most // _CLASS, _MOST), 2)
        tree = cut_regions(self.found, schema, self.promises, uncut=roots, most=most)
        if tree is None:
            return None
        return self._largest(prune(tree), without_hierarchy(schema, roots), roots)

    def _largest(self, whole: Pruning, schema: Schema, roots: tuple[str, ...]) -> Fitted | None:
        """Return the model with most classes that fits; the size hardly ever falls with them."""
        fits = whole.of(1)
        size = self.size(fits, schema)
        if size > self.most or self._fails(fits):
            return None
        best = self.fitted(fits, schema, size, roots)
        low, high = (fits.recoding.classes, size), (whole.classes + 1, _CLASS * whole.classes)
        for _ in range(_TRIED):
            if high[0] - low[0] < max(2, low[0] // 100):
                break
            share = (self.most - low[1]) / max(high[1] - low[1], 1)
            step = int((high[0] - low[0]) * min(max(share, 0.02), 0.98))
            tried = whole.of(min(max(low[0] + step, low[0] + 1), high[0] - 1))
            classes, needed = tried.recoding.classes, self.size(tried, schema)
            if needed > self.most or self._fails(tried):
                high = (min(high[0] - 1, classes), max(needed, self.most))
                continue
            if classes <= low[0]:  # there is no tree between
                break
            low = (classes, needed)
            made = self.fitted(tried, schema, needed, roots)
            best = min(best, made, key=lambda each: each.loss)  # narrow labels may cost more
        return best

    def size(self, cutting: Cutting, schema: Schema) -> int:
        """Return the bytes of a model's file."""
        return _size(cutting, schema, self.method)

    def _fails(self, cutting: Cutting) -> bool:
        return bool(failing_classes(cutting.recoding, self.promises).any())

    def fitted(self, cutting: Cutting, schema: Schema, size: int, roots: tuple[str, ...]) -> Fitted:
        """Return the model with what it costs."""
        return Fitted(
            cutting, schema, size, loss_of(cutting.recoding), self.whole_classes,
            self.whole_loss, roots,
        )  # fmt: skip


def _size(cutting: Cutting, schema: Schema, method: str) -> int:
    made = model_of_cuts(cutting, schema, method=method, utility={"ncp": _UTILITY})
    return len(made.to_json().encode())


def _tree_size(schema: Schema, name: str) -> int:
    """Return how many bytes a hierarchy takes in a model's file."""
    tree = schema.attribute(name).hierarchy
    return len(json.dumps(tree.to_document())) if isinstance(tree, Hierarchy) else 0
