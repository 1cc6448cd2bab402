from __future__ import annotations

import csv
import os
import shlex
from collections import Counter
from pathlib import Path

import pytest
from tests.web.conftest import QUASI

from shoal.cli.main import main
from shoal.core.errors import OutputError, ShoalError, UnsafeReleaseError
from shoal.web.panels.release import commands, encoder_of, whole
from shoal.web.tasks.release import run


def written(project, **more):
    request, report = whole(project)
    parts = {"model": project.state.report.get("model"), "export": encoder_of(project)}
    named = {name: place for name, place in parts.items() if place is not None}
    return run({"request": request, "report": report, **named, **more}, lambda part: None)


@pytest.fixture
def here(project, monkeypatch):
    monkeypatch.chdir(project.folder.root)
    (project.place / "results").mkdir()
    return project


CHANGES = {
    "plain": [],
    "another method": [lambda s: s.with_release(method={"name": "mondrian"}, seed=3)],
    "its parameter": [lambda s: s.with_release(method={"name": "refine", "effort": "fast"})],
    "diversity": [lambda s: s.with_schema(privacy=[{"model": "k-anonymity", "k": 3},
                                                   {"model": "l-diversity", "l": 2}])],
    "persons": [lambda s: s.with_column("patient_id", role="person")],
    "a report for outsiders": [lambda s: s.with_report(audience="external", by="Dr. A. Example",
                                                       purpose="a; b $HOME 'c'")],
    "a model and its encoder": [lambda s: s.with_report(
        model="stays.project/results/m.json", export="python")],
    "a hierarchy of its own": [lambda s: s.with_column("sex", hierarchy="hierarchies/sex.csv")],
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_it_writes_is_what_the_printed_commands_write_byte_by_byte(here, name):
    tree = here.folder.writable("stays.project/hierarchies/sex.csv")
    tree.write_text("F;*\nM;*\nX;*\n")
    for make in CHANGES[name]:
        here.change(name, make)
    files = written(here)["files"]
    ours = {place: Path(place).read_bytes() for place in files}
    assert len(ours) == (4 if "model" in name else 2)
    for place in files:
        os.unlink(place)
    for command in commands(here):
        shoal, *words = shlex.split(command)
        assert shoal == "shoal"
        assert main([*words, *(["--quiet"] if words[0] != "edge" else [])]) == 0
    assert {place: Path(place).read_bytes() for place in files} == ours


def test_a_release_that_is_tried_leaves_nothing(here):
    before = sorted(here.folder.root.rglob("*"))
    found = run({"request": {**here.document}}, lambda part: None)
    assert sorted(here.folder.root.rglob("*")) == before
    assert found["report"]["decision"]["holds"] is True
    assert found["run"]["privacy"][0]["holds"] is True
    assert "files" not in found
    assert "stays" in found["report"]["title"] or found["report"]["kind"] == "release"


def test_a_release_that_is_tried_does_not_stand_in_its_ledger(here):
    here.change("book", lambda s: s.with_release(ledger="releases.db"))
    run({"request": {**here.document}}, lambda part: None)
    assert not Path("releases.db").exists()
    written(here)
    before = Path("releases.db").read_bytes()
    tried = run({"request": {**here.document}}, lambda part: None)
    assert Path("releases.db").read_bytes() == before
    assert tried["report"]["decision"]["holds"] is True


def test_a_release_that_is_tried_pays_for_no_noise(here):
    pytest.importorskip("opendp", reason="OpenDP is not installed")
    asked = {"release": "draw", "epsilon": 0.4, "budget": "budget.db"}
    here.change("noise", lambda s: s.with_release(**asked))
    for _ in range(3):
        run({"request": {**here.document}}, lambda part: None)
    assert not Path("budget.db").exists()
    written(here)
    assert Path("budget.db").is_file()


def test_what_is_written_keeps_its_promise_as_somebody_else_judges(here):
    files = written(here)["files"]
    with open(files[0], newline="") as file:
        rows = list(csv.DictReader(file))
    classes = Counter(tuple(row[name] for name in QUASI) for row in rows)
    assert min(classes.values()) >= 3
    assert 0.95 * 400 <= len(rows) <= 400
    assert set(rows[0]) == {*QUASI, "diagnosis"}


def test_a_rule_that_is_not_passed_stops_it_and_nothing_is_written(here):
    here.change("rule", lambda s: s.with_release(checks={"profile": "cms-cell-size"}))
    with pytest.raises(UnsafeReleaseError, match="smallest class"):
        written(here)
    assert list((here.place / "results").iterdir()) == []


def test_a_place_that_cannot_be_written_is_refused_before_the_work(here):
    here.change("report", lambda s: s.with_report(out="stays.csv"))
    with pytest.raises(OutputError):
        written(here)
    here.change("report", lambda s: s.with_report(out="stays.project/results/r.doc"))
    with pytest.raises(OutputError):
        written(here)
    assert list((here.place / "results").iterdir()) == []


def test_the_table_is_never_written_over(here):
    before = Path("stays.csv").read_bytes()
    here.change("out", lambda s: s.with_release(output={"out": "stays.csv"}))
    with pytest.raises(ShoalError):
        written(here)
    assert Path("stays.csv").read_bytes() == before
