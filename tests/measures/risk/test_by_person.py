"""Risk where persons are counted, against the definition."""

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import risk as naive

from shoal import api
from shoal.cli.main import main
from shoal.core.errors import InputError, MethodError
from shoal.engines.base import Checks
from shoal.jobs.release import release
from shoal.jobs.requests import ReleaseRequest
from shoal.reports.html import to_html
from shoal.reports.of_release import of_release
from shoal.schema.schema import Schema

RECORDS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from([*"PQRS", "", "?"])),
    min_size=1,
    max_size=14,
)
COLUMNS = {"a": "quasi", "b": "quasi", "who": "person"}
SCHEMA = {"columns": COLUMNS, "missing": ["?"], "privacy": [{"model": "k-anonymity", "k": 2}]}


def table(records):
    return pl.DataFrame(records, schema=["a", "b", "who"], orient="row")


@settings(deadline=None, max_examples=60)
@given(RECORDS)
def test_a_person_is_as_exposed_as_the_smallest_of_their_classes(records):
    persons = [who if who not in ("", "?") else None for *_, who in records]
    if not any(persons):
        with pytest.raises(InputError):
            api.risk(table(records), SCHEMA)
        return
    found = api.risk(table(records), SCHEMA)
    by_hand = naive.persons_at_risk([row[:2] for row in records], persons)
    assert found.persons == len(by_hand)
    assert found.expected_reidentifications == pytest.approx(float(sum(by_hand.values())))
    assert found.prosecutor.maximum == pytest.approx(float(max(by_hand.values())))
    assert found.unique == sum(value == 1 for value in by_hand.values())
    assert found.below == {
        str(k): sum(value > 1 / (k - 0.5) for value in by_hand.values()) for k in (2, 3, 5)
    }
    assert found.smallest_class == min(round(1 / value) for value in by_hand.values())
    for j, name in enumerate("ab"):
        rest = naive.persons_at_risk([row[1 - j] for row in records], persons)
        without = found.columns[name].global_risk_without
        assert without == pytest.approx(float(sum(rest.values())) / len(rest))


@settings(deadline=None, max_examples=30)
@given(RECORDS)
def test_one_record_each_is_the_risk_of_records(records):
    frame = table(records).with_columns(who=pl.int_range(pl.len()).cast(pl.String))
    by_person = api.risk(frame, SCHEMA).to_document()
    plain = {**SCHEMA, "columns": {**COLUMNS, "who": "identifying"}}
    by_record = api.risk(frame, plain).to_document()
    for name in ("records", "classes", "unique", "below", "sizes", "smallest_class"):
        assert by_person[name] == by_record[name]
    for path in (("global_risk",), ("prosecutor", "average"), ("marketer", "average")):
        one, other = by_person, by_record
        for key in path:
            one, other = one[key], other[key]
        assert one == pytest.approx(other)


def test_the_largest_share_of_one_person_is_said():
    frame = table([("a", "x", "P")] * 3 + [("a", "x", "Q"), ("b", "y", "R")])
    found = api.risk(frame, SCHEMA)
    assert (found.largest_share, found.persons, found.unique) == (1.0, 3, 1)
    assert "special uniques count records" in found.notices[-1]
    json.dumps(found.to_document())


def test_weights_and_households_are_refused():
    frame = table([("a", "x", "P"), ("a", "x", "Q")])
    with pytest.raises(MethodError, match="of records; leave them out"):
        api.risk(frame, SCHEMA, weights="a")


def test_the_report_of_a_release_has_the_risk_of_persons():
    records = [("a", "x", who) for who in "PPPQQR"] + [("b", "y", who) for who in "PST"]
    release = api.anonymize(
        table(records), {**SCHEMA, "privacy": [{"model": "k-anonymity", "k": 3}]}
    )
    before, after = release.report.risk_before, release.report.risk_after
    by_hand = naive.persons_at_risk([row[:2] for row in records], [who for *_, who in records])
    assert (before.persons, before.smallest_class) == (5, 3)
    assert before.global_risk == pytest.approx(float(sum(by_hand.values())) / 5)
    keys = release.table.rows()
    assert after.highest == pytest.approx(1 / 3)
    assert len(set(keys)) == after.classes
    assert release.report.to_document()["risk"]["before"]["persons"] == 5


def visits():
    """Return visits of people of a town: everybody of a class comes as often as their number."""
    rows = [("a", "x", f"P{i}") for i in range(4) for _ in range(i + 1)]
    return table([*rows, ("b", "y", "P0"), ("b", "y", "P1"), ("b", "y", "")])


def test_a_population_is_compared_with_persons_not_with_records():
    everybody = pl.DataFrame({"a": ["a"] * 8 + ["b"] * 4, "b": ["x"] * 8 + ["y"] * 4})
    found = api.risk(visits(), SCHEMA, population=everybody)
    assert found.population["smallest_class"] == 4
    assert found.journalist.maximum == pytest.approx(1 / 4)
    # P0 and P1 stand in the class of four people of the town, P2 and P3 in that of eight.
    assert found.journalist.average == pytest.approx((2 / 4 + 2 / 8) / 4)


def test_a_sampling_fraction_estimates_from_persons():
    found = api.risk(visits(), SCHEMA, sampling_fraction=0.5)
    assert found.individual["estimated"]
    assert 0 < found.individual["average"] < found.prosecutor.average == pytest.approx(3 / 8)


def test_records_of_nobody_are_left_out_and_said():
    frame = table([("a", "x", "P"), ("a", "x", "Q"), ("b", "y", ""), ("b", "y", "?")])
    found = api.risk(frame, SCHEMA)
    assert (found.records, found.persons, found.classes) == (2, 2, 1)
    said = "2 records whose classes name nobody are left out; no limit holds for them"
    assert said in found.notices
    assert found.prosecutor.maximum < found.maximum == 1
    assert not found.within(0.99)


def test_several_columns_form_the_key_of_a_person():
    columns = {"a": "quasi", "b": "person", "who": "person"}
    frame = table([("a", "x", "P"), ("a", "y", "P"), ("a", "x", "P"), ("a", "", "P")])
    assert api.risk(frame, {**SCHEMA, "columns": columns}).persons == 2


def test_a_notebook_and_a_page_speak_of_persons():
    found = api.risk(visits(), SCHEMA)
    assert "of 4 persons expected to be re-identified" in found.face().title
    assert found.face().facts["classes"] == "2, the smallest has 2 persons"
    report = api.anonymize(visits(), SCHEMA).report
    assert "for the person who is easiest to find" in to_html(of_release(report))
    assert "persons" in report.face().facts["classes"]


def test_a_release_of_persons_is_measured_and_attacked_by_persons():
    made = release(
        ReleaseRequest(
            table=visits(), schema=Schema.from_document(SCHEMA), checks=Checks(attacks="some")
        )
    )
    before, after, attacks = made.compared
    assert (before.persons, after.persons) == (4, 4)
    assert after.prosecutor.maximum <= 0.5
    assert [each.attack for each in attacks] == ["singling out", "linkage"]
    assert attacks[0].after.targets == 4
    assert attacks[0].after.success == 0.0
    assert not any("attack" in notice for notice in made.report.notices)


def test_the_command_line_counts_persons(tmp_path, capsys):
    visits().write_csv(tmp_path / "t.csv")
    assert main(["risk", str(tmp_path / "t.csv"), "--qi", "a,b", "--person", "who"]) == 0
    said = capsys.readouterr().out
    assert "13 records of 4 persons in 2 classes, 0 persons alone in a class" in said
    assert "40.0% of a class's records are of one person" in said
