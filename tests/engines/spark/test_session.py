"""Without Java or PySpark: a message that says what to install, and exit code 2."""

from __future__ import annotations

import sys

import pytest
from tests.conftest import call

from shoal.core.errors import InputError, MissingExtraError
from shoal.engines.spark.session import require

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
