"""One Spark session for all tests of this folder; without Java they are skipped."""

from __future__ import annotations

import shutil

import pytest

# Small tables: the compilers of Spark and of Java would take longer than the work.
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.memory": "1g",
}


def pytest_collection_modifyitems(items):
    for item in items:
        if "engines/spark/" in str(item.path):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def java():
    pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")
    if shutil.which("java") is None:
        pytest.skip("there is no Java (Debian's openjdk-17-jre-headless)")


@pytest.fixture(scope="session")
def spark(java):
    from shoal.engines.spark.session import session

    found = session("local[2]", SETTINGS)
    yield found
    found.stop()
