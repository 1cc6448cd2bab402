"""Judge a table as it stands, whoever made it."""

from __future__ import annotations

from shoal.core.errors import InputError, SchemaError
from shoal.core.watch import tell
from shoal.engines.base import Table
from shoal.engines.choose import engine_for
from shoal.inference.kept import beside, left_in
from shoal.jobs.requests import VerifyRequest
from shoal.jobs.search import promise_of
from shoal.jobs.set_answers import verify_sets
from shoal.measures.risk.persons import asked_k, with_warnings
from shoal.privacy.emptiness import void_promise
from shoal.reports.release import Verification
from shoal.schema.schema import Schema


def verify(request: VerifyRequest) -> Verification:
    """Judge a table by the schema's promise.

    Columns that are neither quasi-identifiers nor sensitive do not change the verdict; those
    that identify people by themselves come as warnings.

    Raises:
        SchemaError: every class holds, but the promise leaves out records of nobody, and the
            person column was not waived.
    """
    schema, promise = request.schema, promise_of(request.schema)
    tell("judge")
    if schema.sets:
        return verify_sets(request)
    engine = engine_for(request.table)
    table: Table
    if request.person_file is not None and schema.trajectories:
        text = "the table itself says whose a record is; leave the file out"
        raise SchemaError(where="--person-file", faults=[text])
    if request.false_records is not None and request.person_file is None:
        text = "without persons a false record counts as any other: leave the file out, or name "
        raise SchemaError(where="--false-records", faults=[text + "--person-file, too"])
    if request.person_file is not None:  # each record has a line of its own in that file
        table = engine.open(request.table, separator=request.separator)
        own = table.columns  # the person file's are not released
        table, names = table.with_persons(request.person_file, request.false_records)
        schema = schema.with_person(names)
    else:
        table = engine.open_release(request.table, separator=request.separator)
        _check_person(schema, table)
        own = table.columns
    fitted = schema.judged().fit(table.columns, where=table.where)
    verified = table.verify(fitted, promise, blanked=request.blanked)
    repeats = None if schema.person else table.repeats(schema, asked_k(promise))
    others = beside(schema, own)
    kept = table.check_kept(others, schema.waive)
    kept = kept.with_links(table.check_links(schema, others))
    if verified.holds and not {*request.schema.person} & {*schema.waive}:
        kept.refuse_nobody(table.where)
    made_up: tuple[str, ...] = ()
    if request.false_records is not None:
        made_up = ("each false record counts as a person of its own, who does not exist",)
    left = (*left_in(schema, table.columns), *_linked(request.schema, table), *made_up)
    return with_warnings(verified, repeats, (*void_promise(promise), *left, *kept.warnings))


def _linked(schema: Schema, table: Table) -> tuple[str, ...]:
    """Warn of a table that tells which records are of one person, and is not judged by that."""
    there = [name for name in schema.hidden_person if name in table.columns]
    if not there:
        return ()
    named = ", ".join(map(repr, there))
    return (
        f"{named} is in the table and links the records of a person: released with it, persons are "
        "found by all their records together (--release-person pseudonym judges that)",
    )


def _check_person(schema: Schema, table: Table) -> None:
    """Refuse a table that does not say who its records are about, where persons are to be counted.

    To count its records instead would call a release safe that is not.
    """
    absent = [name for name in schema.person if name not in table.columns]
    if absent:
        named = ", ".join(map(repr, absent))
        raise InputError(
            where=table.where,
            problem=(
                f"has no column {named}, so its persons cannot be counted; name the file that "
                "says who each record is about (anonymize --person-file writes it): "
                "--person-file FILE"
            ),
        )
