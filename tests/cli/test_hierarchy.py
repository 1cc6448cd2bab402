"""The commands `hierarchy …`."""

from __future__ import annotations

import json

import pytest
from tests.hierarchies.small_wordnet import write_dictionary

from shoal.cli.hierarchy import BuilderOptions
from shoal.core.errors import SchemaError
from shoal.hierarchies.read import load_hierarchy


@pytest.fixture
def table(tmp_path):
    place = tmp_path / "t.csv"
    place.write_text("age,pay\n" + "".join(f"{300 + i % 9},{i * 7}\n" for i in range(60)))
    return place


@pytest.mark.parametrize(
    ("given", "entry"),
    [
        ({"width": "5,10"}, {"intervals": {"width": [5.0, 10.0]}}),
        ({"count": "8,4"}, {"intervals": {"count": [8, 4]}}),
        ({"cuts": "18,30;30"}, {"intervals": {"cuts": [[18.0, 30.0], [30.0]]}}),
        ({"top": 90.0}, {"top_bottom": {"top": 90.0}}),
        (
            {"bottom": 0.0, "width": "5"},
            {"top_bottom": {"bottom": 0.0, "intervals": {"width": [5.0]}}},
        ),
        ({"mask": True}, {"mask": {}}),
        ({"dates": True}, {"dates": {}}),
        ({"order": 3}, {"order": {"fanout": 3}}),
    ],
    ids=lambda value: "+".join(value),
)
def test_options_are_a_builder_as_a_schema_has_it(given, entry):
    assert BuilderOptions(**given).entry() == entry


@pytest.mark.parametrize(
    "given", [{}, {"mask": True, "dates": True}, {"width": "5", "order": 2}, {"width": "Zq"}]
)
def test_none_or_several_builders_are_refused(given):
    with pytest.raises(
        SchemaError, match=r"hierarchy build: (choose one|widths, counts)"
    ) as caught:
        BuilderOptions(**given).entry()
    assert "Zq" not in str(caught.value)


def test_hierarchy_build_show_and_check(tmp_path, table, run):
    tree = tmp_path / "hierarchy_age.csv"
    assert (
        run("hierarchy", "build", table, "--column", "age", "--width", "3,9", "--out", tree).code
        == 0
    )
    assert "*" in run("hierarchy", "show", tree).out
    assert run("hierarchy", "check", tree, "--table", table, "--column", "age").code == 0
    wrong = run("hierarchy", "check", tree, "--table", table, "--column", "pay")
    assert wrong.code == 2
    assert "'pay'" in wrong.err


def test_check_needs_a_table_and_its_column_together(tmp_path, table, run):
    tree = tmp_path / "h.csv"
    tree.write_text("300;*\n")
    assert run("hierarchy", "check", tree).out == "a tree: 1 leaves, 2 nodes, 2 levels\n"
    answer = run("hierarchy", "check", tree, "--table", table)
    assert (answer.code, answer.out) == (2, "")
    assert "--table and --column go together" in answer.err


def test_a_built_hierarchy_never_replaces_its_table(table, run):
    before = table.read_bytes()
    asked = ("hierarchy", "build", table, "--column", "age", "--mask", "--out", table)
    assert run(*asked).code == 2
    assert table.read_bytes() == before


def test_a_hierarchy_is_written_that_others_read(tmp_path, run):
    write_dictionary(tmp_path)
    (tmp_path / "map.csv").write_text("value;lemma;sense\nZqA;cleaner;2\nZqB;clerk;\nZqC;worker;\n")
    out = tmp_path / "job.csv"
    common = ("hierarchy", "wordnet", "--column", "job", "--dict", tmp_path, "--out", out)
    done = run(*common, "--map", tmp_path / "map.csv")
    assert done.code == 0, done.err
    tree = load_hierarchy("job", out)
    assert tree.labels[tree.root] == "entity"
    assert tree.labels[tree.lca([tree.index("ZqA"), tree.index("ZqB")])] == "ZqC"
    done = run(*common, "--map", tmp_path / "map.csv", "--root", "person")
    assert done.code == 0, done.err
    assert load_hierarchy("job", out).height == 2


def test_what_cannot_be_asked_ends_with_2_and_names_no_value(tmp_path, run):
    write_dictionary(tmp_path)
    place = tmp_path / "map.csv"
    place.write_text("value;lemma\nZqA;zebra\n")
    out = tmp_path / "job.csv"
    common = ("hierarchy", "wordnet", "--column", "job", "--out", out, "--map", place)
    for folder in (tmp_path, tmp_path / "none"):
        done = run(*common, "--dict", folder)
        assert done.code == 2
        assert "Zq" not in done.err
        assert "zebra" not in done.err
        assert not out.exists()


def test_senses_are_proposed_chosen_and_made_a_hierarchy(tmp_path, run):
    write_dictionary(tmp_path)
    table = tmp_path / "staff.csv"
    table.write_text("job,pay\ncleaner,1\nclerk,2\ncleaner,3\n,4\nperson,5\n")
    words, out = tmp_path / "words.csv", tmp_path / "job.csv"
    common = ("hierarchy", "wordnet", "--column", "job", "--dict", tmp_path)
    done = run(*common, "--table", table, "--out", words)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"4 senses of 3 values in {words}. Move the x")
    text = words.read_text()
    assert text.count(";x;") == 3
    chosen = text.replace(";x;cleaner;1", ";;cleaner;1").replace(";;cleaner;2", ";x;cleaner;2")
    words.write_text(chosen)
    assert run(*common, "--map", words, "--out", out).code == 0
    assert run("hierarchy", "check", out, "--table", table, "--column", "job").code == 0
    assert "being" not in out.read_text()
    assert run(*common, "--map", words, "--through", "being", "--out", out).code == 0
    assert "being" in out.read_text()
    refused = run(*common, "--map", words, "--through", "isle", "--out", out)
    assert refused.code == 2
    assert "no way up leads through" in refused.err


def test_a_proposal_says_how_many_values_are_no_nouns(tmp_path, run):
    write_dictionary(tmp_path)
    table, words = tmp_path / "staff.csv", tmp_path / "words.csv"
    table.write_text("job\nZqA\nclerk\n")
    common = ("hierarchy", "wordnet", "--column", "job", "--dict", tmp_path, "--out")
    done = run(*common, words, "--table", table, "--json")
    assert json.loads(done.out) == {"values": 2, "senses": 1, "unknown": 1, "out": str(words)}
    told = run(*common, words, "--table", table)
    assert "1 values are no noun there and need one" in told.out
    assert "ZqA" not in told.out + told.err
    refused = run(*common, tmp_path / "job.csv", "--map", words)
    assert refused.code == 2
    assert "line 2 of the mapping" in refused.err
    assert "ZqA" not in refused.err


@pytest.mark.parametrize(
    "given",
    [
        (),
        ("--map", "m.csv", "--table", "t.csv"),
        ("--table", "t.csv", "--root", "person"),
        ("--table", "t.csv", "--through", "person"),
    ],
)
def test_words_of_wordnet_that_do_not_go_together_are_refused(tmp_path, run, given):
    out = tmp_path / "h.csv"
    done = run("hierarchy", "wordnet", "--column", "job", "--dict", tmp_path, "--out", out, *given)
    assert done.code == 2
    assert "hierarchy wordnet: " in done.err
    assert "--map" in done.err
    assert not out.exists()


def test_a_proposal_never_replaces_its_table(tmp_path, run):
    write_dictionary(tmp_path)
    table = tmp_path / "staff.csv"
    table.write_text("job\nclerk\n")
    asked = ("--column", "job", "--table", table, "--dict", tmp_path, "--out", table)
    assert run("hierarchy", "wordnet", *asked).code == 2
    assert table.read_text() == "job\nclerk\n"
