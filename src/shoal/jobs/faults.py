"""Faults of requests: what is wrong, and where it was said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from shoal.core.errors import MethodError, SchemaError
from shoal.schema.schema import Schema


class Fault(NamedTuple):
    """What is wrong with a request.

    Attributes:
        where: the option that says it wrongly; None: the problem is a method's own words.
    """

    problem: str
    where: str | None = "options"


def refuse(faults: Sequence[Fault]) -> None:
    """Raise all faults of a request together.

    Raises:
        MethodError: there is one, in a method's own words.
        SchemaError: there is another one, or several.
    """
    if len(faults) == 1:
        problem, where = faults[0]
        if where is None:
            raise MethodError(problem=problem)
        raise SchemaError(where=where, faults=[problem])
    if faults:
        plain = (None, "options")
        named = [f.problem if f.where in plain else f"{f.where} {f.problem}" for f in faults]
        raise SchemaError(where="options", faults=named)


def key_faults(schema: Schema, key: str | Path | None) -> list[Fault]:
    """Return that a key is needed and missing, or there and not needed."""
    needing = [name for name, each in schema.replaced.items() if each.needs_key]
    if needing and key is None:
        named = ", ".join(map(repr, needing))
        text = f"needed for {named}; make a key with shoal key FILE, or ask for fresh ones"
        return [Fault(text, "--key")]
    if key is not None and not needing:
        return [Fault("nothing depends on a key; leave it out, or ask for --pseudonym", "--key")]
    return []


def replaced_faults(schema: Schema, key: str | Path | None = None) -> list[Fault]:
    """Return why something that holds no key cannot be asked for."""
    if not schema.replaced and key is None:
        return []
    named = ", ".join(map(repr, schema.replaced)) or "--key"
    return [
        Fault(
            f"{named}: only anonymize replaces values, because a model or a method that adds "
            "records holds no key; leave `release` out of these columns"
        )
    ]


def beside_faults(
    schema: Schema,
    nested_in: str | Path | None,
    ledger: str | Path | None,
    waived: Sequence[str],
) -> list[Fault]:
    """Return why a release cannot be judged beside earlier ones, some of which are waived."""
    found = []
    if waived and ledger is None:
        found.append(Fault("goes with --ledger", "--waive-composition"))
    if schema.trajectories:
        named = {"--ledger": ledger, "--nested-in": nested_in}
        text = "a pseudonym of the person links its records; leave one of both out"
        found += [Fault(text, option) for option, place in named.items() if place is not None]
    if nested_in is not None and schema.has_round_labels:
        # Classes whose round labels are equal are joined, across earlier classes, too.
        text = "round labels may join what an earlier release keeps apart; take --labels tight"
        found.append(Fault(text, "--nested-in"))
    return found
