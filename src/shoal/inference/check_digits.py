"""Numbers that prove themselves: check digits of cards, accounts and national identity numbers.

Every test takes a text as it stands in a table and says whether it is a valid number of
its kind. Spaces, dots and dashes between the digits are allowed where people write them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_LOOSE = re.compile(r"[\s.\-/]")


def digits_of(text: str) -> str:
    """Return the text without the separators that people put between digits.

    Example:
        >>> digits_of("4111 1111-1111.1111")
        '4111111111111111'
    """
    return _LOOSE.sub("", text)


def _is_digits(text: str, *lengths: int) -> bool:
    return len(text) in lengths and text.isascii() and text.isdigit()


def luhn(digits: str) -> bool:
    """Say whether the last digit is the Luhn digit of the others.

    Example:
        >>> luhn("79927398713"), luhn("79927398710")
        (True, False)
    """
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _weighted(digits: str, weights: Sequence[int]) -> int:
    return sum(int(d) * w for d, w in zip(digits, weights, strict=True))


def is_card(text: str) -> bool:
    """Payment card: 13 to 19 digits, an issuer's first digit, Luhn."""
    digits = digits_of(text)
    return _is_digits(digits, *range(13, 20)) and digits[0] in "23456" and luhn(digits)


def is_imei(text: str) -> bool:
    """Mobile device: 15 digits, Luhn."""
    digits = digits_of(text)
    return _is_digits(digits, 15) and luhn(digits)


def is_iban(text: str) -> bool:
    """Bank account: country, two check digits, modulo 97.

    Example:
        >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB82 WEST 1234 5698 7654 33")
        (True, False)
    """
    plain = digits_of(text).upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", plain, re.ASCII):
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


_IBAN_COUNTRIES = {
    15: "NO", 16: "BE", 18: "DK FI FO GL NL", 19: "MK SI", 20: "AT BA EE KZ LT LU XK",
    21: "CH HR LI LV", 22: "BG BH CR DE GB GE IE ME RS", 23: "AE GI IL TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG", 25: "PT", 26: "IS TR", 27: "FR GR IT MC SM",
    28: "AL AZ CY DO GT HU LB PL", 29: "BR EG PS QA UA", 30: "JO KW MU", 31: "MT SC",
}  # fmt: skip
_IBAN_LENGTHS = {c: length for length, some in _IBAN_COUNTRIES.items() for c in some.split()}


def starts_with_iban(text: str) -> bool:
    """Say whether a text begins with an IBAN; how long it is, its country says.

    Example:
        >>> starts_with_iban("DE89 3704 0044 0532 0130 00 BIC"), starts_with_iban("DE89 1234")
        (True, False)
    """
    plain = digits_of(text).upper()
    return is_iban(plain[: _IBAN_LENGTHS.get(plain[:2], len(plain))])


def is_us_ssn(text: str) -> bool:
    """United States social security number; it has no check digit, only forbidden parts."""
    found = re.fullmatch(r"(\d{3})-(\d{2})-(\d{4})", text.strip(), re.ASCII)
    if not found:
        return False
    area, group, serial = found.groups()
    return area not in ("000", "666") and area[0] != "9" and group != "00" and serial != "0000"


def is_us_npi(text: str) -> bool:
    """United States health provider: 10 digits starting with 1 or 2, Luhn behind 80840."""
    digits = digits_of(text)
    return _is_digits(digits, 10) and digits[0] in "12" and luhn("80840" + digits)


def is_canadian_sin(text: str) -> bool:
    """Canadian social insurance number: 9 digits, Luhn, not starting with 0 or 8."""
    digits = digits_of(text)
    return _is_digits(digits, 9) and digits[0] not in "08" and luhn(digits)


def is_uk_nhs(text: str) -> bool:
    """British NHS number: 10 digits, modulo 11."""
    digits = digits_of(text)
    if not _is_digits(digits, 10):
        return False
    check = 11 - _weighted(digits[:9], range(10, 1, -1)) % 11
    return check != 10 and int(digits[9]) == check % 11


def is_uk_nino(text: str) -> bool:
    """British national insurance number: the letters that may occur, six digits, A to D."""
    plain = digits_of(text).upper()
    if plain[:2] in ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ"):
        return False
    return bool(re.fullmatch(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]", plain, re.ASCII))


def is_german_tax_id(text: str) -> bool:
    """German tax identification number: 11 digits, ISO 7064 modulo 11,10."""
    digits = digits_of(text)
    if not _is_digits(digits, 11) or digits[0] == "0":
        return False
    product = 10
    for digit in digits[:10]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(digits[10])


def is_french_nir(text: str) -> bool:
    """French social security number: 15 places, key modulo 97 (Corsica as 2A and 2B)."""
    plain = digits_of(text).upper()
    if not re.fullmatch(r"[1-478]\d{4}(\d\d|2[AB])\d{8}", plain, re.ASCII):
        return False
    body = plain[:13].replace("2A", "19").replace("2B", "18")
    return 97 - int(body) % 97 == int(plain[13:])


def is_spanish_dni(text: str) -> bool:
    """Spanish DNI or NIE: the letter is the number modulo 23."""
    plain = digits_of(text).upper()
    if not re.fullmatch(r"[XYZ\d]\d{7}[A-Z]", plain, re.ASCII):
        return False
    number = int(plain[:-1].translate(str.maketrans("XYZ", "012")))
    return plain[-1] == "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23]


def is_italian_code(text: str) -> bool:
    """Italian codice fiscale: 16 places, the last one a check letter."""
    plain = digits_of(text).upper()
    if not re.fullmatch(r"[A-Z]{6}\w{2}[A-EHLMPRST]\w{2}[A-Z]\w{3}[A-Z]", plain, re.ASCII):
        return False
    odd = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
           23)  # fmt: skip
    total = 0
    for place, char in enumerate(plain[:15]):
        value = int(char) if char.isdigit() else ord(char) - 65
        total += value if place % 2 else odd[value]
    return chr(65 + total % 26) == plain[15]


def is_dutch_bsn(text: str) -> bool:
    """Dutch citizen service number: 9 digits, the eleven test."""
    digits = digits_of(text)
    if not _is_digits(digits, 9) or not int(digits):
        return False
    return _weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def is_belgian_number(text: str) -> bool:
    """Belgian national number: 11 digits, modulo 97 (with a 2 in front from 2000 on)."""
    digits = digits_of(text)
    if not _is_digits(digits, 11) or not 0 <= int(digits[2:4]) <= 12:
        return False
    body, check = digits[:9], int(digits[9:])
    return check in (97 - int(body) % 97, 97 - int("2" + body) % 97)


def is_polish_pesel(text: str) -> bool:
    """Polish PESEL: 11 digits, modulo 10."""
    digits = digits_of(text)
    if not _is_digits(digits, 11) or not 1 <= int(digits[2:4]) % 20 <= 12:
        return False
    return _weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def is_swedish_number(text: str) -> bool:
    """Swedish personal number: (YY)YYMMDD-NNNN, Luhn over the last ten digits."""
    found = re.fullmatch(r"(?:\d\d)?(\d{6})[-+]?(\d{4})", text.strip(), re.ASCII)
    if not found or not 1 <= int(found[1][2:4]) <= 12 or not 1 <= int(found[1][4:6]) % 60 <= 31:
        return False
    return luhn(found[1] + found[2])


def is_finnish_code(text: str) -> bool:
    """Finnish personal code: DDMMYY, a century sign, three digits, a check character."""
    found = re.fullmatch(r"(\d{6})[-+A-FU-Y](\d{3})([0-9A-Y])", text.strip().upper(), re.ASCII)
    if not found:
        return False
    return found[3] == "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(found[1] + found[2]) % 31]


def is_brazilian_cpf(text: str) -> bool:
    """Brazilian CPF: 11 digits, two check digits modulo 11."""
    digits = digits_of(text)
    if not _is_digits(digits, 11) or len(set(digits)) == 1:
        return False
    return all(
        _weighted(digits[:n], range(n + 1, 1, -1)) * 10 % 11 % 10 == int(digits[n]) for n in (9, 10)
    )


def is_chinese_id(text: str) -> bool:
    """Chinese resident identity number: 18 places, ISO 7064 modulo 11,2."""
    plain = text.strip().upper()
    if not re.fullmatch(r"[1-9]\d{5}(18|19|20)\d{9}[\dX]", plain, re.ASCII):
        return False
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return "10X98765432"[_weighted(plain[:17], weights) % 11] == plain[17]


_MULTIPLY = (
    "0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
    "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
)  # fmt: skip
_PERMUTE = (
    "0123456789", "1576283094", "5803796142", "8916043527",
    "9453126870", "4286573901", "2793806415", "7046913258",
)  # fmt: skip


def is_indian_aadhaar(text: str) -> bool:
    """Indian Aadhaar number: 12 digits, not starting with 0 or 1, Verhoeff.

    Example:
        >>> is_indian_aadhaar("2341 2341 2346"), is_indian_aadhaar("2341 2341 2345")
        (True, False)
    """
    digits = digits_of(text)
    if not _is_digits(digits, 12) or digits[0] in "01":
        return False
    check = 0
    for place, digit in enumerate(reversed(digits)):
        check = int(_MULTIPLY[check][int(_PERMUTE[place % 8][int(digit)])])
    return check == 0


def is_vin(text: str) -> bool:
    """Vehicle identification number: 17 places, the ninth one a check character.

    Example:
        >>> is_vin("1M8GDM9AXKP042788"), is_vin("1M8GDM9A1KP042788")
        (True, False)
    """
    plain = text.strip().upper()
    if not re.fullmatch(r"[A-HJ-NPR-Z0-9]{17}", plain, re.ASCII):
        return False
    values = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", "12345678123457923456789", strict=True))
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    return (
        "0123456789X"[_weighted("".join(values.get(c, c) for c in plain), weights) % 11] == plain[8]
    )


NATIONAL: dict[str, tuple[Callable[[str], bool], float]] = {
    "United States social security number": (is_us_ssn, 0.05),
    "Canadian social insurance number": (is_canadian_sin, 0.1),
    "British NHS number": (is_uk_nhs, 0.09),
    "British national insurance number": (is_uk_nino, 0.01),
    "German tax number": (is_german_tax_id, 0.1),
    "French social security number": (is_french_nir, 0.01),
    "Spanish identity number": (is_spanish_dni, 0.05),
    "Italian tax code": (is_italian_code, 0.02),
    "Dutch citizen number": (is_dutch_bsn, 0.1),
    "Belgian national number": (is_belgian_number, 0.02),
    "Polish PESEL": (is_polish_pesel, 0.06),
    "Swedish personal number": (is_swedish_number, 0.02),
    "Finnish personal code": (is_finnish_code, 0.02),
    "Brazilian CPF": (is_brazilian_cpf, 0.01),
    "Chinese identity number": (is_chinese_id, 0.01),
    "Indian Aadhaar number": (is_indian_aadhaar, 0.08),
}
"""National identity numbers: the test, and how often a random number of that form passes."""
