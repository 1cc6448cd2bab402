"""Numbers made up with their check digits, each by the text of its rule; none is anybody's."""

from __future__ import annotations

import string


def digits(chance, count, first=string.digits):
    """Return so many digits, the first of them out of a choice."""
    return chance.choice(first) + "".join(chance.choices(string.digits, k=count - 1))


def luhn_digit(body):
    """Return the digit that makes the sum of a number, every second digit doubled, end in 0."""
    doubled = [sum(map(int, str(2 * int(d)))) for d in body[::-1][::2]]
    plain = [int(d) for d in body[::-1][1::2]]
    return str(-(sum(doubled) + sum(plain)) % 10)


def card(chance):
    body = digits(chance, chance.choice([12, 15, 18]), "23456")
    return body + luhn_digit(body)


def imei(chance):
    body = digits(chance, 14)
    return body + luhn_digit(body)


def npi(chance):
    body = digits(chance, 9, "12")
    return body + luhn_digit("80840" + body)


def sin(chance):
    body = digits(chance, 8, "1234567")
    return body + luhn_digit(body)


def swedish(chance):
    body = f"{chance.randrange(100):02}{chance.randint(1, 12):02}{chance.randint(1, 28):02}"
    body += digits(chance, 3)
    return f"{body[:6]}-{body[6:]}{luhn_digit(body)}"


def iban(chance):
    """Two digits after the country, such that all, the country last, leaves 1 modulo 97."""
    account = "".join(chance.choices(string.ascii_uppercase + string.digits, k=18))
    spelled = "".join(str(string.digits.find(c) if c.isdigit() else ord(c) - 55)
                      for c in account + "GB00")  # fmt: skip
    return f"GB{98 - int(spelled) % 97:02}{account}"


def nhs(chance):
    while True:
        body = digits(chance, 9)
        rest = sum(int(d) * weight for d, weight in zip(body, range(10, 1, -1), strict=True)) % 11
        if rest != 1:
            return body + str((11 - rest) % 11)


def french(chance):
    body = digits(chance, 13, "12")
    return f"{body}{97 - int(body) % 97:02}"


def spanish(chance):
    number = chance.randrange(10**8)
    return f"{number:08}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


def dutch(chance):
    while True:
        body = digits(chance, 8, "123456789")
        rest = sum(int(d) * weight for d, weight in zip(body, range(9, 1, -1), strict=True)) % 11
        if rest < 10:
            return f"{body}{rest}"


def belgian(chance):
    century = chance.choice(["", "2"])
    body = f"{chance.randrange(100):02}{chance.randint(1, 12):02}{digits(chance, 5)}"
    return f"{body}{97 - int(century + body) % 97:02}"


def polish(chance):
    body = f"{chance.randrange(100):02}{chance.randint(1, 12):02}{digits(chance, 6)}"
    weights = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)
    return body + str(-sum(int(d) * w for d, w in zip(body, weights, strict=True)) % 10)


def finnish(chance):
    day, serial = digits(chance, 6), digits(chance, 3)
    return f"{day}-{serial}{'0123456789ABCDEFHJKLMNPRSTUVWXY'[int(day + serial) % 31]}"


def brazilian(chance):
    body = "1" + digits(chance, 8, "023456789")
    for length in (9, 10):
        weights = range(length + 1, 1, -1)
        rest = sum(int(d) * w for d, w in zip(body, weights, strict=True)) % 11
        body += "0" if rest < 2 else str(11 - rest)
    return body


def chinese(chance):
    body = digits(chance, 6, "123456789") + "19" + digits(chance, 9)
    total = sum(int(d) * 2 ** (17 - place) for place, d in enumerate(body))
    return body + "10X98765432"[total % 11]


def vin(chance):
    letters = {c: int(v) for c, v in zip("ABCDEFGHJKLMNPRSTUVWXYZ", "12345678123457923456789",
                                         strict=True)}  # fmt: skip
    places = [chance.choice([*letters, *string.digits]) for _ in range(17)]
    weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2]
    total = sum(letters.get(c, 0) * w if c in letters else int(c) * w
                for c, w in zip(places, weights, strict=True))  # fmt: skip
    places[8] = "0123456789X"[total % 11]
    return "".join(places)
