"""The examples for Airflow, Dagster and dbt run, from table to table, without their servers.

Where these packages are installed, their own decorators are used; elsewhere the few names that the
examples import are stood in for by something that runs a task when it is called.
"""

from __future__ import annotations

import importlib
import importlib.util
import sqlite3
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import polars as pl
import pytest
from tests.docs.test_links import ROOT

from shoal.cli.main import main

pytestmark = [pytest.mark.slow, pytest.mark.local("databases")]
FOLDER = ROOT / "examples" / "pipelines"
SCHEMA = """\
columns: {{age: quasi, sex: quasi, ill: sensitive}}
privacy: [{{model: k-anonymity, k: {k}}}]
"""


class AirflowFailException(Exception):
    pass


class Failure(Exception):
    def __init__(self, description: str, *, allow_retries: bool) -> None:
        super().__init__(description)
        self.allow_retries = allow_retries


def decorator(*given, **words):
    """Return a function as it is, whether the decorator has arguments or none."""
    return given[0] if given and callable(given[0]) else lambda function: function


def stand_in(monkeypatch, **modules: dict[str, object]) -> None:
    for name, members in modules.items():
        module = ModuleType(name.replace("__", "."))
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.fixture
def ward(tmp_path: Path, monkeypatch) -> Path:
    """Return a folder with a database of stays, which the examples are told of."""
    pytest.importorskip("adbc_driver_sqlite", reason="needs the extra shoal[db]")
    with sqlite3.connect(tmp_path / "ward.db") as database:
        database.execute("create table stays (age integer, sex text, ill text)")
        rows = [(20 + i % 7, "fm"[i % 2], "ab"[i % 3 == 0]) for i in range(120)]
        database.executemany("insert into stays values (?, ?, ?)", rows)
    database.close()
    (tmp_path / "schema.yaml").write_text(SCHEMA.format(k=5))
    monkeypatch.setenv("SHOAL", f"{sys.executable} -m shoal")
    monkeypatch.setenv("STAYS", f"sqlite:///{tmp_path / 'ward.db'}")
    monkeypatch.setenv("RESEARCH", f"sqlite:///{tmp_path / 'research.db'}")
    monkeypatch.setenv("STAYS_SCHEMA", str(tmp_path / "schema.yaml"))
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in ("step", "airflow_release", "dagster_release"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def sizes(ward: Path) -> list[int]:
    """Return the sizes of the classes of the release, counted by the database."""
    with sqlite3.connect(ward / "research.db") as database:
        found = database.execute('select count(*) from "release" group by age, sex').fetchall()
    database.close()
    return [size for (size,) in found]


def test_a_day_of_airflow(ward: Path, monkeypatch) -> None:
    if importlib.util.find_spec("airflow") is None:
        stand_in(
            monkeypatch,
            airflow={"__path__": []},
            airflow__exceptions={"AirflowFailException": AirflowFailException},
            airflow__sdk={"dag": decorator, "task": decorator},
        )
        importlib.import_module("airflow_release")  # makes and judges
    else:
        example = importlib.import_module("airflow_release")
        example.daily_release().test()
    assert sum(sizes(ward)) == 120
    assert min(sizes(ward)) >= 5


def test_a_release_that_cannot_be_fails_for_good_and_leaves_the_last_one(
    ward: Path, monkeypatch
) -> None:
    stand_in(
        monkeypatch,
        airflow={"__path__": []},
        airflow__exceptions={"AirflowFailException": AirflowFailException},
        airflow__sdk={"dag": decorator, "task": decorator},
    )
    (ward / "schema.yaml").write_text(SCHEMA.format(k=500))
    with pytest.raises(AirflowFailException, match="cannot be met"):
        importlib.import_module("airflow_release")
    assert not (ward / "research.db").exists()


def test_an_asset_of_dagster_and_its_check(ward: Path, monkeypatch) -> None:
    if importlib.util.find_spec("dagster") is None:
        stand_in(monkeypatch, dagster={
            "asset": decorator, "asset_check": decorator, "Failure": Failure,
            "MaterializeResult": SimpleNamespace, "AssetCheckResult": SimpleNamespace,
        })  # fmt: skip
        example = importlib.import_module("dagster_release")
        assert example.released_stays().metadata == {"records": 120, "suppressed": 0}
        assert example.keeps_its_promise().passed
        (ward / "schema.yaml").write_text(SCHEMA.format(k=500))
        assert not example.keeps_its_promise().passed
        with pytest.raises(Failure, match="cannot be met") as caught:
            example.released_stays()
        assert not caught.value.allow_retries
    else:
        import dagster

        example = importlib.import_module("dagster_release")
        done = dagster.materialize([example.released_stays, example.keeps_its_promise])
        assert done.success
    assert min(sizes(ward)) >= 5  # what was there stays


def test_a_step_whose_command_breaks_is_not_taken_for_a_refusal(ward: Path, monkeypatch) -> None:
    step = importlib.import_module("step")
    monkeypatch.setenv("SHOAL", f"{sys.executable} -c 'raise SystemExit(1)'")
    with pytest.raises(step.Broken, match="exit code 1"):
        step.run("verify", "x")


class Dbt:
    """What dbt hands to a model that is written in Python."""

    def __init__(self, session, **words: object) -> None:
        self.session = session
        self.words = words
        self.config = Config(words)

    def ref(self, name: str):
        return self.session.table(name)


class Config:
    def __init__(self, words: dict[str, object]) -> None:
        self.words = words

    def __call__(self, **more: object) -> None:
        self.words.update(more)

    def get(self, name: str) -> object:
        return self.words.get(name)


def test_a_model_of_dbt_and_a_release_between_two_of_its_runs(tmp_path: Path, monkeypatch) -> None:
    duckdb = pytest.importorskip("duckdb", reason="needs the extra shoal[db]")
    monkeypatch.chdir(tmp_path)
    Path("schema.yaml").write_text(SCHEMA.format(k=5))
    table = pl.DataFrame({
        "age": [20 + i % 7 for i in range(120)], "sex": ["fm"[i % 2] for i in range(120)],
        "ill": ["ab"[i % 3 == 0] for i in range(120)],
    })  # fmt: skip
    monkeypatch.syspath_prepend(str(FOLDER))
    example = importlib.import_module("dbt_release")
    with duckdb.connect("ward.duckdb") as session:
        session.register("frame", table.to_arrow())
        session.execute("create table stays as select * from frame")
        dbt = Dbt(session, schema_file="schema.yaml")
        df = example.model(dbt, session)  # what dbt-duckdb does with it:
        assert df.num_rows == 120
        session.execute("create table release as select * from df")
        counted = session.execute("select count(*) from release group by age, sex").fetchall()
    assert dbt.words["meta"] == {"released": 120}
    assert min(size for (size,) in counted) >= 5
    goal = ["--out", "duckdb:///ward.duckdb", "--out-table", "release", "--replace-table"]
    source = ["duckdb:///ward.duckdb", "--table", "stays", "--schema", "schema.yaml"]
    assert main(["anonymize", *source, *goal, "--quiet"]) == 0
    assert main(["anonymize", *source, "-k", "500", *goal, "--quiet"]) == 1
    judged = ["duckdb:///ward.duckdb", "--table", "release", "--schema", "schema.yaml"]
    assert main(["verify", *judged, "--quiet"]) == 0
