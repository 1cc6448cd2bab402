"""The account of a release of sets."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from shoal.core.documents import Document
from shoal.engines.local.transactions import SetTable, counted_sets, tree_of
from shoal.inference.kept import KeptCheck
from shoal.jobs.requests import ReleaseRequest
from shoal.jobs.search import promise_of
from shoal.measures.transactions import measures_of
from shoal.methods.transactions.classes import goal_of
from shoal.reports.release import ReleaseReport, Risk, Verification
from shoal.schema.attribute import Attribute
from shoal.table.baskets import Baskets, SetRecoding

ROW = "row of the set"
"""The column by which records that were recoded find their sets again."""

_UTILITY = (
    "il", "ncp", "dm", "cm", "aecs", "class-entropy", "height-utility", "precision", "loss",
    "usefulness", "protection", "sse_loss", "entropy", "height",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Prepared:
    """A table whose other columns are as they will be released.

    Attributes:
        table: what was read.
        others: the other columns of the records that are released.
        baskets: their sets.
        report: of the release of the other columns; None: there was none to make.
        left_out: records that it suppressed.
    """

    table: SetTable
    others: pl.DataFrame
    baskets: Baskets
    kept: KeptCheck
    report: ReleaseReport | None = None
    left_out: int = 0


def account_of_sets(
    request: ReleaseRequest, prepared: Prepared, recoding: SetRecoding, verified: Verification
) -> ReleaseReport:
    """Put the account together."""
    baskets, attribute = prepared.baskets, prepared.table.attribute
    goal = goal_of(promise_of(request.schema), baskets, tree_of(attribute))
    starts, codes = recoding.released()
    labels = Baskets(tuple(map(str, range(len(recoding.labels)))), starts, codes)
    stands = [frozenset(baskets.items[item] for item in label) for label in recoding.labels]
    sets = measures_of(baskets, labels, stands, suppressed=prepared.left_out)
    sets |= {
        "ncp": recoding.ncp(),
        "kept_occurrences": recoding.kept(),
        "suppressed_occurrences": recoding.suppressed(),
    }
    columns = {attribute.name: recoding.ncp()}
    if prepared.report is not None:
        columns = {**prepared.report.columns, **columns}
    records = prepared.table.sets.len()
    before = prepared.table.baskets() if prepared.left_out else baskets
    ncp = sum(columns.values()) / len(columns)
    utility: dict[str, float | None] = dict.fromkeys(_UTILITY)
    utility |= {"il": ncp * records * len(columns), "ncp": ncp}
    m = goal.m or None if goal.m != 0 else 2
    roles = {} if prepared.report is None else dict(prepared.report.roles)
    roles.pop(ROW, None)
    return ReleaseReport(
        method="", records=records, released=records - prepared.left_out,
        suppressed=prepared.left_out, classes=verified.classes,
        smallest_class=verified.smallest_class, privacy=verified.privacy, utility=utility,
        risk_before=_risk(before, m), risk_after=_risk(labels, m), seconds={}, columns=columns,
        facts={"sets": sets}, warnings=(*verified.warnings, *prepared.kept.warnings),
        roles={**prepared.kept.roles(request.schema, prepared.table.source.columns), **roles}
        if prepared.table.others.width else _role(attribute),
        notices=() if prepared.report is None else prepared.report.notices,
    )  # fmt: skip


def _role(attribute: Attribute) -> dict[str, Document]:
    about: Document = {
        "role": "quasi", "released": True, "kept": False, "finding": None, "waived": False,
    }  # fmt: skip
    return {attribute.name: about}


def _risk(baskets: Baskets, m: int | None) -> Risk:
    counted = counted_sets(baskets, {})
    low, (support, _) = counted.lowest(m)
    found = float((1 / low).sum()) if low.size else 0.0
    return Risk(
        records=baskets.records, classes=round(found),
        smallest_class=support or baskets.records, unique=int((low == 1).sum()),
    )  # fmt: skip
