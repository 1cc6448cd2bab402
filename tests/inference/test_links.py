"""What is said of columns that link the records of a person, and of keys that look misspelt."""

from __future__ import annotations

import pytest

from shoal.core.errors import SchemaError
from shoal.inference.kept import Finding, KeptCheck, KeptColumn
from shoal.inference.links import PersonFacts, groups_of, judge_links


def facts(linked, *, records=1000, **more):
    return PersonFacts(names=("who",), whole=2000, records=records, linked=linked, **more)


@pytest.mark.parametrize(
    ("linked", "finding"), [(1000, Finding.LINKS), (500, Finding.LINKS), (499, Finding.SOME),
                            (50, Finding.SOME), (49, None), (0, None)],
)  # fmt: skip
def test_a_column_is_judged_by_the_share_of_records_that_it_links(linked, finding):
    found = judge_links(facts({("card",): linked}))
    assert [each.finding for each in found] == ([] if finding is None else [finding])


def test_a_few_records_say_little():
    assert judge_links(facts({("card",): 19}, records=20)) == ()


def test_a_sensitive_column_and_columns_together_only_warn():
    found = judge_links(facts({("ill",): 900, ("a", "b"): 900}), ["ill"])
    assert [each.finding for each in found] == [Finding.SOME, Finding.SOME]
    assert "together with 'b'" in found[1].text
    assert not any(each.stops for each in found)


def test_keys_that_are_spelled_alike_are_told():
    (found,) = judge_links(facts({}, persons=10, spellings=8))
    assert found.finding is Finding.SPELT
    assert "2 of 10 keys" in found.text
    assert not found.stops


def test_records_of_nobody_are_told_where_values_are_sensitive():
    assert judge_links(facts({}, nobody=3)) == ()
    (found,) = judge_links(facts({}, nobody=3), ["ill"])
    assert found.text.startswith("column 'who' names nobody in some records: 3 of 2,000.")
    assert not found.stops


@pytest.mark.parametrize(
    ("beside", "by_chance", "is_told"), [(50, 0.0, True), (49, 0.0, False), (50, 25.1, False)]
)
def test_an_order_that_links_is_told(beside, by_chance, is_told):
    found = judge_links(facts({}, beside=beside, by_chance=by_chance))
    assert [each.finding for each in found] == ([Finding.ORDER] if is_told else [])


def test_each_column_is_looked_at_alone_and_those_not_sensitive_together():
    assert groups_of(["a"], ["s"]) == (("a",), ("s",))
    assert groups_of(["a", "b"], []) == (("a",), ("b",), ("a", "b"))


def kept(name, finding):
    return KeptColumn(name=name, finding=finding, why="why", remedy="remedy")


def test_of_two_findings_the_one_that_stops_is_told():
    check = KeptCheck(found=(kept("a", Finding.IDENTIFIES), kept("b", Finding.NEARLY)))
    found = check.with_links([kept("a", Finding.LINKS), kept("b", Finding.LINKS)]).found
    assert [(each.name, each.finding) for each in found] == [
        ("a", Finding.IDENTIFIES), ("b", Finding.LINKS),
    ]  # fmt: skip


def test_what_links_stops_and_what_links_some_warns():
    check = KeptCheck().with_links([kept("b", Finding.SOME)])
    check.refuse("table")
    assert len(check.warnings) == 1
    with pytest.raises(SchemaError, match="links the records of a person"):
        KeptCheck().with_links([kept("a", Finding.LINKS)]).refuse("table")
    KeptCheck(waived=("a",)).with_links([kept("a", Finding.LINKS)]).refuse("table")


def test_records_of_nobody_stop_where_a_promise_leaves_them_out():
    (found,) = judge_links(facts({}, nobody=3), ["ill"], promised=True)
    assert (found.finding, found.stops) == (Finding.NOBODY, True)
    assert found.text.endswith("if it is meant: --waive who")
    with pytest.raises(SchemaError, match="names nobody"):
        KeptCheck(found=(found,)).refuse_nobody("table")
    KeptCheck(found=(found,), waived=("who",)).refuse_nobody("table")
    KeptCheck(found=(found,), waived=("who",)).refuse("table")


def test_a_person_file_is_called_as_in_its_header():
    named = PersonFacts(names=("\x00person",), whole=9, nobody=1)
    (found,) = judge_links(named, ["ill"], promised=True)
    assert found.name == "person"


@pytest.mark.parametrize("finding", [Finding.SPELT, Finding.ORDER])
def test_who_waives_records_of_nobody_waives_nothing_else_of_the_person(finding):
    check = KeptCheck(found=(kept("who", finding),), waived=("who",))
    assert len(check.warnings) == 1
