"""The key of a person: what counts as the same one, and what as nobody."""

from __future__ import annotations

import polars as pl

from shoal.engines.person_key import PERSON, person_hash, person_key


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
