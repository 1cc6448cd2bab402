from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.keys import date_key, number_key
from shoal.model import runtime as model_runtime
from shoal.model.lines import encode_line, plain, quote, scan
from shoal.model.runtime import Encoder, Rejected, lowest, text_of

numbers = st.one_of(
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=4).map(str),
)


@given(numbers, numbers)
def test_number_keys_sort_as_exact_decimals(a: str, b: str) -> None:
    left, right = number_key(a), number_key(b)
    assert (left < right, left == right) == (Decimal(a) < Decimal(b), Decimal(a) == Decimal(b))


@pytest.mark.parametrize(
    "text",
    ["", ".", "e5", "1e", "1_0", "٣", "0x10", "inf", "nan", "--1", "1e1234567", "1 2", "1,5"],
)
def test_what_is_no_number(text: str) -> None:
    assert number_key(text) is None


def test_numbers_may_be_written_in_many_ways() -> None:
    same = ["0.1", ".1", "+0.10", "1e-1", " 0.1 ", "10E-2", "00.1"]
    assert len({number_key(text) for text in same}) == 1
    assert number_key("-0") == number_key("0.00") == number_key("0e9")


@given(st.datetimes(), st.datetimes())
def test_date_keys_sort_as_dates(a: datetime, b: datetime) -> None:
    left, right = date_key(a.isoformat()), date_key(b.isoformat(sep=" "))
    assert (left < right, left == right) == (a < b, a == b)


@pytest.mark.parametrize(
    "text",
    ["2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-1-1", "20240101", "0000-01-01",
     "2024-01-01T24:00", "2024-01-01T10", "2024-01-01 10:00:00.", "2024-01-01x", "2024-01-01Tz"],
)  # fmt: skip
def test_what_is_no_date(text: str) -> None:
    assert date_key(text) is None


@given(st.integers(1, 2**200))
def test_lowest_bit(members: int) -> None:
    assert lowest(members) == (members & -members).bit_length() - 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(st.dictionaries(st.text(max_size=4), json_values, max_size=4), st.booleans())
def test_scanning_keeps_every_member_as_it_is_written(record: Any, ascii_only: bool) -> None:
    line = json.dumps(record, ensure_ascii=ascii_only)
    if not line.isascii() and any(0xD800 <= ord(c) < 0xE000 for c in line):
        return
    found = scan(line)
    assert {name: json.loads(token) for name, token in found.items()} == json.loads(line)
    assert all(token in line for token in found.values())


@given(st.text(max_size=30))
def test_junk_is_rejected_or_was_json(line: str) -> None:
    try:
        found = scan(line)
    except Rejected:
        return
    assert set(found) == set(json.loads(line))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_quoting_is_json(text: str) -> None:
    assert json.loads(quote(text)) == text


def test_values_become_texts() -> None:
    assert [text_of(v) for v in (None, "x", True, 5, 5.0, -0.0, 0.5, float("nan"))] == [
        None, "x", "true", "5", "5", "0", "0.5", None,
    ]  # fmt: skip
    assert [plain(t) for t in ("null", '"x"', "true", "5", "5.0", "-0.0", "1e2")] == [
        None, "x", "true", "5", "5", "0", "1e2",
    ]  # fmt: skip
    with pytest.raises(Rejected, match="list"):
        text_of([1])


def document(columns: list[dict[str, Any]], regions: list[list[int]], **schema: Any) -> Any:
    about = {c["name"]: c.pop("about", {"role": "quasi"}) for c in columns}
    return {
        "on_unseen": "suppress",
        "schema": {"others": "drop", "columns": about, **schema},
        "released": list(about),
        "removed": [],
        "columns": columns,
        "regions": regions,
    }


def numeric(*cells: dict[str, Any]) -> dict[str, Any]:
    return {"name": "x", "scale": "number", "root": "*", "cells": list(cells)}


def test_numbers_at_the_edges_of_intervals() -> None:
    cells = (
        {"low": "0", "high": "10", "open": "high", "label": "[0, 10)"},
        {"low": "10", "high": "20", "open": "both", "label": "(10, 20)"},
        {"low": "20", "high": None, "label": ">=20"},
        {"low": None, "high": "0", "open": "high", "label": "<0"},
        {"low": "10", "high": "10"},
    )
    encoder = Encoder(document([numeric(*cells)], [[i] for i in range(5)]))
    given = ["-1e-300", "-0.0", "9.9999999999999999999", "10", "10.0000000000000000001", "2e1"]
    assert [encoder.encode({"x": x})["x"] for x in given] == [
        "<0", "[0, 10)", "[0, 10)", "10", "(10, 20)", ">=20",
    ]  # fmt: skip


def test_many_classes_are_found_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [{"low": str(i), "high": str(i)} for i in range(5000)] + [{"any": "*"}]
    made = document([numeric(*cells)], [[i] for i in range(5001)])
    wanted = {0: "0", 2047: "2047", 2048: "2048", 4999: "4999", 5000: "*"}
    whole = Encoder(made)
    monkeypatch.setattr(model_runtime, "ROOM", 1000)
    parts = Encoder(made)
    assert (len(whole.blocks), len(parts.blocks)) == (1, 3)
    for encoder in (whole, parts):
        assert {x: encoder.encode({"x": x})["x"] for x in wanted} == wanted
        assert encoder.nearest(["2050"]) == (2050, [])


def test_the_first_class_that_covers_is_taken() -> None:
    cells = ({"low": "1", "high": "3"}, {"low": "2", "high": "9"})
    assert Encoder(document([numeric(*cells)], [[0], [1]])).encode({"x": "2"}) == {"x": "[1, 3]"}
    assert Encoder(document([numeric(*cells)], [[1], [0]])).encode({"x": "2"}) == {"x": "[2, 9]"}


def place_column() -> dict[str, Any]:
    tree = {"labels": ["a", "b", "ab", "c", "d", "cd", "*"], "parents": [2, 2, 6, 5, 5, 6, -1]}
    return {
        "name": "place", "scale": "text", "root": "*", "cells": [{"node": 0}, {"node": 5}],
        "about": {"role": "quasi", "hierarchy": tree},
    }  # fmt: skip


def test_unseen_is_suppressed_widened_or_refused_as_declared() -> None:
    made = document([numeric({"low": "1", "high": "3"}), place_column()], [[0, 0], [0, 1]])
    unseen = {"x": 2, "place": "b"}
    assert Encoder(made).encode(unseen) == {"x": "*", "place": "*"}
    assert Encoder(made, None, "remove").encode(unseen) is None
    with pytest.raises(Rejected, match="no class"):
        Encoder(made, "error").encode(unseen)
    near = Encoder(made, "nearest")
    assert near.encode(unseen) == {"x": "[1, 3]", "place": "ab"}
    assert near.encode({"x": 9, "place": "c"}) == {"x": "*", "place": "cd"}
    assert near.encode({"x": 2, "place": "nowhere"}) == {"x": "[1, 3]", "place": "*"}
    assert near.encode({"x": 2, "place": None}) == {"x": "[1, 3]", "place": "*"}
    assert near.encode({"x": 9, "place": "nowhere"}) == {"x": "*", "place": "*"}


def test_columns_without_a_role() -> None:
    made = document([numeric({"any": "*"})], [[0]])
    record = {"x": 1, "b": 2, "a": 3}
    assert Encoder(made).encode(record) == {"x": "*"}
    made["schema"]["others"] = "keep"
    assert list(Encoder(made).encode(record).items()) == [("x", "*"), ("a", 3), ("b", 2)]
    made["schema"]["others"] = "fault"
    with pytest.raises(Rejected, match="2 columns"):
        Encoder(made).encode(record)


def test_no_message_of_a_rejection_holds_a_value() -> None:
    encoder = Encoder(document([numeric({"low": "1", "high": "3"})], [[0]]), "error")
    for line in ('{"x": "Alice"}', '{"x": ["Alice"]}', '{"Alice": 1}', '{"x": "Alice'):
        with pytest.raises(Rejected) as caught:
            encode_line(encoder, line)
        assert "Alice" not in str(caught.value)
