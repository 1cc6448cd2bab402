"""Laws of releases in which a person has several records, for every method and promise."""

from __future__ import annotations

import csv
import stat

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.laws.test_persons import PROMISES, RECORD, person_of
from tests.naive import persons as naive

from shoal import api
from shoal.core.errors import InputError, NoSolutionError
from shoal.engines.local import source as sources
from shoal.jobs.release import release
from shoal.jobs.requests import Output, ReleaseRequest
from shoal.methods.registry import METHODS, method_named
from shoal.schema.schema import Schema

COUNTING = sorted(name for name, kind in METHODS.items() if kind.family not in ("xk", "auto"))
QUIET = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def schema_of(*promises, person=True):
    columns = {
        "a": {"role": "quasi", "kind": "numeric"},
        "b": {"role": "quasi", "kind": "categorical"},
        "s": {"role": "sensitive", "kind": "categorical"},
        "who": {"role": "person" if person else "identifying"},
    }
    return Schema.from_document(
        {"columns": columns, "privacy": list(promises), "missing": ["?"], "suppression_limit": 1.0,
         "waive": ["who"] if person else []}
    )  # fmt: skip


def frame_of(records):
    return pl.DataFrame(records, schema=["a", "b", "s", "who"], orient="row")


def released(folder, records, schema, method, **words):
    """Return the rows of a release as they are written, and who is behind each of them."""
    out, people = folder / "out.csv", folder / "people.csv"
    request = ReleaseRequest(
        table=frame_of(records), schema=schema, method=method_named(method),
        output=Output(out=out, person_file=people, **words),
    )  # fmt: skip
    made = release(request)
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with people.open(newline="") as file:
        who = [line[0] or None for line in list(csv.reader(file))[1:]]
    return made, rows, who


@pytest.mark.sampled
@pytest.mark.parametrize("method", COUNTING)
@given(
    records=st.lists(RECORD, min_size=4, max_size=24),
    promise=st.sampled_from(PROMISES),
    k=st.integers(1, 3),
)
@QUIET
def test_no_class_breaks_a_promise_counted_by_persons(
    tmp_path_factory, method, records, promise, k
):
    folder = tmp_path_factory.mktemp("law")
    assume(any(person_of(record[3]) for record in records))
    promises = [promise] if promise["model"] == "k-anonymity" else [
        {"model": "k-anonymity", "k": k}, promise,
    ]  # fmt: skip
    try:
        made, rows, who = released(folder, records, schema_of(*promises), method)
    except NoSolutionError:
        return
    assert len(rows) == len(who)
    for model in promises:
        classes = naive.classes_of(rows, ["a", "b"], who, "s")
        assert not naive.failing(classes, model)
    assert made.report.persons == len({person for person in who if person})
    held = sorted((r[2], person_of(r[3]) or "") for r in records)
    if not made.report.suppressed:  # who is behind a record is never mixed up
        assert sorted((r["s"], p or "") for r, p in zip(rows, who, strict=True)) == held


@given(records=st.lists(RECORD, min_size=6, max_size=20), promise=st.sampled_from(PROMISES[:4]))
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_person_a_record_gives_the_same_bytes_as_no_person_column(
    tmp_path_factory, records, promise
):
    folder = tmp_path_factory.mktemp("same")
    single = [(*record[:3], f"p{i}") for i, record in enumerate(records)]
    texts = []
    for person in (True, False):
        out = folder / f"{person}.csv"
        request = ReleaseRequest(
            table=frame_of(single), schema=schema_of(promise, person=person),
            method=method_named("bestcut"), output=Output(out=out),
        )  # fmt: skip
        try:
            release(request)
            texts.append(out.read_bytes())
        except NoSolutionError:
            texts.append(b"")
    assert texts[0] == texts[1]


def many():
    return [(str(i % 7), "ab"[i % 2], "xyz"[i % 3], f"p{i % 11}") for i in range(200)]


def test_a_table_that_does_not_fit_memory_gives_the_same_files(tmp_path, monkeypatch):
    table = tmp_path / "t.csv"
    frame_of(many()).write_csv(table)
    texts = []
    for turn in range(2):
        if turn:
            monkeypatch.setattr(sources, "KEEP_BYTES", 0)
        out, people = tmp_path / f"{turn}.csv", tmp_path / f"p{turn}.csv"
        release(
            ReleaseRequest(
                table=table,
                schema=schema_of({"model": "k-anonymity", "k": 4}),
                method=method_named("bestcut"),
                output=Output(out=out, person_file=people),
            )
        )
        texts.append((out.read_bytes(), people.read_bytes()))
    assert texts[0] == texts[1]


@pytest.mark.local("person files")
def test_the_person_file_is_its_owners_alone_and_verifies_the_release(tmp_path):
    schema = schema_of({"model": "k-anonymity", "k": 4})
    released(tmp_path, many(), schema, "bestcut")
    people = tmp_path / "people.csv"
    assert stat.S_IMODE(people.stat().st_mode) == 0o600
    assert "who" not in (tmp_path / "out.csv").read_text().splitlines()[0]
    assert api.verify(tmp_path / "out.csv", schema, person_file=people).holds
    with pytest.raises(InputError, match="--person-file"):
        api.verify(tmp_path / "out.csv", schema)


def test_one_person_with_all_records_is_no_release(tmp_path):
    alone = [(*record[:3], "p") for record in many()]
    with pytest.raises(NoSolutionError, match="counted by 1 persons"):
        released(tmp_path, alone, schema_of({"model": "k-anonymity", "k": 2}), "bestcut")


@pytest.mark.parametrize("method", ["flash", "bestcut", "kmember"])
@given(records=st.lists(RECORD, min_size=4, max_size=24), promise=st.sampled_from(PROMISES))
@QUIET
def test_suppressed_records_that_are_starred_keep_the_promise(
    tmp_path_factory, method, records, promise
):
    folder = tmp_path_factory.mktemp("star")
    assume(any(person_of(record[3]) for record in records))
    try:
        made, rows, who = released(folder, records, schema_of(promise), method, suppressed="star")
    except NoSolutionError:
        return
    assert not naive.failing(naive.classes_of(rows, ["a", "b"], who, "s"), promise)
    assert len(rows) == len(who) == made.report.released


@pytest.mark.parametrize("method", ["flash", "bestcut", "mondrian", "refine", "mdav"])
@pytest.mark.parametrize("how", ["kmeans", "random"])
@given(records=st.lists(RECORD, min_size=4, max_size=24), promise=st.sampled_from(PROMISES))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_parts_of_a_table_that_are_learned_apart_keep_the_promise_together(
    tmp_path_factory, method, how, records, promise
):
    folder = tmp_path_factory.mktemp("parts")
    assume(any(person_of(record[3]) for record in records))
    out, people = folder / "out.csv", folder / "people.csv"
    request = ReleaseRequest(
        table=frame_of(records), schema=schema_of(promise), method=method_named(method),
        output=Output(out=out, person_file=people), partitions=3, partition_by=how,
    )  # fmt: skip
    try:
        release(request)
    except NoSolutionError:
        return
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with people.open(newline="") as file:
        who = [line[0] or None for line in list(csv.reader(file))[1:]]
    assert not naive.failing(naive.classes_of(rows, ["a", "b"], who, "s"), promise)


@pytest.mark.parametrize("method", COUNTING)
def test_every_method_takes_a_table_of_many_different_tuples(tmp_path, method):
    """Small tables do not reach every part of a search."""
    records = [
        (str(i * 37 % 91), "abc"[i % 3], "xyz"[i % 3], f"p{i * i % 113}") for i in range(400)
    ]
    made, rows, who = released(
        tmp_path, records, schema_of({"model": "k-anonymity", "k": 5}), method
    )
    classes = naive.classes_of(rows, ["a", "b"], who)
    assert not naive.failing(classes, {"model": "k-anonymity", "k": 5})
    assert made.report.released == len(rows)
