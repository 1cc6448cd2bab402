"""Lines of JSON in, lines of JSON out: what is not recoded is passed on as it was written.

A number of a neutral column keeps its digits and a text its escapes, whatever the
machine: only the quasi-identifiers are taken apart. In the same small part of Python as
`runtime`, because exports carry both.
"""

from __future__ import annotations

from shoal.core.keys import DIGITS, SPACE
from shoal.model.column import Rejected
from shoal.model.runtime import Encoder

ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
QUOTED = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
BLANK = " \t\n\r"
DEEP = 40  # nesting that a line may have
HEX = "0123456789abcdefABCDEF"


def quote(text: str | None) -> str:
    """Return a text as JSON writes it; None as null."""
    if text is None:
        return "null"
    parts = []
    for char in text:
        if char in QUOTED:
            parts.append(QUOTED[char])
        elif char < " ":
            code = ord(char)
            parts.append("\\u00" + HEX[code // 16] + HEX[code % 16])
        else:
            parts.append(char)
    return '"' + "".join(parts) + '"'


def _broken() -> Rejected:
    return Rejected("not one JSON object")


def _skip(line: str, at: int) -> int:
    while at < len(line) and line[at] in BLANK:
        at += 1
    return at


def _end_of_text(line: str, at: int) -> int:
    """Return the place behind a text that begins at `at`."""
    begin = at + 1
    end = begin
    while True:
        end = line.find('"', end)
        if end < 0:
            raise _broken()
        slashes = 0
        while line[end - 1 - slashes] == "\\" and end - 1 - slashes >= begin:
            slashes += 1
        if slashes % 2 == 0:
            break
        end += 1
    _check_text(line[begin:end])
    return end + 1


def _check_text(body: str) -> None:
    for char in body:
        if char < " ":
            raise _broken()
    at = body.find("\\")
    while at >= 0:
        mark = body[at + 1]
        if mark == "u":
            if len(body) < at + 6 or body[at + 2 : at + 6].strip(HEX):
                raise _broken()
        elif mark not in ESCAPES:
            raise _broken()
        at = body.find("\\", at + 2)


def _end_of_number(line: str, at: int) -> int:
    end = at
    while end < len(line) and line[end] in "+-.0123456789eE":
        end += 1
    token = line[at:end]
    body = token[1:] if token[:1] == "-" else token
    mantissa = body
    for mark in "eE":
        place = mantissa.find(mark)
        if place >= 0:
            power = mantissa[place + 1 :]
            power = power[1:] if power[:1] == "+" or power[:1] == "-" else power
            mantissa = mantissa[:place]
            if not power or power.strip(DIGITS):
                raise _broken()
    place = mantissa.find(".")
    whole = mantissa if place < 0 else mantissa[:place]
    part = "0" if place < 0 else mantissa[place + 1 :]
    if not whole or not part or whole.strip(DIGITS) or part.strip(DIGITS):
        raise _broken()
    if len(whole) > 1 and whole[0] == "0":
        raise _broken()
    return end


def _end_of_value(line: str, at: int, depth: int) -> int:
    char = line[at : at + 1]
    if char == '"':
        return _end_of_text(line, at)
    if char == "{" or char == "[":
        if depth >= DEEP:
            raise Rejected("nested too deeply")
        return _end_of_nest(line, at, depth)
    for word in ("true", "false", "null"):
        if line[at : at + len(word)] == word:
            return at + len(word)
    return _end_of_number(line, at)


def _end_of_nest(line: str, at: int, depth: int) -> int:
    is_object = line[at] == "{"
    close = "}" if is_object else "]"
    at = _skip(line, at + 1)
    if line[at : at + 1] == close:
        return at + 1
    while True:
        if is_object:
            if line[at : at + 1] != '"':
                raise _broken()
            at = _skip(line, _end_of_text(line, at))
            if line[at : at + 1] != ":":
                raise _broken()
            at = _skip(line, at + 1)
        at = _skip(line, _end_of_value(line, at, depth + 1))
        if line[at : at + 1] == close:
            return at + 1
        if line[at : at + 1] != ",":
            raise _broken()
        at = _skip(line, at + 1)


def text_in(token: str) -> str:
    """Return the text that a JSON text stands for."""
    body = token[1:-1]
    if "\\" not in body:
        return body
    parts = []
    at = 0
    while at < len(body):
        if body[at] != "\\":
            parts.append(body[at])
            at += 1
            continue
        mark = body[at + 1]
        if mark != "u":
            parts.append(ESCAPES[mark])
            at += 2
            continue
        code = int(body[at + 2 : at + 6], 16)
        at += 6
        if 0xD800 <= code < 0xDC00 and body[at : at + 2] == "\\u":
            low = int(body[at + 2 : at + 6], 16)
            if 0xDC00 <= low < 0xE000:
                code = 0x10000 + (code - 0xD800) * 1024 + low - 0xDC00
                at += 6
        if 0xD800 <= code < 0xE000:
            raise Rejected("half a character in a text")
        parts.append(chr(code))
    return "".join(parts)


def plain(token: str) -> str | None:
    """Return a JSON value as the text that the encoder reads; None for null."""
    if token == "null":
        return None
    if token[0] == '"':
        return text_in(token)
    if token[0] == "{" or token[0] == "[":
        raise Rejected("a quasi-identifier holds a list or an object")
    if token == "true" or token == "false":
        return token
    return number_text(token)


def number_text(token: str) -> str:
    """Return a JSON number as text: 5.0 and -0 as the whole numbers they are."""
    if not token.strip(DIGITS):
        return token
    mantissa = token
    if "e" not in token and "E" not in token:
        at = token.find(".")
        if at >= 0 and not token[at + 1 :].strip("0"):
            mantissa = token[:at]
    return "0" if mantissa == "-0" else mantissa


def scan(line: str) -> dict[str, str]:
    """Return the members of one JSON object: each name, and its value as it is written.

    Raises:
        Rejected: the line is no JSON object, or a name stands in it twice.
    """
    at = _skip(line, 0)
    if line[at : at + 1] != "{":
        raise _broken()
    found: dict[str, str] = {}
    at = _skip(line, at + 1)
    while line[at : at + 1] != "}" or found:
        if line[at : at + 1] != '"':
            raise _broken()
        end = _end_of_text(line, at)
        name = text_in(line[at:end])
        at = _skip(line, end)
        if line[at : at + 1] != ":":
            raise _broken()
        at = _skip(line, at + 1)
        end = _end_of_value(line, at, 1)
        if name in found:
            raise Rejected("a name stands twice")
        found[name] = line[at:end]
        at = _skip(line, end)
        if line[at : at + 1] == "}":
            break
        if line[at : at + 1] != ",":
            raise _broken()
        at = _skip(line, at + 1)
    if line[at + 1 :].strip(SPACE):
        raise _broken()
    return found


def encode_line(encoder: Encoder, line: str) -> tuple[str | None, int]:
    """Encode one line; return (its released line, class), the line None if it is removed.

    The class is -1 where no class covers the record, -2 where it is suppressed.
    """
    found = scan(line)
    for name in encoder.names:
        if name not in found:
            raise Rejected("a quasi-identifier is not there")
    labels, region = encoder.tuple_of([plain(found[name]) for name in encoder.names])
    others = encoder.kept_others(found)
    if labels is None:
        if encoder.suppressed == "remove":
            return None, -2
        labels = encoder.roots
        region = -2
    new = dict(zip(encoder.names, labels))
    parts = []
    for name in encoder.released + others:
        if name in new:
            is_number = encoder.is_number(new[name], found[name])
            parts.append(quote(name) + ":" + (str(new[name]) if is_number else quote(new[name])))
        elif name in found:
            parts.append(quote(name) + ":" + found[name])
    return "{" + ",".join(parts) + "}", region
