"""Forms of values."""

import re

import pytest

from shoal.inference.patterns import (
    EMBEDDED,
    date_form,
    is_address,
    is_person_name,
    is_phone,
    signs,
)


def concepts(*values):
    return {pattern.concept for pattern in signs(values)}


@pytest.mark.parametrize(
    ("concept", "values"),
    [
        ("email", ("q.zz@example.org", "b+c@mail.example.net", "d_e@example.co.uk")),
        ("url", ("https://example.org/x", "www.example.net/y", "http://example.com")),
        ("ip", ("192.0.2.7", "198.51.100.0/24", "2001:db8::1")),
        ("device", ("00:00:5e:00:53:01", "00-00-5E-00-53-02", "00:00:5e:00:53:af")),
        ("id", ("123e4567-e89b-12d3-a456-426614174000", "00000000-0000-4000-8000-000000000000")),
        ("card", ("4111111111111111", "5555555555554444", "4012888888881881", "4222222222222")),
        ("account", ("GB82WEST12345698765432", "DE89370400440532013000")),
        ("national_id", ("219-09-9999", "219-10-9999", "457-55-5462")),
        ("phone", ("+44 20 7946 0018", "(415) 555-0132", "030/901820")),
        ("address", ("3279 22nd St", "Hauptstraße 5", "12 rue de la Paix", "Kerkstraat 7")),
        ("photo", ("scan_1.jpg", "scan_2.png")),
        ("health", ("I21", "J18.9", "S72")),
        ("zip", ("SW1A 1AA", "K1A 0B1", "1012 AB")),
        ("name", ("Vromamu Quist", "Zeblu van Dorp", "Quabu-Mro Lund")),
    ],
)
def test_forms_are_recognised(concept, values):
    assert concept in concepts(*values)


@pytest.mark.parametrize(
    "values",
    [
        ("1234567", "7654321", "1111117"),
        ("2024-03-17", "1999-12-01"),
        ("37.755282", "-122.420493"),
        ("yes", "no"),
        ("12", "17", "99"),
        ("[30-40)", "[40-50)"),
    ],
)
def test_harmless_forms_are_not_taken_for_identifiers(values):
    assert not {p.concept for p in signs(values) if p.proof} - {"zip"}


def test_random_digits_are_no_cards_although_one_in_ten_fits():
    numbers = [str(4000000000000000 + 7919 * i) for i in range(200)]
    assert "card" not in concepts(*numbers)


def test_two_fitting_numbers_are_no_proof_of_a_check_digit():
    assert "card" not in concepts("4111111111111111")


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (("2024-03-17", "1999-12-01T10:00"), ("iso", "")),
        (("17.03.2024", "01.12.1999"), ("day.month.year", "%d.%m.%Y")),
        (("03/17/2024", "12/01/1999"), ("month/day/year", "%m/%d/%Y")),
        (("20240317", "19991201"), ("yearmonthday", "%Y%m%d")),
        (("17 Mar 2024", "1 Dec 1999"), ("day month-name year", "%d %b %Y")),
        (("17.03.2024 10:30", "01.12.1999 09:00"), ("day.month.year", "%d.%m.%Y %H:%M")),
        (("blue", "red"), None),
        (("37", "12"), None),
        ((), None),
    ],
)
def test_dates_are_read_as_they_are_written(texts, form):
    assert date_form(texts) == form


def test_a_phone_number_is_not_a_date_a_decimal_or_bare_digits():
    for text in ("2024-03-17", "17.03.2024", "3.14159265", "-122.420493", "4155550132"):
        assert not is_phone(text)


def test_names_need_capitals_and_addresses_a_number():
    assert not is_person_name("internal medicine")
    assert not is_person_name("Room 7")
    assert not is_address("Main Street")
    assert not is_address("7 dwarfs")


PHONES = (
    """
+49 30 1234567|+49 (0)30 1234567|0049 30 1234567|030 1234567|030/1234567|(030) 1234567
0171-1234567|0171 123 45 67|+44 20 7946 0018|020 7946 0018|07700 900123|+33 1 23 45 67 89
01 23 45 67 89|01.23.45.67.89|+1 415-555-0132|(415) 555-0132|415-555-0132|415.555.0132
1-415-555-0132|+39 06 1234 5678|06 1234 5678|+34 912 34 56 78|912 34 56 78|+31 20 123 4567
020-1234567|+41 44 123 45 67|044 123 45 67|+43 1 5123456|01 5123456|+48 22 123 45 67
22 123 45 67|+46 8 123 456 78|08-123 456 78|+81 3-1234-5678|03-1234-5678|+91 98765 43210
+55 11 91234-5678|(11) 91234-5678|+61 2 9876 5432|(02) 9876 5432|+45 12 34 56 78|12 34 56 78
+86 10 1234 5678
""".strip()
    .replace("\n", "|")
    .split("|")
)
OTHERS = (
    """
1000-1999|36-04010|01-01301|2024-01-02|02.01.2024|12345-6789|123-45-6789|1 234 567
0002-1433-80|00093-7180-01|978-3-16-148410-0|1234-5678|2023-123456|192.168.1.10|4001.60
12345678|250.01|1.2.3|50-00-0|10000 - 19999|2023/01/12345|12345-6|0930 1200|0000123456
20240102|123456789012|3.14159265|(12) 34|+5|+1234|-12345678
""".strip()
    .replace("\n", "|")
    .split("|")
)


@pytest.mark.parametrize("text", PHONES)
def test_phone_numbers_of_many_countries_are_known_alone_and_in_a_text(text):
    assert is_phone(text)
    found = re.search(EMBEDDED["phone"].regex, f"am besten Tel. {text} anrufen", re.ASCII)
    assert found is not None


@pytest.mark.parametrize("text", OTHERS)
def test_codes_dates_and_ranges_are_no_phone_numbers_alone_or_in_a_text(text):
    assert not is_phone(text)
    assert not re.search(EMBEDDED["phone"].regex, f"ein Wert von {text} steht da", re.ASCII)


def test_an_iban_in_a_text_is_proven_by_its_check_digits():
    hidden = EMBEDDED["account"]
    for text, proven in (
        ("zahlt von DE89 3704 0044 0532 0130 00 BIC COBADEFF", True),
        ("zahlt von GB82WEST12345698765432.", True),
        ("zahlt von DE89 3704 0044 0532 0130 01 bar", False),
    ):
        found = [m[0] for m in re.finditer(hidden.regex, text)]
        assert any(map(hidden.proves, found)) is proven
