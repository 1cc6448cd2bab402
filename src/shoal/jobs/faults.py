"""Faults of requests: what is wrong, and where it was said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from shoal.core.errors import MethodError, SchemaError
from shoal.model.device import CODE
from shoal.privacy import KAnonymity, LDiversity, MUniqueness
from shoal.schema.schema import Schema

if TYPE_CHECKING:
    from shoal.engines.base import Output


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


_WITH_AFTER = ("--counterfeits", "--false-records", "--counterfeit-table")


def over_time_faults(
    schema: Schema, asked: Mapping[str, object], *, ledger: str | Path | None
) -> Iterator[Fault]:
    """Yield why a release cannot follow earlier ones of a table that changes.

    asked: what the request says, by the options that say it; what is not said is None or False.
    """
    after = asked["--after"]
    if after is None:
        if any(isinstance(model, MUniqueness) for model in schema.privacy):
            yield Fault("--m keeps a promise over time; say --after LEDGER", "options")
        yield from (Fault("goes with --after", o) for o in _WITH_AFTER if asked[o] is not None)
        return
    yield from _place_faults(str(after), ledger)
    yield from _promise_faults(schema)
    yield from _column_faults(schema)
    if asked["--counterfeits"] not in (None, "fill", "none"):
        yield Fault("must be fill or none", "--counterfeits")
    for option, is_said in asked.items():
        if is_said and option not in ("--after", *_WITH_AFTER):
            yield Fault("leave it out: a release over time has its own way", option)


def _place_faults(after: str, ledger: str | Path | None) -> Iterator[Fault]:
    if ledger is None and after.isdigit():
        yield Fault("is a number in a ledger; name that, too: --ledger FILE", "--after")
    elif ledger is not None and not after.isdigit() and Path(ledger) != Path(after):
        yield Fault("names another ledger than --ledger; name one, or a number in it", "--after")


def _promise_faults(schema: Schema) -> Iterator[Fault]:
    asked = [model.m for model in schema.privacy if isinstance(model, MUniqueness)]
    if not asked:
        yield Fault("needs the number of sensitive values of a class: --m 2 or more", "--after")
    elif min(asked) < 2:
        yield Fault("must be at least 2: with one value, everybody's is certain", "--m")
    for model in schema.privacy:
        if not isinstance(model, (KAnonymity, LDiversity, MUniqueness)):
            yield Fault(f"keeps k-anonymity and l-diversity, not {model.name}", "--after")


def _column_faults(schema: Schema) -> Iterator[Fault]:
    if not schema.hidden_person:
        yield Fault(
            "follows persons; name the column that says who a record is about (--person), and "
            "release no pseudonym of it",
            "--after",
        )
    if len(schema.sensitive) != 1:
        yield Fault(
            f"keeps one sensitive column, and the schema has {len(schema.sensitive)}: a class "
            "cannot keep the values of several; leave the others out of the release",
            "--after",
        )
    yield from _linking(schema)


def _linking(schema: Schema) -> Iterator[Fault]:
    """Yield the kept columns that tell which records of two releases are the same."""
    kept = [n for n in schema.kept if n not in schema.sensitive and n not in schema.waive]
    if kept:
        named = ", ".join(map(repr, kept))
        yield Fault(
            f"{named} would tell which records of two releases are the same, and so who they are; "
            "leave them out (others: drop), recode them (--qi), or, if it is meant, --waive them",
            "--after",
        )


def beside_faults(
    schema: Schema,
    nested_in: str | Path | None,
    ledger: str | Path | None,
    waived: Sequence[str],
) -> list[Fault]:
    """Return why a release cannot be judged beside earlier ones, some of which are waived."""
    found = []
    if waived and ledger is None:  # of a release over time, the one that it comes after
        found.append(Fault("goes with --ledger", "--waive-composition"))
    if schema.trajectories:
        named = {"--ledger": ledger, "--nested-in": nested_in}
        text = "a pseudonym of the person links its records; leave one of both out"
        found += [Fault(text, option) for option, place in named.items() if place is not None]
    return found


def draw_faults(schema: Schema, output: Output) -> list[Fault]:
    """Return what does not go with drawn values."""
    found = []
    if output.person_file is not None:
        found.append(Fault("leave it out: drawn records are nobody's", "--person-file"))
    if schema.trajectories:
        found.append(Fault("not with the pseudonym of a person", "--release draw"))
    return found


def room_faults(
    model_bytes: int | None,
    device_ram: int | None,
    *,
    release: str | None = None,
    learns: bool = True,
) -> list[Fault]:
    """Return what is wrong with the room that a device has for a model.

    learns: a model is learned; a release goes to no device.
    """
    sizes = {"--model-bytes": model_bytes, "--device-ram": device_ram}
    given = {option: size for option, size in sizes.items() if size is not None}
    if not learns:
        return [Fault("is for learn: a release goes to no device", option) for option in given]
    found = [Fault("must be at least 1 byte", name) for name, size in given.items() if size < 1]
    if not found and device_ram is not None and device_ram <= CODE:
        found.append(Fault(f"the encoder alone takes {CODE:,} bytes", "--device-ram"))
    if given and release == "draw":
        problem = "counts labels alone; what values are drawn from would take more room"
        found.append(Fault(problem, next(iter(given))))
    return found


def noise_faults(
    schema: Schema, release: str | None, epsilon: float | None, budget: object
) -> list[Fault]:
    """Return what does not go with marginals that have noise."""
    found = []
    if epsilon is None:
        if budget is not None:
            found.append(Fault("goes with --epsilon", "--budget"))
        return found
    if release != "draw":
        found.append(Fault("goes with --release draw; see shoal stats for statistics", "--epsilon"))
    if not 0 < epsilon < float("inf"):
        found.append(Fault("must be a number above 0", "--epsilon"))
    if schema.person:
        found.append(
            Fault("is about records; where a person has several, nothing bounds them", "--epsilon")
        )
    return found


def whole_faults(nested_in: object, release: str | None, partitions: int | None) -> list[Fault]:
    """Return what takes the earlier classes apart that a release is to be nested in."""
    asked = {"--release": release == "aggregate", "--partitions": bool(partitions)}
    apart = [name for name, is_asked in asked.items() if is_asked and nested_in is not None]
    return [Fault(f"joins and divides boxes; leave {n} out", "--nested-in") for n in apart]
