"""The guide to persons: its section on linked tables is run, and prints what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import polars as pl
import pytest
from tests.docs.test_tutorials import matches, steps

from shoal.cli.main import main
from shoal.core.documents import parse_yaml
from shoal.jobs.linked import verify_linked
from shoal.jobs.linked_requests import LinkedVerifyRequest
from shoal.schema.linked import LinkedSchema

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDE = (DOCS / "guides/persons.md").read_text(encoding="utf-8")
REFERENCE = (DOCS / "reference/schema.md").read_text(encoding="utf-8")


@pytest.mark.local("linked tables")
def test_the_commands_of_the_guide_print_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = steps(GUIDE)
    assert [shlex.split(command)[1] for command, _ in found] == ["sample", "anonymize", "verify"]
    for command, expected in found:
        program, *arguments = shlex.split(command)
        assert program == "shoal"
        assert main(arguments) == 0
        printed = capsys.readouterr().out.splitlines()
        assert matches(printed, expected), f"{command}\n" + "\n".join(printed)
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    names = {}
    exec(code, names)
    made, schema = names["made"], names["schema"]
    assert verify_linked(LinkedVerifyRequest(tables=made.tables, schema=schema)).holds
    assert isinstance(made.tables["stays"], pl.DataFrame)


def test_the_example_of_the_reference_is_a_schema():
    _, _, section = REFERENCE.partition("## Linked tables")
    text = section.partition("```yaml\n")[2].partition("```")[0]
    schema = LinkedSchema.from_document(parse_yaml(text, where="page"))
    assert [table.name for table in schema.downwards] == ["patients", "stays", "prescriptions"]
    assert schema.tables[1].foreign_key == schema.persons.key == "patient_id"
    assert schema.sensitive == ("stays.diagnosis",)
    assert LinkedSchema.from_document(schema.to_document()) == schema
