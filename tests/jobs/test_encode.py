"""A model at work: tables, safe batches, streams, drift."""

from __future__ import annotations

import io
from dataclasses import replace

import polars as pl
import pytest
from tests.jobs.people import PEOPLE, files_in, plain_schema

from shoal.core.errors import MethodError, SchemaError, ShoalError, UnsafeReleaseError
from shoal.engines.base import Output
from shoal.jobs import encode as module
from shoal.jobs.encode import StreamRequest, drift, encode, encode_stream, model_named
from shoal.jobs.learn import learn
from shoal.jobs.places import write_model
from shoal.jobs.requests import DriftRequest, EncodeRequest, LearnRequest, VerifyRequest
from shoal.jobs.verify import verify
from shoal.privacy import KAnonymity
from shoal.schema.schema import Schema


@pytest.fixture(scope="module")
def model():
    return learn(LearnRequest(table=PEOPLE, schema=plain_schema())).model


@pytest.fixture
def path(model, tmp_path):
    place = tmp_path / "model.json"
    write_model(model, place)
    return place


def test_the_order_of_the_records_is_kept(model):
    done = encode(EncodeRequest(table=PEOPLE, model=model))
    assert done.table["ill"].to_list() == PEOPLE["ill"].to_list()
    assert done.report.to_document().items() >= {"records": 40, "released": 40}.items()
    assert done.verification is None
    assert "verification" not in done.to_document()


def test_a_model_may_be_named_by_its_file(model, path):
    by_name = encode(EncodeRequest(table=PEOPLE, model=str(path)))
    assert by_name.table.equals(encode(EncodeRequest(table=PEOPLE, model=model)).table)
    assert model_named(model) is model
    with pytest.raises(ShoalError, match="nowhere"):
        model_named("nowhere.json")


def test_a_safe_batch_joins_what_would_break_the_promise(model):
    few = PEOPLE.head(34)
    done = encode(EncodeRequest(table=few, model=model, safe=True))
    assert done.verification.holds
    assert done.verification.records == done.report.released == done.table.height == 34
    assert done.to_document()["verification"]["holds"]
    starred = encode(
        EncodeRequest(table=few, model=model, safe=True, output=Output(suppressed="star"))
    )
    assert starred.verification.holds


def test_a_stricter_promise_may_be_asked_beside_the_models(model):
    asked = EncodeRequest(table=PEOPLE, model=model, safe=True, privacy=(KAnonymity(5),))
    assert encode(asked).verification.smallest_class >= 5
    with pytest.raises(ShoalError, match="less"):
        encode(replace(asked, privacy=(KAnonymity(2),)))


def test_a_file_is_written_all_or_nothing(model, tmp_path, monkeypatch):
    out = tmp_path / "r.csv"
    asked = EncodeRequest(table=PEOPLE, model=model, safe=True, output=Output(out=out))
    done = encode(asked)
    assert done.table is None
    assert pl.read_csv(out).height == done.report.released
    out.unlink()

    def refused(verified, released):
        raise UnsafeReleaseError(problem="no")

    monkeypatch.setattr(module, "_check_verified", refused)
    with pytest.raises(UnsafeReleaseError):
        encode(asked)
    assert list(tmp_path.iterdir()) == []


def test_a_verification_must_hold_and_be_complete(model):
    verified = encode(EncodeRequest(table=PEOPLE, model=model, safe=True)).verification
    module._check_verified(verified, 40)
    with pytest.raises(UnsafeReleaseError, match="nothing was written"):
        module._check_verified(verified, 41)
    broken = tuple(replace(verdict, holds=False) for verdict in verified.privacy)
    with pytest.raises(UnsafeReleaseError, match="break the promise"):
        module._check_verified(replace(verified, privacy=broken), 40)


def test_a_schema_that_protects_more_than_the_model_refuses_it(model):
    columns = {**plain_schema().to_document()["columns"], "grade": "identifying"}
    for safe in (False, True):
        asked = EncodeRequest(
            table=PEOPLE, model=model, safe=safe, schema=plain_schema(columns=columns)
        )
        with pytest.raises(SchemaError, match="grade"):
            encode(asked)


def test_values_that_were_not_seen_are_suppressed_or_refused(model):
    table = PEOPLE.with_columns(job=pl.lit("astronaut"))
    done = encode(EncodeRequest(table=table, model=model))
    assert done.report.unseen == 40
    with pytest.raises(ShoalError) as caught:
        encode(EncodeRequest(table=table, model=model, on_unseen="error"))
    assert "astronaut" not in str(caught.value)
    with pytest.raises(MethodError):
        encode(EncodeRequest(table=table, model=model, on_unseen="guess"))


def test_lines_are_encoded_as_they_come(path, tmp_path, model):
    text = PEOPLE.write_csv() + "broken\n"
    out, rejects = io.BytesIO(), tmp_path / "rejects.csv"
    request = StreamRequest(model=path, rejects=rejects)
    report = encode_stream(request, io.BytesIO(text.encode()), out)
    assert (report.records, report.rejected) == (41, 1)
    assert "broken" in rejects.read_text()
    assert rejects.stat().st_mode & 0o077 == 0  # raw lines
    wanted = encode(EncodeRequest(table=PEOPLE, model=model)).table
    assert pl.read_csv(out.getvalue())["job"].to_list() == wanted["job"].cast(str).to_list()


def test_a_stream_is_held_to_its_words_and_its_schema(path):
    columns = {**plain_schema().to_document()["columns"], "grade": "identifying"}
    empty = io.BytesIO(b"")
    with pytest.raises(MethodError, match="suppress, nearest or error"):
        encode_stream(StreamRequest(model=path, on_unseen="guess"), empty, io.BytesIO())
    request = StreamRequest(model=path, schema=plain_schema(columns=columns))
    with pytest.raises(SchemaError, match="grade"):
        encode_stream(request, empty, io.BytesIO())


@pytest.mark.local("drift")
def test_drift_is_seen_in_other_people_and_not_in_the_same(tmp_path):
    files = files_in(tmp_path)
    model = learn(LearnRequest(table=files.table, schema=Schema.load(files.schema))).model
    same = drift(DriftRequest(table=pl.concat([PEOPLE] * 5), model=model))
    other = drift(
        DriftRequest(table=pl.concat([PEOPLE] * 5).with_columns(job=pl.lit("baker")), model=model)
    )
    assert not same.learn_again
    assert other.learn_again


STAYS = pl.DataFrame(
    {"age": [20 + i % 10 for i in range(60)], "who": [str(i // 2) for i in range(60)]}
)
BY_PERSON = Schema.from_document(
    {
        "columns": {"age": {"role": "quasi", "kind": "numeric"}, "who": {"role": "person"}},
        "privacy": [{"model": "k-anonymity", "k": 3}],
    }
)


@pytest.fixture(scope="module")
def of_persons():
    return learn(LearnRequest(table=STAYS, schema=BY_PERSON)).model


@pytest.mark.parametrize("out", [None, "encoded.csv"])
def test_who_stands_behind_each_record_of_a_safe_batch_is_kept_where_asked(
    of_persons, tmp_path, out
):
    people = tmp_path / "inside.csv"
    place = None if out is None else tmp_path / out
    asked = EncodeRequest(
        table=STAYS, model=of_persons, safe=True, output=Output(out=place, person_file=people)
    )
    done = encode(asked)
    assert pl.read_csv(people, infer_schema=False).to_series().to_list() == STAYS["who"].to_list()
    assert people.stat().st_mode & 0o777 == 0o600
    released = done.table if place is None else pl.read_csv(place, infer_schema=False)
    assert released.columns == ["age"]
    judged = verify(VerifyRequest(table=released, schema=BY_PERSON, person_file=people))
    assert judged.holds


def test_a_person_file_needs_a_safe_batch_and_a_model_of_persons(model, of_persons, tmp_path):
    output = Output(out=tmp_path / "o.csv", person_file=tmp_path / "inside.csv")
    with pytest.raises(SchemaError, match="--person-file: goes with --safe"):
        encode(EncodeRequest(table=STAYS, model=of_persons, output=output))
    with pytest.raises(SchemaError, match="counts records, not persons"):
        encode(EncodeRequest(table=PEOPLE, model=model, safe=True, output=output))
    assert list(tmp_path.iterdir()) == []
