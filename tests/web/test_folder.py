from __future__ import annotations

import os
from dataclasses import fields

import pytest

from shoal.core.errors import InputError, OutputError
from shoal.engines.base import Checks, Output
from shoal.jobs.requests import ReleaseRequest
from shoal.web.folder import PLACES, Folder, digest, places_in, write_text

OUTSIDE = ["../x.csv", "a/../../x", "/etc/passwd", "..", "a/b/../../../x", "", "x\x00.csv",
           "file:///etc/passwd", "https://example.org/x.csv"]  # fmt: skip


@pytest.mark.parametrize("place", OUTSIDE)
def test_a_place_outside_is_refused_and_not_repeated(tmp_path, place):
    inside = tmp_path / "in"
    inside.mkdir()
    with pytest.raises(InputError) as caught:
        Folder.at(inside).below(place)
    assert "passwd" not in str(caught.value)


def test_a_link_that_leads_out_is_refused(tmp_path):
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "secret.csv").write_text("a\n1\n")
    (inside / "link.csv").symlink_to(tmp_path / "secret.csv")
    (inside / "up").symlink_to(tmp_path)
    (inside / "round").symlink_to(inside / "round")
    for name in ("link.csv", "up/secret.csv", "round"):
        with pytest.raises(InputError, match="outside"):
            Folder.at(inside).below(name)


def test_a_folder_whose_name_begins_alike_is_outside(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "inside").mkdir()
    with pytest.raises(InputError):
        Folder.at(tmp_path / "in").below(tmp_path / "inside" / "x.csv")


def test_places_below_are_named_from_the_folder_on(tmp_path):
    folder = Folder.at(tmp_path)
    assert folder.name(folder.below("a/./b/../x.csv")) == "a/x.csv"
    assert folder.below(tmp_path / "x.csv") == tmp_path.resolve() / "x.csv"


def test_tables_are_listed_without_hidden_files_links_and_others(tmp_path):
    for name in ("b.csv", "a.parquet", ".hidden.csv", "notes.md", "deep/c.CSV"):
        place = tmp_path / name
        place.parent.mkdir(exist_ok=True)
        place.write_text("x")
    (tmp_path / "l.csv").symlink_to(tmp_path / "b.csv")
    assert Folder.at(tmp_path).tables() == ["a.parquet", "b.csv", "deep/c.CSV"]


def test_hierarchies_of_a_schema_may_not_be_read_from_outside(tmp_path):
    folder = Folder.at(tmp_path)
    project = folder.root / "p.project"
    good = {"columns": {"a": {"role": "quasi", "hierarchy": "../shared/a.csv"}, "b": "quasi"}}
    folder.check(good, beside=project)
    bad = {"columns": {"a": {"role": "quasi", "hierarchy": "../../etc/passwd"}}}
    with pytest.raises(InputError, match="outside"):
        folder.check(bad, beside=project)


def test_no_field_of_a_request_that_may_hold_a_place_is_forgotten():
    """A request of a later day has more places: each must be known here."""
    known = {*PLACES, "inputs", "profile", "table", "schema", "output", "checks", "method"}
    for kind in (ReleaseRequest, Output, Checks):
        for each in fields(kind):
            if "Path" in str(each.type) or str(each.type) == "object":
                assert each.name in known, each.name


def test_every_place_of_a_request_is_looked_at(tmp_path):
    request = {
        "key": "k.key", "nested_in": "a.csv", "ledger": "l.db", "seed": 3,
        "output": {"out": "o.csv", "class_file": "c.csv", "person_file": "p.csv",
                   "inputs": ["i.csv"], "keep_order": True},
        "checks": {"population": "pop.csv", "profile": "rule.yaml", "attacks": "all"},
    }  # fmt: skip
    wanted = ["k.key", "a.csv", "l.db", "o.csv", "c.csv", "p.csv", "i.csv", "pop.csv", "rule.yaml"]
    assert list(places_in(request)) == wanted
    Folder.at(tmp_path).check_places(request, {"out": "r.html", "model": "m.json"})


@pytest.mark.parametrize(
    "request_",
    [
        {"output": {"out": "/etc/passwd"}},
        {"output": {"out": "o.csv", "class_file": "../c.csv"}},
        {"output": {"inputs": ["/etc/shadow"]}},
        {"checks": {"population": {"database": "postgresql://attacker.example/x"}}},
        {"checks": {"population": "https://attacker.example/x.csv"}},
        {"checks": {"profile": "/etc/passwd"}},
        {"ledger": "postgresql://attacker.example/x"},
        {"key": ["a", "b"]},
        {"after": "../series.db"},
        {"false_records": "/tmp/false.csv"},
        {"counterfeit_table": "../counterfeits.csv"},
        {"model": "../m.json"},
    ],
)
def test_a_request_that_reads_or_writes_outside_is_refused(tmp_path, request_):
    with pytest.raises(InputError):
        Folder.at(tmp_path).check_places(request_)


def test_the_name_of_a_profile_is_no_place(tmp_path):
    Folder.at(tmp_path).check_places({"checks": {"profile": "cms-cell-size"}})


def test_what_is_written_is_for_its_owner_alone_and_leaves_nothing_else(tmp_path):
    place = tmp_path / "p" / "schema.yaml"
    write_text(place, "a: 1\n")
    write_text(place, "a: 2\n")
    assert place.read_text() == "a: 2\n"
    assert place.stat().st_mode & 0o077 == 0
    assert os.listdir(place.parent) == ["schema.yaml"]


def test_a_place_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError):
        write_text(tmp_path / "file" / "schema.yaml", "a: 1\n")
    with pytest.raises(OutputError):
        Folder.at(tmp_path).writable("file/results/x.csv")


def test_the_folder_of_an_output_is_made(tmp_path):
    found = Folder.at(tmp_path).writable("p/results/x.csv")
    assert found.parent.is_dir()


def test_a_digest_tells_files_apart_and_knows_that_there_is_none(tmp_path):
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").write_text("y")
    assert digest(tmp_path / "a") != digest(tmp_path / "b")
    assert digest(tmp_path / "c") == ""
    with pytest.raises(OutputError):
        digest(tmp_path)
