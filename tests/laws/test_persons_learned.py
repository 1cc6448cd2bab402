"""Laws of models that are learned and applied where a person has several records."""

from __future__ import annotations

import csv

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.laws.test_persons import PROMISES, RECORD, person_of
from tests.laws.test_persons_released import frame_of, schema_of
from tests.naive import persons as naive

from shoal import api, edge
from shoal.core.errors import InputError, NoSolutionError, SchemaError
from shoal.engines.base import Output
from shoal.jobs.encode import encode
from shoal.jobs.learn import learn
from shoal.jobs.requests import EncodeRequest, LearnRequest
from shoal.methods.registry import method_named
from shoal.model.column import Rejected
from shoal.model.model import RecodingModel

LEARNING = ("mondrian", "bestcut", "refine", "kmember", "mondrian-relaxed")
QUIET = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
TABLE = st.lists(RECORD, min_size=4, max_size=24)


def asked(promise, k):
    if promise["model"] == "k-anonymity":
        return [promise]
    return [{"model": "k-anonymity", "k": k}, promise]


def learned(records, promises, method="mondrian", *, person=True):
    request = LearnRequest(
        table=frame_of(records), schema=schema_of(*promises, person=person),
        method=method_named(method),
    )  # fmt: skip
    return learn(request)


def encoded(folder, records, model, **words):
    """Return the encoded rows as they are written, and who is behind each of them."""
    out, people = folder / "out.csv", folder / "people.csv"
    request = EncodeRequest(
        table=frame_of(records), model=model, safe=True,
        output=Output(out=out, person_file=people, **words),
    )  # fmt: skip
    made = encode(request)
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with people.open(newline="") as file:
        who = [line[0] or None for line in list(csv.reader(file))[1:]]
    return made, rows, who


def plain(records):
    return [dict(zip(("a", "b", "s", "who"), record, strict=True)) for record in records]


@pytest.mark.parametrize("method", LEARNING)
@given(training=TABLE, batch=TABLE, promise=st.sampled_from(PROMISES), k=st.integers(1, 3))
@QUIET
def test_a_safe_batch_keeps_the_promise_counted_by_persons(
    tmp_path_factory, method, training, batch, promise, k
):
    folder = tmp_path_factory.mktemp("law")
    assume(any(person_of(record[3]) for record in training))
    promises = asked(promise, k)
    try:
        model = learned(training, promises, method).model
        made, rows, who = encoded(folder, batch, model)
    except NoSolutionError:
        return
    assert len(rows) == len(who) == made.report.released
    for wanted in promises:
        classes = naive.classes_of(rows, ["a", "b"], who, "s")
        assert not naive.failing(classes, wanted)
    assert made.verification.persons == len({person for person in who if person})


@given(training=TABLE, promise=st.sampled_from(PROMISES), k=st.integers(1, 3))
@QUIET
def test_the_classes_of_a_model_are_shared_by_enough_persons(
    tmp_path_factory, training, promise, k
):
    """The training records themselves, encoded record by record, keep the promise."""
    assume(any(person_of(record[3]) for record in training))
    promises = asked(promise, k)
    try:
        model = learned(training, promises).model
    except NoSolutionError:
        return
    frame = api.encode(frame_of(training), model, suppressed="remove").table
    kept = [edge.load(model.to_document()).encode(row) for row in plain(training)]
    star = {name: column.root for name, column in zip("ab", model.columns, strict=True)}
    rows, who = [], []
    for record, row in zip(training, kept, strict=True):
        if row is not None and any(row[name] != star[name] for name in "ab"):
            rows.append(row)
            who.append(person_of(record[3]))
    if not rows or frame.height != len(rows):  # a class may itself release the roots
        return
    for wanted in promises:
        if wanted["model"] in ("t-closeness", "beta-likeness", "delta-disclosure"):
            continue  # compared with what is released, which may be fewer records
        assert not naive.failing(naive.classes_of(rows, ["a", "b"], who, "s"), wanted)


@given(training=TABLE, batch=TABLE, promise=st.sampled_from(PROMISES), star=st.booleans())
@QUIET
def test_a_device_and_the_engine_release_the_same(tmp_path_factory, training, batch, promise, star):
    folder = tmp_path_factory.mktemp("edge")
    assume(any(person_of(record[3]) for record in training))
    suppressed = "star" if star else "remove"
    try:
        model = learned(training, asked(promise, 2)).model
        _, rows, who = encoded(folder, batch, model, suppressed=suppressed)
    except NoSolutionError:
        return
    document = model.to_document()
    there, report = edge.encode_safe(plain(batch), document, suppressed=suppressed)
    assert [{k: "" if v is None else v for k, v in row.items()} for row in there] == rows
    assert report.released == len(rows)
    verified = edge.verify(rows, document, persons=who)
    assert verified.holds
    assert verified.persons == len({person for person in who if person})


@given(training=TABLE, batch=TABLE, promise=st.sampled_from(PROMISES[:4]))
@QUIET
def test_a_person_a_record_gives_the_same_model_and_bytes(
    tmp_path_factory, training, batch, promise
):
    folder = tmp_path_factory.mktemp("same")
    single = [[(*r[:3], f"p{i}") for i, r in enumerate(some)] for some in (training, batch)]
    found = []
    for person in (True, False):
        out = folder / f"{person}.csv"
        try:
            model = learned(single[0], asked(promise, 2), person=person).model
            encode(EncodeRequest(table=frame_of(single[1]), model=model, safe=True,
                                 output=Output(out=out)))  # fmt: skip
            found.append((model.regions, model.counts, out.read_bytes()))
        except NoSolutionError:
            found.append(())
    assert found[0] == found[1]


def stays():
    return [(str(i % 7), "ab"[i % 2], "xyz"[i % 3], f"p{i % 11}") for i in range(200)]


K3 = [{"model": "k-anonymity", "k": 3}]


def test_learn_reports_persons_and_the_model_names_none_of_them():
    found = learned(stays(), K3)
    assert found.report.persons == 11
    assert 3 <= found.report.smallest_class <= 11
    assert 0 < found.report.largest_share < 1
    assert "p10" not in found.model.to_json()


def test_one_person_with_all_records_is_refused():
    alone = [(str(i), "a", "x", "p") for i in range(20)]
    with pytest.raises(NoSolutionError, match="counted by 1 persons"):
        learned(alone, K3)
    model = learned(stays(), K3).model
    with pytest.raises(NoSolutionError):
        api.encode(frame_of(alone), model, safe=True)


def test_a_batch_that_does_not_say_who_is_refused_and_record_by_record_is_not():
    model = learned(stays(), K3).model
    bare = frame_of(stays()).drop("who")
    with pytest.raises(InputError, match="who"):
        api.encode(bare, model, safe=True)
    assert api.encode(bare, model).table.columns == ["a", "b", "s"]
    with pytest.raises(Rejected, match="says who"):
        edge.encode_safe(bare.to_dicts(), model.to_document())
    with pytest.raises(Rejected, match="not as many persons"):
        edge.verify(bare.to_dicts(), model.to_document(), persons=["p"])


def test_what_is_not_a_number_is_nobody_on_every_engine():
    model = learned(stays(), K3).model
    few = [("1", "a", "x", who) for who in ["p", "q", "NaN", "NaN"] * 5]
    assert edge.encode_safe(plain(few), model.to_document())[0] == []
    with pytest.raises(NoSolutionError):
        api.encode(frame_of(few), model, safe=True)


def test_a_schema_may_bring_the_person_that_a_model_does_not_know():
    model = learned(stays(), K3, person=False).model
    few = [("1", "a", "x", f"p{i % 2}") for i in range(30)]
    by_records = api.encode(frame_of(few), model, safe=True)
    assert by_records.report.released == 30
    with pytest.raises(NoSolutionError):
        api.encode(frame_of(few), model, safe=True, schema=schema_of(*K3))
    with pytest.raises(NoSolutionError):
        encode(EncodeRequest(table=frame_of(few), model=model, safe=True, schema=schema_of(*K3)))
    assert edge.encode_safe(plain(few), model.to_document(), person="who")[0] == []
    other = schema_of(*K3).with_person(["b"])
    with pytest.raises(SchemaError):
        api.encode(frame_of(stays()), learned(stays(), K3).model, safe=True, schema=other)


def test_drift_counts_persons_where_the_records_say_who():
    model = learned(stays(), K3).model
    few = frame_of([(*record[:3], "p1") for record in stays()])
    assert api.drift(few, model).suppressed == 200
    assert api.drift(few.drop("who"), model).suppressed < 200


def test_a_model_is_read_again_with_its_person(tmp_path):
    model = learned(stays(), K3).model
    model.save(tmp_path / "m.json")
    assert RecodingModel.load(tmp_path / "m.json").schema.person == ("who",)
