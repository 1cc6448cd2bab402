"""Senses that are proposed: every value is there, the first sense marked, the ways as taken."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hierarchies.small_wordnet import SENSES, write_dictionary
from tests.hierarchies.test_wordnet import REAL

from shoal.core.errors import HierarchyError, InputError
from shoal.hierarchies.senses import (
    HEADS,
    MARK,
    NOT_FOUND,
    Meaning,
    proposed_senses,
    proposed_text,
    spellings_of,
)
from shoal.hierarchies.wordnet import Place, Sense, read_mapping, wordnet_hierarchy


@pytest.fixture
def folder(tmp_path):
    return write_dictionary(tmp_path)


def lines_of(text):
    return [*csv.DictReader(text.splitlines(), delimiter=";")]


def test_every_sense_of_a_noun_comes_with_its_gloss_and_its_way(folder):
    found = proposed_senses(["cleaner"], folder)["cleaner"]
    assert [(each.lemma, each.number) for each in found] == [("cleaner", 1), ("cleaner", 2)]
    assert found[0].way == ("cleaner", "object", "entity")
    assert found[1].way == ("cleaner", "worker", "person", "agent", "entity")
    assert found[0].gloss.startswith("a cleaner1")
    assert found[1].gloss.startswith("a cleaner2")


def test_the_other_ways_are_named(folder):
    meaning = proposed_senses(["person"], folder)["person"][0]
    assert meaning.others == ("being",)
    assert meaning.way_text == "person > agent > entity (or through being)"
    alone = proposed_senses(["object"], folder)["object"][0]
    assert alone.way_text == "object > entity"


@pytest.mark.parametrize(
    ("value", "lemma"),
    [
        ("clerk", "clerk"),
        ("CLERK", "clerk"),
        ("Clerks", "clerk"),
        ("office clerk", "clerk"),
        ("Clerks (office)", "clerk"),
        ("handlers-cleaners", "cleaner"),
        ("worker/clerk", "clerk"),
        ("countries", "country"),
        ("isles", "isle"),
        (" land ", "land"),
    ],
)
def test_values_are_found_whole_by_their_words_and_in_the_singular(folder, value, lemma):
    assert {each.lemma for each in proposed_senses([value], folder)[value]} == {lemma}


@pytest.mark.parametrize("value", ["zebra", "", "  ", "-", "?", "ss", "s", "123", "Ünbekannt"])
def test_what_is_no_noun_has_no_sense_and_is_no_fault(folder, value):
    assert proposed_senses([value], folder) == {value: []}


def test_examples_of_use_are_no_part_of_a_gloss(folder):
    data = folder / "data.noun"
    text = data.read_text()
    old = next(line for line in text.splitlines() if " clerk " in line)
    new = old.replace("| a clerk | here", '| is it; "x" ')
    assert len(new) < len(old)
    data.write_text(text.replace(old, new.ljust(len(old))))
    assert proposed_senses(["clerk"], folder)["clerk"][0].gloss == "is it"


def test_spellings_are_tried_from_the_whole_to_the_first_word():
    assert spellings_of("Hong Kong") == [["hong_kong"], ["kong"], ["hong"]]
    assert spellings_of("Armed-Forces")[0] == ["armed-forces", "armed_forces", "armed_force"]
    assert spellings_of("women") == [["women", "woman"]]
    assert spellings_of("boss") == [["boss"]]
    assert spellings_of("boxes") == [["boxes", "box", "boxe"]]
    assert spellings_of("...") == [["..."]]


@given(st.text(max_size=20))
def test_spellings_are_whole_words_in_lower_case_none_of_them_twice(value):
    groups = spellings_of(value)
    assert groups
    for group in groups:
        assert len(set(group)) == len(group)
        assert all(each and each == each.strip() and " " not in each for each in group)


def test_the_table_has_a_line_a_sense_the_first_of_each_value_marked(folder):
    text = proposed_text(proposed_senses(["cleaner", "zebra", "clerk"], folder))
    assert text.splitlines()[0] == ";".join(HEADS)
    lines = lines_of(text)
    assert [(line["value"], line["use"], line["sense"]) for line in lines] == [
        ("cleaner", MARK, "1"), ("cleaner", "", "2"), ("zebra", "", ""), ("clerk", MARK, "1")
    ]  # fmt: skip
    assert lines[2]["gloss"] == NOT_FOUND
    assert proposed_text({}) == ";".join(HEADS) + "\n"


def test_a_table_as_it_was_proposed_is_a_mapping(folder, tmp_path):
    values = [*SENSES]
    place = tmp_path / "words.csv"
    place.write_text(proposed_text(proposed_senses(values, folder)), encoding="utf-8")
    mapping = read_mapping(place)
    assert [*mapping] == values
    assert all(mapping[value].sense == Sense(value) for value in values)
    tree = wordnet_hierarchy("x", mapping, folder)
    assert set(values) <= set(tree.labels)


def test_the_mark_of_a_person_chooses_the_sense(folder, tmp_path):
    place = tmp_path / "words.csv"
    text = proposed_text(proposed_senses(["cleaner", "clerk"], folder))
    moved = text.replace("cleaner;x;cleaner;1", "cleaner;;cleaner;1")
    place.write_text(moved.replace("cleaner;;cleaner;2", "cleaner;yes;cleaner;2"))
    assert read_mapping(place)["cleaner"] == Place(Sense("cleaner", 2), line=3)


def test_a_value_without_a_mark_or_with_two_is_refused_by_its_line(folder, tmp_path):
    place = tmp_path / "words.csv"
    text = proposed_text(proposed_senses(["cleaner", "zebra", "clerk"], folder))
    place.write_text(text)
    with pytest.raises(InputError, match=r"1 values have no line .*\(line 4 of the map") as caught:
        read_mapping(place)
    assert "zebra" not in str(caught.value)
    place.write_text(text.replace("cleaner;;", "cleaner;x;").replace("zebra;;", "zebra;x;clerk"))
    with pytest.raises(InputError, match="line 3") as caught:
        read_mapping(place)
    assert "cleaner" not in str(caught.value)


def test_values_with_separators_and_quotes_survive(folder, tmp_path):
    place = tmp_path / "words.csv"
    values = ['the "clerk"', "clerk; junior", "clerk, senior"]
    place.write_text(proposed_text(proposed_senses(values, folder)))
    assert [*read_mapping(place)] == values


def test_without_a_dictionary_nothing_is_proposed(tmp_path):
    with pytest.raises(InputError, match=r"no index\.noun"):
        proposed_senses(["clerk"], tmp_path)


def test_nothing_is_proposed_for_nothing(folder):
    assert proposed_senses([], folder) == {}


def test_a_meaning_is_compared_by_what_it_says():
    meaning = Meaning("clerk", 1, "here", ("clerk", "entity"))
    assert meaning == Meaning("clerk", 1, "here", ("clerk", "entity"), ())
    assert meaning.way_text == "clerk > entity"


def test_a_way_can_be_led_through_the_other_hypernym(folder):
    mapping = {"P": Place(Sense("person")), "C": Place(Sense("clerk"))}
    short = wordnet_hierarchy("job", mapping, folder)
    assert "being" not in short.labels
    long = wordnet_hierarchy("job", mapping, folder, through=["object"])
    assert {"being", "living_thing", "object"} <= set(long.labels)
    assert "agent" not in long.labels
    assert long.height > short.height
    assert wordnet_hierarchy("job", mapping, folder, through=["agent"]) == short


@pytest.mark.parametrize("through", [["zebra"], ["place"], ["agent", "object"], ["cleaner#2"]])
def test_what_no_way_leads_through_is_refused(folder, through):
    with pytest.raises(HierarchyError, match="no way up leads through"):
        wordnet_hierarchy("job", {"P": Place(Sense("person"))}, folder, through=through)


@pytest.mark.skipif(not REAL, reason="no WordNet here; name its folder in SHOAL_WORDNET")
def test_the_real_dictionary_knows_who_cleans():
    found = proposed_senses(["Handlers-cleaners", "Armed-Forces"], REAL[0])
    assert any("occupation is cleaning" in each.gloss for each in found["Handlers-cleaners"])
    assert found["Armed-Forces"][0].lemma == "armed_forces"
    assert found["Armed-Forces"][0].way[-1] == "entity"
