"""The account of a release of sets."""

from __future__ import annotations

import pytest
from tests.jobs.test_transactions import FAST, shop

import shoal
from shoal.api import write_report

pytestmark = pytest.mark.local("columns of sets")


def test_the_account_is_whole_and_its_report_is_drawn(tmp_path):
    release = shoal.anonymize(shop(), qi=["items"], set=["items"], k=5, m=2, method=FAST)
    document = release.to_dict()
    assert document["method"] == "itemsets"
    assert document["roles"]["items"]["role"] == "quasi"
    assert document["risk"]["after"]["unique"] == 0
    assert document["risk"]["before"]["unique"] > 0
    assert document["risk"]["after"]["smallest_class"] >= 5
    assert document["utility"]["ncp"] == document["column_loss"]["items"]
    assert document["request"]["method"] == {"name": "itemsets", "effort": "fast"}
    assert document["seconds"]["total"] > 0
    assert "items" in repr(release) or "records" in repr(release)
    out = tmp_path / "report.html"
    write_report(release.report, out)
    assert "km-anonymity" in out.read_text()
    assert "i05" not in out.read_text()
