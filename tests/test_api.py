"""The documented surface: every function builds a request and runs its job."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from dataclasses import fields

import polars as pl
import pytest

import shoal
from shoal import api
from shoal.core.errors import MethodError, PrivacyError, SchemaError
from shoal.jobs import set_answers
from shoal.jobs.requests import (
    AttackRequest,
    Checks,
    DriftRequest,
    EncodeRequest,
    InferRequest,
    LearnRequest,
    MetricsRequest,
    Output,
    RecommendRequest,
    ReleaseRequest,
    RiskRequest,
    VerifyRequest,
    XkRequest,
)
from shoal.methods.registry import METHODS
from shoal.privacy import KAnonymity, LDiversity
from tests.jobs.people import GRADES, ILLS, JOBS, PEOPLE, TREE, files_in, plain_schema

SCHEMA = plain_schema()
FIVE = SCHEMA.with_promise([KAnonymity(5)])


def test_every_name_of_the_surface_is_there():
    assert sorted(api.__all__) == api.__all__
    for name in api.__all__:
        assert getattr(api, name).__doc__
    for name in shoal.__all__:
        assert getattr(shoal, name) is not None
    assert shoal.anonymize is api.anonymize


@pytest.fixture
def asked(monkeypatch):
    """Let no job run; return the requests that it would have run on."""
    found = []

    def kept(request, *args, **words):
        found.append(request)
        raise Kept

    for module, name in (
        (api.releasing, "release"), (api.learning, "learn"), (api.encoding, "encode"),
        (api.encoding, "encode_stream"), (api.encoding, "drift"), (api.verifying, "verify"),
        (api.measuring, "measure"), (api.risking, "risk"), (api.risking, "attack"),
        (api.inferring, "infer"), (api.xk_job, "recommend"), (api.xk_job, "release_xk"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, kept)
    monkeypatch.setattr(set_answers, "risk", kept)  # of a table without a column of sets
    return found


class Kept(Exception):
    """A job was reached."""


CALLS = {
    "anonymize": (lambda: api.anonymize("t", SCHEMA), ReleaseRequest),
    "learn": (lambda: api.learn("t", SCHEMA), LearnRequest),
    "learn_with_report": (lambda: api.learn_with_report("t", SCHEMA), LearnRequest),
    "encode": (lambda: api.encode("t", "m.json"), EncodeRequest),
    "drift": (lambda: api.drift("t", "m.json"), DriftRequest),
    "verify": (lambda: api.verify("t", SCHEMA), VerifyRequest),
    "metrics": (lambda: api.metrics("t", "r", SCHEMA), MetricsRequest),
    "risk": (lambda: api.risk("t", SCHEMA), RiskRequest),
    "attack": (lambda: api.attack("t", "r", SCHEMA), AttackRequest),
    "infer": (lambda: api.infer("t"), InferRequest),
    "recommend": (lambda: api.recommend("t", FIVE), RecommendRequest),
    "release_xk": (lambda: api.release_xk("t", FIVE, out="o.csv"), XkRequest),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_plain_call_asks_for_the_defaults_of_its_request(asked, name):
    call, kind = CALLS[name]
    with pytest.raises(Kept):
        call()
    (found,) = asked
    schema = FIVE if kind in (RecommendRequest, XkRequest) else SCHEMA
    given = {"table": "t", "schema": schema, "release": "r", "model": "m.json", "k": 5}
    known = {each.name: given[each.name] for each in fields(kind) if each.name in given}
    wrong = {LearnRequest: ["release"], ReleaseRequest: ["release"]}
    for name in wrong.get(kind, ["schema", "release"] if kind is EncodeRequest else []):
        known.pop(name, None)
    outputs = {ReleaseRequest: Output(suppressed="remove"), XkRequest: Output(out="o.csv")}
    if kind in outputs:
        known["output"] = outputs[kind]
    if kind is ReleaseRequest:
        known["checks"] = Checks(most_records=100_000)
    assert found == kind(**known)


def test_every_option_of_a_release_reaches_its_request(asked):
    options = {
        "method": shoal.Flash(seconds=2.0), "release": "aggregate", "partitions": 2,
        "partition_by": "hash", "seed": 4, "threads": 2, "separator": ";",
    }  # fmt: skip
    with pytest.raises(Kept):
        api.anonymize(
            "t", SCHEMA, out="o.csv", waive=["grade"], suppressed="star", keep_order=True,
            spreadsheet_safe=True, inputs=("x.csv",), attacks=True, **options,
        )  # fmt: skip
    with pytest.raises(Kept):
        api.learn("t", SCHEMA, **options)
    release, learn = asked
    shared = {
        "table": "t", "method": shoal.Flash(seconds=2.0), "release": "aggregate",
        "partitions": 2, "partition_by": "hash", "seed": 4, "threads": 2, "separator": ";",
    }  # fmt: skip
    assert learn == LearnRequest(schema=SCHEMA, **shared)
    assert release == ReleaseRequest(
        schema=SCHEMA.with_waived(["grade"]), **shared, checks=Checks(attacks="all"),
        output=Output(
            out="o.csv", suppressed="star", keep_order=True, spreadsheet_safe=True,
            inputs=("x.csv",),
        ),
    )  # fmt: skip


def test_what_a_release_stands_beside_reaches_its_request(asked):
    words = {"nested_in": "3", "ledger": "l.db", "waive_composition": "12"}
    with pytest.raises(Kept):
        api.anonymize("t", SCHEMA, **words)
    with pytest.raises(Kept):
        api.anonymize("t", SCHEMA, ledger="l.db", waive_composition=["1", "2"])
    one, several = asked
    assert (one.nested_in, one.ledger, one.waive_composition) == ("3", "l.db", ("12",))
    assert (several.nested_in, several.waive_composition) == (None, ("1", "2"))


def test_the_words_of_a_call_reach_their_request(asked):
    calls = [
        lambda: api.encode("t", "m", safe=True, privacy=[KAnonymity(3)], waive=["x"], out="o",
                           fold_case=True, suppressed="star", spreadsheet_safe=False),
        lambda: api.risk("t", SCHEMA, weights="w", max_size=3),
        lambda: api.attack("t", "r", SCHEMA, everything=True, targets=9),
        lambda: api.release_xk("t", SCHEMA, k=5, out="o", xk=2, steps="s", inputs=("i",), seed=1),
        lambda: api.infer("t", max_size=2, seconds=None),
        lambda: api.metrics("t", "r", SCHEMA, starred=True),
        lambda: api.encode_stream("m", io.BytesIO(), io.BytesIO(), rejects="r", separator=";"),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(Kept):
            call()
    encode, risk, attack, xk, infer, metrics, stream = asked
    assert encode == EncodeRequest(
        table="t", model="m", safe=True, privacy=(KAnonymity(3),), waive=("x",), fold_case=True,
        output=Output(out="o", suppressed="star", spreadsheet_safe=False),
    )  # fmt: skip
    assert (risk.weights, risk.max_size) == ("w", 3)
    assert (attack.everything, attack.targets) == (True, 9)
    assert (xk.xk, xk.steps, xk.seed) == (2, "s", 1)
    assert xk.output == Output(out="o", inputs=("i",))
    assert (infer.max_size, infer.seconds) == (2, None)
    assert metrics.starred is True
    assert (stream.model, stream.rejects, stream.separator) == ("m", "r", ";")


@pytest.mark.parametrize(
    "call",
    [
        lambda: api.encode("t", "m", wave=["x"]),
        lambda: api.encode_stream("m", io.BytesIO(), io.BytesIO(), reject="x"),
        lambda: api.risk("t", SCHEMA, wieghts="w"),
        lambda: api.attack("t", "r", SCHEMA, targts=9),
        lambda: api.release_xk("t", SCHEMA, k=5, out="o", step="s"),
        lambda: api.infer("t", max_sizes=2),
        lambda: api.metrics("t", "r", SCHEMA, star=True),
        lambda: api.anonymize("t", SCHEMA, sede=3),
    ],
)
def test_a_misspelt_word_is_refused(call):
    with pytest.raises(TypeError, match="unexpected keyword"):
        call()


def test_a_parameter_of_a_method_is_no_word_and_its_owner_is_named():
    with pytest.raises(TypeError, match=r"'effort'; it belongs to a method: method=shoal.Refine"):
        api.anonymize(PEOPLE, SCHEMA, method="refine", effort="best")
    with pytest.raises(TypeError, match="efort"):
        shoal.Refine(efort="best")
    with pytest.raises(MethodError):
        shoal.Refine(effort="most")
    with pytest.raises(MethodError, match=r"mondriaan.*did you mean 'mondrian'"):
        api.anonymize(PEOPLE, SCHEMA, method="mondriaan")


def test_a_method_may_be_an_object():
    chosen = shoal.Refine(effort="fast")
    assert api.anonymize(PEOPLE, SCHEMA, method=chosen).report.method == "refine"


def test_every_method_is_exported_by_its_class():
    assert all(getattr(shoal, kind.__name__) is kind for kind in METHODS.values())


@pytest.mark.parametrize("call", [api.anonymize, api.learn, api.verify])
def test_a_promise_is_added_or_takes_the_place_and_is_never_weakened(call):
    with pytest.raises(PrivacyError, match="less"):
        call(PEOPLE, SCHEMA, privacy=[KAnonymity(2)])
    with pytest.raises(PrivacyError):
        call(PEOPLE, SCHEMA, replace_promise=True)
    assert call(PEOPLE, SCHEMA, privacy=[KAnonymity(2)], replace_promise=True) is not None


def test_both_promises_are_kept():
    done = api.anonymize(PEOPLE, SCHEMA, privacy=[LDiversity(2)])
    assert {verdict.model.name for verdict in done.report.privacy} == {"k-anonymity", "l-diversity"}
    assert api.verify(done.table, SCHEMA, privacy=[LDiversity(2)]).holds


def test_the_way_of_a_table_from_its_columns_to_its_measures(tmp_path):
    files = files_in(tmp_path)
    proposed, out = tmp_path / "proposed.yaml", tmp_path / "r.csv"
    api.write_schema(api.infer(files.table), proposed, inputs=(files.table,))
    assert shoal.Schema.load(proposed).attributes
    schema = shoal.Schema.load(files.schema)
    done = api.anonymize(files.table, schema, out=out)
    assert api.verify(out, schema).holds
    assert api.metrics(files.table, out, schema)["utility"]["ncp"] == pytest.approx(
        done.report.utility["ncp"]
    )
    assert api.risk(out, schema).to_document()["below"]["3"] == 0
    model = tmp_path / "model.json"
    api.write_model(api.learn(files.table, schema), model)
    encoded = api.encode(files.table, model, safe=True)
    assert encoded.verification.holds
    api.export_model(model, "python", out=tmp_path / "encoder.py")
    compile((tmp_path / "encoder.py").read_text(encoding="utf-8"), "encoder.py", "exec")


def _kinds():
    """Return the table as every kind that is taken, and the type that it must come back as."""
    yield "polars", PEOPLE, pl.DataFrame
    yield "polars, lazy", PEOPLE.lazy(), pl.LazyFrame
    yield "arrow", PEOPLE.to_arrow(), type(PEOPLE.to_arrow())
    with suppress(ImportError):
        import pandas

        yield "pandas", PEOPLE.to_pandas(), pandas.DataFrame
    with suppress(ImportError):
        import duckdb

        relation = duckdb.from_arrow(PEOPLE.to_arrow())
        yield "duckdb", relation, type(relation)


@pytest.mark.parametrize(("table", "kind"), [each[1:] for each in _kinds()],
                         ids=[each[0] for each in _kinds()])  # fmt: skip
def test_a_table_comes_back_as_the_kind_that_went_in(table, kind):
    released = api.anonymize(table, SCHEMA).table
    assert type(released) is kind
    assert api.verify(released, SCHEMA).holds
    model = api.learn(table, SCHEMA)
    assert type(model.encode(table).table) is kind
    assert type(model.encode_safe(table).table) is kind


@pytest.mark.parametrize("how", ["object", "path", "text", "dict"])
def test_every_function_takes_a_schema_as_an_object_a_path_or_plain_data(how, tmp_path):
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(SCHEMA.to_document()), encoding="utf-8")
    schema = {"object": SCHEMA, "path": path, "text": str(path), "dict": SCHEMA.to_document()}[how]
    released = api.anonymize(PEOPLE, schema).table
    assert released.equals(api.anonymize(PEOPLE, SCHEMA).table)
    assert api.learn(PEOPLE, schema) == api.learn(PEOPLE, SCHEMA)
    assert api.verify(released, schema) == api.verify(released, SCHEMA)
    assert api.risk(PEOPLE, schema).to_dict() == api.risk(PEOPLE, SCHEMA).to_dict()
    assert api.metrics(PEOPLE, released, schema) == api.metrics(PEOPLE, released, SCHEMA)
    assert api.recommend(PEOPLE, schema).to_document()["k"] == 4
    assert api.attack(PEOPLE, released, schema, targets=5)


def test_methods_are_listed():
    listed = api.method_list()
    assert {each["name"] for each in listed} >= {*METHODS, "xk"}
    assert all(each["family"] and each["summary"] for each in listed)
    assert {m.name for m in api.methods()} == set(METHODS)


def test_samples_are_written_with_their_schema(tmp_path):
    api.sample("hospital", tmp_path / "h.csv", records=50)
    assert pl.read_csv(tmp_path / "h.csv").height == 50
    api.sample("zipf", tmp_path / "z.csv", records=50, attributes=3, values=4)
    assert pl.read_csv(tmp_path / "z.csv").height == 50
    with pytest.raises(shoal.ShoalError):
        api.sample("hospital", tmp_path / "h.csv", records=50)


def test_hierarchies_are_built_and_checked(tmp_path):
    path = tmp_path / "job.csv"
    path.write_text(TREE, encoding="utf-8")
    assert set(JOBS) <= set(api.build_hierarchy(PEOPLE, "job", {"mask": {}}).labels)
    assert api.check_hierarchy(path) == api.check_hierarchy(path, table=PEOPLE, column="job")
    with pytest.raises(shoal.ShoalError):
        api.check_hierarchy(path, table=PEOPLE, column="grade")


def test_all_faults_of_a_call_are_named_together():
    with pytest.raises(SchemaError) as caught:
        api.anonymize(
            PEOPLE, SCHEMA,
            threads=0, suppressed="hide", partitions=0,
        )  # fmt: skip
    assert len(caught.value.faults) == 3


WORDS = {"qi": ["age", "job"], "sensitive": "ill", "neutral": "grade", "k": 4}


def test_words_and_a_schema_are_two_ways_to_say_the_same(tmp_path):
    files = files_in(tmp_path)
    found = api.anonymize(PEOPLE, **WORDS, l=2).table
    by_object = api.anonymize(PEOPLE, SCHEMA, l=2).table
    document = {"columns": {"age": "quasi", "job": "quasi", "grade": "neutral", "ill": "sensitive"}}
    by_dict = api.anonymize(PEOPLE, document, k=4, l=2).table
    assert found.equals(by_object)
    assert found.equals(by_dict)
    by_path = api.anonymize(PEOPLE, files.schema, l=2)
    assert [v.model.words() for v in by_path.report.privacy] == ["k-anonymity k=4",
        "l-diversity l=2, kind=distinct, column=ill"]  # fmt: skip
    assert api.verify(found, **WORDS, l=2).holds
    assert api.risk(found, **WORDS).smallest_class >= 4
    assert api.metrics(PEOPLE, found, **WORDS)["suppressed"] == 0
    assert api.recommend(PEOPLE, **WORDS).to_document()["k"] == 4
    assert api.learn(PEOPLE, **WORDS).privacy == (KAnonymity(4),)
    assert api.attack(PEOPLE, found, **WORDS, targets=5)


def test_a_schema_and_words_about_columns_are_refused_together():
    with pytest.raises(SchemaError, match="give either a schema or qi=, numeric=, not both"):
        api.anonymize(PEOPLE, SCHEMA, qi="age", numeric="age")
    with pytest.raises(SchemaError, match="name the quasi-identifiers with qi="):
        api.anonymize(PEOPLE, sensitive="ill", k=4)
    with pytest.raises(SchemaError, match="'jbo': no such column in the table; did you mean 'job'"):
        api.anonymize(PEOPLE, qi=["age", "jbo"], k=4)


def test_the_files_of_a_schema_are_never_overwritten(tmp_path):
    files = files_in(tmp_path)
    for place in (files.schema, files.tree):
        with pytest.raises(shoal.ShoalError):
            api.anonymize(files.table, files.schema, out=place)
    assert files.tree.read_text(encoding="utf-8") == TREE


def test_a_learned_model_encodes_new_records():
    model = api.learn(PEOPLE, **WORDS)
    assert isinstance(model.encode(PEOPLE).table, pl.DataFrame)
    safe = model.encode_safe(PEOPLE, l=2)
    assert safe.verification.holds
    assert {v.model.name for v in safe.verification.privacy} == {"k-anonymity", "l-diversity"}
    assert shoal.RecodingModel.from_document(model.to_document()) == model


RESULTS = {
    "Release": lambda: api.anonymize(PEOPLE, **WORDS),
    "ReleaseReport": lambda: api.anonymize(PEOPLE, **WORDS).report,
    "Verification": lambda: api.verify(PEOPLE, **WORDS),
    "RiskReport": lambda: api.risk(PEOPLE, **WORDS),
    "Inference": lambda: api.infer(PEOPLE),
    "RecodingModel": lambda: api.learn(PEOPLE, **WORDS),
    "Encoded": lambda: api.learn(PEOPLE, **WORDS).encode(PEOPLE),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_notebook_shows_a_result_without_values_of_the_data(name):
    found = RESULTS[name]()
    assert repr(found).startswith(f"<{name}: ")
    assert len(repr(found)) < 200
    page = found._repr_html_()
    assert page.startswith("<div>")
    assert not [value for value in (*JOBS, *ILLS, *GRADES) if value in page + repr(found)]


def test_column_names_are_escaped():
    evil = "<script>alert(1)</script>"
    frame = PEOPLE.rename({"job": evil})
    for found in (
        api.anonymize(frame, qi=["age", evil], k=4), api.risk(frame, qi=["age", evil]),
        api.infer(frame), api.learn(frame, qi=["age", evil], k=4),
    ):  # fmt: skip
        assert "<script" not in found._repr_html_()


def test_an_inference_is_a_schema():
    found = api.infer(PEOPLE)
    assert isinstance(found.schema, shoal.Schema)
    assert [row["column"] for row in found.rows()] == PEOPLE.columns
    assert found.to_dict() == found.to_document()
