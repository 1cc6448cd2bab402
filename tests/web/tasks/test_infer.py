from __future__ import annotations

from shoal.api import infer
from shoal.schema.schema import Schema
from shoal.web.tasks.infer import run


def test_it_answers_what_the_command_answers_and_a_schema_that_can_be_read(folder, monkeypatch):
    monkeypatch.chdir(folder)
    found = run({"table": "stays.csv", "seconds": 5.0}, lambda part: None)
    asked = infer("stays.csv", seconds=5.0)
    assert found["columns"] == asked.to_document()["columns"]
    assert Schema.from_document(found["schema"]).quasi == asked.schema.quasi
    assert found["table"] == "stays.csv"


def test_how_the_file_was_read_goes_with_it(folder, monkeypatch):
    monkeypatch.chdir(folder)
    rows = "".join(f"Käthe;{n}\n" for n in range(40))
    (folder / "b.csv").write_bytes(f"Name;Größe\n{rows}".encode("cp1252"))
    found = run({"table": "b.csv"}, lambda part: None)
    assert found["table"] == {"file": "b.csv", "encoding": "cp1252"}
