"""Hierarchies as a job: built from the values of a column, drawn, checked."""

from __future__ import annotations

import polars as pl
import pytest
from tests.hierarchies.small_wordnet import write_dictionary
from tests.jobs.people import JOBS, PEOPLE, TREE, files_in

from shoal.core.errors import HierarchyError, InputError, OutputError, UnknownValueError
from shoal.hierarchies.read import load_hierarchy
from shoal.jobs.hierarchy import (
    ColumnValues,
    build_hierarchy,
    check_hierarchy,
    draw_hierarchy,
    propose_senses,
    wordnet_hierarchy,
)

JOB = ColumnValues(table=PEOPLE, column="job")


def test_the_values_of_a_column_come_once_and_without_the_missing_ones():
    table = pl.DataFrame({"x": ["a", "b", "a", None, "", "?"]})
    assert sorted(ColumnValues(table=table, column="x", missing=["?"]).texts()) == ["a", "b"]
    assert sorted(ColumnValues(table=table, column="x").texts()) == ["?", "a", "b"]
    assert sorted(JOB.texts()) == sorted(JOBS)


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="has no column 'jbo'"):
        ColumnValues(table=PEOPLE, column="jbo").texts()


def test_a_hierarchy_is_built_from_the_values_and_written(tmp_path):
    files = files_in(tmp_path)
    values = ColumnValues(table=files.table, column="job", separator=",")
    out = tmp_path / "new.csv"
    tree = build_hierarchy(values, {"mask": {}}, out=out)
    assert set(JOBS) <= set(tree.labels)
    assert load_hierarchy("job", out) == tree
    with pytest.raises(OutputError):
        build_hierarchy(values, {"mask": {}}, out=files.table)
    assert build_hierarchy(values, {"mask": {}}) == tree


@pytest.mark.parametrize("entry", [None, {"tree": {"*": ["a"]}}])
def test_what_builds_nothing_is_refused(entry):
    with pytest.raises(InputError, match="needs a builder"):
        build_hierarchy(JOB, entry)


def test_a_builder_that_does_not_fit_the_values_says_so_without_them():
    with pytest.raises(HierarchyError) as caught:
        build_hierarchy(JOB, {"dates": {}})
    assert not any(job in str(caught.value) for job in JOBS)


def test_a_file_is_drawn_and_checked(tmp_path):
    files = files_in(tmp_path)
    drawn = draw_hierarchy(files.tree)
    assert all(label in drawn for label in (*JOBS, "craft"))
    assert len(draw_hierarchy(files.tree, max_lines=3).splitlines()) <= 4
    assert check_hierarchy(files.tree).name == "job"
    assert check_hierarchy(files.tree, JOB) == load_hierarchy("job", files.tree)


def test_a_file_that_does_not_know_every_value_is_refused_without_showing_one(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text(TREE.replace("welder", "joiner"), encoding="utf-8")
    with pytest.raises(UnknownValueError) as caught:
        check_hierarchy(path, JOB)
    assert "welder" not in str(caught.value)
    assert "1 of 4" in str(caught.value)
    path.write_text("a;b;*\na;c;*\n", encoding="utf-8")
    with pytest.raises(HierarchyError):
        check_hierarchy(path)


def test_words_are_put_under_their_hypernyms_and_written(tmp_path):
    folder = tmp_path / "dict"
    folder.mkdir()
    write_dictionary(folder)
    mapping, out = tmp_path / "mapping.csv", tmp_path / "tree.csv"
    mapping.write_text("value;lemma\nC;clerk\nW;worker\n", encoding="utf-8")
    tree = wordnet_hierarchy("job", mapping, folder, root="person", out=out)
    assert {"C", "W"} <= set(tree.labels)
    assert load_hierarchy("job", out) == tree
    with pytest.raises(OutputError):
        wordnet_hierarchy("job", mapping, folder, out=mapping)


def test_senses_of_a_column_are_proposed_once_a_value_in_order(tmp_path):
    write_dictionary(tmp_path)
    table = pl.DataFrame({"job": ["worker", "clerk", None, "worker", "?", "Zq"]})
    values = ColumnValues(table=table, column="job", missing=["?"])
    out = tmp_path / "words.csv"
    found = propose_senses(values, tmp_path, out=out)
    assert {value: len(each) for value, each in found.items()} == {"Zq": 0, "clerk": 1, "worker": 1}
    text = out.read_text(encoding="utf-8")
    assert [line.split(";")[0] for line in text.splitlines()[1:]] == ["Zq", "clerk", "worker"]
    assert propose_senses(values, tmp_path, out=out) == found
    assert out.read_text(encoding="utf-8") == text


def test_senses_that_were_chosen_are_led_through_what_is_asked(tmp_path):
    write_dictionary(tmp_path)
    table = pl.DataFrame({"job": ["worker", "clerk"]})
    words = tmp_path / "words.csv"
    propose_senses(ColumnValues(table=table, column="job"), tmp_path, out=words)
    short = wordnet_hierarchy("job", words, tmp_path)
    long = wordnet_hierarchy("job", words, tmp_path, through=["being"], out=tmp_path / "h.yaml")
    assert long.height == short.height + 2  # being, living thing and object in place of agent
    assert load_hierarchy("job", tmp_path / "h.yaml") == long
