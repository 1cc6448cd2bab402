"""Releases over time as a whole job: what they keep, what they refuse, and what a crash leaves."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.naive import m_invariance as naive

from shoal import api
from shoal.core.errors import (
    InputError,
    MethodError,
    NoSolutionError,
    OutputError,
    SchemaError,
    UnsafeReleaseError,
)
from shoal.core.release_ledger import BEGUN, PUBLISHED
from shoal.engines.local import over_time as local
from shoal.engines.local.invariance import Shown
from shoal.jobs import ledger as book
from shoal.jobs.ledger import release_entry, releases
from shoal.jobs.release import release
from shoal.jobs.requests import Checks, Output, ReleaseRequest
from shoal.privacy import AlphaKAnonymity, KAnonymity, LDiversity, MUniqueness
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("a release over time follows persons in the order of the input")

ILLS = np.array(["flu", "cold", "gout", "asthma"])


def people(first, last, seed=0):
    chance = np.random.default_rng(seed)
    every = pl.DataFrame(
        {
            "who": [f"p{number:03}" for number in range(200)],
            "age": chance.integers(20, 60, 200),
            "job": chance.choice(list("abcd"), 200),
            "ill": chance.choice(ILLS, 200),
            "cost": chance.integers(1, 10_000, 200),
        }
    )
    return every.slice(first, last - first)


def schema(**words):
    columns = {
        "who": "person", "age": {"role": "quasi", "kind": "numeric"}, "job": "quasi",
        "ill": "sensitive",
    }  # fmt: skip
    document = {"columns": columns, "others": "drop", "suppression_limit": 0.5, **words}
    return Schema.from_document(document).with_promise([KAnonymity(3), MUniqueness(2)])


class Project:
    """A series in a folder."""

    def __init__(self, folder):
        self.folder, self.ledger, self.made = folder, folder / "l.db", 0

    def release(self, table, known=None, **words):
        self.made += 1
        self.out = self.folder / f"{self.made}.csv"
        self.people = self.folder / f"{self.made}.p.csv"
        words = {"after": self.ledger, **words}
        output = Output(out=self.out, person_file=self.people)
        return release(
            ReleaseRequest(table=table, schema=known or schema(), output=output, **words)
        ).report

    def rows(self):
        persons = [who or None for who in pl.read_csv(self.people)["person"].to_list()]
        table = pl.read_csv(self.out, infer_schema=False).to_dicts()
        return [{**row, "person": who} for row, who in zip(table, persons, strict=True)]


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def test_people_who_come_go_and_change(project):
    made = []
    tables = [people(0, 100), people(20, 130), people(30, 160)]
    changed = pl.when(pl.col("who") == "p050").then(pl.lit("rare")).otherwise(pl.col("ill"))
    tables[2] = tables[2].with_columns(ill=changed)
    for table in tables:
        report = project.release(table)
        rows = project.rows()
        assert naive.faults(rows, ("age", "job"), "ill", m=2, k=3) == []
        assert report.released + sum(report.facts["over_time"]["held_back"].values()) == len(table)
        assert report.method == "m-invariance"
        assert [each.model.name for each in report.privacy] == ["k-anonymity", "m-uniqueness"]
        made.append(rows)
    assert naive.is_invariant(made, ("age", "job"), "ill")
    assert min(map(len, naive.left_over(made, ("age", "job"), "ill").values())) >= 2
    assert report.facts["over_time"]["held_back"]["changed"] == 1
    assert "p050" not in {row["person"] for row in made[2]}
    assert any("not among those of their signature" in notice for notice in report.notices)
    entry = release_entry(project.ledger, "3")
    assert entry.over_time["after"] == [1, 2]
    assert (entry.identity, entry.is_key, entry.over_time["m"]) == (["who"], True, 2)


def test_who_left_a_value_alone_gets_counterfeits(project):
    table = pl.DataFrame(
        {
            "who": [f"p{n}" for n in range(8)],
            "age": [30, 31, 32, 33, 50, 51, 52, 53],
            "job": ["a"] * 8,
            "ill": ["flu", "cold"] * 4,
        }
    )
    project.release(table)
    fewer = table.filter(~pl.col("who").is_in(["p1", "p5"]))
    project.release(fewer, counterfeits="fill", false_records=project.folder / "f.csv")
    rows = project.rows()
    marked = pl.read_csv(project.folder / "f.csv")["false_row"].to_list()
    assert [rows[place - 1]["person"] for place in marked] == [None, None]
    assert [rows[place - 1]["ill"] for place in marked] == ["cold", "cold"]
    assert oct((project.folder / "f.csv").stat().st_mode & 0o777) == "0o600"
    assert naive.faults(rows, ("age", "job"), "ill", m=2, k=3) == []
    report = project.release(fewer, counterfeits="none")
    assert report.facts["over_time"] == {
        "counterfeits": 0, "counterfeit_classes": 0, "again": 6, "signatures": 1,
        "held_back": {"nobody": 0, "changed": 0, "vanished": 0, "partners": 2},
    }  # fmt: skip


def test_counterfeits_are_declared_by_class(project):
    table, place = people(0, 60), project.folder / "by_class.csv"
    project.release(table)
    few = table.filter((pl.col("ill") != "flu") | (pl.col("who") < "p015"))
    report = project.release(few, counterfeit_table=place)
    declared = pl.read_csv(place)
    assert declared.columns == ["age", "job", "counterfeits"]
    facts = report.facts["over_time"]
    assert facts["counterfeits"] > 0
    assert (declared["counterfeits"].sum(), declared.height) == (
        facts["counterfeits"], facts["counterfeit_classes"],
    )  # fmt: skip
    rows = project.rows()
    for age, job, number in declared.rows():
        inside = [r for r in rows if (r["age"], r["job"]) == (age, job)]
        assert sum(row["person"] is None for row in inside) == number


def test_verify_judges_it_with_its_persons_and_without(project):
    table = people(0, 60)
    project.release(table)
    project.release(table.filter((pl.col("ill") != "flu") | (pl.col("who") < "p015")))
    assert any(row["person"] is None for row in project.rows())
    found = api.verify(project.out, schema(), person_file=project.people)
    assert found.holds
    assert found.persons == found.records - sum(r["person"] is None for r in project.rows())
    bare = Schema.from_document(
        {"columns": {"age": "quasi", "job": "quasi", "ill": "sensitive"}}
    ).with_promise([MUniqueness(2)])
    assert api.verify(project.out, bare).holds


def test_a_table_in_memory_comes_back_as_it_came(project):
    made = api.anonymize(people(0, 50).to_pandas(), schema(), after=project.ledger)
    assert type(made.table).__module__.startswith("pandas")
    assert len(made.table) == made.report.released


def test_waived_columns_are_kept_and_counterfeits_copy_them(project):
    kept = schema(waive=["cost"])
    cost = next(a for a in Schema.from_document({"columns": {"cost": "neutral"}}).attributes)
    kept = replace(kept, attributes=(*kept.attributes, cost))
    table = people(0, 60)
    project.release(table, kept)
    project.release(table.filter((pl.col("ill") != "flu") | (pl.col("who") < "p015")), kept)
    known = {(str(row["cost"]), row["ill"]) for row in table.to_dicts()}
    assert {(row["cost"], row["ill"]) for row in project.rows()} <= known


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"nested_in": "1"}, "leave it out"),
        ({"counterfeits": "some"}, "fill or none"),
        ({"after": "1"}, "name that, too"),
        ({"ledger": "other.db"}, "another ledger"),
        ({"checks": Checks(attacks="all")}, "leave it out"),
        ({"partitions": 2}, "leave it out"),
        ({"after": None, "counterfeits": "none"}, "goes with --after"),
        ({"after": None}, "say --after"),
    ],
)
def test_what_contradicts_it_is_refused(project, words, said):
    with pytest.raises(SchemaError, match=said):
        project.release(people(0, 50), **words)
    assert not project.out.exists()


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (schema().with_promise([KAnonymity(3)]).without_person(), "--m 2"),
        (schema().without_person(), "follows persons"),
        (replace(schema(), privacy=(MUniqueness(1),)), "at least 2"),
        (replace(schema(), privacy=(MUniqueness(2), AlphaKAnonymity(0.5, 2))), "not .alpha,k."),
    ],
)
def test_a_promise_that_cannot_be_kept_over_time_is_refused(project, known, said):
    if said == "--m 2":
        known = replace(known, privacy=(KAnonymity(3),))
    with pytest.raises(SchemaError, match=said):
        project.release(people(0, 50), known)


def test_columns_that_link_records_are_refused(project):
    columns = {"who": "person", "age": "quasi", "ill": "sensitive", "cost": "neutral"}
    linking = Schema.from_document({"columns": columns, "others": "drop"})
    with pytest.raises(SchemaError, match="'cost' would tell which records"):
        project.release(people(0, 50), linking.with_promise([KAnonymity(2), MUniqueness(2)]))
    columns = {"who": "person", "age": "quasi", "ill": "sensitive", "job": "sensitive"}
    two = Schema.from_document({"columns": columns, "others": "drop"})
    with pytest.raises(SchemaError, match="one sensitive column"):
        project.release(people(0, 50), two.with_promise([MUniqueness(2)]))


def test_a_person_with_several_records_is_refused(project):
    table = people(0, 50)
    with pytest.raises(InputError, match="2 records are of persons who have another one"):
        project.release(pl.concat([table, table.head(2)]))
    assert releases(project.ledger) == []


def test_more_values_than_the_series_gave_are_refused(project):
    project.release(people(0, 80))
    more = replace(schema(), privacy=(KAnonymity(3), MUniqueness(3)))
    with pytest.raises(InputError, match="gave everybody at least 2"):
        project.release(people(0, 80), more)
    project.release(people(0, 80), replace(more, privacy=(LDiversity(2), MUniqueness(2))))


def test_the_number_must_be_the_latest_of_the_series(project):
    project.release(people(0, 80))
    project.release(people(0, 90), ledger=project.ledger, after="1")
    with pytest.raises(InputError, match="came later; say --after 2"):
        project.release(people(0, 90), ledger=project.ledger, after="1")
    with pytest.raises(InputError, match="no such release"):
        project.release(people(0, 90), ledger=project.ledger, after="9")


def test_other_releases_of_the_table_are_judged_as_ever(project):
    table = people(0, 90)
    plain = schema().with_promise([KAnonymity(3)])
    plain = replace(plain, privacy=(KAnonymity(3),))
    output = Output(out=project.folder / "plain.csv")
    ask = ReleaseRequest(table=table, schema=plain, output=output, ledger=project.ledger)
    release(ask)
    with pytest.raises(UnsafeReleaseError, match="beside release 1"):
        project.release(table)
    project.release(table, waive_composition=("1",))
    with pytest.raises(InputError, match="not one over time"):
        project.release(table, ledger=project.ledger, after="1")
    with pytest.raises(UnsafeReleaseError, match="beside"):
        release(replace(ask, output=Output(out=project.folder / "more.csv")))


def test_a_release_that_breaks_a_signature_is_not_written(project, monkeypatch):
    table = people(0, 80)
    project.release(table)
    before = releases(project.ledger)
    find = local._signatures

    def forgets(value, labels, column, known, sealed):
        return find(value, labels, column, known, sealed.clear())

    monkeypatch.setattr(local, "_signatures", forgets)
    with pytest.raises(UnsafeReleaseError, match="another signature now"):
        project.release(people(10, 100), seed=5)
    assert not project.out.exists()
    assert not project.people.exists()
    assert releases(project.ledger) == before


def test_a_release_that_is_cut_short_counts_and_leaves_nothing_half(project, monkeypatch):
    table = people(0, 80)

    def fails(*_args, **_words):
        raise OSError("the disk is gone")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises((OSError, OutputError)):
        project.release(table)
    monkeypatch.undo()
    assert not project.out.exists()
    assert [each.state for each in releases(project.ledger)] == [BEGUN]
    project.release(people(0, 90))
    assert [each.state for each in releases(project.ledger)] == [BEGUN, PUBLISHED]
    assert release_entry(project.ledger, "2").over_time["after"] == [1]


def test_a_ledger_of_a_series_holds_no_value_of_the_data(project):
    project.release(people(0, 80))
    held = project.ledger.read_bytes()
    for word in (*ILLS, "p007", "p079"):
        assert word.encode() not in held


def test_records_beyond_the_limit_are_a_refusal(project):
    few = people(0, 60).with_columns(ill=pl.lit("flu"))
    with pytest.raises(NoSolutionError, match="would have to wait"):
        project.release(few)
    one_sided = pl.concat([people(0, 20), few.slice(20)])
    with pytest.raises(NoSolutionError, match="would have to be suppressed"):
        project.release(one_sided, replace(schema(), suppression_limit=0.1))


def test_places_must_be_different(project):
    place = project.folder / "same.csv"
    with pytest.raises(OutputError, match="two things"):
        project.release(people(0, 60), false_records=place, counterfeit_table=place)
    with pytest.raises(OutputError, match="also an input"):
        project.release(people(0, 60), false_records=project.ledger)


def test_a_release_that_lacks_a_person_is_not_written(project, monkeypatch):
    project.release(people(0, 60))
    shown = book.shown_of

    def loses(*arguments):
        found = shown(*arguments)
        return Shown(found.signatures.head(-1), found.counterfeits + 1)

    monkeypatch.setattr(book, "shown_of", loses)
    with pytest.raises(UnsafeReleaseError, match="persons stand behind"):
        project.release(people(0, 70))
    assert not project.out.exists()
    assert len(releases(project.ledger)) == 1


def test_a_table_that_is_not_here_is_refused(project):
    class Elsewhere:
        source = None

    with pytest.raises(MethodError, match="local engine"):
        book.known_records(Elsewhere(), schema(), b"k")
