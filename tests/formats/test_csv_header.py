"""The header of a CSV file."""

from __future__ import annotations

import pytest

from shoal.core.errors import InputError
from shoal.formats.csv_header import header


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_separator_is_the_one_that_the_lines_below_have_as_often(mark):
    text = f'age{mark}"zip, code; a|b\t"{mark}sex\n1{mark}2{mark}f\n'
    assert header(text, where="t", separator=None) == (("age", "zip, code; a|b\t", "sex"), mark)


@pytest.mark.parametrize(
    ("text", "separator", "words"),
    [
        ("a,b\n", ";;", "one plain character"),
        ('a,"b\n1,2\n', ",", "open or stray quote"),
        ("a,,b\n", ",", "1 columns have no name"),
        ("a,a\n", ",", "names 'a' twice"),
    ],
)
def test_a_header_that_cannot_be_meant_is_refused(text, separator, words):
    with pytest.raises(InputError, match=words):
        header(text, where="t.csv", separator=separator)
