"""A ledger of releases: entered, judged beside earlier ones, refused, waived."""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.jobs.people import GRADES, ILLS, JOBS, PEOPLE, plain_schema
from tests.jobs.test_compose import classes_in
from tests.naive.history import cells

from shoal.core.errors import InputError, OutputError, SchemaError, UnsafeReleaseError
from shoal.core.release_ledger import BEGUN, PUBLISHED
from shoal.engines.base import Output
from shoal.engines.local import records as local_records
from shoal.jobs.ledger import release_entry, releases
from shoal.jobs.release import release
from shoal.jobs.requests import ReleaseRequest
from shoal.methods.registry import method_named
from shoal.privacy import KAnonymity, LDiversity
from shoal.reports.html import to_html
from shoal.reports.of_release import of_release
from shoal.samples import hospital
from shoal.schema.schema import Labels, Others, Schema

pytestmark = pytest.mark.local("a ledger knows the order of the input")

KEYED = PEOPLE.with_columns(nr=pl.Series([f"p{i:03}" for i in range(40)]))


def keyed_schema(*more, k=4):
    columns = {
        "age": {"role": "quasi", "kind": "numeric"}, "job": "quasi", "grade": "neutral",
        "ill": "sensitive", "nr": "identifying",
    }  # fmt: skip
    found = Schema.from_document({"columns": columns, "others": "drop"})
    return found.with_promise([KAnonymity(k), *more])


class Project:
    """Releases of a table in a folder with a ledger."""

    def __init__(self, folder):
        self.folder, self.ledger = folder, folder / "l.db"
        self.made = 0

    def release(self, table=KEYED, schema=None, method="bestcut", **words):
        """Release; return the report and the classes."""
        self.made += 1
        output = Output(
            out=self.folder / f"{self.made}.csv", class_file=self.folder / f"{self.made}.c.csv"
        )
        found = release(
            ReleaseRequest(
                table=table, schema=schema or keyed_schema(), method=method_named(method),
                output=output, ledger=self.ledger, **words,
            )
        )  # fmt: skip
        return found.report, classes_in(output.class_file)

    def refused(self, *args, **words):
        """Return why a release is refused; nothing may have been written or entered."""
        before = releases(self.ledger)
        with pytest.raises(UnsafeReleaseError) as caught:
            self.release(*args, **words)
        assert not (self.folder / f"{self.made}.csv").exists()
        assert releases(self.ledger) == before
        return str(caught.value)


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def test_a_release_is_entered_and_can_be_read_again(project):
    report, _ = project.release()
    (entry,) = releases(project.ledger)
    assert stat.S_IMODE(project.ledger.stat().st_mode) == 0o600
    assert (entry.number, entry.state, entry.name) == (1, PUBLISHED, "1.csv")
    assert (entry.records, entry.released, entry.classes) == (40, 40, report.classes)
    assert (entry.identity, entry.is_key, entry.shown) == (["nr"], True, ["grade", "ill"])
    assert entry.promise == [{"model": "k-anonymity", "k": 4}]
    assert entry.request["job"] == "release"
    assert report.facts["ledger"]["release"] == 1
    assert "entered in the ledger as release 1" in report.notices
    assert release_entry(project.ledger, "1") == entry
    with pytest.raises(InputError, match="no such release"):
        release_entry(project.ledger, "2")


def test_a_ledger_holds_no_value_of_the_data(project):
    other = Project(project.folder / "other")
    other.folder.mkdir()
    project.release()
    other.release(table=PEOPLE, schema=plain_schema())
    for held in (project.ledger.read_bytes(), other.ledger.read_bytes()):
        for word in (*JOBS, *GRADES, *ILLS, "p007", "p039"):
            assert word.encode() not in held


def test_a_release_that_composes_badly_is_refused_until_it_is_waived(project):
    project.release()
    said = project.refused(method="oka")
    for words in ("not safe: beside release 1 (1.csv)", "records alone", "among fewer than 4",
                  "ill certain for", "nothing was written", "--nested-in 1",
                  "--waive-composition 1"):  # fmt: skip
        assert words in said
    assert not any(word in said for word in (*JOBS, *ILLS))
    report, _ = project.release(method="oka", waive_composition=("1",))
    assert report.warnings[0].startswith("WAIVED: published beside release 1 (1.csv)")
    assert "WAIVED" in to_html(of_release(report))
    assert json.loads(json.dumps(report.to_document()))["ledger"]["waived"] == [1]
    assert releases(project.ledger)[-1].waived == [1]


def test_the_same_release_again_gives_nothing_away(project):
    project.release()
    report, _ = project.release(table=KEYED.reverse())
    found = report.facts["ledger"]["composition"]
    assert (found["holds"], found["alone"], found["published"]) == (True, 0, 40)


@pytest.mark.parametrize("k", [9, 2])
def test_a_nested_view_is_let_through_and_may_name_the_ledger(project, k):
    project.release()
    report, _ = project.release(schema=keyed_schema(k=k), nested_in="1")
    beside = report.facts["ledger"]
    assert (beside["beside"], beside["composition"]["holds"]) == ([1], True)
    assert beside["composition"]["smallest_class"] >= min(k, 4)
    with pytest.raises(InputError, match="no such release"):
        project.release(nested_in="7")


def test_the_finest_release_is_proposed_to_be_nested_in(project):
    project.release()
    project.release(schema=keyed_schema(k=9), nested_in="1")
    assert "(--nested-in 1)" in project.refused(method="oka")
    report, _ = project.release(schema=keyed_schema(k=6), nested_in="1")
    assert report.facts["ledger"]["beside"] == [1, 2]


def test_the_order_of_rows_and_further_columns_do_not_matter(project):
    plain = replace(plain_schema(), others=Others.DROP)
    for table, schema in ((PEOPLE, plain), (KEYED, keyed_schema())):
        own = Project(project.folder / schema.quasi[0] / str(len(schema.attributes)))
        own.folder.mkdir(parents=True)
        own.release(table=table, schema=schema)
        more = table.sample(fraction=1.0, shuffle=True, seed=3).with_columns(extra=pl.lit("x"))
        own.refused(table=more, schema=schema, method="oka")
        report, _ = own.release(table=more, schema=schema, nested_in="1")
        assert report.facts["ledger"]["composition"]["published"] == 40


@given(
    st.lists(st.integers(0, 39), max_size=6, unique=True),
    st.integers(0, 6),
    st.sampled_from(["bestcut", "oka", "mondrian"]),
    st.booleans(),
)
@settings(max_examples=30, deadline=None)
def test_rows_that_come_and_go_are_counted_by_name(tmp_path_factory, gone, come, method, is_keyed):
    project = Project(tmp_path_factory.mktemp("ledger"))
    table = KEYED if is_keyed else pl.concat([PEOPLE.head(20)] * 2)  # everybody stands twice
    schema = keyed_schema() if is_keyed else plain_schema()
    fresh = table.head(come).with_columns(age=pl.col("age") + 3)
    if is_keyed:
        fresh = fresh.with_columns(nr=pl.format("new{}", pl.int_range(pl.len())))
    stay = table.with_row_index().filter(~pl.col("index").is_in(gone)).drop("index")
    later = pl.concat([stay, fresh])
    _, first = project.release(table=table, schema=schema)
    report, second = project.release(
        table=later, schema=schema, method=method, waive_composition=("1",)
    )
    shared = cells(
        [
            dict(zip(names_in(table), first, strict=True)),
            dict(zip(names_in(later), second, strict=True)),
        ]
    )
    alone, below = (sum(size < k for size in shared.values()) for k in (2, 4))
    assert (
        f"{alone:,} records alone, {below:,} of {len(shared):,} among fewer than 4"
        in (report.warnings[0])
    )


def names_in(table):
    """Return what each record is known by: its number, or its values and which one it is."""
    if "nr" in table.columns:
        return table["nr"].to_list()
    rows = table.rows()
    return [(row, rows[:at].count(row)) for at, row in enumerate(rows)]


def test_whoever_leaves_is_looked_for_among_those_who_left(project):
    project.release()
    said = project.refused(table=KEYED.tail(39), nested_in="1")
    assert "1 of its records are not in the table any more" in said
    assert "1 records alone" in said


def test_new_records_stay_out_of_a_nested_view(project):
    project.release(table=KEYED.head(36))
    schema = replace(keyed_schema(), suppression_limit=0.1)
    report, classes = project.release(schema=schema, nested_in="1")
    assert classes[36:] == [-1] * 4
    assert report.facts["ledger"]["composition"]["holds"]
    assert any("4 are new" in text for text in report.notices)


def test_a_stricter_promise_asks_for_no_more_than_the_first_release_gave(project):
    project.release()
    report, _ = project.release(schema=keyed_schema(LDiversity(2), k=9), nested_in="1")
    assert report.facts["ledger"]["composition"]["smallest_class"] >= 4


def test_a_promise_about_values_is_kept_together_where_each_keeps_it_alone(project):
    schema = keyed_schema(LDiversity(2), k=2)
    table = KEYED.with_columns(age=pl.Series([row * 7 % 40 for row in range(40)]))
    project.release(table, schema=schema)
    said = project.refused(table, schema=schema, method="mdav")
    assert "l-diversity broken" in said
    # Even where the new release does not speak of it: the first one promised it.
    hidden = replace(
        keyed_schema(k=2), attributes=tuple(a for a in schema.attributes if a.name != "ill")
    )
    assert "l-diversity broken" in project.refused(table, schema=hidden, method="mdav")
    with pytest.raises(InputError, match=r"no column 'ill' any more.*--waive-composition 1"):
        project.release(table.drop("ill"), schema=hidden, nested_in="1")


def test_records_of_another_table_are_told_apart(project):
    project.release()
    other = KEYED.with_columns(nr=pl.col("nr") + "x")
    report, _ = project.release(table=other, method="oka")
    assert report.facts["ledger"]["beside"] == []
    assert any("those of another table" in text for text in report.notices)
    unlike = pl.DataFrame({"height": [1, 1, 2, 2], "ill": ["a", "b", "a", "b"]})
    schema = Schema.from_document({"columns": {"height": "quasi", "ill": "sensitive"}})
    project.release(table=unlike, schema=schema.with_promise([KAnonymity(2)]))


def test_a_table_that_lost_what_its_records_are_recognised_by_is_refused(project):
    project.release()
    with pytest.raises(InputError, match=r"recognised by 'nr'.*--waive-composition 1"):
        project.release(table=PEOPLE, schema=plain_schema())
    report, _ = project.release(table=PEOPLE, schema=plain_schema(), waive_composition=("1",))
    assert "WAIVED: published beside release 1" in report.warnings[0]
    assert "which the table does not have" in report.warnings[0]


def test_records_without_a_key_are_unknown_and_so_refused(project):
    project.release()
    twice = KEYED.with_columns(nr=pl.when(pl.col("nr") == "p001").then(None).otherwise("nr"))
    said = project.refused(table=twice)
    assert "1 of whom nothing can be said" in said
    assert "1 records have no key of their own" in said


def test_persons_are_counted(project):
    table = KEYED.with_columns(who=pl.Series([i // 2 for i in range(40)]))
    schema = keyed_schema(k=3).with_person(["who"])
    first, _ = project.release(table=table, schema=schema)
    assert first.persons == 20
    project.refused(table=table, schema=schema, method="oka")
    report, _ = project.release(table=table, schema=schema, nested_in="1")
    assert report.facts["ledger"]["composition"]["smallest_class"] >= 3


def test_persons_that_were_counted_once_are_not_forgotten(project):
    table = KEYED.with_columns(who=pl.Series([i // 2 for i in range(40)]))
    schema = keyed_schema(k=3)
    project.release(table=table, schema=schema.with_person(["who"]))
    with pytest.raises(InputError, match=r"counts persons by 'who'.*--waive-composition 1"):
        project.release(table=table, schema=schema)
    report, _ = project.release(table=table, schema=schema, waive_composition=("1",))
    assert "WAIVED" in report.warnings[0]
    assert "counts persons" in report.warnings[0]


def test_what_is_not_published_is_not_entered(project, monkeypatch):
    project.release()

    def fails(*_args):
        raise UnsafeReleaseError(problem="no")

    monkeypatch.setattr(local_records, "verify_table", fails)
    with pytest.raises(UnsafeReleaseError):
        project.release()
    monkeypatch.undo()
    assert [each.state for each in releases(project.ledger)] == [PUBLISHED]


def test_a_release_whose_publication_was_cut_short_counts(project, monkeypatch):
    def fails(*_args, **_words):
        raise OSError("the disk is gone")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises((OSError, OutputError)):
        project.release()
    monkeypatch.undo()
    assert [each.state for each in releases(project.ledger)] == [BEGUN]
    report, _ = project.release(method="bestcut")
    assert any("begun and never confirmed" in text for text in report.notices)


def test_a_ledger_is_asked_for_rightly(project):
    ask = ReleaseRequest(table=KEYED, schema=keyed_schema())
    with pytest.raises(SchemaError, match="goes with --ledger"):
        release(replace(ask, waive_composition=("1",)))
    with pytest.raises(InputError, match="--waive-composition: has no such release"):
        project.release(waive_composition=("1",))
    place = project.folder / "ledger.csv"
    with pytest.raises(OutputError, match="also an input"):
        release(replace(ask, ledger=place, output=Output(out=place)))
    project.ledger.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        project.release()


@pytest.mark.slow
def test_the_hospital_sample_is_not_released_twice_in_two_ways(tmp_path):
    files = hospital(tmp_path / "stays.csv", 10_000)
    schema = Schema.load(files.schema)
    schema = replace(schema, labels=Labels.TIGHT)  # as the trial had them
    five, ten = (schema.with_promise([KAnonymity(k)], replace_promise=True) for k in (5, 10))
    project = Project(tmp_path)
    project.release(table=files.table, schema=five)
    assert releases(project.ledger)[0].identity == ["patient_id"]
    said = project.refused(table=files.table, schema=five, method="mondrian")
    alone, below = (int(n.replace(",", "")) for n in re.findall(r"([\d,]+) (?:records|of)", said))
    assert (alone / 10_000, below / 10_000) == pytest.approx((0.610, 0.990), abs=0.001)
    report, _ = project.release(table=files.table, schema=ten, nested_in="1")
    found = report.facts["ledger"]["composition"]
    assert (found["holds"], found["below"]["5"]) == (True, 0)
