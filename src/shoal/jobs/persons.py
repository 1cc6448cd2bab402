"""What a release cannot be asked where persons are counted, and what only there."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.engines.base import Checks, Output
from shoal.schema.schema import Schema
from shoal.schema.techniques import Pseudonym


def person_faults(schema: Schema, output: Output, checks: Checks) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a request, and the option that says it.

    What would count records where persons are promised is refused, not done in silence.
    """
    if not schema.person:
        if output.person_file is not None:
            yield "goes with --person", "--person-file"
        return
    if schema.trajectories and output.person_file is not None:
        yield "the release itself says whose a record is; leave the file out", "--person-file"
    if schema.trajectories and output.suppressed == "star":
        yield (
            "a record as the root would still be linked to its person; take remove",
            "--suppressed",
        )
    others = (each for name, each in schema.replaced.items() if name not in schema.person)
    if any(isinstance(each, Pseudonym) for each in others):
        yield "a pseudonym links the records of a person, which undoes the promise", "--pseudonym"
    if schema.trajectories and checks.attacks == "all":
        yield "attacks know one record, and this release links all of a person", "--attacks"
    for name in checks.about_people:
        option = f"--{name.replace('_', '-')}"
        yield "goes with records, not with persons; leave it out with --person", option
