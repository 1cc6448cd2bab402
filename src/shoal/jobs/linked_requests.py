"""What can be asked of linked tables; see `jobs.requests`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from shoal.engines.base import Output
from shoal.jobs.faults import Fault, refuse
from shoal.methods.catalogue import Auto
from shoal.methods.method import Method
from shoal.schema.linked import LinkedSchema
from shoal.schema.techniques import Pseudonym


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedRequest:
    """What a release of linked tables is asked to be.

    Attributes:
        tables: a folder with a file a table, a Database, or tables by their names, each as
            `LearnRequest` takes one.
        schema: the tables, their keys and parents, their columns, and the promise.
        infer: a quasi-identifier without a hierarchy gets the one that `infer` proposes for
            its values.
        key: the key file that shifted dates depend on.
        output: `out` is a new folder; None returns tables of the kind that came in.
    """

    tables: object
    schema: LinkedSchema
    method: Method = field(default_factory=Auto)
    infer: bool = True
    seed: int = 0
    threads: int | None = None
    separator: str | None = None
    key: str | Path | None = None
    output: Output = field(default_factory=Output)

    def faults(self) -> list[Fault]:
        """Return everything that is wrong with it, as far as no table need be opened."""
        found = [*self._key_faults(), *self._output_faults()]
        if self.threads is not None and self.threads < 1:
            found.append(Fault("must be at least 1", "--threads"))
        return found

    def _key_faults(self) -> list[Fault]:
        replaced = {
            table.qualified(name): technique
            for table in self.schema.tables
            for name, technique in table.schema.replaced.items()
        }
        found = []
        if any(isinstance(each, Pseudonym) for each in replaced.values()):
            text = "rows are linked by new keys; a pseudonym of another column would undo them"
            found.append(Fault(text, "release: pseudonym"))
        needing = [name for name, each in replaced.items() if each.needs_key]
        if needing and self.key is None:
            named = ", ".join(map(repr, needing))
            text = f"needed for {named}; make a key with shoal key FILE, or ask for fresh ones"
            found.append(Fault(text, "--key"))
        if self.key is not None and not needing:
            found.append(Fault("nothing depends on a key; leave it out", "--key"))
        return found

    def _output_faults(self) -> list[Fault]:
        output, found = self.output, []
        if output.suppressed not in (None, "remove"):
            text = "a row as the root would still be linked to its person; take remove"
            found.append(Fault(text, "--suppressed"))
        if output.keep_order:
            found.append(Fault("linked tables are sorted by their new keys", "--keep-order"))
        for name, given in (
            ("--person-file", output.person_file),
            ("--class-file", output.class_file),
        ):
            if given is not None:
                found.append(Fault("the tables themselves say whose a row is; leave it out", name))
        return found

    def check(self) -> None:
        """Refuse a request that cannot be meant; see `refuse`."""
        refuse(self.faults())


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedVerifyRequest:
    """What is asked of linked tables as they stand; see `LinkedRequest`."""

    tables: object
    schema: LinkedSchema
    separator: str | None = None
