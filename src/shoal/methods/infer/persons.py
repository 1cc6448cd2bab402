"""Which identifying column says whom a record is about, when people have several records."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.methods.infer.headers import concept_of, names_person

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
        return max(numbers, key=lambda name: repeating[name])
    # A person's own number that is on every record once: equal names are chance.
    if any(_is_personal(name) for name in counted if name not in repeating and counted[name][0]):
        return None
    return max(repeating, key=lambda name: repeating[name], default=None)


def _is_weak(name: str) -> bool:
    concept = concept_of(name)
    return concept is not None and concept.key in _WEAK and not names_person(name)


def _is_personal(name: str) -> bool:
    concept = concept_of(name)
    is_number = concept is None or concept.key in ("id", "record_id")
    return (names_person(name) and is_number) or (concept is not None and concept.key in _PERSONAL)
