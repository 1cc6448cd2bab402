"""A small language for `--where`: comparisons joined by `and`, read as data, never evaluated.

    age >= 18 and sex = Female and diagnosis is not missing and ward in (A, B)

A comparison looks at one record alone, so a filter never changes what one
person can do to an answer. A value that cannot be compared (a missing one, or
text against a number) fails every test but `is missing` and `!=`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from shoal.core.errors import MethodError

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    |(?P<sign><=|>=|!=|==|=|<|>|\(|\)|,)
    |(?P<word>[^\s<>=!(),'"]+))""",
    re.VERBOSE,
)
_SIGNS = ("<", "<=", ">", ">=", "=", "==", "!=")


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison of a column with one or more given values."""

    column: str
    sign: str  # one of < <= > >= = != in missing present
    values: tuple[str, ...] = ()


def parse_where(text: str) -> tuple[Condition, ...]:
    """Read a filter.

    Raises:
        MethodError: the text is not a list of comparisons joined by `and`.

    Example:
        >>> parse_where("age >= 18 and ward in (A, 'B 2')")[1]
        Condition(column='ward', sign='in', values=('A', 'B 2'))
    """
    tokens = _tokens(text)
    found: list[Condition] = []
    at = 0
    while at < len(tokens):
        if found:
            if not _is_word(tokens[at], "and"):
                raise _fault("comparisons are joined by 'and'")
            at += 1
        condition, at = _condition(tokens, at)
        found.append(condition)
    if not found:
        raise _fault("there is no comparison in it")
    return tuple(found)


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise _fault(f"character {at + 1} cannot be read (is a quote left open?)")
        kind = str(match.lastgroup)
        word = match.group(kind)
        if kind == "text":
            word = word[1:-1].replace(word[0] * 2, word[0])
        tokens.append((kind, word))
        at = match.end()
    return tokens


def _condition(tokens: list[tuple[str, str]], at: int) -> tuple[Condition, int]:
    column = _name(tokens, at)
    at += 1
    if at >= len(tokens):
        raise _fault(f"column {column!r} is compared with nothing")
    kind, sign = tokens[at]
    if kind == "sign" and sign in _SIGNS:
        value = _name(tokens, at + 1)
        return Condition(column, "=" if sign == "==" else sign, (value,)), at + 2
    if _is_word(tokens[at], "is"):
        words = [word.lower() for _, word in tokens[at + 1 : at + 3]]
        if words[:1] == ["missing"]:
            return Condition(column, "missing"), at + 2
        if words == ["not", "missing"]:
            return Condition(column, "present"), at + 3
    if _is_word(tokens[at], "in"):
        return _listed(tokens, at + 1, column=column)
    raise _fault(
        f"column {column!r} is followed by none of = != < <= > >= in (…), is missing, "
        "is not missing"
    )


def _listed(tokens: list[tuple[str, str]], at: int, *, column: str) -> tuple[Condition, int]:
    values: list[str] = []
    if at >= len(tokens) or tokens[at] != ("sign", "("):
        raise _fault(f"column {column!r}: 'in' needs a list in parentheses")
    while True:
        values.append(_name(tokens, at + 1))
        at += 2
        if at < len(tokens) and tokens[at] == ("sign", ")"):
            return Condition(column, "in", tuple(values)), at + 1
        if at >= len(tokens) or tokens[at] != ("sign", ","):
            raise _fault(f"column {column!r}: the list after 'in' is not closed")


def _name(tokens: list[tuple[str, str]], at: int) -> str:
    if at >= len(tokens) or tokens[at][0] == "sign":
        raise _fault("a name or a value is missing")
    return tokens[at][1]


def _is_word(token: tuple[str, str], word: str) -> bool:
    return token[0] == "word" and token[1].lower() == word


def _fault(problem: str) -> MethodError:
    return MethodError(problem=f"where: {problem}. Write it like: age >= 18 and sex = 'F'")


def expression(conditions: tuple[Condition, ...], types: Mapping[str, pl.DataType]) -> pl.Expr:
    """Return the filter as an expression that is never null.

    Raises:
        MethodError: an order was asked of something that is not a number.
    """
    tests = [_test(condition, types[condition.column]) for condition in conditions]
    return pl.all_horizontal(tests)


def _test(condition: Condition, kind: pl.DataType) -> pl.Expr:
    column = pl.col(condition.column)
    if condition.sign == "missing":
        return column.is_null()
    if condition.sign == "present":
        return column.is_not_null()
    if condition.sign in ("=", "!=", "in"):
        same = pl.any_horizontal([_equal(column, value, kind) for value in condition.values])
        return ~same if condition.sign == "!=" else same
    wanted = _number(condition.values[0])
    if wanted is None or not (kind.is_numeric() or kind == pl.String):
        raise _fault(f"column {condition.column!r}: {condition.sign} compares numbers only")
    number = as_number(column, kind)
    if not kind.is_integer():
        number = number.fill_nan(None)  # NaN would pass as larger than everything
    test = {"<": number.lt, "<=": number.le, ">": number.gt, ">=": number.ge}[condition.sign]
    return test(wanted).fill_null(False)


def _equal(column: pl.Expr, value: str, kind: pl.DataType) -> pl.Expr:
    if kind == pl.Boolean:
        return column.eq(value.lower() in ("true", "1", "yes")).fill_null(False)
    if kind.is_numeric():
        wanted = _number(value)
        return pl.lit(False) if wanted is None else column.eq(wanted).fill_null(False)
    return column.cast(pl.String).eq(value).fill_null(False)


def _number(text: str) -> float | int | None:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None


def as_number(column: pl.Expr, kind: pl.DataType) -> pl.Expr:
    """Return a column as whole or floating point numbers; text that is none becomes missing."""
    if kind == pl.String:
        return column.str.strip_chars().cast(pl.Float64, strict=False)
    if kind == pl.Boolean or (kind.is_integer() and kind not in (pl.UInt64, pl.Int128)):
        return column.cast(pl.Int64)
    return column.cast(pl.Float64, strict=False)
