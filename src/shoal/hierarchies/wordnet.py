"""Hierarchies from WordNet: values are mapped to noun synsets, hypernyms are the way up.

The dictionary is the user's own: a folder with `data.noun` and `index.noun` as WordNet 3.0 and
3.1 have them. Lines of `data.noun` are found by their offset, so only the synsets on the way
from the values to the root are read.

Where a synset has several hypernyms, the one with the shortest way to the top is taken, of equal
ones the one that is listed first: so every synset has one parent and the result is a tree. (A
person is a causal agent, which is three steps from the top, not an organism, which is six.)
Synsets can be named that a way leads through wherever it can, so that the other way is taken.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

from shoal.core.errors import InputError
from shoal.hierarchies.links import refuse
from shoal.hierarchies.tree import Hierarchy

HYPERNYMS = ("@", "@i")  # "is a kind of", "is an instance of"
_HEADS = ("value", "lemma", "sense", "under", "use", "gloss", "way")
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
    line: int | None = None  # of the mapping file


class Synset(NamedTuple):
    """A synset's first word, its parent (None at the top) and its depth (1 at the top).

    passed: how many of the synsets that were to be passed are on its way up, itself included.
    """

    word: str
    parent: int | None
    depth: int
    passed: int = 0


class Entry(NamedTuple):
    """A line of `data.noun`: the first word, the hypernyms, and what it means."""

    word: str
    above: list[int]
    gloss: str


def read_mapping(path: str | Path) -> dict[str, Place]:
    """Read a mapping table: value; lemma; sense; under (the last two may be absent or empty).

    `under` moves a value: it becomes a leaf below that synset, whatever its own hypernyms are.
    With a column `use`, as `senses.proposed_text` writes it, a value may have several lines, and
    the one that is marked there counts; `gloss` and `way` are for people and not read.

    Raises:
        InputError: no such file, no such columns, a value that is mapped twice, or one of whose
            lines none is marked.
    """
    where = str(path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(where=where, problem="cannot be read as a text file") from error
    head, _, _ = text.partition("\n")
    rows = list(csv.reader(text.splitlines(), delimiter=";" if ";" in head else ","))
    names = [name.strip().lower() for name in rows[0]] if rows else []
    if not set(_HEADS[:2]) <= set(names) <= set(_HEADS):
        raise InputError(
            where=where,
            problem="the first line must be: value;lemma;sense;under;use (or part of it)",
        )
    mapping: dict[str, Place] = {}
    unmarked: dict[str, int] = {}
    for number, row in enumerate(rows[1:], start=2):
        cells = dict(zip(names, (cell.strip() for cell in row), strict=False))
        if not any(cells.values()):
            continue
        if "use" in names and not cells.get("use"):
            unmarked.setdefault(cells.get("value", ""), number)
            continue
        value, place = _place(where, number, cells)
        if value in mapping:
            _no_place(where, number)
        mapping[value] = place
    open_lines = [number for value, number in unmarked.items() if value not in mapping]
    if open_lines:
        raise InputError(
            where=where,
            problem=f"{len(open_lines)} values have no line that is marked in the column use"
            f"{_lines(open_lines)}; put an x there, and a lemma where none was found",
        )
    return mapping


def _place(where: str, number: int, cells: Mapping[str, str]) -> tuple[str, Place]:
    """Read a line of a mapping table."""
    value, lemma = cells.get("value", ""), cells.get("lemma", "")
    sense, under = cells.get("sense") or "1", cells.get("under")
    if not value or not lemma or not sense.isdigit():
        _no_place(where, number)
    over = Sense.read(under) if under else None
    return value, Place(Sense.read(f"{lemma}#{sense}"), over, number)


def _no_place(where: str, number: int) -> NoReturn:
    raise InputError(
        where=f"{where}, line {number}",
        problem="needs a value that was not there before, a lemma and a whole number",
    )


def wordnet_hierarchy(
    column: str,
    mapping: Mapping[str, Place],
    folder: str | Path,
    *,
    root: str | None = None,
    through: Sequence[str] = (),
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
        through: synsets that ways up lead through wherever they can; of several hypernyms, the one
            that passes most of them is taken, then the one with the shortest way to the top.

    Raises:
        InputError: no dictionary there, or a damaged one.
        HierarchyError: values that the dictionary does not know or that are not below the root,
            or a synset to be passed that no way leads through.
    """
    if not mapping:
        refuse(column, "the mapping is empty; give at least one value")
    senses = [place.under or place.sense for place in mapping.values()]
    top = None if root is None else Sense.read(root)
    passing = [Sense.read(text) for text in through]
    wanted = {*senses, *(place.sense for place in mapping.values()), *passing}
    wanted |= set() if top is None else {top}
    offsets = find_senses(Path(folder), {sense.lemma for sense in wanted})
    _check_known(column, mapping, offsets)
    if top is not None and _offset(offsets, top) is None:
        refuse(column, "the root is not in the dictionary; check its lemma and sense")
    starts = {sense: offset for sense in wanted if (offset := _offset(offsets, sense)) is not None}
    passed = {starts.get(sense) for sense in passing}
    synsets = climbed(Path(folder), starts.values(), passed)
    if not passed <= _on_ways(synsets, map(starts.get, senses)):
        refuse(column, "no way up leads through one of the synsets that were to be passed")
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


def find_senses(folder: Path, lemmas: Iterable[str]) -> dict[str, list[int]]:
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


def _is_known(offsets: Mapping[str, list[int]], place: Place) -> bool:
    return _offset(offsets, place.under or place.sense) is not None


def _check_known(
    column: str, mapping: Mapping[str, Place], offsets: Mapping[str, list[int]]
) -> None:
    """Refuse values whose synsets the dictionary does not know."""
    unknown = [place for place in mapping.values() if not _is_known(offsets, place)]
    if unknown:
        lines = _lines([place.line for place in unknown if place.line is not None])
        refuse(
            column,
            f"{len(unknown)} of {len(mapping)} synsets are not in the dictionary{lines}; "
            "check lemma and sense in the mapping",
        )


def _lines(numbers: Sequence[int], most: int = 10) -> str:
    """Name lines of the mapping file."""
    if not numbers:
        return ""
    more = ", …" if len(numbers) > most else ""
    return f" (line {', '.join(map(str, numbers[:most]))}{more} of the mapping)"


def _on_ways(synsets: Mapping[int, Synset], starts: Iterable[int | None]) -> set[int]:
    """Return the synsets on the ways that were taken."""
    found: set[int] = set()
    for start in starts:
        at = start
        while at is not None and at not in found:
            found.add(at)
            at = synsets[at].parent
    return found


def climbed(
    folder: Path, starts: Iterable[int], passed: Collection[int | None] = ()
) -> dict[int, Synset]:
    """Return every synset on any way from the given ones to the top.

    passed: synsets that a way leads through where it can.
    """
    found: dict[int, Synset] = {}
    lines: dict[int, Entry] = {}
    with _file(folder, "data.noun").open("rb") as data:
        stack = list(dict.fromkeys(starts))[::-1]
        while stack:
            offset = stack[-1]
            if offset not in lines:
                lines[offset] = _line(data, offset)
                stack += [above for above in lines[offset].above if above not in found]
                if len(stack) > _MOST:
                    _damaged()
                continue
            stack.pop()
            if offset not in found:
                word, above, _ = lines[offset]
                if not all(up in found for up in above):  # above itself
                    _damaged()
                parent = min(
                    above, key=lambda up: (-found[up].passed, found[up].depth), default=None
                )
                depth = 1 if parent is None else found[parent].depth + 1
                before = 0 if parent is None else found[parent].passed
                found[offset] = Synset(word, parent, depth, before + (offset in passed))
    return found


def entries(folder: Path, offsets: Iterable[int]) -> dict[int, Entry]:
    """Return the lines of some synsets."""
    with _file(folder, "data.noun").open("rb") as data:
        return {offset: _line(data, offset) for offset in sorted({*offsets})}


def _line(data: BinaryIO, offset: int) -> Entry:
    """Return the first word of a synset, its hypernyms and its gloss."""
    data.seek(offset)
    head, _, gloss = data.readline().decode("utf-8", errors="replace").partition("|")
    fields = head.split()
    try:
        if int(fields[0]) != offset:
            _damaged()
        at = 4 + 2 * int(fields[3], 16)
        pointers = [fields[i : i + 4] for i in range(at + 1, at + 1 + 4 * int(fields[at]), 4)]
        above = [int(p[1]) for p in pointers if p[0] in HYPERNYMS and p[2] == "n"]
        return Entry(fields[4], above, gloss.strip())
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
