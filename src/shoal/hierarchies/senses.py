"""Senses of a column's values, proposed from WordNet for people to choose from.

A line a sense: the value, the noun, the number of its sense, what it means, and the way up to the
top. The first sense of each value is marked in the column `use`; whoever knows better moves the
mark. `wordnet.read_mapping` reads the table as it is.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from shoal.hierarchies.wordnet import Entry, Synset, climbed, entries, find_senses

HEADS = ("value", "use", "lemma", "sense", "under", "gloss", "way")
MARK = "x"
NOT_FOUND = "no such noun; write one, or one with under, and mark the line"
_ENDINGS = (("ies", "y"), ("men", "man"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"),
            ("ses", "s"), ("s", ""))  # fmt: skip


class Meaning(NamedTuple):
    """One sense of a noun: its number, what it means, and the words on its way to the top.

    others: words of hypernyms beside the way: it can be led through them instead.
    """

    lemma: str
    number: int
    gloss: str
    way: tuple[str, ...]
    others: tuple[str, ...] = ()

    @property
    def way_text(self) -> str:
        """Return the way up as one line."""
        text = " > ".join(self.way)
        return f"{text} (or through {', '.join(self.others)})" if self.others else text


def proposed_senses(values: Iterable[str], folder: str | Path) -> dict[str, list[Meaning]]:
    """Return the senses of each value's noun, the commonest first; none where none is found.

    A value is looked for whole, then by its words, the last one first, each as it is and in the
    singular; the first of these that is a noun is taken. A person chooses among its senses: the
    commonest one need not be what the column means.
    """
    place = Path(folder)
    spelled = {value: spellings_of(value) for value in dict.fromkeys(values)}
    each = {lemma for groups in spelled.values() for group in groups for lemma in group}
    known = find_senses(place, each)
    chosen = {value: _first_known(groups, known) for value, groups in spelled.items()}
    synsets = climbed(place, sorted({at for found in chosen.values() for _, _, at in found}))
    lines = entries(place, synsets)
    return {
        value: [_meaning(lemma, number, at, synsets, lines) for lemma, number, at in found]
        for value, found in chosen.items()
    }


def _first_known(
    groups: Iterable[Sequence[str]], known: Mapping[str, Sequence[int]]
) -> list[tuple[str, int, int]]:
    """Return the senses of the first spellings that are there: noun, number, synset."""
    for group in groups:
        found = [
            (lemma, number, at)
            for lemma in group
            for number, at in enumerate(known.get(lemma, ()), start=1)
        ]
        if found:
            return found
    return []


def _meaning(
    lemma: str, number: int, start: int, synsets: Mapping[int, Synset], lines: Mapping[int, Entry]
) -> Meaning:
    way = [*_way(synsets, start)]
    beside = dict.fromkeys(
        lines[up].word for step in way for up in lines[step].above if up not in way
    )
    words = tuple(lines[step].word for step in way)
    gloss = lines[start].gloss.partition('; "')[0]  # without its examples
    return Meaning(lemma, number, gloss, words, tuple(beside))


def spellings_of(value: str) -> list[list[str]]:
    """Return the spellings under which a value may stand in the dictionary, likeliest first.

    Example:
        >>> spellings_of("Cleaners and aides")[1:]
        [['aides', 'aide'], ['and'], ['cleaners', 'cleaner']]
    """
    words = [word for word in re.split(r"[\W_]+", value.lower()) if word]
    plain, whole = "_".join(value.lower().split()), "_".join(words)
    groups = [[plain, whole, *_singular(whole)]]
    if len(words) > 1:
        groups += [[word, *_singular(word)] for word in reversed(words)]
    return [[*dict.fromkeys(filter(None, group))] for group in groups]


def _singular(word: str) -> list[str]:
    """Return what a plural may be of."""
    return [
        word.removesuffix(ending) + instead
        for ending, instead in _ENDINGS
        if word.endswith(ending) and len(word) > len(ending) + 1 and not word.endswith("ss")
    ]


def _way(synsets: Mapping[int, Synset], start: int) -> Iterator[int]:
    at: int | None = start
    while at is not None:
        yield at
        at = synsets[at].parent


def proposed_text(meanings: Mapping[str, Sequence[Meaning]]) -> str:
    """Return a mapping table for people, the first sense of each value marked."""
    out = StringIO()
    table = csv.writer(out, delimiter=";", lineterminator="\n")
    table.writerow(HEADS)
    for value, found in meanings.items():
        for place, each in enumerate(found):
            mark = "" if place else MARK
            table.writerow((value, mark, each.lemma, each.number, "", each.gloss, each.way_text))
        if not found:
            table.writerow((value, "", "", "", "", NOT_FOUND, ""))
    return out.getvalue()
