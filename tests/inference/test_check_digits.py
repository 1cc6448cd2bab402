"""Check digits: published examples pass, and one changed digit fails nearly always."""

import random
import string

import pytest
from tests.naive import check_digits as naive

from shoal.inference import check_digits as check

# Published test numbers, none of which belongs to a person.
VALID = {
    check.is_card: ("4111 1111 1111 1111", "5555-5555-5555-4444", "6011111111111117"),
    check.is_imei: ("490154203237518",),
    check.is_iban: ("GB82 WEST 1234 5698 7654 32", "DE89370400440532013000"),
    check.is_us_npi: ("1234567893",),
    check.is_canadian_sin: ("130 692 544",),
    check.is_uk_nhs: ("943 476 5919",),
    check.is_german_tax_id: ("86095742719", "47036892816"),
    check.is_french_nir: ("255081416802538",),
    check.is_spanish_dni: ("12345678Z", "X1234567L"),
    check.is_italian_code: ("RSSMRA85T10A562S",),
    check.is_dutch_bsn: ("111222333",),
    check.is_belgian_number: ("85.07.30-033.28",),
    check.is_polish_pesel: ("44051401359",),
    check.is_swedish_number: ("811228-9874", "19811228-9874"),
    check.is_finnish_code: ("131052-308T",),
    check.is_brazilian_cpf: ("111.444.777-35",),
    check.is_chinese_id: ("11010519491231002X",),
    check.is_indian_aadhaar: ("2341 2341 2346",),
    check.is_vin: ("1M8GDM9AXKP042788", "11111111111111111"),
}


@pytest.mark.parametrize(("test", "texts"), VALID.items(), ids=lambda x: getattr(x, "__name__", ""))
def test_published_numbers_pass(test, texts):
    assert all(test(text) for text in texts)


@pytest.mark.parametrize(("test", "texts"), VALID.items(), ids=lambda x: getattr(x, "__name__", ""))
def test_one_changed_digit_is_noticed(test, texts):
    chance = random.Random(1)
    noticed = tried = 0
    for text in texts:
        for _ in range(60):
            at = chance.choice([i for i, c in enumerate(text) if c.isdigit()])
            digit = chance.choice([d for d in string.digits if d != text[at]])
            noticed += not test(text[:at] + digit + text[at + 1 :])
            tried += 1
    assert noticed >= 0.9 * tried


@pytest.mark.parametrize("test", [*VALID, check.is_us_ssn, check.is_uk_nino])
def test_other_texts_never_pass_and_never_raise(test):
    for text in ("", " ", "abc", "12", "²³¹²³¹²³¹", "٣٤٥٦٧٨٩٠١", "-" * 20, "0" * 400):
        assert not test(text)


def test_social_security_numbers_need_their_dashes_and_allowed_parts():
    assert check.is_us_ssn("219-09-9999")
    for text in ("219099999", "000-12-3456", "666-12-3456", "912-12-3456", "219-00-9999"):
        assert not check.is_us_ssn(text)


MADE = {
    check.is_card: naive.card, check.is_imei: naive.imei, check.is_us_npi: naive.npi,
    check.is_canadian_sin: naive.sin, check.is_swedish_number: naive.swedish,
    check.is_iban: naive.iban, check.is_uk_nhs: naive.nhs, check.is_french_nir: naive.french,
    check.is_spanish_dni: naive.spanish, check.is_dutch_bsn: naive.dutch,
    check.is_belgian_number: naive.belgian, check.is_polish_pesel: naive.polish,
    check.is_finnish_code: naive.finnish, check.is_brazilian_cpf: naive.brazilian,
    check.is_chinese_id: naive.chinese, check.is_vin: naive.vin,
}  # fmt: skip


@pytest.mark.parametrize(("test", "make"), MADE.items(), ids=lambda x: getattr(x, "__name__", ""))
def test_numbers_made_by_the_rule_pass_and_their_neighbours_do_not(test, make):
    chance = random.Random(7)
    for _ in range(40):
        number = make(chance)
        assert test(number)
        assert test(f" {number} ")
        at = 8 if make is naive.vin else 2 if make is naive.iban else len(number) - 1
        alphabet = string.ascii_uppercase if number[at].isalpha() else string.digits
        others = [number[:at] + c + number[at + 1 :] for c in alphabet if c != number[at]]
        assert sum(map(test, others)) <= 1  # a rest of 10 or 11 may share a digit


@pytest.mark.parametrize("test", [check.is_card, check.is_iban, check.is_indian_aadhaar])
def test_separators_do_not_matter(test):
    for text in VALID[test]:
        plain = check.digits_of(text)
        for mark in (" ", "-", ".", "/"):
            assert test(mark.join(plain[i : i + 4] for i in range(0, len(plain), 4)))


def test_an_iban_is_found_at_the_beginning_of_a_text():
    for text in VALID[check.is_iban]:
        assert check.starts_with_iban(f"{text} and more words")
        assert not check.starts_with_iban(f"x {text}")


def test_insurance_numbers_have_allowed_letters_only():
    assert check.is_uk_nino("AB 12 34 56 C")
    for text in ("BG123456C", "DA123456C", "AO123456C", "AB123456E", "AB12345C"):
        assert not check.is_uk_nino(text)


def test_every_national_number_has_its_words_and_its_chance():
    assert len(check.NATIONAL) == 16
    for words, (test, chance) in check.NATIONAL.items():
        assert words.split()
        assert callable(test)
        assert 0 < chance <= 0.1


@pytest.mark.parametrize("words", check.NATIONAL)
def test_random_digits_pass_no_more_often_than_the_table_says(words):
    test, chance = check.NATIONAL[words]
    dice = random.Random(3)
    for length in range(8, 19):
        texts = ["".join(dice.choices(string.digits, k=length)) for _ in range(300)]
        assert sum(map(test, texts)) <= 300 * chance + 4 * (300 * chance) ** 0.5 + 3
