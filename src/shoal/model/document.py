"""The model document: what may stand in a model file, checked before anything is believed.

Light on purpose: a device checks a model with this file and `runtime` alone.
The document is described for people and other programs in `model.schema.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple, TypeGuard, cast

from shoal.core.dates import is_form
from shoal.core.errors import ModelFormatError
from shoal.core.keys import date_key, number_key
from shoal.model.cut_tree import regions_of
from shoal.model.document_types import Cell, ColumnDocument, MaskRule, ModelDocument
from shoal.model.drawn_check import check_drawn_columns
from shoal.model.tree_check import check_cut_column, checked_tree
from shoal.model.trust import Trust, admit
from shoal.model.upgrades import UPGRADES

FORMAT = "shoal-model"
VERSION = 3
MOST_BYTES = 64 * 2**20
ON_UNSEEN = ("suppress", "nearest", "error")
SCALES = ("number", "date", "rank", "text")
_ROLES = ("identifying", "quasi", "sensitive", "neutral", "person")
_REMOVED = ("identifying", "person")


def _refuse(problem: str) -> ModelFormatError:
    return ModelFormatError(problem=problem)


def read_model(path: str) -> object:
    """Return what stands in a model file, not yet checked.

    Raises:
        ModelFormatError: no such file, too large, not UTF-8, not JSON, or a name twice.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise _refuse(f"{path}: {(error.strerror or type(error).__name__).lower()}") from None
    if len(content) > MOST_BYTES:
        raise _refuse(f"{path} is larger than {MOST_BYTES // 2**20} MiB")
    try:
        return _parse(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise _refuse(f"{path} is not UTF-8 text") from None


def _parse(text: str) -> object:
    """Parse JSON; a name that stands twice, or a number too long, is refused."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise _refuse("a name stands in it twice")
        return found

    def not_finite(_: str) -> float:
        raise _refuse("a number in it is not finite")

    try:
        found: object = json.loads(text, object_pairs_hook=once, parse_constant=not_finite)
    except ModelFormatError:
        raise
    except RecursionError:
        raise _refuse("it is nested too deeply") from None
    except ValueError:  # broken JSON, and whole numbers of thousands of digits
        raise _refuse(
            "it is not JSON; is the file damaged? Learn it again, or get it again"
        ) from None
    return found


def checked(document: object) -> ModelDocument:
    """Return a document of the present version whose every part is what it must be.

    Raises:
        ModelFormatError: newer, damaged, hostile, or no model at all.
    """
    return checked_with_regions(document)[0]


def checked_with_regions(document: object) -> tuple[ModelDocument, list[list[int]]]:
    """Return a checked document, and the cells of each class, which a tree takes long to say.

    Raises:
        ModelFormatError: see `checked`.
    """
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise _refuse(
            f"not a model file: no format {FORMAT!r} in it; name one that shoal learn wrote"
        )
    version = document.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise _refuse("its version is not a whole number")
    if version > VERSION:
        raise _refuse(f"its version is above {VERSION}; update shoal to read it")
    found: dict[str, object] = dict(document)
    for step in range(version, VERSION):
        found = UPGRADES[step](found)
    regions = _check(found)
    return cast(ModelDocument, found), regions


def fingerprint_of(document: Mapping[str, object]) -> str:
    """Return the SHA-256 of everything in a document but its fingerprint and signature."""
    from hashlib import sha256  # a device that only encodes does not need it

    seals = ("fingerprint", "signature")
    content = {key: value for key, value in document.items() if key not in seals}
    try:
        text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise _refuse("it holds what JSON does not know") from None
    return sha256(text.encode()).hexdigest()


def is_sealed(document: object) -> bool:
    """Say whether a document carries a fingerprint, and the one of its content."""
    if not isinstance(document, Mapping):
        return False
    given = document.get("fingerprint")
    return given is not None and bool(given == fingerprint_of(document))


def refuse_untrusted(document: object, trust: Trust | None = None) -> None:
    """Refuse a model file that was changed, carries no fingerprint, or is not trusted.

    Raises:
        ModelFormatError: see `trust.admit`.
    """
    if isinstance(document, Mapping):
        admit(document, fingerprint_of(document), trust or Trust(), document.get("counts"))


def _check(document: Mapping[str, object]) -> list[list[int]]:
    """Check every part; return the cells of each class."""
    _check_facts(document)
    about = _check_schema(document.get("schema"))
    quasi = _check_released(document, about)
    is_tree = document.get("tree") is not None
    sizes = _check_columns(document.get("columns"), quasi, about, is_tree=is_tree)
    regions = _check_tree(document) if is_tree else _check_regions(document, sizes)
    check_drawn_columns(document.get("drawn"), quasi, sizes)
    levels = document.get("levels")
    if levels is not None and (
        not isinstance(levels, Mapping)
        or sorted(map(str, levels)) != sorted(quasi)
        or not all(map(_is_count, levels.values()))
    ):
        raise _refuse("its levels do not fit its columns")
    if not _is_text(document.get("fingerprint", "")):
        raise _refuse("its fingerprint is not a text")
    signature = document.get("signature")
    if signature is not None and (
        not isinstance(signature, Mapping)
        or set(signature) != {"key", "value"}
        or not all(map(_is_text, signature.values()))
    ):
        raise _refuse("its signature is damaged")
    return regions


def _check_facts(document: Mapping[str, object]) -> None:
    """Check how the model came about, and what it does with unseen records."""
    if any(key not in ModelDocument.__annotations__ for key in document):
        raise _refuse("it has keys that no model has")
    if not _is_text(document.get("method")) or not document["method"]:
        raise _refuse("its method is not a name")
    records, suppressed = _count(document, "records"), _count(document, "suppressed")
    if suppressed > records:
        raise _refuse("it suppresses more records than it has")
    if document.get("on_unseen") not in ON_UNSEEN:
        raise _refuse(f"its on_unseen is not one of {', '.join(ON_UNSEEN)}")
    utility = document.get("utility")
    if not isinstance(utility, Mapping) or not all(
        _is_text(name) and _is_measure(value) for name, value in utility.items()
    ):
        raise _refuse("its measures are damaged")


def _count(document: Mapping[str, object], key: str) -> int:
    value = document.get(key)
    if not _is_count(value):
        raise _refuse(f"its {key} is not a whole number")
    return value


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def _are_texts(values: object) -> TypeGuard[list[str]]:
    return isinstance(values, list) and all(map(_is_text, values))


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_measure(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300


_About = Mapping[str, Mapping[str, object]]  # the schema's entry of each column


def _check_schema(schema: object) -> _About:
    """Check what an encoder uses of the schema; return its columns."""
    about = schema.get("columns") if isinstance(schema, Mapping) else None
    if not isinstance(schema, Mapping) or not isinstance(about, Mapping) or not about:
        raise _refuse("its schema is missing")
    if not all(_is_text(n) and isinstance(a, Mapping) for n, a in about.items()):
        raise _refuse("a column of its schema is damaged")
    if schema.get("others", "fault") not in ("fault", "drop", "keep"):
        raise _refuse("its schema does not say what happens to other columns")
    if not _are_texts(schema.get("missing", [])):
        raise _refuse("its marks of missing values are not texts")
    if any(entry.get("role") not in _ROLES for entry in about.values()):
        raise _refuse("a column of its schema has no role")
    return about


def _check_released(document: Mapping[str, object], about: _About) -> list[str]:
    """Check the lists of columns; return the quasi-identifiers.

    They are kept apart from the schema, because some machines forget the order of names.
    """
    released, removed = document.get("released"), document.get("removed")
    if not _are_texts(released) or not _are_texts(removed):
        raise _refuse("its lists of released and removed columns are damaged")
    inside = [name for name, entry in about.items() if entry["role"] in _REMOVED]
    others = [name for name in about if name not in inside]
    if [sorted(released), sorted(removed)] != [sorted(others), sorted(inside)]:
        raise _refuse("its lists of columns contradict its schema")
    return [name for name in released if about[name]["role"] == "quasi"]


def _check_columns(columns: object, quasi: list[str], about: _About, *, is_tree: bool) -> list[int]:
    """Check the quasi-identifiers; return how many cells each one has."""
    if not isinstance(columns, list) or not all(isinstance(c, Mapping) for c in columns):
        raise _refuse("its columns are missing")
    if [column.get("name") for column in columns] != quasi:
        raise _refuse("its columns are not the schema's quasi-identifiers")
    for column, name in zip(columns, quasi, strict=True):
        _check_column(column, name, about[name], is_tree=is_tree)
    return [len(column["cells"]) for column in columns]


class _Ground(NamedTuple):
    """What the cells of a column may refer to."""

    scale: str
    nodes: int  # of its hierarchy
    places: set[str]  # the texts that its order or hierarchy knows
    length: int  # of masked texts
    form: str | None  # of dates


def _check_column(
    column: Mapping[str, object], name: str, about: Mapping[str, object], *, is_tree: bool
) -> None:
    if any(key not in ColumnDocument.__annotations__ for key in column):
        raise _refuse(f"column {name!r} has keys that no column has")
    scale, cells = column.get("scale"), column.get("cells")
    if not _is_text(scale) or scale not in SCALES or not _is_text(column.get("root")):
        raise _refuse(f"column {name!r} has no scale or no root")
    if not isinstance(cells, list):
        raise _refuse(f"column {name!r} has no cells")
    labels = _labels(about.get("hierarchy"), name)
    order = about.get("order", [])
    if not _are_texts(order):
        raise _refuse(f"column {name!r}: its order is damaged")
    form = about.get("date_format")
    if form is not None and not (_is_text(form) and is_form(form)):
        raise _refuse(f"column {name!r}: its date_format is damaged")
    length = _mask_length(column.get("mask"), name)
    ground = _Ground(scale, len(labels), set(order or labels), length, form)
    plain = [_without_cuts(cell) for cell in cells] if is_tree else cells
    if not all(_is_cell(cell, ground) for cell in plain):
        raise _refuse(f"column {name!r}: a cell is damaged")
    if is_tree:
        check_cut_column(column, name, about)
    elif not {"cuts", "first", "last", "missing", "variant"}.isdisjoint(column):
        raise _refuse(f"column {name!r} has cuts, and the model no tree")


def _without_cuts(cell: object) -> object:
    """Return what a cell of a tree says of its label; one of a range has the label alone."""
    if not isinstance(cell, Mapping):
        return cell
    label = {key: value for key, value in cell.items() if key not in ("cut", "variant")}
    return {"any": label["label"]} if set(label) == {"label"} else label


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
    if isinstance(mask, Mapping) and set(mask) == set(MaskRule.__annotations__):
        sides = all(mask[key] in ("right", "left") for key in ("direction", "pad"))
        chars = all(_is_text(mask[key]) and len(mask[key]) == 1 for key in ("char", "fill"))
        if sides and chars and _is_count(mask["length"]) and 1 <= mask["length"] <= 10_000:
            return int(mask["length"])
    raise _refuse(f"column {name!r}: its mask is damaged")


def _is_cell(cell: object, ground: _Ground) -> bool:
    if not isinstance(cell, Mapping) or any(key not in Cell.__annotations__ for key in cell):
        return False
    if "cut" in cell or "variant" in cell:  # of a model without a tree
        return False
    if "label" in cell and not _is_text(cell["label"]):
        return False
    keys = set(cell) - {"label"}
    if keys in ({"low", "high"}, {"low", "high", "open"}):
        return _is_range(cell, ground)
    if keys == {"values"}:
        return bool(cell["values"]) and _are_texts(cell["values"]) and "label" in cell
    if keys == {"mask", "lost"}:
        lost = cell["lost"]
        return _is_text(cell["mask"]) and _is_count(lost) and 0 < lost < ground.length
    if keys == {"node"}:
        return _is_count(cell["node"]) and cell["node"] < ground.nodes
    if keys == {"missing"}:
        return cell["missing"] is True
    return keys in ({"any"}, {"value"}) and all(_is_text(cell[key]) for key in keys)


def _is_range(cell: Mapping[str, object], ground: _Ground) -> bool:
    ends = [end for end in (cell["low"], cell["high"]) if end is not None]
    if len(ends) < 2 and "label" not in cell:
        return False
    if cell.get("open", "low") not in ("low", "high", "both"):
        return False
    return all(_is_text(end) and _has_place(end, ground) for end in ends)


def _has_place(end: str, ground: _Ground) -> bool:
    if ground.scale == "number":
        return number_key(end) is not None
    if ground.scale == "date":
        return date_key(end, ground.form) is not None
    return ground.scale == "text" or end in ground.places


def _check_regions(document: Mapping[str, object], sizes: list[int]) -> list[list[int]]:
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
    if document.get("counts") is not None:
        _check_counts(document, len(regions))
    return regions


def _check_tree(document: Mapping[str, object]) -> list[list[int]]:
    if "regions" in document:
        raise _refuse("it has a tree and regions; one of them is enough")
    regions = checked_tree(document)
    if document.get("counts") is not None:
        _check_counts(document, len(regions))
    return regions


def explicit_regions(document: ModelDocument) -> list[list[int]]:
    """Return the cells of each class: those of the document, or those that its tree makes."""
    tree = document.get("tree")
    if tree is None:
        return document["regions"]
    found = regions_of(document["columns"], tree)
    if found is None:
        raise _refuse("its tree does not fit its cells")
    return found


def _check_counts(document: Mapping[str, object], regions: int) -> None:
    counts = document.get("counts")
    if not isinstance(counts, list) or len(counts) != regions:
        raise _refuse("its counts do not fit its regions")
    if not all(map(_is_count, counts)):
        raise _refuse("a count in it is not a whole number")
    least = _least(document["schema"])
    if counts and min(counts) < least:
        raise _refuse(f"a class in it has fewer than the {least} records of its promise")
    if sum(counts) + _count(document, "suppressed") != document["records"]:
        raise _refuse("its counts do not add up to its records")


def _least(schema: object) -> int:
    """Return the k of the promise, 1 where it has none."""
    privacy = schema.get("privacy") if isinstance(schema, Mapping) else None
    models = [m for m in privacy if isinstance(m, Mapping)] if isinstance(privacy, list) else []
    asked = [m.get("k") for m in models]
    return max((k for k in asked if isinstance(k, int)), default=1)
