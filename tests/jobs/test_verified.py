"""What is asked of a verification before anything is published."""

from __future__ import annotations

import pytest

from shoal.core.errors import UnsafeReleaseError
from shoal.jobs.verified import check_verified
from shoal.privacy import KAnonymity, judge_sizes
from shoal.reports.release import Verification


def verification(sizes, k=2):
    verdict = judge_sizes(KAnonymity(k), sizes)
    return Verification(
        records=sum(sizes), classes=len(sizes), smallest_class=min(sizes),
        violating_records=verdict.violating_records, privacy=(verdict,),
    )  # fmt: skip


def test_all_records_must_be_there_and_every_promise_hold():
    check_verified(verification([2, 3]), 5)
    with pytest.raises(UnsafeReleaseError, match="5 records were written where 6 should be"):
        check_verified(verification([2, 3]), 6)
    with pytest.raises(UnsafeReleaseError, match="1 of 4 released records break k-anonymity"):
        check_verified(verification([1, 3]), 4)
