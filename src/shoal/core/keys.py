"""What numbers and dates are compared by: exact, and the same on every machine.

In the part of Python that CPython from 3.8 on and MicroPython share, because exports
carry this file.
"""

from __future__ import annotations

SPACE = " \t\n\r\x0b\x0c"
DIGITS = "0123456789"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def number_key(text: str) -> tuple[int, int, str] | None:
    """Return a key that sorts exactly as the number does; None if the text is no number.

    No binary fraction is involved: machines whose floats differ agree on every edge.
    """
    text = text.strip(SPACE)
    sign = 1
    if text[:1] == "-" or text[:1] == "+":
        sign = -1 if text[0] == "-" else 1
        text = text[1:]
    power = 0
    at = text.find("e")
    if at < 0:
        at = text.find("E")
    if at >= 0:
        shift = text[at + 1 :]
        text = text[:at]
        bare = shift[1:] if shift[:1] == "-" or shift[:1] == "+" else shift
        if not bare or bare.strip(DIGITS) or len(bare) > 6:
            return None
        power = int(shift)
    at = text.find(".")
    digits = text
    power += len(text)
    if at >= 0:
        digits = text[:at] + text[at + 1 :]
        power += at - len(text)
    if not digits or digits.strip(DIGITS):
        return None
    short = digits.lstrip("0")
    power -= len(digits) - len(short)
    short = short.rstrip("0")
    if not short:
        return (0, 0, "")
    if sign > 0:
        return (1, power, short)
    # Larger digits are smaller numbers here, and a number that goes on is smaller still.
    return (-1, -power, "".join([DIGITS[9 - int(digit)] for digit in short]) + ":")


def _two(text: str, most: int) -> bool:
    return len(text) == 2 and not text.strip(DIGITS) and int(text) <= most


def iso_of(text: str, form: str) -> str | None:
    """Return a date that is written in a form as an ISO one; None if it does not fit.

    A form has %d, %m or %b, %Y or %y, and what stands between them; a time of day may follow.
    """
    text = text.strip(SPACE)
    found = {}
    at = 0
    place = 0
    while place < len(form):
        if form[place] != "%":
            if text[at : at + 1] != form[place]:
                return None
            at += 1
            place += 1
            continue
        what = form[place + 1]
        place += 2
        if what == "b":
            name = text[at : at + 3].lower()
            if name not in MONTHS:
                return None
            found["m"] = str(MONTHS.index(name) + 1)
            at += 3
            continue
        begin = at
        while at < len(text) and at - begin < (4 if what == "Y" else 2) and text[at] in DIGITS:
            at += 1
        if at - begin < (4 if what == "Y" else 2 if what == "y" else 1):
            return None
        found[what] = text[begin:at]
    year = found.get("Y")
    if year is None:
        year = ("19" if found["y"] >= "69" else "20") + found["y"]
    month, day = ("0" + found["m"])[-2:], ("0" + found["d"])[-2:]
    return year + "-" + month + "-" + day + text[at:]


def date_key(text: str, form: str | None = None) -> str | None:
    """Return a text that sorts as the date does; None if it is no date or time.

    Dates are ISO dates, or written in the form; a time of day alone is one, too. A zone is
    left as it is written.
    """
    text = text.strip(SPACE)
    if form:
        text = iso_of(text, form) or text
    if text[2:3] == ":":
        return _clock(" " + text)
    year, month, day = text[:4], text[5:7], text[8:10]
    if text[4:5] != "-" or text[7:8] != "-" or len(year) != 4 or year.strip(DIGITS):
        return None
    if not _two(month, 12) or not _two(day, 31) or month == "00" or day == "00" or year == "0000":
        return None
    number = int(year)
    leap = number % 4 == 0 and (number % 100 != 0 or number % 400 == 0)
    if int(day) > DAYS[int(month) - 1] + (1 if leap and month == "02" else 0):
        return None
    clock = _clock(text[10:])
    return None if clock is None else text[:10] + " " + clock


def _clock(text: str) -> str | None:
    """Return HH:MM:SS.ffffff of the text behind a day."""
    if not text:
        return "00:00:00.000000"
    if text[0] != "T" and text[0] != " ":
        return None
    text = _without_zone(text[1:])
    at = text.find(".")
    rest = text[at + 1 :] if at >= 0 else "0"
    text = text[:at] if at >= 0 else text
    if not rest or len(rest) > 6 or rest.strip(DIGITS) or (at >= 0 and len(text) != 8):
        return None
    if len(text) == 5:
        text += ":00"
    if len(text) != 8 or text[2] != ":" or text[5] != ":":
        return None
    if not _two(text[:2], 23) or not _two(text[3:5], 59) or not _two(text[6:], 59):
        return None
    return text + "." + rest + "000000"[len(rest) :]


def _without_zone(text: str) -> str:
    """Return a time of day without its zone; nothing if that is none."""
    for mark in "Z+-":
        at = text.find(mark)
        if at >= 0:
            zone = text[at + 1 :]
            is_zone = not zone if mark == "Z" else _is_zone(zone)
            return text[:at] if is_zone else ""
    return text


def _is_zone(zone: str) -> bool:
    if len(zone) == 5 and zone[2] == ":":
        return _two(zone[:2], 23) and _two(zone[3:], 59)
    return _two(zone, 23) or (len(zone) == 4 and _two(zone[:2], 23) and _two(zone[2:], 59))
