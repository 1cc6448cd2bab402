"""`shoal.compare` and `shoal.reach`: several releases of a table in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, Unpack, cast

from shoal.jobs.compare import CompareRequest, Watch
from shoal.jobs.compare import compare as compare_job
from shoal.jobs.goal import GoalRequest, Reached
from shoal.jobs.goal import reach as reach_job
from shoal.jobs.spelled import spelled
from shoal.jobs.trials import Grid
from shoal.jobs.words import SchemaLike, SchemaWords, asked_promise, asked_schema
from shoal.methods.method import Method
from shoal.methods.registry import method_named
from shoal.privacy import Promise
from shoal.reports.compare import Compared


class CompareWords(SchemaWords, total=False):
    """The words of `compare`; see `Grid` and `CompareRequest`."""

    methods: Sequence[str | Method]
    promises: Sequence[Mapping[str, object] | Sequence[Promise]]
    releases: Sequence[str | None]
    limits: Sequence[float | None]
    seeds: Sequence[int]
    processes: int | None
    keep: str | Path | None
    watch: Watch | None


class GoalWords(SchemaWords, total=False):
    """The words of `reach`; see `GoalRequest`."""

    max_risk: float | None
    max_loss: float | None
    risk: Literal["maximum", "average"]
    methods: Sequence[str | Method]
    keep: str | Path | None


METHODS = ("bestcut", "refine", "mondrian", "flash")
"""What is compared where nobody names methods."""


@spelled(CompareWords)
def compare(
    table: object, schema: SchemaLike | None = None, **words: Unpack[CompareWords]
) -> Compared:
    """Release a table in several ways side by side, verify and measure each; publish none.

    Args:
        table: see `LearnRequest`.
        schema: and words such as `qi`: as in `anonymize`; their promise is kept by every run.
        words: `methods`, names or objects such as `shoal.Refine(effort="best")`; `promises`
            beside the schema's, such as `[{"k": 5}, {"k": 10, "l": 2}]`, or as objects;
            `releases` ("generalize", "aggregate"); `limits` of suppression; `seeds`;
            `processes` side by side; `keep`, a folder for finished runs, which are not run
            again; `watch`, which is given each run as it is finished.
    """
    grid = Grid(
        tables=(table,),
        schema=asked_schema(schema, words),
        methods=tuple(_method(each) for each in words.get("methods", METHODS)),
        promises=tuple(_promise(each) for each in words.get("promises", ())) or ((),),
        releases=tuple(words.get("releases", (None,))),
        limits=tuple(words.get("limits", (None,))),
        seeds=tuple(words.get("seeds", (0,))),
    )
    request = CompareRequest(
        trials=grid.trials(), processes=words.get("processes"), keep=_folder(words.get("keep"))
    )
    return compare_job(request, watch=words.get("watch"))


@spelled(GoalWords)
def reach(table: object, schema: SchemaLike | None = None, **words: Unpack[GoalWords]) -> Reached:
    """Return the least loss with a risk of at most `max_risk`, or the least risk by `max_loss`.

    Raises:
        TypeError: both bounds are given, or none.
        NoSolutionError: no release keeps the bound.
    """
    bounds = {name: words.get(name) for name in ("max_risk", "max_loss")}
    given = [(name, value) for name, value in bounds.items() if value is not None]
    if len(given) != 1:
        raise TypeError("reach() takes max_risk or max_loss, one of them")
    ((bound, most),) = given
    request = GoalRequest(
        table=table,
        schema=asked_schema(schema, words),
        minimize="loss" if bound == "max_risk" else "risk",
        most=cast(float, most),
        risk=words.get("risk", "maximum"),
        keep=_folder(words.get("keep")),
    )
    if words.get("methods"):
        request = replace(request, methods=tuple(_method(each) for each in words["methods"]))
    return reach_job(request)


def _folder(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)


def _method(given: str | Method) -> Method:
    return given if isinstance(given, Method) else method_named(given)


def _promise(given: Mapping[str, object] | Sequence[Promise]) -> tuple[Promise, ...]:
    return asked_promise(given) if isinstance(given, Mapping) else tuple(given)
