"""Try releases side by side: methods, sizes of classes and limits; each run is told as it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from shoal.core.documents import Document, Json, as_json
from shoal.core.errors import SchemaError
from shoal.jobs.compare import CompareRequest, compare
from shoal.jobs.documents import request_document, request_from
from shoal.jobs.requests import ReleaseRequest
from shoal.jobs.trials import Grid, Trial
from shoal.methods.method import Method
from shoal.methods.parameters import from_texts
from shoal.methods.registry import kind_named, method_named
from shoal.privacy import Promise, from_flags
from shoal.reports.compare import Run, with_front

_SAID = (
    "name", "method", "promise", "suppression_limit", "risk", "classes", "smallest_class",
    "released", "suppressed", "persons", "front", "error",
)  # fmt: skip


def run(asked: Document, tell: Callable[[Document], None]) -> Document:
    """Compare; the answer has a row for each run, and what makes it the project's request.

    `request`: the release; `methods`: names with parameters, such as refine:effort=best; `k`:
    sizes that take the place of the promised one; `limits`: shares that may be suppressed;
    `sample`: so many records, None: all; `keep`: a folder for finished runs.
    """
    trials = trials_of(asked)
    choices = {each.name: choice(each) for each in trials}
    known: list[Run] = []

    def ended(made: Run) -> None:
        known.append(made)
        front: list[Json] = [each.name for each in with_front(known) if each.front]
        tell({"run": _row(made, choices[made.name]), "front": front})

    keep = asked.get("keep")
    request = CompareRequest(trials=trials, keep=Path(str(keep)) if keep else None)
    found = compare(request, watch=ended)
    rows: list[Json] = [_row(each, choices[each.name]) for each in found.runs]
    return {"runs": rows, "seconds": found.seconds}


def trials_of(asked: Document) -> tuple[Trial, ...]:
    """Return what is tried.

    Raises:
        ShoalError: a method, a parameter or a number that there is not.
    """
    base = request_from(asked["request"])
    assert isinstance(base, ReleaseRequest)
    sample = asked.get("sample")
    sizes = [_number(each, "k") for each in _list(asked.get("k"))]
    limits = [_number(each, "suppression limit") for each in _list(asked.get("limits"))]
    grid = Grid(
        tables=(base.table,),
        schema=base.schema,
        methods=tuple(method_said(str(each)) for each in _list(asked.get("methods"))),
        samples=(sample if isinstance(sample, int) else None,),
        promises=tuple(with_size(base.schema.privacy, int(k)) for k in sizes) or ((),),
        replace_promise=bool(sizes),
        releases=(base.release,),
        limits=tuple(limits) or (None,),
        seeds=(base.seed,),
        infer=base.infer,
        separator=base.separator,
    )
    return grid.trials()


def method_said(text: str) -> Method:
    """Return a method as people write it.

    Example:
        >>> method_said("refine:effort=best")
        Refine(effort='best', seconds=None)
    """
    name, *own = text.split(":")
    return method_named(name, from_texts(kind_named(name), own))


def with_size(promise: Iterable[Promise], k: int) -> tuple[Promise, ...]:
    """Return a promise in which k takes the place of the size of classes that is promised."""
    asked = from_flags({"k": k})
    names = {each.name for each in asked}
    return (*asked, *(each for each in promise if each.name not in names))


def choice(trial: Trial) -> Document:
    """Return what a trial says of method, promise and limit, as documents hold it."""
    whole = request_document(trial.request)
    schema = whole["schema"]
    assert isinstance(schema, dict)
    found = as_json(
        {
            "method": trial.request.method.to_document(),
            "privacy": schema.get("privacy"),
            "suppression_limit": schema.get("suppression_limit"),
        }
    )
    assert isinstance(found, dict)
    return found


def _row(made: Run, chosen: Document) -> Document:
    document = made.to_document()
    levels = made.report.get("levels")
    seconds = made.report.get("seconds")
    return {
        **{name: document.get(name) for name in _SAID},
        "loss": made.loss,
        "levels": levels,
        "seconds": seconds.get("total") if isinstance(seconds, dict) else None,
        "choice": chosen,
    }


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _number(value: Json, name: str) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise SchemaError(where="compare", faults=[f"{name} must be numbers"])
    return value
