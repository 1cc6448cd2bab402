"""What people read: a warning stands before every number, in words, in JSON and in the report."""

from __future__ import annotations

from shoal.cli.render import summary, verification
from shoal.reports.html import to_html
from shoal.reports.release import ReleaseReport, Risk, Verification

RISK = Risk(records=4, classes=2, smallest_class=2, unique=0)
RELEASE = ReleaseReport(
    method="mondrian", records=4, released=4, suppressed=0, classes=2, smallest_class=2,
    privacy=(), utility={"ncp": 0.5}, risk_before=RISK, risk_after=RISK, seconds={"total": 1.0},
    warnings=("look here <first>",), notices=("and here",),
)  # fmt: skip


def test_a_warning_is_printed_right_after_the_head_of_a_release() -> None:
    lines = summary(RELEASE, out=None).splitlines()
    assert lines[1] == "  WARNING     look here <first>"
    assert lines[-1] == "  notice      and here"
    assert RELEASE.to_document()["warnings"] == ["look here <first>"]


def test_a_warning_stands_before_the_promise_in_the_report() -> None:
    page = to_html(RELEASE)
    assert page.index("look here &lt;first&gt;") < page.index("The promise")


def test_a_warning_is_printed_right_after_the_verdict_of_a_verification() -> None:
    found = Verification(
        records=4, classes=2, smallest_class=2, violating_records=0, privacy=(), warnings=("look",)
    )
    assert verification(found).splitlines()[1] == "  WARNING     look"
    assert found.to_document()["warnings"] == ["look"]
