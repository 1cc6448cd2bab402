"""xk-anonymity as a whole job: recommended, carried out, verified, published."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import polars as pl
import pytest
from tests.jobs.people import PEOPLE, files_in, plain_schema

from shoal.core.errors import OutputError, PrivacyError, SchemaError, UnsafeReleaseError
from shoal.engines.base import Output
from shoal.jobs import xk as module
from shoal.jobs.documents import LEFT_OUT, request_from
from shoal.jobs.requests import RecommendRequest, XkRequest
from shoal.jobs.xk import recommend, release_xk, sample_proportionally
from shoal.methods.xk.choices import Choices
from shoal.methods.xk.pipeline import Techniques
from shoal.reports.html import to_html
from shoal.reports.of_release import of_release
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("xk-anonymity")
COLUMNS = {"age": "neutral", "job": "quasi", "grade": "quasi", "ill": "sensitive"}
SCHEMA = plain_schema(columns=COLUMNS, privacy=[])


@pytest.fixture
def asked(tmp_path):
    """Return a request; 40 people in 12 pairs of job and grade."""
    return XkRequest(table=PEOPLE, schema=SCHEMA, k=4, output=Output(out=tmp_path / "r.csv"))


def test_a_recommendation_is_what_a_release_takes(asked):
    best = recommend(RecommendRequest(table=PEOPLE, schema=SCHEMA, k=4)).recommended.xk
    done = release_xk(asked)
    assert done.outcome.xk == best
    assert release_xk(replace(asked, xk=1)).outcome.xk == 1


def test_what_is_written_keeps_the_promise(asked):
    done = release_xk(replace(asked, xk=2))
    table = pl.read_csv(asked.out)
    sizes = Counter(table.select("job", "grade").rows())
    assert min(sizes.values()) >= 4
    document = done.to_document()
    assert document["released"] == table.height
    assert document["classes"] == len(sizes)
    assert all(verdict.holds for verdict in done.results)
    assert document["privacy"] == done.privacy


def test_the_same_seed_gives_the_same_bytes(asked):
    texts = []
    for table in (PEOPLE, PEOPLE.reverse()):
        release_xk(replace(asked, table=table, xk=2, seed=3))
        texts.append(asked.out.read_bytes())
    assert texts[0] == texts[1]


def test_the_report_has_the_request_that_repeats_it_without_values(tmp_path):
    files = files_in(tmp_path)
    request = XkRequest(
        table=files.table,
        schema=replace(Schema.load(files.schema), privacy=()),
        k=4,
        xk=2,
        choices=Choices(techniques=Techniques.parse("g"), ranking=("age", "job")),
        output=Output(out=files.path("r.csv")),
        false_records=files.path("false.csv"),
    )
    done = release_xk(request)
    document = done.to_document()
    wanted = replace(
        request, table=str(files.table), output=Output(out=str(files.path("r.csv"))),
        false_records=str(files.path("false.csv")),
    )  # fmt: skip
    assert request_from(document["request"]) == wanted
    assert done.report().request == document["request"]
    before = files.path("r.csv").read_bytes()
    release_xk(request_from(document["request"]))
    assert files.path("r.csv").read_bytes() == before
    tree = {
        "hierarchy": {"tree": {"*": {"shop": ["florist", "baker"], "craft": ["welder", "glazier"]}}}
    }
    columns = {**COLUMNS, "job": {"role": "quasi", **tree}}
    plain = release_xk(
        replace(request, schema=plain_schema(columns=columns, privacy=[]), choices=None)
    )
    text = json.dumps(plain.to_document()) + to_html(of_release(plain.report()))
    assert LEFT_OUT in text
    assert not any(label in text for label in ("florist", "craft"))


def test_false_rows_are_marked_apart_and_for_this_user_alone(asked, tmp_path):
    marks = tmp_path / "false.csv"
    done = release_xk(replace(asked, xk=1, false_records=marks))
    rows = pl.read_csv(marks)["false_row"].to_list()
    assert len(rows) == done.outcome.added > 0
    assert max(rows) <= pl.read_csv(asked.out).height
    assert marks.stat().st_mode & 0o077 == 0


def test_steps_are_raw_and_so_apart_from_the_release(asked, tmp_path):
    with pytest.raises(OutputError, match="raw data"):
        release_xk(replace(asked, steps=tmp_path))
    assert not asked.out.exists()
    release_xk(replace(asked, steps=tmp_path / "steps"))
    assert any((tmp_path / "steps").iterdir())


def test_nothing_is_published_that_does_not_verify(asked, monkeypatch, tmp_path):
    real = module.verify_release

    def failing(*args, **words):
        found = real(*args, **words)
        broken = tuple(replace(v, holds=False) for v in found[0].privacy)
        return [replace(found[0], privacy=broken, violating_records=3)]

    monkeypatch.setattr(module, "verify_release", failing)
    with pytest.raises(UnsafeReleaseError, match="3 released records break the promise"):
        release_xk(replace(asked, xk=2, false_records=tmp_path / "false.csv"))
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_meant_is_refused(asked, tmp_path):
    promised = plain_schema(columns=COLUMNS, privacy=[{"model": "k-anonymity", "k": 9}])
    with pytest.raises(PrivacyError):
        release_xk(replace(asked, schema=promised))
    with pytest.raises(SchemaError, match="name it with --out"):
        release_xk(replace(asked, output=Output()))
    table = tmp_path / "t.csv"
    PEOPLE.write_csv(table)
    with pytest.raises(OutputError):
        release_xk(replace(asked, table=table, output=Output(out=table)))
    with pytest.raises(OutputError):
        release_xk(replace(asked, output=Output(out=table, inputs=(table,))))


def test_a_sample_keeps_the_share_of_every_stratum(tmp_path):
    table, out = tmp_path / "t.csv", tmp_path / "s.csv"
    PEOPLE.write_csv(table)
    assert sample_proportionally(table, ["job"], 8, out=out, seed=1) == 8
    assert Counter(pl.read_csv(out)["job"]) == dict.fromkeys(set(PEOPLE["job"]), 2)
    assert out.stat().st_mode & 0o077 == 0  # raw data
    with pytest.raises(OutputError):
        sample_proportionally(table, ["job"], 8, out=table)
