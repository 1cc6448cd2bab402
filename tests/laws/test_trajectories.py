"""Laws of releases that keep a pseudonym of the person, for every method and promise."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.laws.test_persons import PROMISES, RECORD, person_of
from tests.naive import trajectories as naive

from shoal import api
from shoal.core.errors import InputError, MethodError, NoSolutionError
from shoal.jobs.release import release
from shoal.jobs.requests import Output, ReleaseRequest
from shoal.methods.registry import METHODS, method_named
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("trajectories")

TAKEN = sorted(
    name
    for name, kind in METHODS.items()
    if kind.family in ("mondrian", "clustering") and not kind.spreads
)
OTHERS = sorted(
    name
    for name, kind in METHODS.items()
    if name not in TAKEN and kind.family not in ("xk", "auto")
)
QUIET = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def schema_of(*promises, limit=1.0):
    columns = {
        "a": {"role": "quasi", "kind": "numeric"},
        "b": {"role": "quasi", "kind": "categorical"},
        "s": {"role": "sensitive", "kind": "categorical"},
        "who": {"role": "person", "release": "pseudonym"},
    }
    return Schema.from_document(
        {
            "columns": columns, "privacy": list(promises), "missing": ["?"],
            "suppression_limit": limit,
        }
    )  # fmt: skip


def frame_of(records):
    return pl.DataFrame(records, schema=["a", "b", "s", "who"], orient="row")


def released(folder, records, schema, method="bestcut"):
    """Return a release and its rows as they are written."""
    out = folder / "out.csv"
    made = release(
        ReleaseRequest(
            table=frame_of(records), schema=schema, method=method_named(method),
            output=Output(out=out),
        )
    )  # fmt: skip
    with out.open(newline="") as file:
        return made, list(csv.DictReader(file))


@given(records=st.lists(RECORD, min_size=1, max_size=14), promise=st.sampled_from(PROMISES))
@settings(max_examples=300, deadline=None)
def test_verify_agrees_with_the_definition(records, promise):
    frame, schema = frame_of(records), schema_of(promise)
    people = [person_of(record[3]) for record in records]
    if not any(people):
        with pytest.raises(InputError, match="no record says who"):
            api.verify(frame, schema=schema)
        return
    wrong = naive.violating(frame.to_dicts(), ["a", "b"], people, promise)
    found = api.verify(frame, schema=schema)
    assert found.holds == (not wrong)
    assert found.violating_records == len(wrong)
    sizes = naive.alike(frame.to_dicts(), ["a", "b"], people)
    assert found.trajectories["unique"] == sum(size == 1 for size in sizes.values())
    assert found.trajectories["different"] == len(sizes)


@pytest.mark.parametrize("method", TAKEN)
@given(
    records=st.lists(RECORD, min_size=4, max_size=24),
    promise=st.sampled_from(PROMISES),
    k=st.integers(1, 3),
)
@QUIET
def test_no_person_stands_out_by_all_their_records(tmp_path_factory, method, records, promise, k):
    assume(any(person_of(record[3]) for record in records))
    promises = [promise] if promise["model"] == "k-anonymity" else [
        {"model": "k-anonymity", "k": k}, promise,
    ]  # fmt: skip
    try:
        made, rows = released(tmp_path_factory.mktemp("law"), records, schema_of(*promises), method)
    except NoSolutionError:
        return
    people = [row["who"] or None for row in rows]
    for model in promises:
        assert not naive.violating(rows, ["a", "b"], people, model)
    assert made.report.released == len(rows) == len(records) - made.report.suppressed
    assert made.report.persons == len(set(people))
    # Whose a record is, is never mixed up: what a pseudonym has is of one person.
    had = Counter((person_of(record[3]), record[2]) for record in records)
    owners = {person for person, _ in had if person}
    for who in set(people):
        own = Counter(row["s"] for row in rows if row["who"] == who)
        assert any(all(had[person, s] >= n for s, n in own.items()) for person in owners)
    assert not {record[3] for record in records if person_of(record[3])} & set(people)


@given(records=st.lists(RECORD, min_size=4, max_size=20), k=st.integers(2, 3))
@QUIET
def test_no_more_is_suppressed_than_was_allowed(tmp_path_factory, records, k):
    assume(any(person_of(record[3]) for record in records))
    schema = schema_of({"model": "k-anonymity", "k": k}, limit=0.2)
    try:
        made, _ = released(tmp_path_factory.mktemp("law"), records, schema)
    except NoSolutionError:
        return
    assert made.report.suppressed <= 0.2 * len(records) + 1e-9


@given(
    pairs=st.lists(
        st.tuples(st.sampled_from("12345"), st.sampled_from("abc")), min_size=4, max_size=20
    )
)
@QUIET
def test_with_one_record_each_nothing_is_suppressed(tmp_path_factory, pairs):
    records = [(a, b, "x", f"p{i}") for i, (a, b) in enumerate(pairs)]
    schema = schema_of({"model": "k-anonymity", "k": 2}, limit=0.0)
    made, rows = released(tmp_path_factory.mktemp("law"), records, schema)
    assert made.report.suppressed == 0
    assert min(naive.alike(rows, ["a", "b"], [row["who"] for row in rows]).values()) >= 2


@pytest.mark.parametrize("method", OTHERS)
def test_methods_that_cannot_are_refused(tmp_path, method):
    records = [(str(i % 4), "a", "x", f"p{i % 6}") for i in range(24)]
    with pytest.raises(MethodError, match="take bestcut"):
        released(tmp_path, records, schema_of({"model": "k-anonymity", "k": 2}), method)


def shapes():
    """Return tables of other shapes: records of (a, b, s, who)."""
    wide = [(str(i), f"b{i}", "xyz"[i % 3], f"p{i % 40}") for i in range(120)]  # all distinct
    few = [("1" if i % 2 else "2", "a", "xyz"[i % 3], f"p{i % 50}") for i in range(400)]
    hoarder = [(str(i % 9), "a", "x", "p0") for i in range(200)]
    hoarder += [(str(i % 9), "b", "y", f"p{i}") for i in range(1, 20)]
    steps = [(str(i), "a", "xy"[n % 2], f"p{i}") for i in range(30) for n in range(i)]
    return {"all distinct": wide, "few tuples": few, "one has nearly all": hoarder, "steps": steps}


@pytest.mark.parametrize("shape", shapes())
@pytest.mark.parametrize("method", ["bestcut", "mondrian", "refine", "kmember"])
def test_tables_of_other_shapes(tmp_path, shape, method):
    records = shapes()[shape]
    made, rows = released(tmp_path, records, schema_of({"model": "k-anonymity", "k": 3}), method)
    people = [row["who"] for row in rows]
    assert min(naive.alike(rows, ["a", "b"], people).values()) >= 3
    had = Counter(person_of(record[3]) for record in records)
    assert max(Counter(people).values()) <= max(had.values())
    assert made.report.suppressed == len(records) - len(rows)


def test_the_same_seed_gives_the_same_classes_on_any_number_of_threads(tmp_path):
    records = shapes()["few tuples"]
    tables = []
    for threads in (1, 2):
        made = api.anonymize(
            frame_of(records), schema=schema_of({"model": "k-anonymity", "k": 3}),
            method="refine", threads=threads,
        )  # fmt: skip
        tables.append(made.table)
    assert tables[0].equals(tables[1])


@given(records=st.lists(RECORD, min_size=4, max_size=24), data=st.data())
@QUIET
def test_numbers_of_persons_say_nothing_and_the_same_request_gives_the_same_bytes(
    tmp_path_factory, records, data
):
    assume(any(person_of(record[3]) for record in records))
    schema = schema_of({"model": "k-anonymity", "k": 2})
    try:
        _, rows = released(tmp_path_factory.mktemp("law"), records, schema)
    except NoSolutionError:
        return
    assert released(tmp_path_factory.mktemp("law"), records, schema)[1] == rows
    mixed = data.draw(st.permutations(records))
    assert released(tmp_path_factory.mktemp("law"), mixed, schema)[1] == rows
    # Persons stand in the order of what they release, all their records together.
    content = defaultdict(list)
    for row in rows:
        content[row["who"]].append((row["a"], row["b"], row["s"]))
    assert sorted(content) == sorted(content, key=lambda who: (sorted(content[who]), who))


def test_a_large_table_of_many_persons_holds(tmp_path):
    records = [
        (str(i * 7919 % 97), f"b{i * 31 % 7}", "xyz"[i % 3], f"p{i * 613 % 30011}")
        for i in range(60_000)
    ]
    schema = schema_of({"model": "k-anonymity", "k": 5}, limit=0.01)
    _, rows = released(tmp_path, records, schema)
    assert len(rows) >= 59_400
    assert min(naive.alike(rows, ["a", "b"], [row["who"] for row in rows]).values()) >= 5


@pytest.mark.local("trajectories")
@pytest.mark.parametrize("method", ["bestcut", "mondrian"])
def test_a_person_who_is_spelled_in_two_ways_is_one(method):
    spellings = ["\u00d6{}", "O\u0308{}", "\ufeff\u00d6{}", " \u00d6{}\u200b"]
    records = [(str(i % 7), "abc"[i % 3], "x", spellings[i % 4].format(i // 3)) for i in range(60)]
    frame = frame_of([*records, ("1", "a", "x", "NULL")])
    schema = schema_of({"model": "k-anonymity", "k": 3})
    made = api.anonymize(frame, schema, method=method)
    rows = made.table.to_dicts()
    assert len({row["who"] for row in rows}) == 20
    assert min(naive.alike(rows, ["a", "b"], [row["who"] for row in rows]).values()) >= 3
    assert made.report.suppressed == 1
