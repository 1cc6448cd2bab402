"""What can be asked of several releases together; see `jobs.requests`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shoal.jobs.faults import Fault, refuse
from shoal.privacy import KAnonymity, LDiversity, MUniqueness, Promise, expand
from shoal.schema.schema import Schema


def _counts(model: Promise) -> bool:
    """Say whether a promise speaks of numbers of persons and values alone."""
    if isinstance(model, LDiversity):
        return model.kind == "distinct"
    return isinstance(model, (KAnonymity, MUniqueness))


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposeRequest:
    """What is asked of several releases of one table.

    Attributes:
        table: what they were made of.
        schema: its quasi-identifiers and sensitive columns, and the promise.
        releases: released tables; the class of a record is told by labels and kept columns.
        models: models whose releases of the table (by `encode`) count.
        class_files: what `anonymize --class-file` wrote: the class of each record.
        person_files: what `anonymize --person-file` wrote, one for each of `releases`: then these
            may be of a table that changed in between, and persons are looked for in all of them.
        infer: the releases were made with proposed hierarchies; see `LearnRequest`.
    """

    table: object
    schema: Schema
    releases: tuple[object, ...] = ()
    models: tuple[str | Path, ...] = ()
    class_files: tuple[str | Path, ...] = ()
    person_files: tuple[str | Path, ...] = ()
    separator: str | None = None
    infer: bool = True

    def faults(self) -> list[Fault]:
        """Return everything that is wrong with it, as far as no table need be opened."""
        number = len(self.releases) + len(self.models) + len(self.class_files)
        if number < 2:
            return [Fault("compose lays at least two releases over each other: name them")]
        return list(self._person_faults()) if self.person_files else []

    def _person_faults(self) -> Iterator[Fault]:
        if len(self.person_files) != len(self.releases):
            yield Fault("needs one file for each of --releases", "--person-files")
        if self.models or self.class_files:
            yield Fault("goes with --releases alone", "--person-files")
        if not self.schema.sensitive:
            yield Fault("needs a sensitive column", "--person-files")
        beyond = [m for m in expand(self.schema.privacy, self.schema.sensitive) if not _counts(m)]
        if beyond:
            named = ", ".join(dict.fromkeys(model.name for model in beyond))
            text = f"counts persons and the values that they are left with, so {named} cannot be "
            yield Fault(f"{text}judged by it; give --class-files instead", "--person-files")

    def check(self) -> None:
        """Refuse a request that cannot be meant; see `refuse`."""
        refuse(self.faults())
