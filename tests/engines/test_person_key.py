"""The key of a person: what counts as the same one, and what as nobody."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.core.errors import InputError
from shoal.engines.person_key import PERSON, person_hash, person_key, persons_of_rows
from shoal.table.frequency import NOBODY, ONCE


def test_a_key_is_trimmed_and_a_missing_part_is_nobody():
    frame = pl.DataFrame({"a": ["1", " 1 ", "2", "", "?"], "b": ["x", "x", None, "x", "x"]})
    keys = frame.select(person_key(["a", "b"], ["?"]))[PERSON].to_list()
    assert keys[0] == keys[1] is not None
    assert keys[2:] == [None, None, None]


def test_a_number_and_a_dictionary_coded_text_are_keys():
    frame = pl.DataFrame({"n": [7, 7, None], "c": ["u", "u", "v"]})
    frame = frame.with_columns(pl.col("c").cast(pl.Categorical))
    found = frame.select(person_key(["n"], ()).alias("n"), person_key(["c"], ()).alias("c"))
    assert found["n"].to_list() == ["7", "7", None]
    assert found["c"].to_list() == ["u", "u", "v"]


def test_parts_do_not_run_into_each_other():
    frame = pl.DataFrame({"a": ["1", "11"], "b": ["11", "1"]})
    assert frame.select(person_hash(["a", "b"], ()))[PERSON].n_unique() == 2


def test_nobody_has_no_hash():
    frame = pl.DataFrame({"a": [None, "x"]}, schema={"a": pl.String})
    hashes = frame.select(person_hash(["a"], ()))[PERSON].to_list()
    assert hashes[0] is None
    assert hashes[1] is not None


def test_what_is_not_a_number_is_nobody():
    frame = pl.DataFrame({"n": [7.0, float("nan"), None], "t": ["NaN", "7", " NaN"]})
    found = frame.select(person_key(["n"], ()).alias("n"), person_key(["t"], ()).alias("t"))
    assert found["n"].to_list() == ["7.0", None, None]
    assert found["t"].to_list() == [None, "7", None]


def test_rows_name_persons_only_where_somebody_has_several_records():
    asked = {"where": "t", "names": ("id",)}
    once = np.array([ONCE, ONCE], dtype=np.int32)
    assert persons_of_rows(once, **asked) is None
    for some in ([ONCE, NOBODY], [ONCE, 0], [0, 0, NOBODY]):
        found = persons_of_rows(np.array(some, dtype=np.int32), **asked)
        assert found.tolist() == some
    with pytest.raises(InputError, match="no record says who it is about: 'id'"):
        persons_of_rows(np.array([NOBODY, NOBODY], dtype=np.int32), **asked)
