"""A Spark session: the one that is running, or one of our own, with what shoal needs set."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.core.errors import InputError, MissingExtraError
from shoal.core.watch import Tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_MASTER = "local[*]"

# Set where the caller has not: columns whose names differ in case are different columns,
# texts are not read as times of some zone, and nothing is printed over the caller's lines.
_SETTINGS = {
    "spark.app.name": "shoal",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.adaptive.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
_LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "16",
    "spark.sql.files.maxPartitionBytes": "32m",
}


def require() -> None:
    """Check that Spark can be started at all.

    Raises:
        MissingExtraError: the package pyspark, or pyarrow, is not installed.
        InputError: there is no Java.
    """
    try:
        import pyarrow  # noqa: F401  # without it Spark passes no arrays to tasks
        import pyspark  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            feature="--engine spark", package="pyspark", extra="shoal[spark]"
        ) from None
    if _java() is None:
        raise InputError(
            where="--engine spark",
            problem=(
                "needs Java 17 or newer, and there is none: install it (on Debian and Ubuntu the "
                "package openjdk-17-jre-headless), or set JAVA_HOME to where it is"
            ),
        )


def _java() -> str | None:
    java_home = os.environ.get("JAVA_HOME")
    if java_home:
        place = Path(java_home) / "bin" / "java"
        return str(place) if place.is_file() else None
    return shutil.which("java")


def session(master: str | None = None, settings: dict[str, str] | None = None) -> SparkSession:
    """Return the running session, or start one.

    Args:
        master: where to run, such as local[4] or spark://host:7077; a running session is
            taken as it is if None.
        settings: further settings of a session that is started here.

    Raises:
        MissingExtraError, InputError: see `require`.
        InputError: the master cannot be reached, or another session is running.
    """
    require()
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        if master is not None and running.sparkContext.master != master:
            raise InputError(
                where="--master", problem="a session with another master is running; stop it first"
            )
        return running
    asked = master or os.environ.get("SHOAL_SPARK_MASTER") or DEFAULT_MASTER
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.master(asked)
    is_local = asked.startswith("local") or "127.0.0.1" in asked
    chosen = {**_SETTINGS, **(_LOCAL if is_local else {}), **(settings or {})}
    if is_local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        # Workers on this machine find shoal where this process found it.
        chosen["spark.executorEnv.PYTHONPATH"] = str(Path(__file__).parents[3])
    for name, value in chosen.items():
        builder = builder.config(name, value)
    try:
        found = builder.getOrCreate()
    except Exception as error:  # py4j wraps whatever Java said
        raise InputError(
            where="--master",
            problem=f"Spark could not be started there ({type(error).__name__}); is it running?",
        ) from None
    found.sparkContext.setLogLevel("ERROR")
    return found


def running_tasks(spark: SparkSession) -> Tasks | None:
    """Return how many tasks are done of the stages that are running; None where none is.

    How many further stages there will be, Spark does not know, so that no time follows from it.
    """
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
    known = [each for each in stages if each is not None]
    if not known:
        return None
    return Tasks(
        sum(each.numCompletedTasks for each in known), sum(each.numTasks for each in known)
    )
