"""Hierarchies from WordNet, on a dictionary of our own and, where there is one, on the real one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.hierarchies.small_wordnet import write_dictionary

from shoal.core.errors import HierarchyError, InputError
from shoal.hierarchies.tree import Hierarchy
from shoal.hierarchies.wordnet import Place, Sense, read_mapping, wordnet_hierarchy

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "wordnet"
REAL = [
    Path(place)
    for place in (os.environ.get("SHOAL_WORDNET", ""), "/usr/share/wordnet")
    if place and (Path(place) / "data.noun").is_file()
]


@pytest.fixture
def folder(tmp_path):
    return write_dictionary(tmp_path)


def mapping(**places):
    return {
        value: place if isinstance(place, Place) else Place(Sense.read(place))
        for value, place in places.items()
    }


def chain(tree, label):
    found, node = [], tree.index(label)
    while node >= 0:
        found.append(tree.labels[node])
        node = tree.parents[node]
    return found


def test_values_stand_at_their_synsets_also_at_inner_ones(folder):
    tree = wordnet_hierarchy(
        "job", mapping(Clean="cleaner#2", Office="clerk", Other="worker"), folder
    )
    assert chain(tree, "Clean") == ["Clean", "Other", "person", "agent", "entity"]
    assert chain(tree, "Office") == ["Office", "Other", "person", "agent", "entity"]
    assert tree.heights[tree.index("Other")] == 1


def test_of_several_hypernyms_the_one_nearest_to_the_top_is_taken(folder):
    tree = wordnet_hierarchy("job", mapping(P="person"), folder)
    assert chain(tree, "P") == ["P", "agent", "entity"]  # not being, which is listed first


def test_the_sense_number_chooses_the_synset(folder):
    tree = wordnet_hierarchy("job", mapping(C="cleaner", D="cleaner.n.02"), folder)
    assert chain(tree, "C") == ["C", "object", "entity"]
    assert chain(tree, "D")[1] == "worker"


def test_a_root_cuts_the_tree(folder):
    tree = wordnet_hierarchy("where", mapping(L="land", M="country"), folder, root="place")
    assert chain(tree, "L") == ["L", "M", "place"]
    with pytest.raises(HierarchyError, match="1 of 2 values are not below"):
        wordnet_hierarchy("where", mapping(L="land", C="clerk"), folder, root="place")


def test_a_value_can_be_moved_under_another_synset(folder):
    moved = mapping(L="land", I=Place(Sense("isle"), Sense("country")))
    tree = wordnet_hierarchy("where", moved, folder)
    assert chain(tree, "I") == ["I", "country", "place", "object", "entity"]


def test_values_of_one_synset_become_leaves_below_it(folder):
    tree = wordnet_hierarchy("job", mapping(A="clerk", B="clerk", C="worker"), folder)
    assert chain(tree, "A")[:3] == ["A", "clerk", "C"]
    assert chain(tree, "B")[:3] == ["B", "clerk", "C"]


def test_labels_stay_apart_where_a_value_is_called_like_a_synset(folder):
    tree = wordnet_hierarchy("job", mapping(person="clerk", worker="cleaner"), folder)
    assert chain(tree, "person") == ["person", "worker#2", "person#2", "agent", "entity"]
    assert isinstance(tree, Hierarchy)


def test_one_value_that_is_the_root_itself(folder):
    assert wordnet_hierarchy("x", mapping(all="entity"), folder).labels == ("all",)
    assert wordnet_hierarchy("x", mapping(all="place"), folder, root="place").labels == ("all",)


def test_a_mapping_table_is_read_with_either_separator(tmp_path):
    place = tmp_path / "map.csv"
    place.write_text("value;lemma;sense;under\nA b;Hong Kong;;\nC;cleaner;3;asian_country\n\n")
    found = read_mapping(place)
    assert found == {
        "A b": Place(Sense("hong_kong"), line=2),
        "C": Place(Sense("cleaner", 3), Sense("asian_country"), line=3),
    }
    place.write_text("value,lemma\nA,clerk\n")
    assert read_mapping(place) == {"A": Place(Sense("clerk"), line=2)}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "first line"),
        ("a;b\n", "first line"),
        ("value;lemma\nZq1;\n", "line 2"),
        ("value;lemma;sense\nZq1;clerk;x\n", "line 2"),
        ("value;lemma\nZq1;clerk\nZq1;clerk\n", "line 3"),
        ("value;lemma;sense\nZq1;clerk;0\n", "lemma#3"),
    ],
)
def test_a_wrong_mapping_table_is_refused_without_its_values(tmp_path, text, problem):
    place = tmp_path / "map.csv"
    place.write_text(text)
    with pytest.raises(InputError, match=problem) as caught:
        read_mapping(place)
    assert "Zq1" not in str(caught.value)
    with pytest.raises(InputError, match="cannot be read"):
        read_mapping(tmp_path / "none.csv")


def test_unknown_lemmas_and_senses_are_counted(folder):
    with pytest.raises(HierarchyError, match="2 of 3 synsets") as caught:
        wordnet_hierarchy("job", mapping(A="clerk", B="zebra", C="clerk#9"), folder)
    assert "zebra" not in str(caught.value)
    with pytest.raises(HierarchyError, match="empty"):
        wordnet_hierarchy("job", {}, folder)


def test_a_damaged_or_absent_dictionary_is_refused(folder, tmp_path):
    data = folder / "data.noun"
    text = data.read_text()
    data.write_text("x" + text)
    with pytest.raises(InputError, match="damaged"):
        wordnet_hierarchy("job", mapping(A="clerk"), folder)
    agent = text.index(" 03 n 01 agent") - 8
    worker = text.index(" 03 n 01 worker") - 8
    old = next(line for line in text.splitlines() if " agent " in line)
    new = old.replace("@ " + old.split("@ ")[1][:8], f"@ {worker:08d}")
    data.write_text(text.replace(old, new))  # agent is now below worker, which is below agent
    assert text[agent:].startswith(old)
    with pytest.raises(InputError, match="damaged"):
        wordnet_hierarchy("job", mapping(A="clerk"), folder)
    data.unlink()
    with pytest.raises(InputError, match=r"no data\.noun"):
        wordnet_hierarchy("job", mapping(A="clerk"), folder)


@pytest.mark.skipif(not REAL, reason="no WordNet here; name its folder in SHOAL_WORDNET")
def test_the_seeds_hierarchies_from_the_real_dictionary():
    job = wordnet_hierarchy("occupation", read_mapping(EXAMPLES / "occupation.csv"), REAL[0])
    assert chain(job, "Handlers-cleaners")[-5:] == [
        "Other-service", "person", "causal_agent", "physical_entity", "entity"
    ]  # fmt: skip
    land = wordnet_hierarchy(
        "native-country", read_mapping(EXAMPLES / "native-country.csv"), REAL[0]
    )
    assert chain(land, "Taiwan")[1] == chain(land, "Japan")[1] == "Asian_country"
    assert len(job.leaves) >= 13
    assert len(land.leaves) == 41


def test_the_lines_of_a_mapping_that_fail_are_named(folder, tmp_path):
    path = tmp_path / "map.csv"
    path.write_text("value;lemma;sense\nA;cleaner;1\nB;nothing;\n\nC;clerk;9\n", encoding="utf-8")
    with pytest.raises(HierarchyError, match=r"2 of 3 .*\(line 3, 5 of the mapping\)"):
        wordnet_hierarchy("job", read_mapping(path), folder)
    with pytest.raises(HierarchyError, match="the root is not in the dictionary"):
        wordnet_hierarchy("job", mapping(P="person"), folder, root="nobody")
