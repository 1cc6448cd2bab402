"""What headers say: words, concepts, and the people they speak of."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.inference.headers import CONCEPTS, HIPAA, concept_of, names_person, words_of


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


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("", []),
        ("__", []),
        ("HTTPServerName", ["http", "server", "name"]),
        ("Größe_2_cm", ["grosse", "cm"]),
        ("naïve  café", ["naive", "cafe"]),
    ],
)
def test_headers_are_split_into_plain_words(header, words):
    assert words_of(header) == words


@settings(deadline=None)
@given(st.text(max_size=30))
def test_any_header_can_be_read(header):
    words = words_of(header)
    assert all(word and word == word.lower() for word in words)
    found = concept_of(header)
    assert found is None or CONCEPTS[found.key] is found


@settings(deadline=None)
@given(st.sampled_from(sorted(w for c in CONCEPTS.values() for w in c.words if w.isascii())))
def test_how_a_header_is_written_does_not_matter(words):
    ways = (words, words.upper(), words.replace(" ", "_"), words.title().replace(" ", "-"))
    assert len({concept_of(way) for way in ways}) == 1
    assert concept_of(words) is not None


def test_longer_expressions_win_over_single_words():
    assert concept_of("birth").key == "birth"
    assert concept_of("birth_country").key == "state"


def test_drugs_are_known_by_their_stems():
    assert concept_of("metformin").key == "health"
    assert concept_of("vir") is None  # too short to be one


def test_people_are_named_in_several_languages():
    assert names_person("patient_nbr")
    assert names_person("KundenNummer")
    assert not names_person("hospital_nbr")
