"""Verifying Ed25519 signatures (RFC 8032) with nothing but integers: for devices without a library.

It verifies and cannot sign: nothing here is secret, so it need not take the same time for all.
"""

from __future__ import annotations

from hashlib import sha512

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
Point = tuple[int, int, int, int]  # extended coordinates: x = X/Z, y = Y/Z, x·y = T/Z


def _recover_x(y: int, sign: int) -> int | None:
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    if not square:
        return None if sign else 0
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P:
        return None
    return P - x if x & 1 != sign else x


def _point(text: bytes) -> Point | None:
    number = int.from_bytes(text, "little")
    y = number & ((1 << 255) - 1)
    x = _recover_x(y, number >> 255)
    return None if x is None else (x, y, 1, x * y % P)


def _add(one: Point, other: Point) -> Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * D % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _times(number: int, point: Point) -> Point:
    found: Point = (0, 1, 1, 0)
    while number:
        if number & 1:
            found = _add(found, point)
        point = _add(point, point)
        number >>= 1
    return found


def _is_same(one: Point, other: Point) -> bool:
    return not (
        (one[0] * other[2] - other[0] * one[2]) % P or (one[1] * other[2] - other[1] * one[2]) % P
    )


_BASE_Y = 4 * pow(5, P - 2, P) % P
_BASE_X = _recover_x(_BASE_Y, 0) or 0
BASE: Point = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % P)


def verifies(key: bytes, message: bytes, signature: bytes) -> bool:
    """Say whether a signature of a message was made with the secret half of a public key.

    Example:
        The first test of RFC 8032, section 7.1:

        >>> key = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
        >>> made = bytes.fromhex(
        ...     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        ...     "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ... )
        >>> verifies(key, b"", made), verifies(key, b"x", made)
        (True, False)
    """
    if len(key) != 32 or len(signature) != 64:
        return False
    public, nonce = _point(key), _point(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if public is None or nonce is None or scalar >= L:
        return False
    digest = sha512(signature[:32] + key + message).digest()
    challenge = int.from_bytes(digest, "little") % L
    return _is_same(_times(scalar, BASE), _add(nonce, _times(challenge, public)))
