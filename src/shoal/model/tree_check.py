"""What the tree of cuts of a model must be, checked before anything is believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeGuard, cast

from shoal.core.errors import ModelFormatError
from shoal.model.column import Column
from shoal.model.cut_tree import regions_of
from shoal.model.document_types import AttributeDocument, ColumnDocument, Plan, TreeOfCuts

MOST_CUTS = 500_000  # of a column; pairs of them are held as one integer


def _refuse(problem: str) -> ModelFormatError:
    return ModelFormatError(problem=problem)


def check_cut_column(column: Mapping[str, object], name: str, about: Mapping[str, object]) -> None:
    """Check the cuts of a column and the cells between them; the rest is checked before.

    Raises:
        ModelFormatError: they are not in order, or a cell is not between two of them.
    """
    cuts, cells = column.get("cuts"), column["cells"]
    if not isinstance(cuts, list) or len(cuts) > MOST_CUTS or not isinstance(cells, list):
        raise _refuse(f"column {name!r} has no cuts")
    if not all(type(cut) in (int, str) for cut in cuts) or not _are_bounds(column):
        raise _refuse(f"column {name!r}: a cut is damaged")
    found = Column(cast(ColumnDocument, column), _plan_of(column, cast(AttributeDocument, about)))
    first, last = found.bounds
    if [column.get("first"), column.get("last")] != [None, None] and None in (first, last):
        raise _refuse(f"column {name!r}: its first or last value has no place")
    wanted = int if found.is_tree else str
    keys = [key for key in (first, *found.cuts, last) if key is not None]
    if not all(type(cut) is wanted for cut in cuts) or len(found.cuts) < len(cuts):
        raise _refuse(f"column {name!r}: a cut is damaged")
    if any(a > b for a, b in pairwise(keys)) or len(set(found.cuts)) < len(cuts):
        raise _refuse(f"column {name!r}: its cuts are not in order")
    if not all(_is_between(cell, column, len(cuts) + 1) for cell in cells):
        raise _refuse(f"column {name!r}: a cell is damaged")


def _are_bounds(column: Mapping[str, object]) -> bool:
    if not isinstance(column.get("variant", ""), str):
        return False
    ends = [column.get("first"), column.get("last")]
    if column["scale"] == "text":
        return ends == [None, None] and isinstance(column.get("missing", False), bool)
    return all(isinstance(end, str) for end in ends) and isinstance(
        column.get("missing", False), bool
    )


def _plan_of(column: Mapping[str, object], about: AttributeDocument) -> Plan:
    """Return what the keys of cuts depend on; see `runtime`."""
    tree = about.get("hierarchy") or {}
    labels = tree.get("labels", [])
    known = about.get("order") or labels if column["scale"] == "rank" else labels
    index: dict[str | tuple[int | str, ...], int] = {text: at for at, text in enumerate(known)}
    form = about.get("date_format")
    return {"absent": {}, "index": index, "parents": [], "labels": labels, "form": form}


def _is_between(cell: Mapping[str, object], column: Mapping[str, object], end: int) -> bool:
    """Say whether a cell lies between two cuts, and releases what may be released there."""
    cut, which = cell.get("cut"), cell.get("variant", 0)
    if not isinstance(cut, list) or len(cut) != 2 or not all(type(at) is int for at in cut):
        return False
    if type(which) is not int or not 0 <= which < 36 or not -1 <= cut[0] < cut[1] <= end:
        return False
    if column.get("missing", False) is True:
        if cut[0] < 0:  # the missing value alone, or the root
            return "any" in cell or ("missing" in cell and cut == [-1, 0])
    elif 0 in cut:
        return False
    return "missing" not in cell and _fits_scale(cell, column, is_whole=cut == [-1, end])


def _fits_scale(
    cell: Mapping[str, object], column: Mapping[str, object], *, is_whole: bool
) -> bool:
    """Say whether a cell releases what regions of such a column do."""
    if column["scale"] == "text":
        return not {"low", "values", "label"} & set(cell)
    is_range = set(cell) - {"variant"} == {"cut", "label"} and not is_whole
    return is_range or ("any" in cell and cell["any"] == column["root"])


def _are_counts(values: object) -> TypeGuard[list[int]]:
    return isinstance(values, list) and all(type(value) is int and value >= 0 for value in values)


def checked_tree(document: Mapping[str, object]) -> list[list[int]]:
    """Check the tree of a document whose columns are checked; return the cells of its classes.

    Raises:
        ModelFormatError: it is no tree, or a region of it has no cell.
    """
    tree = document.get("tree")
    if not isinstance(tree, Mapping) or set(tree) != {"cut", "left"}:
        raise _refuse("its tree is damaged")
    if not _are_counts(tree["cut"]) or not _are_counts(tree["left"]):
        raise _refuse("its tree is damaged")
    if len(tree["cut"]) != len(tree["left"]):
        raise _refuse("its tree is damaged")
    columns = cast(Sequence[ColumnDocument], document["columns"])
    classes = len(tree["cut"]) + 1
    if any(len(column.get("variant", " " * classes)) != classes for column in columns):
        raise _refuse("its variants do not fit its tree")
    regions = regions_of(columns, cast(TreeOfCuts, tree)) if columns else None
    if regions is None:
        raise _refuse("its tree does not fit its cells")
    return regions
