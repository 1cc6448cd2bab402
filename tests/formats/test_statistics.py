"""Files of SPSS, Stata and SAS: numbers with names, in and out."""

from __future__ import annotations

from datetime import date, datetime, time

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.core.errors import InputError, OutputError
from shoal.formats import statistics
from shoal.formats.statistics import (
    Dictionary,
    distinct_names,
    named_hierarchies,
    read_statistics,
    write_statistics,
)

pyreadstat = pytest.importorskip("pyreadstat", reason="needs the extra shoal[files]")

KINDS = {"spss": "t.sav", "stata": "t.dta", "xpt": "t.xpt"}
EVERY = pl.DataFrame(
    {
        "whole": [1, None, 2**50],
        "number": [0.1, None, 1e30],
        "word": ["Grün \U0001f41f", None, "007"],
        "day": [date(2024, 12, 24), None, date(1700, 3, 1)],
        "moment": [datetime(2024, 1, 1, 13, 4, 5), None, datetime(1950, 9, 9)],
        "clock": [time(13, 4, 5), None, time(0)],
    }
)
SEX = Dictionary({"sex": {1: "männlich", 2: "weiblich", 9: "unbekannt"}}, {"sex": "Geschlecht"})


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_comes_back(tmp_path, kind):
    place = tmp_path / KINDS[kind]
    write_statistics(EVERY, place, kind)
    found, _ = read_statistics(place, kind)
    assert found.schema == EVERY.schema
    assert found.drop("number").equals(EVERY.drop("number"))
    assert found["number"].to_list() == pytest.approx(EVERY["number"].to_list())  # IBM's in .xpt


@pytest.mark.parametrize("kind", ["spss", "stata"])
def test_truths_are_numbers_with_names(tmp_path, kind):
    frame = pl.DataFrame({"ok": [True, None, False]})
    write_statistics(frame, tmp_path / KINDS[kind], kind)
    assert read_statistics(tmp_path / KINDS[kind], kind)[0].equals(frame)


@pytest.mark.parametrize("kind", ["spss", "stata"])
def test_labels_become_names_and_are_written_back(tmp_path, kind):
    raw, place = tmp_path / f"raw-{KINDS[kind]}", tmp_path / KINDS[kind]
    coded = pl.DataFrame({"sex": [1.0, 2.0, None, 1.0], "age": [30.0, 31.0, 32.0, 33.0]})
    save = {"spss": pyreadstat.write_sav, "stata": pyreadstat.write_dta}[kind]
    save(coded, str(raw), variable_value_labels=SEX.names, column_labels=["Geschlecht", None])
    frame, dictionary = read_statistics(raw, kind)
    assert frame["sex"].to_list() == ["männlich", "weiblich", None, "männlich"]
    assert frame["age"].to_list() == [30, 31, 32, 33]
    assert dictionary.leaves("sex") == ("männlich", "weiblich", "unbekannt")
    write_statistics(frame, place, kind, dictionary)
    load = {"spss": pyreadstat.read_sav, "stata": pyreadstat.read_dta}[kind]
    back, about = load(str(place), output_format="polars")
    assert back["sex"].to_list() == [1, 2, None, 1]
    assert about.variable_value_labels["sex"] == {1: "männlich", 2: "weiblich"}  # who is there
    assert about.column_names_to_labels["sex"] == "Geschlecht"


def test_a_new_label_gets_a_number_of_its_own(tmp_path):
    frame = pl.DataFrame({"sex": ["männlich", "*", None]})
    write_statistics(frame, tmp_path / "t.sav", "spss", SEX)
    back, about = pyreadstat.read_sav(str(tmp_path / "t.sav"), output_format="polars")
    assert back["sex"].to_list() == [1, 10, None]
    assert about.variable_value_labels["sex"] == {1: "männlich", 10: "*"}
    assert read_statistics(tmp_path / "t.sav", "spss")[0].equals(frame)


def test_numbers_stay_numbers_where_one_has_no_name(tmp_path):
    place = tmp_path / "t.sav"
    coded = pl.DataFrame({"age": [30.0, 999.0]})
    pyreadstat.write_sav(coded, str(place), variable_value_labels={"age": {999: "refused"}})
    frame, dictionary = read_statistics(place, "spss")
    assert frame["age"].to_list() == [30, 999]
    write_statistics(frame, place, "spss", dictionary)
    _, about = pyreadstat.read_sav(str(place))
    assert about.variable_value_labels["age"] == {999: "refused"}


def test_sas_names_come_from_the_catalogue_beside(tmp_path, monkeypatch):
    asked = {}

    def read(path, **given):
        asked.update(given)
        frame = pl.DataFrame({"sex": [1.0, 2.0]})
        about = pyreadstat.metadata_container()
        about.variable_value_labels = SEX.names
        about.column_names_to_labels = {"sex": None}
        return frame, about

    monkeypatch.setattr(pyreadstat, "read_sas7bdat", read)
    (tmp_path / "t.sas7bcat").touch()
    frame, dictionary = read_statistics(tmp_path / "t.sas7bdat", "sas")
    assert asked["catalog_file"] == str(tmp_path / "t.sas7bcat")
    assert frame["sex"].to_list() == ["männlich", "weiblich"]
    assert dictionary.titles == {}


@settings(max_examples=30, deadline=None)
@given(
    names=st.dictionaries(st.integers(0, 9), st.sampled_from("abcä"), max_size=5),
    cells=st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=1, max_size=8),
)
def test_names_go_out_and_come_back(tmp_path_factory, names, cells):
    place = tmp_path_factory.mktemp("s") / "t.sav"
    coded = pl.DataFrame({"c": pl.Series(cells, dtype=pl.Float64), "n": [0.0] * len(cells)})
    pyreadstat.write_sav(coded, str(place), variable_value_labels={"c": names} if names else None)
    frame, dictionary = read_statistics(place, "spss")
    write_statistics(frame, place, "spss", dictionary)
    assert read_statistics(place, "spss")[0].equals(frame)
    assert pyreadstat.read_sav(str(place), output_format="polars")[0].equals(coded)


def test_names_that_several_numbers_share_are_told_apart():
    assert distinct_names({1: "x", 2: "x", 3: "y"}) == {1: "x (1)", 2: "x (2)", 3: "y"}


def test_leaves_are_those_of_the_columns_that_have_names():
    assert named_hierarchies(SEX, ["age", "sex"]) == {"sex": SEX.leaves("sex")}


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_refused_without_its_text(tmp_path, kind):
    place = tmp_path / KINDS[kind]
    place.write_text("Alice, flu")
    with pytest.raises(InputError, match="is it damaged") as caught:
        read_statistics(place, kind)
    assert "Alice" not in str(caught.value)


def test_a_text_that_is_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(statistics._LONGEST, "spss", 3)
    with pytest.raises(OutputError, match="column 'word': a text has more than 3 bytes"):
        write_statistics(EVERY, tmp_path / "t.sav", "spss")


def test_a_name_that_a_program_does_not_take_is_refused(tmp_path):
    with pytest.raises(OutputError, match="columns need names of letters"):
        write_statistics(pl.DataFrame({"1 a": [1]}), tmp_path / "t.dta", "stata")


def test_what_no_float_holds_is_text(tmp_path):
    write_statistics(pl.DataFrame({"long": [2**53 + 1]}), tmp_path / "t.sav", "spss")
    assert read_statistics(tmp_path / "t.sav", "spss")[0]["long"].to_list() == ["9007199254740993"]
