"""Which identifying column says whom a record is about, when people have several records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shoal.inference.column import ColumnFacts
from shoal.inference.headers import concept_of, names_person
from shoal.inference.roles import Verdict
from shoal.schema.schema import Kind, Role

# Many people share these, or one person has several: they tell whose a record is only where
# nothing better is there.
_WEAK = frozenset(
    "name address text phone fax url ip photo vehicle device account card licence".split()  # noqa: SIM905
)
_PERSONAL = frozenset(("national_id", "insurance_id", "email", "login"))


def person_column(counted: Mapping[str, tuple[int, int]]) -> str | None:
    """Return the repeating column that is the best candidate for the person of a record.

    Args:
        counted: distinct and present values of each identifying column.

    Example:
        >>> person_column({"encounter_id": (9, 9), "patient_nbr": (5, 9), "name": (4, 9)})
        'patient_nbr'
        >>> person_column({"patient_id": (9, 9), "name": (8, 9)}) is None
        True
    """
    repeating = {name: n for name, (n, present) in counted.items() if 0 < n < present}
    numbers = [name for name in repeating if not _is_weak(name)]
    if numbers:
        # The number of a visit that was entered twice repeats, too: it names no person.
        return max(numbers, key=lambda name: (names_person(name), repeating[name]))
    # A person's own number that is on every record once: equal names are chance.
    if any(_is_personal(name) for name in counted if name not in repeating and counted[name][0]):
        return None
    return max(repeating, key=lambda name: repeating[name], default=None)


def propose_person(
    columns: Sequence[ColumnFacts], verdicts: Mapping[str, Verdict]
) -> dict[str, Verdict]:
    """Return the verdicts with the identifying column that repeats as the person of a record.

    Only a number of people's own is proposed: names and addresses repeat by chance, one person
    may have several, and the number of a visit is nobody's. That these repeat is said where a
    table is released.
    """
    counted = {
        c.name: (c.distinct, c.present)
        for c in columns
        if verdicts[c.name].role is Role.IDENTIFYING
        and not verdicts[c.name].free_text
        and _is_own(c.name, verdicts[c.name])
    }
    name = person_column(counted)
    if name is None:
        return dict(verdicts)
    distinct, present = counted[name]
    why = (
        f"it repeats, {present / distinct:.1f} records a value: records are not people, "
        "so persons are counted"
    )
    found = verdicts[name]
    person = replace(
        found, role=Role.PERSON, kind=Kind.CATEGORICAL, why=f"{found.why}; {why}",
        confidence=found.confidence if names_person(name) else min(found.confidence, 0.7),
    )  # fmt: skip
    return {**verdicts, name: person}


def _is_own(name: str, verdict: Verdict) -> bool:
    """Say whether the values of a column are numbers of people, each of one person."""
    if _is_weak(name) or verdict.concept in _WEAK:
        return False
    return names_person(name) or verdict.concept in (*_PERSONAL, "record_id")


def _is_weak(name: str) -> bool:
    concept = concept_of(name)
    return concept is not None and concept.key in _WEAK and not names_person(name)


def _is_personal(name: str) -> bool:
    concept = concept_of(name)
    is_number = concept is None or concept.key in ("id", "record_id")
    return (names_person(name) and is_number) or (concept is not None and concept.key in _PERSONAL)
