"""`shoal hierarchy wordnet`."""

from __future__ import annotations

from tests.hierarchies.small_wordnet import write_dictionary

from shoal.schema.schema import load_hierarchy


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
