"""One Spark session for all tests that ask for it; without Java they are skipped.

They are one group, the largest: xdist starts it first, and the other process takes the rest.
"""

from __future__ import annotations

import pytest
from tests import on_spark


def pytest_collection_modifyitems(items):
    for item in items:
        if "engines/spark/" in str(item.path) and "spark" in item.fixturenames:
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def java():
    why = on_spark.absent()
    if why is not None:
        pytest.skip(why)


@pytest.fixture(scope="session")
def spark(java):
    from shoal.engines.spark.session import session

    found = session("local[2]", on_spark.SETTINGS)
    yield found
    found.stop()
