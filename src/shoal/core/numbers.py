"""Numbers as texts: the one way in which each is written."""

from __future__ import annotations

import math

from shoal.core.keys import number_key

_MOST = 308  # digits before or behind the point; beyond, floats have no number


def number_text(x: float) -> str:
    """Return the one text of a number: integers without a fraction, others as `repr`.

    Example:
        >>> number_text(34.0), number_text(0.1), number_text(-0.0)
        ('34', '0.1', '0')
    """
    if isinstance(x, int):
        return str(int(x))
    value = float(x)
    return str(int(value)) if math.isfinite(value) and value.is_integer() else repr(value)


def number_label(text: str) -> str | None:
    """Return the one way in which a number is written; None if the text is no number.

    Example:
        >>> number_label(" 010.50"), number_label("1e3"), number_label("-.0")
        ('10.5', '1000', '0')
    """
    key = number_key(text) if len(text) <= 2 * _MOST else None
    if key is None:
        return None
    sign, power, digits = key
    if not digits:
        return "0"
    if sign < 0:  # the key counts down; see `number_key`
        power, digits = -power, "".join(str(9 - int(digit)) for digit in digits[:-1])
    if abs(power) > _MOST:
        return None
    if power <= 0:
        plain = "0." + "0" * -power + digits
    elif power >= len(digits):
        plain = digits + "0" * (power - len(digits))
    else:
        plain = digits[:power] + "." + digits[power:]
    if len(plain) > len(digits) + 21:
        tail = f".{digits[1:]}" if digits[1:] else ""
        plain = f"{digits[0]}{tail}e{power - 1}"
    return f"-{plain}" if sign < 0 else plain
