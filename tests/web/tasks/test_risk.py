from __future__ import annotations

from shoal.api import risk
from shoal.web.tasks import sample
from shoal.web.tasks.risk import run


def asked(project, **more):
    return {"table": "stays.csv", "schema": "stays.project/schema.yaml", **more}


def test_it_answers_what_the_command_answers(project, monkeypatch):
    monkeypatch.chdir(project.folder.root)
    found = run(asked(project), lambda part: None)
    wanted = risk("stays.csv", "stays.project/schema.yaml")
    assert {name: found[name] for name in ("records", "classes", "unique", "global_risk")} == {
        "records": wanted.records, "classes": wanted.classes, "unique": wanted.unique,
        "global_risk": wanted.global_risk,
    }  # fmt: skip
    assert (found["maximum"], found["average"]) == (wanted.maximum, wanted.average)
    assert found["is_sample"] is False
    assert found["held"] is None


def test_it_is_held_against_a_rule(project, monkeypatch):
    monkeypatch.chdir(project.folder.root)
    found = run(asked(project, profile="cms-cell-size"), lambda part: None)
    assert found["held"]["passed"] is False
    assert found["held"]["smallest_class"] == 11


def test_persons_are_counted_where_the_schema_names_them(project, monkeypatch):
    monkeypatch.chdir(project.folder.root)
    project.change("person", lambda state: state.with_column("patient_id", role="person"))
    assert run(asked(project), lambda part: None)["persons"] == 400


def test_of_a_large_table_it_says_that_it_saw_a_sample(project, monkeypatch):
    monkeypatch.chdir(project.folder.root)
    monkeypatch.setattr(sample, "MOST", 100)
    monkeypatch.setattr(sample, "_kept", {})
    found = run(asked(project), lambda part: None)
    assert (found["seen"], found["of"], found["is_sample"]) == (100, 400, True)
