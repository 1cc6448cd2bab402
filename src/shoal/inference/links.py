"""What tells that records are of one person: kept columns that link them, keys that are misspelt.

Classes hide persons as long as nobody can tell which records are of the same one. A kept column
whose values are each one person's alone, and stand on several of their records, tells it: the
person is then found by all of these together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shoal.inference.kept import Finding, KeptColumn
from shoal.schema.persons import (
    FEW_RECORDS,
    FILL,
    NOTABLE,
    SHUFFLE,
    ordered_words,
    why_empty,
)

STOPS = 0.5
"""Share of the records of persons with several that a kept column may link before it is refused."""


@dataclass(frozen=True, kw_only=True)
class PersonFacts:
    """What was counted of the persons of a table.

    Attributes:
        names: the columns that say who a record is about.
        whole: all records. nobody: those that do not say who they are about.
        records: those of persons who have several.
        linked: of each kept column, or of several together, how many of these records have a value
            that another record of the same person has, and nobody else's.
        beside: how many of these records stand beside another one of the same person; 0 where
            their order is not kept. by_chance: how many would in a shuffled table.
        persons: different keys.
        spellings: different keys when case, spaces and zeros (007, 7.0) are left out.
    """

    names: tuple[str, ...]
    whole: int
    nobody: int = 0
    records: int = 0
    beside: int = 0
    by_chance: float = 0.0
    linked: Mapping[tuple[str, ...], int] = field(default_factory=dict)
    persons: int = 0
    spellings: int = 0


def groups_of(kept: Sequence[str], sensitive: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return which columns are looked at: each alone, and all that are not sensitive together.

    Example:
        >>> groups_of(["a", "b"], ["s"])
        (('a',), ('b',), ('s',), ('a', 'b'))
    """
    alone = tuple((name,) for name in (*kept, *sensitive))
    return (*alone, tuple(kept)) if len(kept) > 1 else alone


def judge_links(
    facts: PersonFacts, sensitive: Sequence[str] = (), *, promised: bool = False
) -> tuple[KeptColumn, ...]:
    """Say which kept columns link the records of a person, and whether keys look misspelt.

    sensitive: columns of which links are a warning: a rare value is what they are kept for.
    promised: something is promised of them that leaves records of nobody out.

    Example:
        >>> facts = PersonFacts(names=("who",), whole=120, records=100, linked={("card",): 96})
        >>> [str(each.finding) for each in judge_links(facts)]
        ['links records']
    """
    found = [
        _linking(columns, linked, facts.records, is_stop=columns[0] not in sensitive)
        for columns, linked in facts.linked.items()
        if linked >= max(FEW_RECORDS, NOTABLE * facts.records)
    ]
    if facts.spellings < facts.persons:
        found.append(_misspelt(facts))
    if facts.nobody and sensitive:
        found.append(_empty(facts, is_stop=promised))
    ordered = ordered_words(facts.beside, facts.records, facts.by_chance)
    if ordered is not None:
        name = facts.names[0]
        found.append(KeptColumn(name=name, finding=Finding.ORDER, why=ordered, remedy=SHUFFLE))
    return tuple(found)


def _linking(columns: tuple[str, ...], linked: int, records: int, *, is_stop: bool) -> KeptColumn:
    name, meant = columns[0], ",".join(columns)
    together = f" (together with {', '.join(map(repr, columns[1:]))})" if columns[1:] else ""
    is_stop = is_stop and not columns[1:] and linked >= STOPS * records
    return KeptColumn(
        name=name,
        finding=Finding.LINKS if is_stop else Finding.SOME,
        why=(
            f"{linked:,} of {records:,} records of persons with several have a value "
            f"there{together} that is on another record of the same person and on nobody else's"
        ),
        remedy=(
            f"Remove it with --identifying {name}, or recode it (--qi {name}); "
            f"if it is meant as it is: --waive {meant}"
        ),
    )


def _misspelt(facts: PersonFacts) -> KeptColumn:
    alike = facts.persons - facts.spellings
    return KeptColumn(
        name=facts.names[0],
        finding=Finding.SPELT,
        why=(
            f"{alike:,} of {facts.persons:,} keys differ from another one by case, spaces or "
            "zeros alone, and count as further persons"
        ),
        remedy="Where they are the same persons, write them alike before the release",
    )


def _empty(facts: PersonFacts, *, is_stop: bool) -> KeptColumn:
    name = facts.names[0].lstrip("\x00")  # of a person file: as it is called there
    return KeptColumn(
        name=name,
        finding=Finding.NOBODY if is_stop else Finding.EMPTY,
        why=why_empty(facts.nobody, facts.whole),
        remedy=f"{FILL}; if it is meant: --waive {name}" if is_stop else FILL,
    )
