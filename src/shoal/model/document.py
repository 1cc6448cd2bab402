"""The model document: what may stand in a model file, checked before anything is believed.

Light on purpose: a device checks a model with this file and `model_runtime` alone.
The document is described for people and other programs in `model.schema.json`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from shoal.core.dates import is_form
from shoal.core.errors import ModelFormatError
from shoal.core.keys import date_key, number_key
from shoal.model.upgrades import UPGRADES

FORMAT = "shoal-model"
VERSION = 2
MOST_BYTES = 64 * 2**20
ON_UNSEEN = ("suppress", "nearest", "error")
SCALES = ("number", "date", "rank", "text")
_KEYS = frozenset(
    ("format", "version", "method", "records", "suppressed", "utility", "on_unseen", "schema",
     "released", "removed", "columns", "regions", "counts", "levels", "fingerprint")
)  # fmt: skip
_CELL_KEYS = frozenset(
    ("any", "missing", "node", "value", "values", "mask", "lost", "low", "high", "open", "label")
)


def _refuse(problem: str) -> ModelFormatError:
    return ModelFormatError(problem=problem)


def parse_model(text: str) -> Any:
    """Parse a model file's text; a name that stands twice, or a number too long, is refused."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise _refuse("a name stands in it twice")
        return found

    def strange(_: str) -> float:
        raise _refuse("a number in it is not finite")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=strange)
    except ModelFormatError:
        raise
    except RecursionError:
        raise _refuse("it is nested too deeply") from None
    except ValueError:  # broken JSON, and whole numbers of thousands of digits
        raise _refuse("it is not JSON; is the file damaged?") from None


def read_model_text(path: str) -> str:
    """Return a model file's text.

    Raises:
        ModelFormatError: no such file, too large, or not UTF-8.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise _refuse(f"{path}: {(error.strerror or type(error).__name__).lower()}") from None
    if len(content) > MOST_BYTES:
        raise _refuse(f"{path} is larger than {MOST_BYTES // 2**20} MiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _refuse(f"{path} is not UTF-8 text") from None


def checked(document: object) -> dict[str, Any]:
    """Return a document of the present version whose every part is what it must be.

    Raises:
        ModelFormatError: newer, damaged, hostile, or no model at all.
    """
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise _refuse(f"not a model file: no format {FORMAT!r} in it")
    version = document.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise _refuse("its version is not a whole number")
    if version > VERSION:
        raise _refuse(f"its version is above {VERSION}; update shoal to read it")
    found = dict(document)
    for step in range(version, VERSION):
        found = UPGRADES[step](found)
    _check(found)
    return found


def fingerprint_of(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of everything in a document but its fingerprint."""
    from hashlib import sha256  # a device that only encodes does not need it

    content = {key: value for key, value in document.items() if key != "fingerprint"}
    try:
        text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise _refuse("it holds what JSON does not know") from None
    return sha256(text.encode()).hexdigest()


def is_sealed(document: object) -> bool:
    """Say whether a document carries a fingerprint, and the one of its content."""
    told = document.get("fingerprint") if isinstance(document, Mapping) else None
    return told is not None and isinstance(document, Mapping) and told == fingerprint_of(document)


def _check(document: dict[str, Any]) -> None:
    if any(key not in _KEYS for key in document):
        raise _refuse("it has keys that no model has")
    if not _is_text(document.get("method")) or not document["method"]:
        raise _refuse("its method is not a name")
    for key in ("records", "suppressed"):
        if not _is_count(document.get(key)):
            raise _refuse(f"its {key} is not a whole number")
    if document["suppressed"] > document["records"]:
        raise _refuse("it suppresses more records than it has")
    if document.get("on_unseen") not in ON_UNSEEN:
        raise _refuse(f"its on_unseen is not one of {', '.join(ON_UNSEEN)}")
    _check_utility(document.get("utility"))
    quasi = _check_schema(document)
    columns = document.get("columns")
    if not isinstance(columns, list) or not all(isinstance(c, Mapping) for c in columns):
        raise _refuse("its columns are missing")
    if [column.get("name") for column in columns] != quasi:
        raise _refuse("its columns are not the schema's quasi-identifiers")
    for column in columns:
        _check_column(column, document["schema"]["columns"][column["name"]])
    _check_regions(document, [len(column["cells"]) for column in columns])
    levels = document.get("levels")
    if levels is not None and (
        not isinstance(levels, Mapping)
        or sorted(map(str, levels)) != sorted(quasi)
        or not all(map(_is_count, levels.values()))
    ):
        raise _refuse("its levels do not fit its columns")
    if not _is_text(document.get("fingerprint", "")):
        raise _refuse("its fingerprint is not a text")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _check_utility(value: object) -> None:
    if not isinstance(value, Mapping):
        raise _refuse("its measures are damaged")
    for name, number in value.items():
        is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
        if not _is_text(name) or not (number is None or (is_number and abs(number) < 1e300)):
            raise _refuse("its measures are damaged")


def _check_schema(document: dict[str, Any]) -> list[str]:
    """Check what an encoder uses of the schema; return the quasi-identifiers."""
    schema = document.get("schema")
    about = schema.get("columns") if isinstance(schema, Mapping) else None
    if not isinstance(schema, Mapping) or not isinstance(about, Mapping) or not about:
        raise _refuse("its schema is missing")
    if not all(_is_text(n) and isinstance(a, Mapping) for n, a in about.items()):
        raise _refuse("a column of its schema is damaged")
    if schema.get("others", "fault") not in ("fault", "drop", "keep"):
        raise _refuse("its schema does not say what happens to other columns")
    marks = schema.get("missing", [])
    if not isinstance(marks, list) or not all(map(_is_text, marks)):
        raise _refuse("its marks of missing values are not texts")
    for entry in about.values():
        if entry.get("role") not in ("identifying", "quasi", "sensitive", "neutral"):
            raise _refuse("a column of its schema has no role")
    removed = [name for name, entry in about.items() if entry["role"] == "identifying"]
    released = [name for name in about if name not in removed]
    # Kept apart from the schema, because some machines forget the order of names.
    lists = (document.get("released"), document.get("removed"))
    if not all(isinstance(names, list) and all(map(_is_text, names)) for names in lists):
        raise _refuse("its lists of released and removed columns are damaged")
    if [sorted(document["released"]), sorted(document["removed"])] != [
        sorted(released),
        sorted(removed),
    ]:
        raise _refuse("its lists of columns contradict its schema")
    return [name for name in document["released"] if about[name]["role"] == "quasi"]


def _check_column(column: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    name = column["name"]
    if any(key not in ("name", "scale", "root", "cells", "mask") for key in column):
        raise _refuse(f"column {name!r} has keys that no column has")
    if column.get("scale") not in SCALES or not _is_text(column.get("root")):
        raise _refuse(f"column {name!r} has no scale or no root")
    if not isinstance(column.get("cells"), list):
        raise _refuse(f"column {name!r} has no cells")
    labels = _labels(about.get("hierarchy"), name)
    order = about.get("order", [])
    if not isinstance(order, list) or not all(map(_is_text, order)):
        raise _refuse(f"column {name!r}: its order is damaged")
    form = about.get("date_format")
    if form is not None and not (_is_text(form) and is_form(form)):
        raise _refuse(f"column {name!r}: its date_format is damaged")
    places = set(order or labels)
    length = _mask_length(column.get("mask"), name)
    for cell in column["cells"]:
        fits = _is_cell(cell, column["scale"], nodes=len(labels), places=places, length=length)
        if not fits or not _are_dates(cell, column["scale"], form):
            raise _refuse(f"column {name!r}: a cell is damaged")


def _labels(tree: object, name: str) -> list[str]:
    """Return the labels of a stored hierarchy; none where it is a rule."""
    if not isinstance(tree, Mapping) or "labels" not in tree:
        return []
    labels, parents = tree["labels"], tree.get("parents")
    if not isinstance(labels, list) or not isinstance(parents, list) or not labels:
        raise _refuse(f"column {name!r}: its hierarchy is damaged")
    size = len(labels)
    fits = len(parents) == size and all(map(_is_text, labels)) and parents[-1] == -1
    if not fits or not all(
        type(above) is int and node < above < size for node, above in enumerate(parents[:-1])
    ):
        raise _refuse(f"column {name!r}: its hierarchy is not a tree")
    return labels


def _mask_length(mask: object, name: str) -> int:
    if mask is None:
        return 0
    if isinstance(mask, Mapping) and set(mask) == {"char", "length", "direction", "pad", "fill"}:
        sides = all(mask[key] in ("right", "left") for key in ("direction", "pad"))
        chars = all(_is_text(mask[key]) and len(mask[key]) == 1 for key in ("char", "fill"))
        if sides and chars and _is_count(mask["length"]) and 1 <= mask["length"] <= 10_000:
            return int(mask["length"])
    raise _refuse(f"column {name!r}: its mask is damaged")


def _is_cell(cell: object, scale: str, *, nodes: int, places: set[str], length: int) -> bool:
    if not isinstance(cell, Mapping) or any(key not in _CELL_KEYS for key in cell):
        return False
    keys = set(cell) - {"label"}
    if "label" in cell and not _is_text(cell["label"]):
        return False
    if keys == {"missing"}:
        return cell["missing"] is True
    if keys == {"any"} or keys == {"value"}:
        return all(_is_text(cell[key]) for key in keys)
    if keys == {"values"}:
        values = cell["values"]
        fits = isinstance(values, list) and bool(values) and all(map(_is_text, values))
        return fits and "label" in cell
    if keys == {"node"}:
        return _is_count(cell["node"]) and cell["node"] < nodes
    if keys == {"mask", "lost"}:
        return _is_text(cell["mask"]) and _is_count(cell["lost"]) and 0 < cell["lost"] < length
    if keys not in ({"low", "high"}, {"low", "high", "open"}):
        return False
    ends = [end for end in (cell["low"], cell["high"]) if end is not None]
    if len(ends) < 2 and "label" not in cell:
        return False
    if cell.get("open", "low") not in ("low", "high", "both"):
        return False
    return all(_is_text(end) and _has_place(end, scale, places) for end in ends)


def _has_place(end: str, scale: str, places: set[str]) -> bool:
    if scale == "number":
        return number_key(end) is not None
    return scale in ("text", "date") or end in places


def _are_dates(cell: Mapping[str, Any], scale: str, form: str | None) -> bool:
    """Say whether the ends of a cell on a scale of dates are dates."""
    ends = [cell.get("low"), cell.get("high")] if scale == "date" else []
    return all(end is None or date_key(end, form) is not None for end in ends)


def _check_regions(document: dict[str, Any], sizes: list[int]) -> None:
    regions = document.get("regions")
    if not isinstance(regions, list) or not sizes:
        raise _refuse("its regions are missing")
    width = len(sizes)
    for region in regions:
        if not isinstance(region, list) or len(region) != width:
            raise _refuse("a region in it does not fit its columns")
        for cell, size in zip(region, sizes, strict=True):
            if type(cell) is not int or not 0 <= cell < size:
                raise _refuse("a region in it names a cell that is not there")
    counts = document.get("counts")
    if counts is None:
        return
    if not isinstance(counts, list) or len(counts) != len(regions):
        raise _refuse("its counts do not fit its regions")
    if not all(map(_is_count, counts)):
        raise _refuse("a count in it is not a whole number")
    least = _least(document["schema"].get("privacy"))
    if counts and min(counts) < least:
        raise _refuse(f"a class in it has fewer than the {least} records of its promise")
    if sum(counts) + document["suppressed"] != document["records"]:
        raise _refuse("its counts do not add up to its records")


def _least(privacy: object) -> int:
    """Return the k of the promise, 1 where it has none."""
    models = [m for m in privacy if isinstance(m, Mapping)] if isinstance(privacy, list) else []
    asked = [m.get("k") for m in models]
    return max((k for k in asked if isinstance(k, int) and not math.isnan(k)), default=1)
