"""What is asked of a verification before anything is published."""

from __future__ import annotations

from shoal.core.errors import UnsafeReleaseError
from shoal.reports.release import Verification


def check_verified(verified: Verification, expected: int) -> None:
    """Refuse a release that does not hold, or is not all there.

    Raises:
        UnsafeReleaseError: nothing is published.
    """
    if verified.records != expected:
        raise UnsafeReleaseError(
            problem=(
                f"{verified.records} records were written where {expected} should be; "
                "nothing was published"
            )
        )
    if not verified.holds:
        failed = ", ".join(r.model.name for r in verified.privacy if not r.holds)
        raise UnsafeReleaseError(
            problem=(
                f"{verified.violating_records} of {verified.records} released records break "
                f"{failed}; nothing was written"
            )
        )
