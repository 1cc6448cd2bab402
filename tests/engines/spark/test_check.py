"""verify, metrics, risk and infer on Spark: the same answers as the local engine's."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from tests.conftest import call
from tests.engines.spark.tables import PROMISE, frame, measured_on_spark, near, schema

import shoal
from shoal import api
from shoal.core.errors import InputError
from shoal.engines.spark.source import open_table
from shoal.engines.spark.verify import verify_table

MODELS = [
    shoal.KAnonymity(2),
    shoal.LDiversity(2, kind="entropy", column="s"),
    shoal.TCloseness(0.4, column="s"),
    shoal.TCloseness(0.5, distance="ordered", column="s"),
    shoal.AlphaKAnonymity(k=2, alpha=0.5, column="s"),
]
QUASI = ("steps", "tree")


@pytest.mark.parametrize("few", [0, 10**6], ids=["there", "here"])
def test_verify(spark, few):
    asked = schema(QUASI)
    here = api.verify(frame(), asked, privacy=MODELS)
    assert not here.holds
    there = verify_table(open_table(api.SparkTable(frame())), asked, MODELS, few=few)
    assert there == replace(here, warnings=())  # those are told by whoever asks


def test_verify_keeps_the_schemas_promise_beside_what_is_asked(spark):
    promised = schema(QUASI, privacy=[{"model": "l-diversity", "l": 2}])
    here = api.verify(frame(), promised, privacy=[shoal.KAnonymity(2)])
    assert [result.model.name for result in here.privacy] == ["l-diversity", "k-anonymity"]
    assert api.verify(api.SparkTable(frame()), promised, privacy=[shoal.KAnonymity(2)]) == here


@pytest.mark.parametrize("k", [1, 3, 40])
def test_verify_by_sizes_alone(spark, k):
    models = [shoal.KAnonymity(k), shoal.KAnonymity(2)]
    here = api.verify(frame(), schema(QUASI), privacy=models)
    there = verify_table(open_table(api.SparkTable(frame())), schema(QUASI), models, few=0)
    assert there == replace(here, warnings=())
    empty = open_table(api.SparkTable(frame().head(0)))
    with pytest.raises(InputError, match="no record"):
        verify_table(empty, schema(QUASI), models, few=-1)


def test_verify_compares_with_supersets(spark):
    models = [shoal.NTCloseness(n=100, t=0.3, column="s")]
    here = api.verify(frame(), schema(QUASI), privacy=models)
    assert api.verify(api.SparkTable(frame()), schema(QUASI), privacy=models) == here


def test_metrics(spark, tmp_path):
    made = api.anonymize(frame(), schema(), privacy=PROMISE)
    here = api.metrics(frame(), made.table, schema())
    there = api.metrics(api.SparkTable(frame()), api.SparkTable(made.table), schema())
    assert there == near(measured_on_spark(here))


@pytest.mark.parametrize("how", ["weights", "population", "household"])
def test_risk(spark, how):
    more = {"weights": {"weights": "a.b"}, "household": {"household": "Note, or so"}}.get(how, {})
    people = frame(900, seed=5)
    here = {**more, **({"population": people} if how == "population" else {})}
    far = {**more, **({"population": api.SparkTable(people)} if how == "population" else {})}
    wanted = api.risk(frame(), schema(QUASI), **here).to_document()
    found = api.risk(api.SparkTable(frame()), schema(QUASI), **far).to_document()
    assert found == near(wanted)


def test_infer(spark):
    table = frame(120).select("whole", "days", "tree", "name")
    wanted = api.infer(table).to_document()
    found = api.infer(api.SparkTable(table)).to_document()
    for document in (wanted, found):
        document.pop("seconds")
    assert found == near(wanted)


def test_the_commands(spark, tmp_path):
    frame().write_csv(tmp_path / "t.csv")
    flags = ["--qi", "steps,tree", "--sensitive", "s", "-k", "2", "--engine", "spark"]
    out = tmp_path / "o.csv"
    done = call("anonymize", tmp_path / "t.csv", *flags, "--out", out, "--quiet")
    assert done == (0, "", "")
    assert call("verify", out, *flags).code == 0
    assert call("verify", tmp_path / "t.csv", *flags, "--master", "local[2]", "-k", "90").code == 1
    wrong = call("verify", out, *flags, "--master", "spark://nowhere:1")
    assert (wrong.code, "another master" in wrong.err) == (2, True)
    assert call("verify", out, *flags[:-1], "cloud").code == 2
    assert call("verify", out, *flags[:-2], "--master", "local").code == 2


def test_a_broken_file_is_refused_without_its_values(spark, tmp_path):
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "a.csv").write_text("q,s\n1,Alice\n2,Bob,more\n")
    asked = shoal.Schema.from_document({"columns": {"q": "quasi", "s": "sensitive"}})
    folder = tmp_path / "t.csv"
    (tmp_path / "t").rename(folder)
    with pytest.raises(shoal.ShoalError) as caught:
        api.verify(api.SparkTable(folder), asked, privacy=PROMISE)
    assert "Alice" not in str(caught.value)
    assert "Bob" not in str(caught.value)


def test_lines_that_end_in_two_ways(spark, tmp_path):
    asked = shoal.Schema.from_document({"columns": {"q": "quasi", "s": "sensitive"}})
    place = tmp_path / "t.csv"
    place.write_bytes(b"q,s\n1,x\n1,x\r\n\r\n")
    found = api.verify(api.SparkTable(place), asked, privacy=[shoal.KAnonymity(2)])
    assert found == api.verify(place, asked, privacy=[shoal.KAnonymity(2)])
    place.write_bytes(b'q,s\n1,"x\ny"\n1,x\r\n')
    with pytest.raises(shoal.ShoalError, match="end in two ways"):
        api.verify(api.SparkTable(place), asked, privacy=[shoal.KAnonymity(2)])


def test_an_empty_table_is_refused(spark):
    empty = pl.DataFrame({"q": [], "s": []}, schema={"q": pl.String, "s": pl.String})
    asked = shoal.Schema.from_document({"columns": {"q": "quasi", "s": "sensitive"}})
    for work in (api.anonymize, api.verify):
        with pytest.raises(shoal.ShoalError, match="no record"):
            work(api.SparkTable(empty), asked, privacy=PROMISE)
