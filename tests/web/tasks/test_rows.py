from __future__ import annotations

import csv

from shoal.web.tasks.rows import MOST, run


def test_records_stand_beside_what_is_released_of_them_and_nothing_stays(project, monkeypatch):
    monkeypatch.chdir(project.folder.root)
    before = sorted(project.folder.root.rglob("*"))
    found = run({"request": dict(project.document)}, lambda part: None)
    assert sorted(project.folder.root.rglob("*")) == before
    assert found["quasi"] == ["birth_date", "sex", "zip"]
    assert found["columns"] == ["birth_date", "sex", "zip", "diagnosis"]
    assert len(found["rows"]) == MOST
    with open("stays.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in found["rows"]:
        was, now = row["before"], row["after"]
        assert any(all((each[n] or None) == was[n] for n in was) for each in rows)
        if now is not None:
            assert now["diagnosis"] == (was["diagnosis"] or now["diagnosis"])
            assert "name" not in now
            if now["zip"] and "*" in now["zip"]:
                kept = now["zip"].rstrip("*")
                assert (was["zip"] or "").startswith(kept)
