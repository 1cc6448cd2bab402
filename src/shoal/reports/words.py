"""Plain words for promises, roles, measures and attackers, for readers who are not of the field."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.privacy import Promise

ROLES: Mapping[str, tuple[str, str]] = {
    # role: why a column has it, and what is done to it
    "quasi": ("others may know it of a person, and find them by it", "recoded"),
    "sensitive": ("what nobody should learn of a person", "released as it is"),
    "neutral": ("held to say nothing about who a person is", "released as it is"),
    "identifying": ("says by itself who a person is", "removed"),
    "person": ("says who a record is about: persons are counted by it", "not released"),
    "none": ("nobody gave it a role", "left out"),
}

MEASURES: Mapping[str, str] = {
    "il": "information lost, summed over records and columns; 0 is nothing",
    "ncp": "share of the information of the recoded columns that is lost; 0 is nothing, 1 is all",
    "dm": "sum of the squared class sizes: how many records each record can be mistaken for",
    "cm": "share of records whose target value is not their class's commonest",
    "aecs": "records of an average class",
    "class-entropy": "how finely classes still tell records apart, in bits; larger is better",
    "height-utility": "levels of the hierarchies that are left, summed over columns; larger is "
    "better",
    "precision": "share of the hierarchies' levels that is left; 1 is nothing lost",
    "loss": "share of the original values that each released cell covers; 0 is nothing lost",
    "usefulness": "how varied the values of a class are; smaller is better for analysis",
    "protection": "how little the sensitive values of a class vary; smaller protects better",
    "sse_loss": "percentage of the variation that is lost by replacing values by their centroid",
}

KNOWS: Mapping[str, str] = {
    "prosecutor": "knows that a person is in the table, and all their quasi-identifiers",
    "journalist": "knows that a person is in the population that the table is drawn from",
    "marketer": "wants to find as many people as possible, not one",
    "household": "looks for anybody of a household",
}

QUESTIONS: Mapping[str, str] = {
    "singling out": "Can somebody isolate the records of one person?",
    "linkability": "Can somebody link records of one person, here and elsewhere?",
    "inference": "Can somebody work out a person's sensitive value?",
}


def percent(share: float | None) -> str:
    """Return a share as people read it.

    Example:
        >>> percent(0.0912), percent(1), percent(0.00004), percent(None)
        ('9.12 %', '100 %', 'under 0.01 %', 'not known')
    """
    if share is None:
        return "not known"
    if 0 < share < 0.0001:
        return "under 0.01 %"
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + " %"


def plain_words(promise: Promise, unit: str) -> str:
    """Say what a promise means to somebody who has not heard of it. unit: what is counted.

    Example:
        >>> from shoal.privacy import KAnonymity
        >>> plain_words(KAnonymity(5), "person")
        'Every person looks like at least 4 other persons in all recoded columns.'
    """
    given, of = promise.shown(), f" of {promise.column!r}" if promise.column else ""
    if promise.name == "k-anonymity":
        if promise.is_void:
            return "Nothing: a class of one is allowed."
        others = int(str(given["k"])) - 1
        return (
            f"Every {unit} looks like at least {others:,} other {unit}{'s' if others != 1 else ''} "
            "in all recoded columns."
        )
    if promise.name == "l-diversity":
        return (
            f"Among those who look alike there are at least {given['l']} different values{of}"
            + (", evenly spread." if given.get("kind") != "distinct" else ".")
        )
    if promise.name == "t-closeness":
        return (
            f"Among those who look alike the values{of} are spread nearly as in the whole table: "
            f"at most {given['t']} away from it, on a scale from 0 to 1."
        )
    first = (type(promise).__doc__ or promise.name).strip().splitlines()[0]
    shown = ", ".join(f"{name} = {value}" for name, value in given.items())
    return f"{first} ({shown})"


def times(number: float) -> str:
    """Return a number of things as people read it: whole where it is whole."""
    return f"{number:,.0f}" if abs(number) >= 100 or number == int(number) else f"{number:,.1f}"


def wilson(share: float, targets: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a share of so many (Wilson's score interval).

    Example:
        >>> [round(x, 3) for x in wilson(0.1, 100)]
        [0.055, 0.174]
    """
    if not targets:
        return 0.0, 1.0
    z = 1.959963984540054
    middle = share + z * z / (2 * targets)
    room = z * (share * (1 - share) / targets + z * z / (4 * targets * targets)) ** 0.5
    scale = 1 + z * z / targets
    return max((middle - room) / scale, 0.0), min((middle + room) / scale, 1.0)
