"""Who a record is about: which texts name the same person, and which name nobody.

A key that is spelled in two ways would count as two persons, and a class would seem to have
more of them than it has. What no eye tells apart is therefore one key.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from operator import or_

from shoal.privacy import MUniqueness, Promise
from shoal.schema.sensitive import EDGES

NOBODY = ("", "nan", "nat", "none", "null", "na", "n/a", "#n/a", "<na>", "(null)")
"""Texts, in small letters, that name nobody, whatever a schema says: what other programs write
for a value that is missing."""

SPELLINGS = ((r"\s+", ""), (r"^0+([0-9])", "$1"), (r"([0-9])\.0+$", "$1"))
"""What spellings of one key differ in, beside case: patterns, and what takes their place. Such keys
are different ones all the same: whoever knows them is asked."""


def person_text(text: str, marks: Collection[str]) -> str | None:
    r"""Return a part of a key as it is compared, trimmed and in NFC; None: nobody.

    marks: texts that stand for a missing value.

    Example:
        >>> person_text("\ufeffp7\u200b ", ["?"]), person_text("NULL", ["?"])
        ('p7', None)
    """
    plain = unicodedata.normalize("NFC", text.strip(EDGES)).strip(EDGES)
    return None if plain in marks or plain.lower() in NOBODY else plain


FEW_RECORDS = 20
"""Records from which a share of them says something."""

NOTABLE = 0.05
"""Share of the records of persons with several from which it is told what links them."""


def leaves_nobody_out(promise: Iterable[Promise]) -> bool:
    """Say whether a promise speaks of sensitive values, and of the persons who have them alone.

    Records of nobody are then part of no share and no spread: whatever their values tell of
    whoever they are about, the promise holds. Beside m-uniqueness values are counted by records.

    Example:
        >>> from shoal.privacy import KAnonymity, LDiversity
        >>> leaves_nobody_out([KAnonymity(5)]), leaves_nobody_out([KAnonymity(5), LDiversity(2)])
        (False, True)
    """
    models = tuple(promise)
    by_records = any(isinstance(model, MUniqueness) for model in models)
    return not by_records and any(model.needs_sensitive for model in models)


def why_empty(nobody: int, whole: int) -> str:
    """Say what is wrong with records of nobody beside sensitive values."""
    return (
        f"{nobody:,} of {whole:,}. They make no class larger, but what their sensitive values tell "
        "of whoever they are about is part of no promise"
    )


FILL = "Fill the key, or leave these records out"


def why_ordered(persons: Sequence[object]) -> str | None:
    """Say how many records of persons with several stand beside another of theirs; None: few do.

    persons: who each record is about, in their order; None: nobody.

    Example:
        >>> why_ordered(sorted("abcdefghij" * 4)).split(" stand")[0]
        '40 of 40 records of persons with several'
        >>> why_ordered(["a", "b"] * 20)
    """
    times = Counter(person for person in persons if person is not None)
    several = [number for number in times.values() if number > 1]
    same = [one is not None and one == other for one, other in pairwise(persons)]
    found = sum(map(or_, [False, *same], [*same, False]))
    by_chance = 2 * sum(number * (number - 1) for number in several) / max(len(persons) - 1, 1)
    return ordered_words(found, sum(several), by_chance)


def ordered_words(beside: int, records: int, by_chance: float) -> str | None:
    """Say how many records stand beside another one of the same person; None: few do.

    records: of persons who have several. by_chance: how many would in a shuffled table.
    """
    if beside < max(FEW_RECORDS, NOTABLE * records, 2 * by_chance):
        return None
    return (
        f"{beside:,} of {records:,} records of persons with several stand beside another one of "
        "theirs, and the order is kept"
    )


SHUFFLE = "Shuffle the records, or sort them by something else"
