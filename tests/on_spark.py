"""`pytest --engine spark`: the same tests and the same assertions, answered by Spark.

One session serves the whole run. Commands get `--engine spark`, and the functions of
`shoal.api` that run on an engine are replaced by ones that name their tables as Spark's
and give back the kind of table that came in.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, settings

from shoal import api
from shoal.formats.frames import like

# Small tables: the compilers of Spark and of Java would take longer than the work.
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.memory": "1g",
}
COMMANDS = ("anonymize", "learn", "encode", "verify", "metrics", "risk", "infer")
# Where tests go through an engine. The others call kernels, searches and files directly.
SUITE = ("cli", "engines", "examples", "golden", "laws")
OWN = "tests/engines/spark/"  # compares both engines, so it belongs to the ordinary run

# Files that only the local engine reads and writes, or only writes.
ARROW = pytest.param("arrow", marks=pytest.mark.local("Arrow files"))
PACKED = pytest.param("csv.gz", marks=pytest.mark.local("packed files to write"))

settings.register_profile(
    "spark", max_examples=2, deadline=None, derandomize=True, database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)  # fmt: skip


class Engine:
    """Which engine answers, and which tests asked it."""

    name = "local"
    test = ""
    asked: set[str] = set()  # noqa: RUF012


def absent():
    """Say why there is no Spark here, or None."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "the package pyspark is not installed (shoal[spark])"
    return None if shutil.which("java") else "there is no Java (Debian's openjdk-17-jre-headless)"


def examples(number):
    """Return how many examples a law tries: on Spark each of them takes about a second."""
    return min(number, settings().max_examples)


def arguments(argv):
    """Return a command line with the engine that was asked for, unless it names one."""
    if Engine.name == "local" or not argv or argv[0] not in COMMANDS or "--engine" in argv:
        return list(argv)
    Engine.asked.add(Engine.test)
    return [argv[0], "--engine", Engine.name, *argv[1:]]


def read_parquet(place):
    """Read a Parquet file, or the folder of part files that Spark writes."""
    return pl.read_parquet(place / "*.parquet" if place.is_dir() else place)


def far(table):
    """Return a path or a frame as a table of Spark's."""
    is_path = isinstance(table, (str, Path))
    is_frame = type(table).__module__.partition(".")[0] in ("polars", "pandas", "pyarrow")
    return api.SparkTable(table) if is_path or is_frame else table


def near(frame, table):
    """Bring a Spark DataFrame back as the kind of table that the test gave."""
    if frame is None or isinstance(table, api.SparkTable):
        return frame
    found = pl.from_arrow(frame.toArrow())
    frame.unpersist()
    return like(found, table)


def _on_spark(function, *, tables=1, gives_table=False):
    """Return a function of the api whose first tables are Spark's."""

    @wraps(function)
    def asked(*given, **more):
        Engine.asked.add(Engine.test)
        more = {name: far(v) if name == "population" else v for name, v in more.items()}
        found = function(*map(far, given[:tables]), *given[tables:], **more)
        return replace(found, table=near(found.table, given[0])) if gives_table else found

    return asked


@contextmanager
def engine(name):
    """Let an engine answer all tests of a run."""
    if name == "local":
        yield
        return
    from shoal.engines.spark.session import session

    with pytest.MonkeyPatch.context() as patch:
        for verb in ("anonymize", "encode"):
            patch.setattr(api, verb, _on_spark(getattr(api, verb), gives_table=True))
        for verb in ("learn", "learn_with_report", "verify", "risk", "infer"):
            patch.setattr(api, verb, _on_spark(getattr(api, verb)))
        patch.setattr(api, "metrics", _on_spark(api.metrics, tables=2))
        started = session("local[2]", SETTINGS)
        Engine.name = name
        yield
        Engine.name = "local"
        started.stop()


def select(items, root):
    """Return the tests that run on Spark, and those that need not; skip what is local."""
    chosen, others = [], []
    folders = tuple(f"tests/{name}/" for name in SUITE)
    for item in items:
        place = item.path.relative_to(root).as_posix()
        runs = place.startswith(folders) and not place.startswith(OWN)
        (chosen if runs else others).append(item)
    for item in chosen:
        why = item.get_closest_marker("local")
        if why is not None:
            item.add_marker(pytest.mark.skip(reason=f"local engine: {why.args[0]}"))
    return chosen, others
