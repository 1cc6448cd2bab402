"""Lines of JSON: what is not recoded comes out as it was written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.made import document, numeric

from shoal.model.column import Rejected
from shoal.model.lines import DEEP, encode_line, number_text, plain, quote, scan, text_in
from shoal.model.runtime import Encoder

whole_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | whole_texts,
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(st.dictionaries(st.text(max_size=4), json_values, max_size=4), st.booleans())
def test_scanning_keeps_every_member_as_it_is_written(record, ascii_only):
    line = json.dumps(record, ensure_ascii=ascii_only)
    if any("\ud800" <= char < "\ue000" for name in record for char in name):
        with pytest.raises(Rejected, match="half a character"):
            scan(json.dumps(record))
        return
    found = scan(line)
    assert {name: json.loads(token) for name, token in found.items()} == record
    assert all(token in line for token in found.values())


def read(line):
    """Read a line as Python does; None where that is no object, or not JSON at all."""

    def never(_):
        raise ValueError

    try:
        found = json.loads(line, parse_constant=never)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


@settings(max_examples=300)
@given(
    st.text(max_size=30)
    | st.text('{}[]",:\\u01e+-. aftn', max_size=14).map(lambda t: '{"a":' + t + "}")
)
def test_junk_is_rejected_and_what_json_reads_is_read(line):
    wanted = read(line)
    try:
        found = scan(line)
    except Rejected as problem:
        reason = str(problem)
    else:
        assert set(found) == set(wanted)
        return
    assert wanted is None or reason != "not one JSON object"


@pytest.mark.parametrize(
    "token",
    ["01", "1.", ".5", "+1", "1e", "1e+", "--1", "1.2.3", "0x1", "NaN", "Infinity", "1e1e1", "-"],
)
def test_what_is_no_number_of_json_is_rejected(token):
    assert read(f'{{"a":{token}}}') is None
    with pytest.raises(Rejected, match="not one JSON object"):
        scan(f'{{"a":{token}}}')


@pytest.mark.parametrize(
    "token", ["0", "-0", "0.50", "1e5", "1E-5", "-12.5e+3", "12345678901234567890"]
)
def test_numbers_of_json_are_read_as_they_are_written(token):
    assert scan(f'{{"a": {token} }}') == {"a": token}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"a":1,"a":2}', "a name stands twice"),
        ('{"a":"x" "b":1}', "not one JSON object"),
        ('{"a":1} {}', "not one JSON object"),
        ('{"a":"\x01"}', "not one JSON object"),
        ('{"a":"\\x"}', "not one JSON object"),
        ('{"a":"\\u12g4"}', "not one JSON object"),
        ('{"a":"\\"}', "not one JSON object"),
        ("{a:1}", "not one JSON object"),
        ('{"a":1,}', "not one JSON object"),
        ('{"a":{"b" 1}}', "not one JSON object"),
        ('{"a":[1 2]}', "not one JSON object"),
        ("null", "not one JSON object"),
        ("", "not one JSON object"),
        ('{"a":' + "[" * DEEP + "]" * DEEP + "}", "nested too deeply"),
        ('{"\\ud800":1}', "half a character in a text"),
    ],
)
def test_a_rejection_says_why(line, problem):
    with pytest.raises(Rejected, match=problem):
        scan(line)


def test_nesting_up_to_the_limit_is_passed_on():
    nested = "[" * (DEEP - 1) + "]" * (DEEP - 1)
    assert scan('{"a":' + nested + "}") == {"a": nested}


@given(whole_texts)
def test_quoting_is_json_and_comes_back(text):
    assert json.loads(quote(text)) == text
    assert text_in(quote(text)) == text
    assert text_in(json.dumps(text)) == text


def test_the_missing_value_is_null():
    assert (quote(None), plain("null")) == ("null", None)


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ('"x"', "x"), ("true", "true"), ("false", "false"), ("5", "5"), ("5.0", "5"),
        ("-0.0", "0"), ("-0", "0"), ("1e2", "1e2"), ("5.50", "5.50"), ("-5.000", "-5"),
    ],
)  # fmt: skip
def test_values_are_read_as_texts(token, text):
    assert plain(token) == text
    if token[0] in "-0123456789":
        assert number_text(token) == text


@pytest.mark.parametrize("token", ['["Alice"]', '{"Alice":1}'])
def test_a_quasi_identifier_is_a_plain_value(token):
    with pytest.raises(Rejected, match="holds a list or an object") as caught:
        plain(token)
    assert "Alice" not in str(caught.value)


def encoder(on_unseen=None, suppressed="star", **changes):
    made = document([numeric({"low": "1", "high": "3"}, {"missing": True})], [[0], [1]])
    made["released"], made["removed"] = ["note", "x"], ["name"]
    made["schema"].update(changes)
    return Encoder(made, on_unseen, suppressed)


def test_a_released_line_has_the_models_order_and_the_digits_that_came_in():
    line = ' { "x": 2.50, "name": "A", "note" : 1.50E+1, "more": [ 1 ] } '
    assert encode_line(encoder(), line) == ('{"note":1.50E+1,"x":"[1, 3]"}', 0)
    assert encode_line(encoder(others="keep"), line)[0] == (
        '{"note":1.50E+1,"x":"[1, 3]","more":[ 1 ]}'
    )
    assert encode_line(encoder(), '{"x":null}') == ('{"x":null}', 1)


def test_a_suppressed_line_is_starred_or_removed():
    assert encode_line(encoder(), '{"x":9}') == ('{"x":"*"}', -2)
    assert encode_line(encoder(suppressed="remove"), '{"x":9}') == (None, -2)
    with pytest.raises(Rejected, match="no class of the model covers it"):
        encode_line(encoder("error"), '{"x":9}')


def test_lines_that_do_not_fit_the_model_are_rejected():
    with pytest.raises(Rejected, match="a quasi-identifier is not there"):
        encode_line(encoder(), '{"note":1}')
    with pytest.raises(Rejected, match="2 columns have no role"):
        encode_line(encoder(others="fault"), '{"x":1,"b":1,"a":1}')


def test_no_message_of_a_rejection_holds_a_value():
    strict = encoder("error", others="fault")
    for line in ('{"x": "Alice"}', '{"x": ["Alice"]}', '{"Alice": 1}', '{"x": "Alice',
                 '{"x": 1, "Alice": 1}'):  # fmt: skip
        with pytest.raises(Rejected) as caught:
            encode_line(strict, line)
        assert "Alice" not in str(caught.value)


@settings(max_examples=100)
@given(
    st.dictionaries(
        st.sampled_from(["x", "note", "name"]), st.none() | st.integers(0, 5) | whole_texts
    )
)
def test_a_line_is_encoded_as_its_record_is(record):
    record = {"x": None, **record}
    released, _ = encode_line(encoder(), json.dumps(record))
    assert json.loads(released) == encoder().encode(record)
