"""Columns that are replaced: what is written, what is refused, what the report says."""

from __future__ import annotations

import json
from datetime import date

import polars as pl
import pytest

from shoal import KAnonymity, Schema
from shoal.core.errors import InputError, SchemaError, UnsafeReleaseError
from shoal.core.secret_keys import Keys, read_key, write_key
from shoal.engines.base import Output
from shoal.engines.local import replacing, source
from shoal.jobs.documents import public_document, request_document, request_from
from shoal.jobs.learn import learn
from shoal.jobs.release import release
from shoal.jobs.requests import LearnRequest, ReleaseRequest
from shoal.reports.html import to_html
from shoal.reports.of_release import of_release
from shoal.schema.techniques import Pseudonym

pytestmark = pytest.mark.local("keys do not travel to a cluster")

ROWS = 300


def table(**more):
    columns = {
        "id": [f"P{i:04d}" for i in range(ROWS)],
        "ssn": [f"{i % 9 + 100}-{i % 90 + 10}-{i + 1000}" for i in range(ROWS)],
        "day": [date(2020, 1, 1 + i % 25).isoformat() for i in range(ROWS)],
        "end": [date(2020, 2, 1 + i % 25).isoformat() for i in range(ROWS)],
        "age": [20 + i % 10 for i in range(ROWS)],
        **more,
    }
    return pl.DataFrame(columns)


def schema(waive=(), **columns):
    entries = {"age": "quasi", **columns}
    found = Schema.from_document({"columns": entries, "others": "drop", "waive": list(waive)})
    return found.with_promise([KAnonymity(3)])


def replaced(technique, **more):
    return {"role": "identifying", "release": technique, **more}


@pytest.fixture
def key(tmp_path):
    write_key(tmp_path / "key")
    return tmp_path / "key"


def released(given, about, key=None, **output):
    request = ReleaseRequest(table=given, schema=about, key=key, output=Output(**output))
    return release(request)


def test_pseudonyms_are_those_of_the_values_and_the_same_next_time(key):
    about = schema(id=replaced("pseudonym"))
    made = released(table(), about, key)
    cell = Pseudonym().cell("id", Keys(read_key(key)))
    assert set(made.table["id"]) == {cell(text) for text in table()["id"]}
    assert made.table.equals(released(table().reverse(), about, key).table)
    said = made.report.roles["id"]["replaced"]
    assert "HMAC-SHA256" in said
    assert "300 different values, no two alike" in said


def test_fresh_pseudonyms_need_no_key_and_differ_each_time():
    about = schema(id=replaced({"pseudonym": {"fresh": True}}))
    one, two = (set(released(table(), about).table["id"]) for _ in range(2))
    assert len(one) == len(two) == ROWS
    assert not one & two


def test_a_pseudonym_that_links_records_is_refused_until_it_is_waived(key):
    twice = table(id=[f"P{i // 2}" for i in range(ROWS)])
    with pytest.raises(SchemaError, match=r"'id' is kept but links.*150 pseudonyms in 300") as no:
        released(twice, schema(id=replaced("pseudonym")), key)
    assert "P1" not in str(no.value)
    made = released(twice, schema(id=replaced("pseudonym"), waive=["id"]), key)
    assert made.report.roles["id"]["waived"]
    assert made.report.roles["id"]["finding"] == "links records"
    assert "waived by name" in to_html(of_release(made.report))


def test_missing_values_link_nobody_and_stay_missing(key):
    some = table(id=[None if i % 3 else f"P{i}" for i in range(ROWS)])
    made = released(some, schema(id=replaced("pseudonym")), key)
    assert made.table["id"].null_count() == some["id"].null_count()


def test_two_values_never_get_one_pseudonym(key, monkeypatch):
    digests = replacing.digest_of
    monkeypatch.setattr(replacing, "digest_of", lambda k, text: b"\0" * 16 + digests(k, text)[16:])
    with pytest.raises(UnsafeReleaseError, match="two values would get one pseudonym"):
        released(table(), schema(id=replaced("pseudonym")), key)


def test_a_mask_that_leaves_a_column_identifying_is_refused():
    about = schema(ssn=replaced({"mask": {"keep_last": 4}}))
    with pytest.raises(SchemaError, match=r"'ssn'.*the mask leaves 300 different values"):
        released(table(), about)
    made = released(table(), schema(ssn=replaced({"mask": {"keep_first": 2}})))
    assert set(made.table["ssn"]) == {"10*-**-****"}


def test_shifted_dates_keep_their_intervals(key):
    about = schema(
        waive=["id"], id=replaced("pseudonym"), day=replaced({"shift": {"by": "id", "days": 30}}),
        end=replaced({"shift": {"by": "id", "days": 30}}),
    )  # fmt: skip
    made = released(table(), about, key).table
    back = dict(zip(map(Pseudonym().cell("id", Keys(read_key(key))), table()["id"]),
                    zip(table()["day"], table()["end"], strict=True), strict=True))  # fmt: skip
    moves = set()
    for who, day, end in made.select("id", "day", "end").rows():
        one, two = (date.fromisoformat(new) - date.fromisoformat(old)
                    for new, old in zip((day, end), back[who], strict=True))  # fmt: skip
        assert one == two
        moves.add(one.days)
    assert 0 not in moves
    assert max(map(abs, moves)) <= 30
    assert len(moves) > 20


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"id": [None] + ["x"] * (ROWS - 1)}, r"1 dates cannot be shifted.*no value in 'id'"),
        ({"day": ["soon"] * ROWS}, "300 values cannot be shifted"),
    ],
)
def test_dates_that_cannot_be_shifted_are_refused_without_a_value(more, problem, key):
    about = schema(day=replaced({"shift": {"by": "id"}}))
    with pytest.raises(InputError, match=problem) as caught:
        released(table(**more), about, key)
    assert "soon" not in str(caught.value)


def test_a_shift_by_a_column_that_is_not_there_is_refused(key):
    with pytest.raises(SchemaError, match="'who': no such column"):
        released(table(), schema(day=replaced({"shift": {"by": "who"}})), key)


def test_a_table_that_does_not_fit_memory_gives_the_same_bytes(tmp_path, key, monkeypatch):
    table().write_csv(tmp_path / "t.csv")
    about = schema(id=replaced("pseudonym"), day=replaced({"shift": {"by": "id"}}))
    released(tmp_path / "t.csv", about, key, out=tmp_path / "one.csv")
    monkeypatch.setattr(source, "KEEP_BYTES", 10)
    monkeypatch.setattr(replacing, "_BATCH", 7)
    released(tmp_path / "t.csv", about, key, out=tmp_path / "two.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    text = (tmp_path / "one.csv").read_text()
    assert "P00" not in text


def test_the_key_is_in_no_report_request_or_error(tmp_path, key):
    about = schema(id=replaced("pseudonym"))
    made = released(table(), about, key)
    secret = key.read_bytes()
    shown = json.dumps(made.report.to_document()) + to_html(of_release(made.report)) + repr(made)
    assert secret.hex() not in shown
    assert repr(secret)[2:-1] not in shown
    request = ReleaseRequest(table=str(tmp_path / "t.csv"), schema=about, key=str(key))
    assert request_from(request_document(request)) == request
    assert public_document(request)["key"] == str(key)


def test_what_needs_a_key_says_so_and_models_replace_nothing(key):
    about = schema(id=replaced("pseudonym"))
    with pytest.raises(SchemaError, match=r"--key: needed for 'id'.*shoal key FILE"):
        released(table(), about)
    with pytest.raises(SchemaError, match="nothing depends on a key"):
        released(table(), schema(), key)
    with pytest.raises(SchemaError, match="only anonymize replaces values"):
        learn(LearnRequest(table=table(), schema=about, key=key))


def test_quasi_identifiers_are_replaced_before_they_are_recoded():
    zips = table(zip=[f"{75200 + i % 4}" if i % 2 else "82190" for i in range(ROWS)])
    made = released(zips, schema(zip={"role": "quasi", "release": "zip3"}))
    assert set(made.table["zip"]) == {"752", "000"}
    assert "three digits" in made.report.roles["zip"]["replaced"]


def test_the_verifier_does_not_warn_of_what_was_replaced(key):
    from shoal.jobs.requests import VerifyRequest
    from shoal.jobs.verify import verify

    about = schema(id=replaced("pseudonym"))
    made = released(table(), about, key)
    found = verify(VerifyRequest(table=made.table, schema=about))
    assert found.holds
    assert not found.warnings
