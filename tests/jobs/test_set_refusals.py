"""What does not go with a column of sets is refused before anything is read or written."""

from __future__ import annotations

import polars as pl
import pytest
from tests.jobs.test_transactions import FAST, shop

import shoal
from shoal.core.errors import (
    InputError,
    MethodError,
    NoSolutionError,
    SchemaError,
    ShoalError,
)
from shoal.engines.choose import engine_for
from shoal.formats.database import Database
from shoal.jobs import set_answers, transactions
from shoal.jobs.requests import VerifyRequest
from shoal.methods.registry import method_named
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("columns of sets")

SETS = {"qi": ["items"], "set": ["items"], "k": 2, "m": 2}
TABLE = pl.DataFrame({"items": ["beer|wine", "beer", "wine", "beer|wine", "tea", "tea"]})
NAMES = ("beer", "wine", "tea")


def assert_nothing_is_told(caught) -> None:
    text = str(caught.value)
    assert not any(name in text for name in NAMES)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ({"partitions": 2}, "--partitions"),
        ({"suppressed": "star"}, "--suppressed"),
        ({"class_file": "classes.csv"}, "--class-file"),
        ({"attacks": True}, "--attacks"),
        ({"learn": "target"}, "--learn"),
        ({"profile": "profile.json"}, "--profile"),
        ({"fidelity": True}, "--fidelity"),
        ({"ledger": "ledger.json"}, "--ledger"),
        ({"nested_in": "earlier.csv"}, "--nested-in"),
        ({"release": "draw"}, "--release"),
        ({"release": "aggregate"}, "--release"),
    ],
)
def test_each_option_that_would_be_ignored_is_named(tmp_path, monkeypatch, words, option):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ShoalError, match=option) as caught:
        shoal.anonymize(TABLE, out=tmp_path / "release.csv", **SETS, **words)
    assert_nothing_is_told(caught)
    assert list(tmp_path.iterdir()) == []


def test_several_of_them_are_named_at_once(tmp_path):
    with pytest.raises(SchemaError) as caught:
        shoal.anonymize(TABLE, **SETS, partitions=3, fidelity=True, suppressed="star")
    for option in ("--partitions", "--fidelity", "--suppressed"):
        assert option in str(caught.value)


def test_a_database_takes_no_sets_and_is_not_touched(tmp_path):
    place = tmp_path / "shop.sqlite"
    with pytest.raises(ShoalError, match="--out") as caught:
        shoal.anonymize(TABLE, **SETS, out=Database(uri=f"sqlite:///{place}", table="release"))
    assert_nothing_is_told(caught)
    assert not place.exists()


def test_a_model_of_sets_is_not_learned():
    with pytest.raises(SchemaError, match="a column of sets is not taken here") as caught:
        shoal.learn(TABLE, **SETS)
    assert_nothing_is_told(caught)


def test_a_model_of_other_columns_does_not_encode_sets():
    table = pl.DataFrame({"age": ["1", "1", "2", "2"], "items": ["a", "b", "a", "b"]})
    model = shoal.learn(table.select("age"), qi=["age"], k=2)
    found = shoal.encode(table.select("age"), model)
    assert found.table.columns == ["age"]
    schema = {"columns": {"age": "quasi", "items": {"role": "quasi", "kind": "set"}}}
    with pytest.raises(SchemaError, match="a column of sets is not taken here"):
        shoal.learn(table, schema, k=2)


@pytest.mark.parametrize("job", ["attack", "drift", "recommend"])
def test_jobs_that_know_no_sets_say_so(job):
    words = {"qi": ["items"], "set": ["items"]}
    calls = {
        "attack": lambda: shoal.attack(TABLE, TABLE, **words),
        "drift": lambda: shoal.drift(TABLE, TABLE, **words),
        "recommend": lambda: shoal.recommend(TABLE, k=2, **words),
    }
    with pytest.raises((ShoalError, TypeError)) as caught:
        calls[job]()
    assert_nothing_is_told(caught)


def test_methods_for_sets_are_compared():
    found = shoal.compare(TABLE, methods=["itemsets", "coat"], qi=["items"], set=["items"], k=2)
    runs = found.to_dict()["runs"]
    assert [run["method"] for run in runs] == ["itemsets", "coat"]
    assert all(run["error"] is None and run["privacy"][0]["holds"] for run in runs)
    assert [run["utility"]["ncp"] for run in runs] == [0, 0]  # the table holds as it is


class _Elsewhere:
    """An engine that is not this machine's."""


def test_a_cluster_is_refused_by_every_job(monkeypatch):
    schema = Schema.from_document(
        {"columns": {"items": {"role": "quasi", "kind": "set"}},
         "privacy": [{"model": "km-anonymity", "k": 2, "m": 1}]}
    )  # fmt: skip
    assert type(engine_for(TABLE)).__name__ == "LocalEngine"
    monkeypatch.setattr(set_answers, "engine_for", lambda _: _Elsewhere())
    monkeypatch.setattr(transactions, "engine_for", lambda _: _Elsewhere())
    with pytest.raises(MethodError, match="needs the local engine"):
        set_answers.verify_sets(VerifyRequest(table=TABLE, schema=schema))
    with pytest.raises(MethodError, match="needs the local engine"):
        shoal.anonymize(TABLE, **SETS)


TREES = {
    "two groups": ("a;one;*\nb;one;*\na;two;*\n", SchemaError, "two parents"),
    "too few": ("a;one;*\n", InputError, "2 of 3 items are missing"),
}


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("method", ["itemsets", "apriori", "lra", "vpa"])
def test_a_tree_that_does_not_fit_is_refused_and_not_quoted(tmp_path, name, method):
    text, error, message = TREES[name]
    path = tmp_path / "tree.csv"
    path.write_text(text.replace("a;", "beer;").replace("b;", "wine;"))
    with pytest.raises(error, match=message) as caught:
        shoal.anonymize(TABLE, **SETS, hierarchies={"items": path}, method=method)
    assert_nothing_is_told(caught)


def test_a_class_that_is_too_small_is_no_solution():
    with pytest.raises(NoSolutionError, match="6 records are fewer than k = 7"):
        shoal.anonymize(TABLE, **{**SETS, "k": 7})
    found = shoal.anonymize(TABLE, **{**SETS, "k": 6})
    assert found.report.smallest_class >= 6
    assert shoal.verify(found.table, **{**SETS, "k": 6}).holds


def test_promises_about_classes_need_other_quasi_identifiers():
    table = TABLE.with_columns(ill=pl.Series(list("ababab")))
    with pytest.raises(SchemaError, match="about classes of other quasi-identifiers"):
        shoal.anonymize(table, **SETS, sensitive=["ill"], l=2)


def test_a_method_for_tuples_recodes_no_sets_alone_and_one_for_sets_no_tuples():
    for name in ("mondrian", "flash"):
        with pytest.raises(MethodError, match="recodes no sets"):
            shoal.anonymize(TABLE, **SETS, method=name)
    plain = pl.DataFrame({"age": list("1122")})
    for name in ("itemsets", "apriori", "lra", "vpa", "pcta", "coat"):
        with pytest.raises(ShoalError, match=f"{name} recodes sets of items"):
            shoal.anonymize(plain, qi=["age"], k=2, method=name)
        with pytest.raises(ShoalError, match=f"{name} recodes sets of items"):
            shoal.learn(plain, qi=["age"], k=2, method=name)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("itemsets", {"effort": "much"}, "must be one of fast, normal, best"),
        ("itemsets", {"across": 3}, "must be true or false"),
        ("itemsets", {"parts": 3}, "no parameter 'parts'"),
        ("lra", {"parts": 0}, "at least 1"),
        ("vpa", {"parts": "few"}, "parts"),
        ("apriori", {"parts": 2}, "no parameter"),
    ],
)
def test_parameters_of_methods_are_checked_at_birth(name, parameters, message):
    with pytest.raises(MethodError, match=message):
        method_named(name, parameters)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl", "csv.gz", "basket"])
def test_every_file_that_is_written_is_judged_as_it_stands(tmp_path, ending):
    out = tmp_path / f"release.{ending}"
    shoal.anonymize(shop(80, 8), qi=["items"], set=["items"], k=3, m=2, method=FAST, out=out)
    words = {"qi": ["items"], "set": ["items"], "separator": "\t" if ending == "tsv" else None}
    found = shoal.verify(out, k=3, m=2, **words)
    assert found.holds
    assert found.records == 80
    assert not shoal.verify(out, k=81, m=1, **words).holds


def test_an_existing_file_survives_a_failed_release(tmp_path):
    out = tmp_path / "release.csv"
    out.write_text("earlier\n")
    with pytest.raises(NoSolutionError):
        shoal.anonymize(TABLE, **{**SETS, "k": 9}, out=out)
    assert out.read_text() == "earlier\n"
    assert [path.name for path in tmp_path.iterdir()] == ["release.csv"]
