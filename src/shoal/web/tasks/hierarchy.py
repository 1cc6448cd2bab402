"""What a hierarchy is built from, which values it leaves without a place, and what it loses."""

from __future__ import annotations

from collections.abc import Callable

from shoal.core.documents import Document, Json, as_json
from shoal.core.errors import ShoalError
from shoal.hierarchies.tree import Hierarchy
from shoal.jobs.documents import request_from
from shoal.jobs.hierarchy import ColumnValues, build_hierarchy, wordnet_hierarchy
from shoal.jobs.lattice import LatticeRequest, lattice
from shoal.jobs.requests import InferRequest, LearnRequest
from shoal.methods.registry import method_named
from shoal.schema.schema import Schema

MOST_LISTED = 1_000
"""Values without a place that are named; all are counted."""


def run(asked: Document, tell: Callable[[Document], None]) -> Document:
    """Look at one column.

    `table`, `column`, `missing`: the values. `entry`: a builder as a schema has it, or
    `wordnet`: mapping, dict and root; `tree`: a hierarchy's document; `values`: a flat tree is
    wanted. The answer has the tree that was built, the values that it does not know, and for
    each level the loss and the share of records that would be alone.
    """
    request = request_from({"job": "infer", "table": asked["table"]})
    assert isinstance(request, InferRequest)
    column, missing = str(asked["column"]), asked.get("missing")
    marks = [str(each) for each in missing] if isinstance(missing, list) else []
    values = ColumnValues(table=request.table, column=column, missing=marks)
    texts = values.texts()
    tree = _tree(asked, values, texts)
    answer: Document = {"column": column, "distinct": len(texts)}
    if tree is None:
        return answer
    lost = [text for text in texts if text not in tree]
    unplaced: list[Json] = [*sorted(lost)[:MOST_LISTED]]
    answer |= {"unplaced": unplaced, "unplaced_count": len(lost)}
    if asked.get("tree") is None:
        answer["tree"] = tree.to_document()
    if not lost:
        answer["levels"] = levels_of(request.table, tree, marks)
    return answer


def _tree(asked: Document, values: ColumnValues, texts: list[str]) -> Hierarchy | None:
    entry, words, tree = asked.get("entry"), asked.get("wordnet"), asked.get("tree")
    if isinstance(words, dict):
        return wordnet_hierarchy(
            values.column, str(words["mapping"]), str(words["dict"]),
            root=str(words["root"]) if words.get("root") else None,
        )  # fmt: skip
    if entry is not None:
        return build_hierarchy(values, entry)
    if tree is not None:
        return Hierarchy.from_document(values.column, tree)
    return Hierarchy.flat(values.column, texts) if asked.get("flat") and texts else None


def levels_of(table: object, tree: Hierarchy, missing: list[str]) -> list[Json]:
    """Return the loss at each level of a column, and the share of records that are alone there.

    The loss is that of a lattice of this one column, in the measure that a search minimizes.
    """
    schema = Schema.from_document(
        {
            "columns": {
                tree.name: {"role": "quasi", "kind": "categorical",
                            "hierarchy": tree.to_document()}
            },
            "others": "drop",
            "missing": missing,
            "privacy": [{"model": "k-anonymity", "k": 2}],
            "suppression_limit": 1.0,
        }
    )  # fmt: skip
    request = LearnRequest(table=table, schema=schema, method=method_named("flash"))
    try:
        found = lattice(LatticeRequest(release=request, most=tree.levels + 1))
    except ShoalError:  # fewer than two records, say: there is nothing to draw
        return []
    records = max(found.records, 1)
    levels = as_json(
        [{"loss": each.loss, "alone": each.suppressed / records} for each in found.nodes]
    )
    assert isinstance(levels, list)
    return levels
