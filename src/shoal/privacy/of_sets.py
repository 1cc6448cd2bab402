"""What the words of a promise mean of a table with a column of sets."""

from __future__ import annotations

from collections.abc import Iterable

from shoal.core.errors import PrivacyError
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.km_anonymity import KmAnonymity
from shoal.privacy.m_uniqueness import MUniqueness
from shoal.privacy.promise import Needs, Promise
from shoal.privacy.requirements import Requirements


def promise_of_sets(promises: Iterable[Promise]) -> tuple[Promise, ...]:
    """Return a promise whose k and m speak of items.

    k with m is k^m-anonymity; k alone is about any number of items, never about fewer than were
    meant. m without k is about the k of privacy requirements.

    Raises:
        PrivacyError: m without k.

    Example:
        >>> promise_of_sets([KAnonymity(5), MUniqueness(2)])
        (KmAnonymity(k=5, m=2),)
        >>> promise_of_sets([KAnonymity(5)])
        (KmAnonymity(k=5, m=None),)
    """
    given = tuple(promises)
    sizes = [each.k for each in given if isinstance(each, KAnonymity)]
    known = [each.m for each in given if isinstance(each, MUniqueness)]
    required = [each.k for each in given if isinstance(each, Requirements)]
    found: list[Promise] = []
    if known:
        if not sizes and not required:
            raise PrivacyError(
                model="km-anonymity", problem="--m needs -k: any m items fit k records"
            )
        found.append(KmAnonymity(max((*sizes, *required)), max(known)))
    elif sizes:
        found.append(KmAnonymity(max(sizes)))
    others = [each for each in given if not isinstance(each, (KAnonymity, MUniqueness))]
    kept = [each for each in others if not any(one.implies(each) and one != each for one in found)]
    return tuple(dict.fromkeys((*found, *kept)))


def speaks_of_sets(promise: Promise) -> bool:
    """Say whether a promise is about the items of a column of sets."""
    return Needs.ITEMSETS in promise.needs


def named_items(model: Promise) -> list[str]:
    """Return the items that a promise names."""
    found: list[str] = []
    for each in getattr(model, "items", ()):
        found += [each] if isinstance(each, str) else each
    return found
