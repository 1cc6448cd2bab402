"""Judge a promise on several releases of one table together."""

from __future__ import annotations

from pathlib import Path

from shoal.core.errors import InputError, MethodError
from shoal.engines.local.compose import Overlay, linked_rows
from shoal.engines.local.source import open_source
from shoal.jobs.earlier import encoded, original_of
from shoal.jobs.requests import ComposeRequest
from shoal.jobs.search import promise_of
from shoal.measures.risk.persons import asked_k
from shoal.reports.composition import Composition


def compose(request: ComposeRequest) -> Composition:
    """Judge the promise on the meet of releases, and say what they give away together.

    Guarantee:
        It holds only where the class of every record in every release is known.

    Raises:
        InputError: a release is not one of this table.
    """
    request.check()
    if request.schema.trajectories:
        raise MethodError(
            problem="compose judges record by record; it does not know what a pseudonym that "
            "links the records of a person gives away beside another release"
        )
    promise = promise_of(request.schema)
    source = open_source(request.table, separator=request.separator)
    original = original_of(source, request.schema)
    schema = original.schema
    released = [
        open_source(each, separator=request.separator).as_labels() for each in request.releases
    ]
    laid = Overlay.of(
        original,
        [
            *(original.classes_by_labels(each) for each in released),
            *(original.classes_by_release(encoded(source, each)) for each in request.models),
            *(original.classes_by_file(each) for each in request.class_files),
        ],
    )
    meet = laid.meet
    judged = laid.judge(promise)
    if judged is None and not meet.unknown:
        raise InputError(where=source.where, problem="no release has any of its records")
    return Composition(
        records=original.records,
        releases=len(laid.unknown),
        published=int(meet.sizes.sum()) + meet.unknown,
        unknown=meet.unknown,
        classes=len(meet.sizes),
        smallest_class=int(meet.people.min()) if len(meet.people) else 0,
        alone=meet.below(2),
        below={k: meet.below(k) for k in sorted({2, 3, 5, asked_k(promise)})},
        certain={name: laid.certain(name) for name in schema.sensitive},
        linked=linked_rows(released, [c for c in schema.released if c not in schema.quasi]),
        violating_records=0 if judged is None else judged.violating_records,
        privacy=() if judged is None else judged.privacy,
        warnings=_warnings(request, laid.unknown),
    )


def _warnings(request: ComposeRequest, unknown: tuple[int, ...]) -> tuple[str, ...]:
    """Say of which releases the classes are not known, and how to know them."""
    found = []
    for number, (records, release) in enumerate(zip(unknown, request.releases, strict=False), 1):
        if records:
            named = release if isinstance(release, (str, Path)) else f"release {number}"
            found.append(
                f"{named}: {records:,} records fit several of its classes, so nothing is "
                "shown of them; give the file that anonymize --class-file wrote instead"
            )
    return tuple(found)
