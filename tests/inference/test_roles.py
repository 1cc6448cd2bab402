"""Roles from headers, forms and counts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.inference.column import ColumnFacts
from shoal.inference.roles import decide, hipaa_text, is_band
from shoal.schema.schema import Kind, Role


def facts(name, sample=(), *, records=1000, distinct=None, **more):
    sample = tuple(sample)
    distinct = len(sample) if distinct is None else distinct
    return ColumnFacts(
        name=name, records=records, missing=more.pop("missing", 0), distinct=distinct,
        commonest=more.pop("commonest", 1), sample=sample, **more,
    )  # fmt: skip


def test_values_outweigh_a_header_that_says_nothing_or_something_else():
    emails = [f"zz{i}@example.org" for i in range(50)]
    for header in ("x17", "colour", "age"):
        found = decide(facts(header, emails, length=15, words=1))
        assert found.role is Role.IDENTIFYING
        assert found.hipaa == "F"


def test_an_id_header_over_few_values_is_a_code_not_an_identifier():
    found = decide(facts("admission_type_id", "12345678", records=100_000, form="integer"))
    assert found.role is Role.QUASI
    assert found.kind is Kind.CATEGORICAL


def test_a_repeated_customer_number_is_still_an_identifier():
    sample = [str(i) for i in range(1000, 1300)]
    found = decide(facts("customer_id", sample, records=90_000, form="integer"))
    assert found.role is Role.IDENTIFYING


def test_unknown_unique_texts_are_identifiers_and_fine_measurements_are_not():
    texts = [f"zq{i}x" for i in range(1000)]
    assert decide(facts("x", texts)).role is Role.IDENTIFYING
    numbers = [f"{i}.25" for i in range(1000)]
    found = decide(facts("x", numbers, form="decimal", lowest=0, highest=999))
    assert found.role is Role.QUASI


def test_free_text_is_flagged_and_removed():
    sample = [f"the patient number {i} came in with a bad cough and went home" for i in range(900)]
    found = decide(facts("x", sample, length=60, words=13))
    assert found.free_text
    assert found.role is Role.IDENTIFYING


def test_an_identifier_inside_a_text_is_enough_to_flag_the_column():
    sample = ["call back", "was late", "ok"] * 3
    found = decide(facts("x", sample, distinct=3, embedded={"email": 1, "phone": 0}))
    assert found.free_text
    assert "e-mail addresses in 1 different values" in found.why


def test_in_doubt_a_column_is_a_quasi_identifier_and_a_constant_is_neutral():
    assert decide(facts("x", ["aa", "bb", "cc"])).role is Role.QUASI
    assert decide(facts("x", ["aa"])).role is Role.NEUTRAL
    assert decide(facts("city", ["aa"])).role is Role.QUASI


def test_ages_bands_and_dates_get_their_kind():
    ages = [str(i) for i in range(18, 91)]
    found = decide(facts("age", ages, form="integer", lowest=18, highest=90))
    assert (found.kind, found.hipaa, found.concept) == (Kind.NUMERIC, "C", "age")
    bands = [f"[{i}-{i + 10})" for i in range(0, 100, 10)]
    assert decide(facts("age", bands)).kind is Kind.CATEGORICAL
    days = [f"2024-03-{i:02}" for i in range(1, 29)]
    assert decide(facts("x", days, form="date")).kind is Kind.DATE
    written = [f"{i:02}.03.2024" for i in range(1, 29)]
    found = decide(facts("x", written))
    assert (found.kind, found.date_format) == (Kind.DATE, "%d.%m.%Y")
    assert found.role is Role.QUASI


def test_why_never_holds_a_value():
    sample = [f"Zqxw{i}" for i in range(50)]
    for header in ("x", "name", "diagnosis", "zip", "customer_id", "notes"):
        found = decide(facts(header, sample))
        assert not any(value in found.why for value in sample)


NUMBERS = [str(i) for i in range(1000)]
WORDS = [f"zq{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(100)]


@pytest.mark.parametrize(
    ("column", "role", "by"),
    [
        (facts("x", ["4111111111111111", "5555555555554444", "6011111111111117",
                     "4012888888881881"]), Role.IDENTIFYING, "pattern"),
        (facts("x", ["4111111111111111", "5555555555554444"]), Role.QUASI, ""),  # maybe chance
        (facts("x", ["AB1 2CD", "EF3 4GH", "JK5 6LM"]), Role.QUASI, "pattern"),
        (facts("x", WORDS, embedded={"url": 2}), Role.IDENTIFYING, "hidden"),
        (facts("patient_id", WORDS[:2]), Role.IDENTIFYING, "header"),
        (facts("row_id", NUMBERS, form="integer"), Role.IDENTIFYING, "header"),
        (facts("surname", WORDS), Role.IDENTIFYING, "header"),
        (facts("phone", ["0", "1"]), Role.QUASI, "header"),  # a yes or no
        (facts("admission", WORDS[:1], form="date"), Role.QUASI, "date"),
        (facts("x", WORDS, length=70.0), Role.IDENTIFYING, "text"),
        (facts("city", [f"town {w}" for w in WORDS], records=100), Role.IDENTIFYING, "place"),
        (facts("city", WORDS), Role.QUASI, "header"),
        (facts("diagnosis", WORDS), Role.SENSITIVE, "header"),
        (facts("x", NUMBERS, form="integer", lowest=0, highest=999), Role.IDENTIFYING,
         "uniqueness"),
        (facts("x", [f"Anna Q{w}" for w in WORDS], records=300), Role.IDENTIFYING, "name form"),
        (facts("x", ["a"]), Role.NEUTRAL, "constancy"),
        (facts("x", ["a"], missing=1), Role.QUASI, ""),  # missing is a value too
        (facts("x", WORDS), Role.QUASI, ""),
    ],
)  # fmt: skip
def test_every_rule_decides_where_it_should(column, role, by):
    found = decide(column)
    assert (found.role, found.by) == (role, by)


@pytest.mark.parametrize(
    ("records", "role"), [(105, Role.IDENTIFYING), (106, Role.QUASI), (100, Role.IDENTIFYING)]
)
def test_nearly_unique_means_ninety_five_percent(records, role):
    assert decide(facts("x", WORDS, records=records)).role is role


def test_few_values_that_all_differ_say_little():
    assert decide(facts("x", WORDS[:19], records=19)).role is Role.QUASI
    assert decide(facts("x", WORDS[:20], records=20)).role is Role.IDENTIFYING


@pytest.mark.parametrize(
    ("header", "form", "zeros", "kind"),
    [
        ("x", "integer", False, Kind.NUMERIC), ("x", "integer", True, Kind.CATEGORICAL),
        ("zip", "integer", False, Kind.CATEGORICAL), ("ward_code", "integer", False,
                                                      Kind.CATEGORICAL),
        ("x", "decimal", False, Kind.NUMERIC), ("x", "boolean", False, Kind.CATEGORICAL),
        ("x", "date", False, Kind.DATE),
    ],
)  # fmt: skip
def test_kinds_follow_form_and_header(header, form, zeros, kind):
    column = facts(header, NUMBERS[100:150], form=form, leading_zeros=zeros, lowest=0, highest=9)
    assert decide(column).kind is kind


def test_dates_that_may_be_read_two_ways_are_asked_about():
    swapped = [f"{i:02}/{i % 12 + 1:02}/2024" for i in range(1, 13)]
    found = decide(facts("x", swapped))
    assert "day or month first" in found.why
    assert found.hipaa == "C"


@settings(deadline=None, max_examples=60)
@given(
    name=st.sampled_from(["x", "name", "age", "zip", "notes", "visit", "id", "salary", "sex"]),
    sample=st.lists(st.text(max_size=12), max_size=8, unique=True),
    records=st.integers(1, 400),
    form=st.sampled_from(["integer", "decimal", "date", "boolean", "text"]),
    zeros=st.booleans(),
)
def test_any_column_gets_a_verdict_that_shows_counts_alone(name, sample, records, form, zeros):
    column = facts(name, sample, records=max(records, len(sample)), form=form, leading_zeros=zeros)
    found = decide(column)
    assert 0 < found.confidence <= 1
    assert found == decide(column)
    assert f"{column.distinct} different value" in found.why
    assert not found.free_text or found.role is Role.IDENTIFYING


def test_hipaa_classes_are_written_with_their_letter():
    assert hipaa_text("C") == "(C) dates, and ages over 89"
    assert hipaa_text(None) is None


@pytest.mark.parametrize(
    ("values", "banded"),
    [
        (["[30-40)", "[40-50)"], True), (["<18", "18 to 65", "66+"], True), (["20s", "30s"], True),
        (["30", "40"], False), (["[30-40)", "old"], False), ([], False),
    ],
)  # fmt: skip
def test_bands_are_bands_only_if_all_are(values, banded):
    assert is_band(facts("age", values)) is banded
