"""Judge a promise on several releases of one table together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from shoal.core.errors import InputError, MethodError
from shoal.engines.local.compose import Overlay, linked_rows
from shoal.engines.local.invariance import intersections, persons_alike, values_by_class
from shoal.engines.local.person_file import with_persons
from shoal.engines.local.source import Source, open_source
from shoal.jobs.earlier import encoded, original_of
from shoal.jobs.proposals import proposals
from shoal.jobs.requests import ComposeRequest
from shoal.jobs.search import promise_of
from shoal.measures.risk.persons import asked_k
from shoal.privacy import LDiversity, MUniqueness, Promise, expand
from shoal.reports.composition import Composition, Intersected
from shoal.schema.schema import Schema


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
    known = replace(request.schema, proposals=proposals(infer=request.infer))
    original = original_of(source, known)
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


def intersect(request: ComposeRequest) -> dict[str, Intersected]:
    """Attack releases of a table that changes: the values that each person is left with.

    It asks the released files and who stands behind their records, and nothing else: neither a
    ledger nor the table, which only says what the columns are.

    Returns:
        What is found of each sensitive column.

    Raises:
        InputError: a person file is not of its release.
    """
    request.check()
    source = open_source(request.table, separator=request.separator)
    schema = original_of(source, request.schema).schema
    laid = []
    for release, people in zip(request.releases, request.person_files, strict=True):
        labels = open_source(release, separator=request.separator).as_labels()
        laid.append(with_persons(labels, people))
    return {column: _intersected(laid, schema, column) for column in schema.sensitive}


def _intersected(
    laid: Sequence[tuple[Source, tuple[str, ...]]], schema: Schema, column: str
) -> Intersected:
    shown = [values_by_class(each, schema.with_person(names), column) for each, names in laid]
    found = intersections(shown)
    if not found.height:
        raise InputError(where="--person-files", problem="nobody stands behind any record")
    alone, together = found["alone"], found["together"]
    models = expand(schema.privacy, schema.sensitive)
    over_time = any(isinstance(model, MUniqueness) for model in models)
    alike, k = persons_alike(shown), asked_k(schema.privacy)
    return Intersected(
        releases=len(laid),
        persons=found.height,
        repeated=int((found["releases"] > 1).sum()),
        certain=(int((alone == 1).sum()), int((together == 1).sum())),
        fewest=(int(alone.min()), int(together.min())),  # type: ignore[arg-type]
        changed=int((together == 0).sum()),
        narrowed=int((together < alone).sum()),
        asked=max((_values_asked(model) for model in models if model.column == column), default=2),
        alike=int(alike.min()),  # type: ignore[arg-type]
        below={each: int((alike < each).sum()) for each in sorted({2, k})},
        k=None if over_time else k,
    )


def _values_asked(model: Promise) -> int:
    if isinstance(model, MUniqueness):
        return model.m
    return math.ceil(model.l) if isinstance(model, LDiversity) else 2


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
