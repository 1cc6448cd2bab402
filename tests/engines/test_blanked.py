from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import xk as naive

from shoal import api
from shoal.core.errors import MethodError
from shoal.privacy import KAnonymity, LDiversity, TCloseness
from shoal.schema.schema import Schema

pytestmark = pytest.mark.local("xk-anonymity")

SCHEMA = Schema.from_document(
    {"columns": {"sex": "quasi", "age": "quasi", "ill": "sensitive"}, "missing": ["?"]}
)


def release(*classes):
    rows = [{"sex": sex, "age": age, "ill": ill} for (sex, age), ills in classes for ill in ills]
    return pl.DataFrame(rows, schema={"sex": pl.String, "age": pl.String, "ill": pl.String})


def verify(frame, wanted=2, *, k=2, blanked=True):
    return api.verify(
        frame, SCHEMA, privacy=[KAnonymity(k), LDiversity(wanted, column="ill")], blanked=blanked
    )


def test_verify_blanked_lets_a_class_pass_that_is_empty_altogether():
    frame = release((("F", "30"), [None, "", " "]), (("M", "30"), ["flu", "cold"]))
    assert verify(frame).holds
    assert not verify(frame, blanked=False).holds


def test_verify_blanked_takes_an_empty_cell_neither_for_a_wildcard_nor_for_a_value():
    frame = release((("F", "30"), ["flu", None, None]), (("M", "30"), ["flu", "cold"]))
    found = verify(frame)
    assert not found.holds
    assert found.violating_records == 3  # the whole class, its empty cells included
    assert verify(frame, blanked=False).holds  # a missing value is a value of its own there
    assert not verify(release((("F", None), ["flu", "cold"]), (("F", "30"), ["flu"]))).holds


def test_verify_blanked_does_not_take_a_mark_of_a_missing_value_for_an_empty_cell():
    found = verify(release((("F", "30"), ["?", "?"]), (("M", "30"), ["flu", "cold"])))
    assert not found.holds
    assert found.violating_records == 2
    assert not verify(release((("F", "30"), ["?", None]))).holds


def test_verify_blanked_judges_k_and_l_only():
    frame = release((("F", "30"), ["flu", "cold"]))
    with pytest.raises(MethodError, match="not t-closeness"):
        api.verify(
            frame, SCHEMA, privacy=[KAnonymity(2), TCloseness(0.5, column="ill")], blanked=True
        )
    found = api.verify(frame, SCHEMA, privacy=[LDiversity(2)], blanked=True)
    assert [result.holds for result in found.privacy] == [True]


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["F", "M", None]), st.sampled_from(["30", ""]),
            st.sampled_from(["flu", "cold", None]),
        ),
        min_size=1, max_size=14,
    ),
    k=st.integers(1, 3), wanted=st.integers(1, 3),
)  # fmt: skip
def test_verify_blanked_agrees_with_the_naive_judge(rows, k, wanted):
    frame = pl.DataFrame(
        rows, schema={"sex": pl.String, "age": pl.String, "ill": pl.String}, orient="row"
    )
    expected = naive.is_safe(frame, ["sex", "age"], k, diversity={"ill": wanted}, blanked=True)
    assert verify(frame, wanted, k=k).holds == expected
    # What is safe with blanked cells is safe for every guess at them, or tells nothing.
    if expected:
        filled = frame.drop_nulls("ill")
        assert filled.is_empty() or naive.is_safe(
            filled, ["sex", "age"], 1, diversity={"ill": wanted}
        )


def test_a_release_with_blanked_cells_verifies_from_its_file(tmp_path):
    frame = release((("F", "30"), [None] * 5), (("M", "30"), ["flu", "cold"]))
    frame.write_csv(tmp_path / "r.csv")
    found = verify(str(tmp_path / "r.csv"))
    assert found.holds
    assert (found.records, found.classes) == (7, 2)


def test_verify_blanked_takes_no_spelling_of_a_mark_for_a_value():
    schema = replace(SCHEMA, missing=("n/a",), fold_case=True)
    frame = release((("F", "30"), ["flu", "N/A"]), (("M", "30"), ["flu", "cold"]))
    asked = [KAnonymity(2), LDiversity(2, column="ill")]
    assert not api.verify(frame, schema, privacy=asked, blanked=True).holds
    spelled = release((("F", "30"), ["flu", "Flu", None]), (("M", "30"), ["flu", "cold"]))
    assert not api.verify(spelled, schema, privacy=asked, blanked=True).holds
    plain = api.verify(spelled, replace(schema, fold_case=False), privacy=asked, blanked=True)
    assert any("--fold-case" in warning for warning in plain.warnings)
