"""A small report to write down."""

from __future__ import annotations

from shoal.privacy import KAnonymity, LDiversity, Verdict
from shoal.reports.release import ReleaseReport, Risk

BEFORE = Risk(records=10, classes=8, smallest_class=1, unique=6)
AFTER = Risk(records=9, classes=2, smallest_class=4, unique=0)
HOLDS = Verdict(model=KAnonymity(4), holds=True, value=4)
BROKEN = Verdict(
    model=LDiversity(3, column="<i>"), holds=False, value=2, violating_records=4, failing=(0,)
)


def report(**changes) -> ReleaseReport:
    """Return the report of a release of ten records, changed as a test needs it."""
    facts = {
        "method": "mondrian", "records": 10, "released": 9, "suppressed": 1, "classes": 2,
        "smallest_class": 4, "privacy": (HOLDS,), "utility": {"ncp": 0.25, "cm": None},
        "risk_before": BEFORE, "risk_after": AFTER, "seconds": {"read": 0.5, "total": 1.0},
        "columns": {"age": 0.1, "<zip>": 0.4},
    }  # fmt: skip
    return ReleaseReport(**{**facts, **changes})
