"""Which hierarchies a job proposes where the schema has none, and how it says so."""

from __future__ import annotations

from shoal.hierarchies.build import Dates, Intervals, Mask, Order, TopBottom
from shoal.methods.method import Method
from shoal.schema.attribute import Attribute, Kind, Proposals
from shoal.schema.schema import Schema

_WORDS = {
    Mask: "masked digit by digit",
    Dates: "a calendar",
    Intervals: "intervals",
    TopBottom: "intervals",
    Order: "groups of neighbours",
}


def proposals(*, infer: bool, method: Method | None = None) -> Proposals:
    """Return what an engine is to propose.

    Levels of numbers and dates are built for the methods that choose among them, and for
    whoever reads a release that was made by some method.
    """
    if not infer:
        return Proposals.NONE
    has_levels = method is None or method.family == "lattice"
    return Proposals.LEVELS if has_levels else Proposals.TREES


def proposal_notices(asked: Schema, found: Schema) -> list[str]:
    """Say which columns got a hierarchy that nobody gave; nothing where none did."""
    before = {attribute.name: attribute for attribute in asked.attributes}
    named = [
        f"{each.name!r} ({words})"
        for each in found.attributes
        if each.name in before and (words := _words(before[each.name], each))
    ]
    if not named:
        return []
    return [f"no hierarchy was given for {', '.join(named)}: proposed by infer (--no-infer: none)"]


def _words(before: Attribute, after: Attribute) -> str:
    if before.hierarchy is None and after.hierarchy is not None:
        return _WORDS[type(after.hierarchy)]
    is_dated = before.kind is None and after.kind is Kind.DATE and after.role == "quasi"
    return "dates" if is_dated else ""
