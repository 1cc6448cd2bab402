from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.core.errors import OutputError
from shoal.core.spreadsheet import check_names, guarded, is_guarded, unguarded
from shoal.formats import spreadsheet as guard

MARKED = st.text(alphabet="=+-@\t\r\n'1.5eEx ;", max_size=6)


@given(MARKED)
def test_a_guarded_cell_can_be_read_back_and_begins_no_formula(text):
    safe = guarded(text)
    assert unguarded(safe) == text
    is_number = True
    try:
        float(text.strip())
    except ValueError:
        is_number = False
    assert safe[:1] not in tuple("=+-@\t\r\n") or is_number


@pytest.mark.parametrize("text", ["-5", "+5", "-0.5", "-.5", "-1e-9", "-5.", "5", "", "a=b", "1-2"])
def test_numbers_and_plain_texts_stay(text):
    assert guarded(text) == text


@pytest.mark.parametrize(
    "text", ["=1+1", "-5..3", "+49 30 1", "@x", "\tx", "\r", "-", "- 5", "-1,5"]
)
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(text):
    assert guarded(text) == "'" + text


@given(st.lists(st.one_of(st.none(), MARKED), min_size=1, max_size=8))
def test_tables_are_guarded_as_texts_are(texts):
    frame = pl.DataFrame({"a": pl.Series(texts, dtype=pl.String), "n": [-1] * len(texts)})
    safe = guard.guarded(frame)
    assert safe["a"].to_list() == [None if t is None else guarded(t) for t in texts]
    assert safe["n"].to_list() == [-1] * len(texts)
    assert guard.unguarded(safe).equals(frame)


def test_the_format_decides_unless_somebody_does():
    assert is_guarded("xlsx", None, where="o")
    assert not is_guarded("xlsx", False, where="o")
    for kind in ("csv", "csv.gz"):
        assert not is_guarded(kind, None, where="o")
        assert is_guarded(kind, True, where="o")
    for kind in ("parquet", "jsonl", None):
        assert not is_guarded(kind, None, where="o")
        with pytest.raises(OutputError, match="goes with CSV output"):
            is_guarded(kind, True, where="o")


def test_a_header_that_begins_like_a_formula_is_refused():
    check_names(["age", "a=b"])
    with pytest.raises(OutputError, match="begins like a formula"):
        check_names(["age", "=b"])
