"""What every engine refuses of a table: the columns are named, the table is, no value is."""

from __future__ import annotations

import pytest

from shoal.core.errors import InputError
from shoal.engines.refusals import check_columns, no_record


def test_columns_that_are_not_there_are_named_together():
    check_columns("t", ("a", "b"), ["b"])
    check_columns("t", (), [])
    with pytest.raises(InputError) as caught:
        check_columns("ward.csv", ("a", "b"), ["c", "a", "it's"])
    with pytest.raises(
        InputError, match=r"no column 'Sex' \(did you mean 'sex'\?\); check the name$"
    ):
        check_columns("ward.csv", ("sex", "b"), ["Sex"])
    assert str(caught.value) == "ward.csv: has no column 'c', \"it's\"; check the names"


def test_a_table_without_a_record_says_which_one():
    error = no_record("ward.csv")
    assert isinstance(error, InputError)
    assert str(error) == "ward.csv: the table has a header but no record; bring some"
