"""A promise that the package does not know, on Spark."""

from __future__ import annotations

from tests.privacy.test_outside import frame, keeps_it, schema

import shoal
from shoal import api


def test_a_promise_from_outside_gives_the_same_release_as_locally(spark):
    there = shoal.anonymize(api.SparkTable(frame()), schema())
    here = shoal.anonymize(frame(), schema())
    rows = [row.asDict() for row in there.table.collect()]
    assert sorted(map(str, rows)) == sorted(map(str, here.table.to_dicts()))
    assert keeps_it(rows)
