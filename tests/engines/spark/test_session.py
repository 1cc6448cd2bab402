"""A session: the running one, or a message that says what to install, and exit code 2."""

from __future__ import annotations

import sys
import threading
import time

import pytest
from tests.conftest import call
from tests.core.test_watch import Heard

from shoal.core.errors import InputError, MissingExtraError
from shoal.core.watch import watched_by
from shoal.engines.spark.engine import SparkEngine
from shoal.engines.spark.session import require, running_tasks, session

FLAGS = ["--qi", "a", "-k", "2", "--engine", "spark"]


def test_without_pyspark(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingExtraError, match=r"shoal\[spark\]"):
        require()
    (tmp_path / "t.csv").write_text("a\n1\n")
    done = call("verify", tmp_path / "t.csv", *FLAGS)
    assert done.code == 2
    assert "pip install 'shoal[spark]'" in done.err
    assert call("verify", tmp_path / "t.csv", *FLAGS[:-2]).code == 1


def test_without_java(monkeypatch, tmp_path):
    pytest.importorskip("pyspark", reason="the package pyspark is not installed (shoal[spark])")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="openjdk-17-jre-headless"):
        require()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match="JAVA_HOME"):
        require()


def test_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"shoal\[spark\]"):
        require()


def test_java_is_found_where_it_is_said_to_be(monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    require()


def test_a_running_session_is_taken_and_another_master_refused(spark):
    assert session() is spark
    assert session("local[2]") is spark
    with pytest.raises(InputError, match="another master"):
        session("local[7]")


def test_columns_whose_names_differ_in_case_are_two(spark):
    found = spark.createDataFrame([(1, 2)], "a int, A int")
    assert found.select("A").collect()[0][0] == 2
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"


def test_whoever_watches_can_ask_for_the_tasks_from_another_thread(spark):
    heard, found = Heard(), []
    with watched_by(heard):
        SparkEngine().open(spark.createDataFrame([(1,)], "a int"))
    (ask,) = heard.asked
    assert running_tasks(spark) is None

    def slow(batches):
        time.sleep(0.4)
        yield from batches

    frame = spark.range(8, numPartitions=8)
    job = threading.Thread(target=lambda: frame.mapInArrow(slow, "id long").count())
    job.start()
    while job.is_alive():
        asked = threading.Thread(target=lambda: found.append(ask()))
        asked.start()
        asked.join()
        time.sleep(0.05)
    job.join()
    known = [each for each in found if each is not None and each.of >= 8]
    assert known
    assert all(0 <= each.done <= each.of for each in known)
