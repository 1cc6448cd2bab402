from __future__ import annotations

from shoal.web.tasks.columns import run


def test_each_column_has_a_picture(folder, monkeypatch):
    monkeypatch.chdir(folder)
    asked = {"table": "stays.csv", "missing": ["?"], "kinds": {"zip": "categorical"}}
    found = run(asked, lambda part: None)
    assert (found["records"], found["seen"], found["is_sample"]) == (400, 400, False)
    assert found["columns"]["zip"]["form"] == "values"
    assert found["columns"]["cost"]["form"] == "histogram"
    assert sum(found["columns"]["sex"]["counts"]) == 400


def test_without_kinds_it_looks_at_the_values(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert run({"table": "stays.csv"}, lambda part: None)["columns"]["zip"]["form"] == "histogram"
