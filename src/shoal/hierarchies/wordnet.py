"""Hierarchies from WordNet: values are mapped to noun synsets, hypernyms are the way up.

The dictionary is the user's own: a folder with `data.noun` and `index.noun` as WordNet 3.0 and
3.1 have them. Lines of `data.noun` are found by their offset, so only the synsets on the way
from the values to the root are read.

Where a synset has several hypernyms, the one with the shortest way to the top is taken, of equal
ones the one that is listed first: so every synset has one parent and the result is a tree. (A
person is a causal agent, which is three steps from the top, not an organism, which is six.)
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

from shoal.core.errors import InputError
from shoal.hierarchies.links import refuse
from shoal.hierarchies.tree import Hierarchy

HYPERNYMS = ("@", "@i")  # "is a kind of", "is an instance of"
_HEADS = ("value", "lemma", "sense", "under")
_MOST = 1_000_000  # synsets that wait to be read; no dictionary has as many


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning of a noun: the lemma in WordNet's spelling and the number of the sense.

    Example:
        >>> Sense.read("Hong Kong"), Sense.read("cleaner#3"), Sense.read("cleaner.n.03")
        (Sense(lemma='hong_kong', number=1), Sense(lemma='cleaner', number=3), Sense(lemma='cleaner', number=3))
    """  # noqa: E501

    lemma: str
    number: int = 1

    @classmethod
    def read(cls, text: str) -> Sense:
        """Read `lemma`, `lemma#3` or `lemma.n.03`."""
        lemma, mark, number = text.strip().rpartition("#" if "#" in text else ".n.")
        if not mark:
            lemma, number = text.strip(), "1"
        if not lemma or not number.isdigit() or int(number) < 1:
            raise InputError(
                where="wordnet", problem="a synset is written as lemma, lemma#3 or lemma.n.03"
            )
        return cls(lemma.lower().replace(" ", "_"), int(number))


class Place(NamedTuple):
    """Where a value stands: its synset, or a leaf of its own under another one."""

    sense: Sense
    under: Sense | None = None


class Synset(NamedTuple):
    """A synset's first word, its parent (None at the top) and its depth (1 at the top)."""

    word: str
    parent: int | None
    depth: int


def read_mapping(path: str | Path) -> dict[str, Place]:
    """Read a mapping table: value; lemma; sense; under (the last two may be absent or empty).

    `under` moves a value: it becomes a leaf below that synset, whatever its own hypernyms are.

    Raises:
        InputError: no such file, no such columns, or a value that is mapped twice.
    """
    where = str(path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(where=where, problem="cannot be read as a text file") from error
    head, _, _ = text.partition("\n")
    rows = list(csv.reader(text.splitlines(), delimiter=";" if ";" in head else ","))
    names = [name.strip().lower() for name in rows[0]] if rows else []
    if names[:2] != list(_HEADS[:2]) or not set(names) <= set(_HEADS):
        raise InputError(
            where=where, problem="the first line must be: value;lemma;sense;under (or part of it)"
        )
    mapping: dict[str, Place] = {}
    for number, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        cells = dict(zip(names, (cell.strip() for cell in row), strict=False))
        value, lemma = cells.get("value", ""), cells.get("lemma", "")
        sense, under = cells.get("sense") or "1", cells.get("under")
        if not value or not lemma or not sense.isdigit() or value in mapping:
            raise InputError(
                where=f"{where}, line {number}",
                problem="needs a value that was not there before, a lemma and a whole number",
            )
        mapping[value] = Place(Sense.read(f"{lemma}#{sense}"), Sense.read(under) if under else None)
    return mapping


def wordnet_hierarchy(
    column: str,
    mapping: Mapping[str, Place],
    folder: str | Path,
    *,
    root: str | None = None,
) -> Hierarchy:
    """Return the hierarchy of the values of a mapping, cut at the top or at a chosen synset.

    A value is the label of its synset's node, also where that is an inner one. Several values
    of one synset become leaves below it. Other nodes are called by their synset's first word,
    with its sense number where that word is taken.

    Args:
        column: the column it belongs to.
        mapping: the place of each value, see `read_mapping`.
        folder: where `data.noun` and `index.noun` are.
        root: the synset to cut at; None: the top of the dictionary.

    Raises:
        InputError: no dictionary there, or a damaged one.
        HierarchyError: values that the dictionary does not know or that are not below the root.
    """
    if not mapping:
        refuse(column, "the mapping is empty; give at least one value")
    senses = [place.under or place.sense for place in mapping.values()]
    top = None if root is None else Sense.read(root)
    wanted = {*senses, *(place.sense for place in mapping.values()), *([top] if top else [])}
    offsets = _find(Path(folder), {sense.lemma for sense in wanted})
    unknown = sum(1 for sense in senses if _offset(offsets, sense) is None)
    if unknown or (top is not None and _offset(offsets, top) is None):
        refuse(
            column,
            f"{unknown or 1} of {len(mapping)} synsets are not in the dictionary; check lemma and "
            "sense in the mapping, and the root",
        )
    starts = {sense: offset for sense in wanted if (offset := _offset(offsets, sense)) is not None}
    synsets = _climb(Path(folder), starts.values())
    end = starts[top] if top is not None else None
    links = _links(column, mapping, starts, synsets, end)
    return Hierarchy.from_parents(column, links)


def _file(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise InputError(
            where=str(folder),
            problem=f"has no {name}; give the folder of a WordNet dictionary (--dict)",
        )
    return path


def _find(folder: Path, lemmas: Iterable[str]) -> dict[str, list[int]]:
    """Return the offsets of each lemma's senses, in order; lemmas that are not there left out."""
    index = b"\n" + _file(folder, "index.noun").read_bytes()
    found: dict[str, list[int]] = {}
    for lemma in lemmas:
        at = index.find(f"\n{lemma} n ".encode())
        if at < 0:
            continue
        line = index[at + 1 : index.find(b"\n", at + 1)].split()
        found[lemma] = [int(field) for field in line[-int(line[2]) :]]
    return found


def _offset(offsets: Mapping[str, list[int]], sense: Sense) -> int | None:
    senses = offsets.get(sense.lemma, [])
    return senses[sense.number - 1] if sense.number <= len(senses) else None


def _climb(folder: Path, starts: Iterable[int]) -> dict[int, Synset]:
    """Return every synset on any way from the given ones to the top."""
    found: dict[int, Synset] = {}
    lines: dict[int, tuple[str, list[int]]] = {}
    with _file(folder, "data.noun").open("rb") as data:
        stack = list(dict.fromkeys(starts))[::-1]
        while stack:
            offset = stack[-1]
            if offset not in lines:
                lines[offset] = _line(data, offset)
                stack += [above for above in lines[offset][1] if above not in found]
                if len(stack) > _MOST:
                    _damaged()
                continue
            stack.pop()
            if offset not in found:
                word, above = lines[offset]
                if not all(up in found for up in above):  # above itself
                    _damaged()
                parent = min(above, key=lambda up: found[up].depth, default=None)
                depth = 1 if parent is None else found[parent].depth + 1
                found[offset] = Synset(word, parent, depth)
    return found


def _line(data: BinaryIO, offset: int) -> tuple[str, list[int]]:
    """Return the first word of a synset, and its hypernyms."""
    data.seek(offset)
    fields = data.readline().decode("utf-8", errors="replace").partition("|")[0].split()
    try:
        if int(fields[0]) != offset:
            _damaged()
        at = 4 + 2 * int(fields[3], 16)
        pointers = [fields[i : i + 4] for i in range(at + 1, at + 1 + 4 * int(fields[at]), 4)]
        return fields[4], [int(p[1]) for p in pointers if p[0] in HYPERNYMS and p[2] == "n"]
    except (IndexError, ValueError):
        _damaged()


def _damaged() -> NoReturn:
    raise InputError(
        where="data.noun", problem="is damaged, or does not belong to this index.noun"
    ) from None


def _links(
    column: str,
    mapping: Mapping[str, Place],
    starts: Mapping[Sense, int],
    synsets: Mapping[int, Synset],
    end: int | None,
) -> dict[str, str | None]:
    """Return the parent of each label, values and synsets alike."""
    values_of: dict[int, list[str]] = {}
    for value, place in mapping.items():
        if place.under is None:
            values_of.setdefault(starts[place.sense], []).append(value)
    names = _names(mapping, values_of, synsets)
    parents: dict[str, str | None] = {}
    outside = 0
    for value, place in mapping.items():
        offset: int | None = starts[place.under or place.sense]
        if offset is None or place.under is not None or len(values_of[offset]) > 1:
            parents[value] = names[offset or 0]
        while offset is not None and offset != end:
            above = synsets[offset].parent
            if above is not None:
                parents[names[offset]] = names[above]
            offset = above
        outside += offset is None and end is not None
    if outside:
        refuse(column, f"{outside} of {len(mapping)} values are not below the chosen root")
    return parents or {next(iter(mapping)): None}


def _names(
    mapping: Mapping[str, Place], values_of: Mapping[int, list[str]], synsets: Mapping[int, Synset]
) -> dict[int, str]:
    """Return the label of each synset: its only value, or its first word."""
    names = {offset: values[0] for offset, values in values_of.items() if len(values) == 1}
    taken = set(mapping)
    for offset, synset in synsets.items():
        if offset in names:
            continue
        name, number = synset.word, 2
        while name in taken:
            name, number = f"{synset.word}#{number}", number + 1
        taken.add(name)
        names[offset] = name
    return names
