"""The shape of a CSV file: what Python's reader finds, or a refusal that says where."""

from __future__ import annotations

import csv
import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import InputError
from shoal.formats import csv_check
from shoal.formats.csv_check import check_bytes, check_csv, guess_encoding, not_utf8
from shoal.formats.csv_header import open_bytes

FIELDS = st.lists(
    st.lists(st.text('ab"é,;\n\r ', max_size=4), min_size=2, max_size=2), min_size=1, max_size=8
)


def shape(text, **more):
    return check_bytes(text.encode() if isinstance(text, str) else text, where="t", **more)


@settings(max_examples=60, deadline=None)
@given(FIELDS, st.sampled_from(",;|"), st.sampled_from(["\n", "\r\n"]))
def test_records_are_counted_as_pythons_reader_counts_them(rows, mark, end):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=mark, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([["one", "two"], *rows])
    found = shape(text.getvalue(), separator=mark)
    assert (found.columns, found.separator) == (("one", "two"), mark)
    assert found.records == len(rows)
    assert found.size == len(text.getvalue().encode())


def test_a_last_line_without_an_end_and_blank_lines_at_the_end():
    assert shape("a,b\n1,2").records == 1
    assert shape("a,b\n1,2").has_blank_end is False
    found = shape("a,b\n1,2\n\n\n")
    assert (found.records, found.has_blank_end) == (1, True)
    assert shape("a,b\n").records == 0


@pytest.mark.parametrize(("text", "problem"), [
    ("", "the file is empty"),
    ("  \n ", "the file is empty"),
    ("a,b\n1\n", "line 2: has fewer fields.*--skip-lines"),
    ("a,b\n1,2,3\n", "line 2: has more fields"),
    ('a,b\n1,x"y\n', "line 2: has a quote inside a field"),
    ("a,b\n1,2\n\n3,4\n", "line 3: is blank"),
    ("a,b\n1,\0\n", "line 2: holds a zero byte"),
    ('a,b\n1,"open\n', "opened and never closed"),
    ('a,"b\n', "open or stray quote|never closed"),
    ("a,,c\n1,2,3\n", "1 columns have no name"),
    ("a,b,a\n1,2,3\n", "names 'a' twice"),
    (b"\xff\xfea\0,\0", "UTF-16 text"),
    (b"a,b\n1,\xe4\n", "cp1252 would fit"),
    (b"a,b\n1,\x81\n", "latin-1 would fit"),
])  # fmt: skip
def test_a_file_that_would_be_misread_is_refused(text, problem):
    with pytest.raises(InputError, match=problem):
        shape(text)


def test_a_refusal_names_the_line_and_never_the_value():
    with pytest.raises(InputError) as caught:
        shape("name,age\nAlice,3\nAlice,3,4\n")
    assert "t, line 3" in str(caught.value)
    assert "Alice" not in str(caught.value)


@pytest.mark.parametrize("mark", ["", ";;", '"', "\n", "é"])
def test_a_separator_is_one_plain_character(mark):
    with pytest.raises(InputError, match="--sep: the separator must be one plain character"):
        shape("a,b\n1,2\n", separator=mark)


@pytest.mark.parametrize(("text", "mark"), [
    ("a,b\n1,2\n", ","), ("a;b\n1;2\n", ";"), ("a\tb\n1\t2\n", "\t"), ("a|b\n1|2\n", "|"),
    ('"x,y";b\n1;2\n', ";"), ("only\n1\n", ","),
])  # fmt: skip
def test_the_separator_is_found(text, mark):
    assert shape(text).separator == mark


def test_lines_above_count_in_messages(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text("a,b\n1\n")
    with pytest.raises(InputError, match="ward, line 6: has fewer fields") as caught:
        check_csv(place, where="ward", above=4)
    assert "--skip-lines" not in str(caught.value)  # that was said already


def test_a_packed_file_is_read_through_and_a_damaged_one_refused(tmp_path):
    place = tmp_path / "t.csv.gz"
    packed = gzip.compress(b"a,b\n1,2\n" * 1)
    place.write_bytes(packed)
    assert check_csv(place).records == 1
    with open_bytes(place) as file:
        assert file.read() == b"a,b\n1,2\n"
    place.write_bytes(packed[:-9])
    with pytest.raises(InputError, match="damaged or cut off"):
        check_csv(place)
    with pytest.raises(InputError, match="none"):
        check_csv(tmp_path / "none.csv")


def test_a_character_may_go_on_in_the_next_chunk_but_not_end_there(monkeypatch):
    text = "a,b\n" + "1,é\n" * 40
    monkeypatch.setattr(csv_check, "CHUNK", 7)
    filler = "x,y\n" * (2**18)  # beyond what is read at first
    assert shape(text + filler + text).records == 41 + 2**18 + 40
    with pytest.raises(InputError, match="not UTF-8"):
        shape((text + filler + "1,é").encode()[:-1])


def test_the_encoding_that_fits_is_guessed():
    assert guess_encoding("é".encode()) is None
    assert guess_encoding("é".encode()[:1]) is None  # it may go on
    assert guess_encoding(b"\xe9t\xe9") == "cp1252"
    assert guess_encoding(b"\x81t") == "latin-1"
    assert "--encoding cp1252" in str(not_utf8("t", b"\xe9"))
