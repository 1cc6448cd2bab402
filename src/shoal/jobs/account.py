"""The account of a release or a model: what was promised, lost and spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shoal.core.documents import Document, Json
from shoal.engines.base import Classes, Search
from shoal.engines.counts import risk_of, risk_of_persons
from shoal.jobs.clock import rounded
from shoal.jobs.proposals import proposal_notices
from shoal.jobs.search import Opened
from shoal.measures.printed import printed_values
from shoal.measures.risk.persons import asked_k
from shoal.measures.utility import column_losses, utility_of
from shoal.methods.method import ALIASES
from shoal.privacy import Verdict
from shoal.privacy.emptiness import little_left, void_promise
from shoal.reports.release import OLD_NAMES, ReleaseReport, Risk
from shoal.schema.sensitive import notices as scale_notices
from shoal.table.blanks import blanked
from shoal.table.recoding import Recoding


@dataclass(frozen=True)
class Judged:
    """How classes stand against the promise: as they are written, or as they were found."""

    privacy: tuple[Verdict, ...]
    classes: int
    smallest_class: int
    star: bool = False
    notices: tuple[str, ...] = ()
    persons: int | None = None
    largest_share: float | None = None
    trajectories: Mapping[str, Json] | None = None


def account(opened: Opened, search: Search, classes: Classes, judged: Judged) -> ReleaseReport:
    """Put the account together."""
    clock, recoding, counts = opened.clock, classes.recoding, opened.counts
    is_blank = search.method.blanks
    with clock.time("measure"):
        grouping = classes.grouping(_target(opened))
        utility = {**utility_of(grouping), "sse_loss": classes.sse_loss()}
        k = asked_k(opened.promise)
        repeats = opened.records.repeats(classes, k, star=judged.star)
    for name in ("write", "learn", "encode", "verify"):
        clock.seconds.setdefault(name, 0.0)
    return ReleaseReport(
        method=search.method.name,
        records=counts.risk.records,
        released=int(recoding.sizes.sum()) + (recoding.suppressed if judged.star else 0),
        suppressed=recoding.suppressed,
        classes=judged.classes,
        persons=judged.persons,
        largest_share=judged.largest_share,
        smallest_class=judged.smallest_class,
        privacy=judged.privacy,
        utility=utility,
        columns=column_losses(grouping, opened.schema.quasi),
        risk_before=counts.risk,
        risk_after=risk_after(recoding),
        seconds=clock.spent(),
        facts={
            **_facts(recoding.facts, judged),
            **({"printed": {"labels": "blanks"}} if is_blank else _labels(opened, recoding)),
            **({"blanked": dict(blanked(recoding))} if is_blank else {}),
            "cpu_seconds": rounded(clock.cpu),
        },
        warnings=(
            *_emptiness(opened, recoding.suppressed, utility),
            *_one_value(recoding.facts),
            *(() if repeats is None else (repeats.text,)),
            *opened.kept.warnings,
        ),
        repeats=None if repeats is None else repeats.to_document(),
        notices=(*classes.notices, *judged.notices, *_chosen(search), *_notices(opened)),
        roles=opened.kept.roles(opened.schema, opened.table.columns),
    )


def risk_after(recoding: Recoding) -> Risk:
    """Return how easily records, or persons, are found in what a recoding releases."""
    if recoding.table.persons is None:
        return risk_of(recoding.sizes)
    return risk_of_persons(recoding.table, recoding.row, recoding.label, recoding.count)


def _facts(found: Mapping[str, Json], judged: Judged) -> dict[str, Json]:
    """Return what the method says of itself; of trajectories, how they stand as written, too."""
    linked = found.get("trajectories")
    if not isinstance(linked, dict) or judged.trajectories is None:
        return dict(found)
    return {**found, "trajectories": {**linked, **judged.trajectories}}


def _labels(opened: Opened, recoding: Recoding) -> Document:
    """Say what the labels are, and what they give away; centroids and levels are no intervals."""
    if recoding.released is not None:
        return {"printed": {"labels": "centroids"}}
    if recoding.node is not None:
        return {"printed": {"labels": "levels"}}
    found = printed_values(
        recoding, opened.schema.written_labels, has_members=not opened.counts.is_distributed
    )
    return {"printed": found.to_document()}


def _chosen(search: Search) -> tuple[str, ...]:
    """Say what `auto` chose, and why."""
    if search.why is None:
        return ()
    effort = getattr(search.method, "effort", None)
    name = search.method.name if effort is None else f"{search.method.name}, {effort} effort"
    return (f"auto chose {name}: {search.why}",)


def _target(opened: Opened) -> str | None:
    if opened.schema.target is not None:
        return opened.schema.target
    names = [domain.name for domain in opened.counts.table.sensitive_domains]
    return names[0] if names else None


def _emptiness(
    opened: Opened, suppressed: int, utility: Mapping[str, float | None]
) -> tuple[str, ...]:
    """Say that nothing is promised, or that hardly anything is left."""
    left = little_left(
        records=opened.counts.risk.records,
        suppressed=suppressed,
        ncp=utility["ncp"],
        sse_loss=utility["sse_loss"],
    )
    return (*void_promise(opened.promise), *left)


def _one_value(facts: Mapping[str, Json]) -> tuple[str, ...]:
    """Say what classes give away that were made to say something of a target."""
    found = facts.get("for")
    if not isinstance(found, dict) or not found["one_value"]:
        return ()
    share, target = found["one_value"], found["target"]
    assert isinstance(share, float)
    return (
        f"{100 * share:.0f} % of the records stand in classes with one value of {target!r}: who "
        "finds somebody there knows it; promise l-diversity or t-closeness of it to bound this",
    )


def _notices(opened: Opened) -> list[str]:
    found = []
    asked = opened.schema.utility
    if asked in ALIASES:
        found.append(
            f"--utility {asked} is an old name: {ALIASES[asked]} was minimized; what was "
            f"reported as {asked} is {OLD_NAMES[asked]}"
        )
    found += proposal_notices(opened.request.schema, opened.schema)
    domains = opened.counts.table.sensitive_domains
    found += scale_notices({d.name: d.scale.read(d.labels) for d in domains if d.scale is not None})
    known = {a.name for a in opened.schema.attributes}
    left = [name for name in opened.table.columns if name not in known]
    if left:
        named = ", ".join(repr(name) for name in left)
        found.append(
            f"left out, because nobody gave them a role: {named} (keep one with --neutral)"
        )
    return found
