"""ARX projects: a `.deid` file is a zip with XML and CSV; what Java serialized is not needed.

    input/config.xml        promise, suppression limit, what is minimized, weights
    input/definition.xml    role, type and hierarchy of each column
    input/hierarchies/      a CSV file a column: a row a value, then its levels
    lattice.xml             the nodes that were looked at, whether they are safe, their loss
    data/input.csv          the table itself

A project comes from somewhere else, so it is read with limits and nothing in it is run.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from shoal.core.documents import reason
from shoal.core.errors import InputError, ShoalError
from shoal.formats.importers.project import Chosen, Imported
from shoal.hierarchies.tree import Hierarchy
from shoal.privacy import KAnonymity, LDiversity, Promise, TCloseness
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.schema.attribute import Attribute, Kind, Role
from shoal.schema.schema import Schema

MOST_BYTES = 2**30  # of one part of a project, unpacked
_CONFIG, _DEFINITION, _LATTICE = "input/config.xml", "input/definition.xml", "lattice.xml"
_ROLES = {
    "IDENTIFYING_ATTRIBUTE": Role.IDENTIFYING,
    "QUASI_IDENTIFYING_ATTRIBUTE": Role.QUASI,
    "SENSITIVE_ATTRIBUTE": Role.SENSITIVE,
    "INSENSITIVE_ATTRIBUTE": Role.NEUTRAL,
}
_KINDS = {"Integer": Kind.NUMERIC, "Decimal": Kind.NUMERIC, "Date/Time": Kind.DATE}
_N = r"(\d+(?:\.\d+)?(?:E-?\d+)?)"
_OF = r" for attribute '(?P<column>.*)'$"
_MEASURES = (  # what ARX minimizes, by how its name begins, and the measure of a lattice here
    ("loss", "loss"),
    ("height", "level-sum"),
    ("precision", "precision-loss"),
    ("monotonic precision", "precision-loss"),
    ("discernability", "dm"),
    ("average equivalence class size", "aecs"),
    ("monotonic (non-uniform) entropy", "entropy-monotone"),
    ("monotonic non-uniform entropy", "entropy-monotone"),
    ("non-monotonic non-uniform entropy", "non-uniform-entropy"),
    ("non-uniform entropy", "non-uniform-entropy"),
)
_LETTERS = (("yyyy", "%Y"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M"), ("ss", "%S"))


@dataclass
class _Reading:
    """A project while it is read."""

    archive: zipfile.ZipFile
    where: str
    partly: bool
    separator: str = ";"
    notices: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)  # of the promise

    def part(self, name: str) -> bytes | None:
        """Return a part of the project; None: it has none."""
        try:
            about = self.archive.getinfo(name)
        except KeyError:
            return None
        if about.file_size > MOST_BYTES:
            raise self.refuse(f"{name} is larger than a project can be")
        with self.archive.open(about) as file:
            found = file.read(MOST_BYTES + 1)
        if len(found) > MOST_BYTES:
            raise self.refuse(f"{name} is larger than a project can be")
        return found

    def xml(self, name: str) -> ElementTree.Element | None:
        """Return a part as XML; one that declares entities is refused."""
        text = self.part(name)
        if text is None:
            return None
        if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
            raise self.refuse(f"{name} declares a document type, which ARX never writes")
        try:
            return ElementTree.fromstring(text)
        except ElementTree.ParseError:
            raise self.refuse(f"{name} is not XML") from None

    def refuse(self, problem: str) -> InputError:
        return InputError(where=self.where, problem=problem)


def read_arx(path: str | Path, *, partly: bool = False) -> Imported:
    """Return the schema, the hierarchies, the promise and the chosen node of an ARX project.

    partly: leave out what of its promise has no counterpart here, and say so.

    Raises:
        InputError: no such project, or its promise cannot be kept as a whole.
    """
    where = str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            reading = _Reading(archive, where, partly)
            return _project(reading)
    except (zipfile.BadZipFile, EOFError, RuntimeError, NotImplementedError):
        raise InputError(where=where, problem="is no ARX project: not a zip, or damaged") from None
    except ShoalError:
        raise
    except OSError as error:
        raise InputError(where=where, problem=reason(error)) from None


def _project(reading: _Reading) -> Imported:
    config, definition = reading.xml(_CONFIG), reading.xml(_DEFINITION)
    if config is None or definition is None:
        raise reading.refuse(f"is no ARX project: {_CONFIG} or {_DEFINITION} is missing")
    reading.separator = _separator(reading)
    weights = {
        _text(each, "attribute"): float(_text(each, "weight") or 1)
        for each in config.iter("attributeWeight")
    }
    columns = [_column(reading, each, weights) for each in definition.iter("assigment")]
    if not columns:
        raise reading.refuse(f"{_DEFINITION} names no column")
    trees = {c.name: c.hierarchy for c in columns if isinstance(c.hierarchy, Hierarchy)}
    promise = _promise(reading, config, trees)
    limit = _text(config, "relativeMaxOutliers")
    schema = Schema(
        attributes=tuple(columns),
        privacy=tuple(promise),
        suppression_limit=min(max(float(limit or 0), 0.0), 1.0),
        utility=_measure(reading, _text(config, "metric")),
    )
    chosen = _chosen(reading, columns)
    return Imported(
        schema=schema,
        hierarchies=trees,
        notices=tuple(reading.notices),
        chosen=chosen,
        table=reading.part("data/input.csv"),
        separator=reading.separator,
    )


def _text(element: ElementTree.Element, name: str) -> str:
    return (element.findtext(name) or "").strip()


def _separator(reading: _Reading) -> str:
    project = reading.xml("project.xml")
    found = "" if project is None else (project.findtext("separator") or "")
    return found if len(found) == 1 else ";"


def _column(
    reading: _Reading, entry: ElementTree.Element, weights: Mapping[str, float]
) -> Attribute:
    """Return a column by its entry in the definition."""
    name, kind = entry.findtext("name") or "", _text(entry, "type")
    if kind not in _ROLES:
        raise reading.refuse(f"column {name!r}: its type is none of {', '.join(_ROLES)}")
    role = _ROLES[kind]
    tree = None
    if role in (Role.QUASI, Role.SENSITIVE) and _text(entry, "ref"):
        tree = _hierarchy(reading, name, _text(entry, "ref"))
    for bound in ("min", "max"):
        if _text(entry, bound) not in ("", "All") and role is Role.QUASI:
            reading.notices.append(
                f"column {name!r}: its {bound} level {_text(entry, bound)} is not kept; every "
                "level of its hierarchy may be chosen"
            )
    if _text(entry, "microAggregationFunction"):
        reading.notices.append(
            f"column {name!r} was microaggregated in ARX; here see --release aggregate"
        )
    dates = _KINDS.get(_text(entry, "datatype"))
    form = _date_form(_text(entry, "format")) if dates is Kind.DATE else None
    plain = tree is None and role is not Role.IDENTIFYING
    if plain and dates is Kind.DATE and form is None:
        reading.notices.append(f"column {name!r}: the form of its dates is found out when it runs")
    return Attribute(
        name=name,
        role=role,
        kind=dates if plain else None,
        hierarchy=tree,
        weight=_weight(weights.get(name, 1.0)),
        date_format=form if plain else None,
    )


def _weight(given: float) -> float:
    """Return a weight here: ARX has 0.5 for every column unless somebody chose, and 0 for none."""
    return given if given > 0 else 1e-6


def _hierarchy(reading: _Reading, name: str, ref: str) -> Hierarchy:
    text = reading.part(f"input/{ref}")
    if text is None:
        raise reading.refuse(f"column {name!r}: its hierarchy is missing ({ref})")
    lines = io.StringIO(text.decode("utf-8-sig", errors="replace"), newline="")
    rows = [row for row in csv.reader(lines, delimiter=reading.separator) if row]
    root = {row[-1] for row in rows}
    if len(root) > 1:  # in ARX the last level need not be one value
        rows = [[*row, "*"] for row in rows]
        reading.notices.append(f"column {name!r}: its hierarchy got a root *, which it had not")
    return Hierarchy.from_rows(name, rows)


def _date_form(java: str) -> str | None:
    """Return a form of dates as Python has it, such as %d.%m.%Y for dd.MM.yyyy."""
    form = java
    for letters, mark in _LETTERS:
        form = form.replace(letters, mark)
    is_day = all(mark in form for mark in ("%d", "%m", "%Y"))
    return form if is_day and not re.search(r"(?<!%)[A-Za-z]", form) else None


def _measure(reading: _Reading, name: str) -> str | None:
    """Return what a lattice minimizes here."""
    plain = name.strip().lower()
    for begin, measure in _MEASURES:
        if plain.startswith(begin):
            return measure
    if plain:
        reading.notices.append(f"ARX minimized {name!r}, which is not known here; loss is instead")
    return None


def _promise(
    reading: _Reading, config: ElementTree.Element, trees: Mapping[str, Hierarchy]
) -> list[Promise]:
    texts = [(each.text or "").strip() for each in config.iter("criterion")]
    found = []
    for text in texts:
        promise = _criterion(text, trees)
        if promise is None:
            reading.lost.append(text)
        else:
            found.append(promise)
    if reading.lost and not reading.partly:
        named = "; ".join(reading.lost)
        raise reading.refuse(
            f"promises what has no counterpart here ({named}); with --partly the rest is "
            "imported, and the schema promises less than the project"
        )
    reading.notices += [f"NOT promised here, but in the project: {text}" for text in reading.lost]
    return found


def _criterion(text: str, trees: Mapping[str, Hierarchy]) -> Promise | None:
    """Return the promise that a criterion of ARX is written as; None: there is none."""
    if found := re.fullmatch(rf"{_N}-anonymity", text):
        return KAnonymity(int(float(found[1])))
    if found := re.fullmatch(rf"distinct-{_N}-diversity{_OF}", text):
        return LDiversity(l=int(float(found[1])), column=found["column"])
    if found := re.fullmatch(rf"(?:shannon-)?entropy-{_N}-diversity{_OF}", text):
        least = float(found[1])
        return LDiversity(
            l=int(least) if least.is_integer() else least, kind="entropy", column=found["column"]
        )
    if found := re.fullmatch(rf"recursive-\({_N},\s*{_N}\)-diversity{_OF}", text):
        return LDiversity(
            l=int(float(found[2])), kind="recursive", c=float(found[1]), column=found["column"]
        )
    shape = rf"{_N}-closeness with (equal|hierarchical|ordered)(?: ground-?|-| )distance{_OF}"
    if found := re.fullmatch(shape, text):
        distance = found[2]
        if distance == "hierarchical" and found["column"] not in trees:
            return None
        return TCloseness(t=float(found[1]), distance=distance, column=found["column"])  # type: ignore[arg-type]
    if found := re.fullmatch(rf"basic-{_N}-likeness{_OF}", text):
        return BetaLikeness(beta=float(found[1]), column=found["column"])
    return None


def _chosen(reading: _Reading, columns: Sequence[Attribute]) -> Chosen | None:
    """Return the safe node with the least loss: ARX names its choice in what Java serialized."""
    lattice = reading.xml(_LATTICE)
    if lattice is None:
        return None
    names = [c.name for c in columns if c.role is Role.QUASI and c.hierarchy is not None]
    best: tuple[float, tuple[int, ...]] | None = None
    count = 0
    for levels, is_safe, loss in _nodes(lattice):
        count += 1
        if len(levels) != len(names):
            reading.notices.append("lattice.xml has other columns than the project; left out")
            return None
        if is_safe and loss is not None and (best is None or (loss, levels) < best):
            best = (loss, levels)
    if best is None:
        return None
    return Chosen(levels=dict(zip(names, best[1], strict=True)), loss=best[0], nodes=count)


def _nodes(
    lattice: ElementTree.Element,
) -> Iterator[tuple[tuple[int, ...], bool, float | None]]:
    """Yield levels, safety and loss of each node; both vocabularies of ARX are read."""
    for node in (*lattice.iter("n"), *lattice.iter("node")):
        levels = _text(node, "t") or _text(node, "transformation")
        safe = _text(node, "a") or _text(node, "anonymity")
        about = node.find("l")
        about = node.find("infoloss") if about is None else about
        texts = [] if about is None else [_text(about, "f"), _text(about, "min")]
        numbers = [_number(text) for text in texts if text]
        yield (
            tuple(int(level) for level in re.findall(r"\d+", levels)),
            safe in ("ANONYMOUS", "PROBABLY_ANONYMOUS"),
            numbers[0] if numbers else None,
        )


def _number(text: str) -> float | None:
    found = re.search(r"(?<![A-Za-z\d])-?\d+(?:\.\d+)?(?:E-?\d+)?(?![A-Za-z\d])", text)
    return float(found[0]) if found else None
