"""Roles from headers, forms and counts."""

import pytest

from shoal.methods.infer.column import ColumnFacts
from shoal.methods.infer.headers import CONCEPTS, HIPAA, concept_of
from shoal.methods.infer.roles import decide
from shoal.schema.schema import Kind, Role


def facts(name, sample=(), *, records=1000, distinct=None, **more):
    sample = tuple(sample)
    distinct = len(sample) if distinct is None else distinct
    return ColumnFacts(
        name=name, records=records, missing=more.pop("missing", 0), distinct=distinct,
        commonest=1, sample=sample, **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("header", "concept"),
    [
        ("Geburtsdatum", "birth"), ("date_naissance", "birth"), ("fechaNacimiento", "birth"),
        ("Data di nascita", "birth"), ("生年月日", "birth"), ("DOB", "birth"),
        ("Telefonnummer", "phone"), ("téléphone", "phone"), ("celular", "phone"),
        ("Vorname", "name"), ("apellidos", "name"), ("cognome", "name"), ("nazwisko", "name"),
        ("фамилия", "name"), ("姓名", "name"), ("Last Name", "name"), ("lastName", "name"),
        ("PLZ", "zip"), ("code_postal", "zip"), ("codigo postal", "zip"), ("ZIPCode", "zip"),
        ("Straße", "address"), ("dirección", "address"), ("e-mail", "email"),
        ("EMAIL_ADDR", "email"),
        ("Geschlecht", "sex"), ("sexo", "sex"), ("edad", "age"), ("Alter", "age"), ("wiek", "age"),
        ("codice_fiscale", "national_id"), ("SSN", "national_id"), ("patientID", "record_id"),
        ("IBAN", "account"), ("client_ip", "ip"), ("Gehalt", "money"), ("salaire", "money"),
        ("Diagnose", "health"), ("enfermedad", "health"), ("rosuvastatin", "health"),
        ("estado_civil", "family"), ("Beruf", "work"), ("nombre_enfants", "family"),
        ("birth country", "state"), ("x17", None), ("value", None),
    ],
)  # fmt: skip
def test_headers_are_understood_in_several_languages(header, concept):
    found = concept_of(header)
    assert (None if found is None else found.key) == concept


def test_every_hipaa_class_has_a_concept():
    assert {concept.hipaa for concept in CONCEPTS.values()} - {None} == set(HIPAA)
    assert len(HIPAA) == 18


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
