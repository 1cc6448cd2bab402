"""A hospital's export chain, as somebody types it: a workbook in, a table of PostgreSQL out.

Excel with umlauts, German dates and rows above the header → infer → anonymize → table → report →
metadata; nothing is touched by hand between two commands.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.postgres import postgres

import shoal
from shoal.cli.main import main

xlsxwriter = pytest.importorskip("xlsxwriter", reason="needs the extra shoal[files]")
pytest.importorskip("adbc_driver_postgresql", reason="needs the extra shoal[db]")
pytestmark = [pytest.mark.slow, pytest.mark.local("databases")]

NAMES = ["Jörg Müller", "Käthe Groß", "Özlem Şahin", "Ännchen Weiß", "Björn Köhler"]
WARDS = ["Gynäkologie", "Chirurgie", "Innere", "Pädiatrie"]
ILL = ["Röteln", "Grippe", "Fraktur", "Masern"]
HEADER = ["Patientennummer", "Name", "Geburtsdatum", "Geschlecht", "PLZ", "Station", "Diagnose"]


def workbook(place: Path, records: int = 400) -> Path:
    chance = random.Random(30)
    book = xlsxwriter.Workbook(place)
    book.add_worksheet("Hinweise").write(0, 0, "nur für den internen Gebrauch")
    sheet = book.add_worksheet("Fälle 2024")
    sheet.write(0, 0, "Universitätsklinikum – Export der Fälle")
    sheet.write(1, 2, "Stand: 24.12.2024")
    for column, name in enumerate(HEADER):
        sheet.write(3, column, name)
    for row in range(records):
        born = date(1940, 1, 1) + timedelta(days=chance.randrange(29_000))
        cells = [
            f"P{100_000 + row}", f"{chance.choice(NAMES)} {row}", born.strftime("%d.%m.%Y"),
            chance.choice(["männlich", "weiblich"]), f"{chance.randrange(1, 99):02}{row % 7:03}",
            chance.choice(WARDS), chance.choice(ILL),
        ]  # fmt: skip
        for column, cell in enumerate(cells):
            if column != 5 or row % 50:  # some wards are missing
                sheet.write_string(4 + row, column, cell)
    book.close()
    return place


def test_from_a_workbook_to_a_table_with_report_and_metadata(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    workbook(tmp_path / "fälle.xlsx")
    read = ["fälle.xlsx", "--sheet", "Fälle 2024"]
    assert main(["infer", *read, "--out", "schema.yaml"]) == 0
    told = capsys.readouterr().out
    assert "--skip-lines 3" in told
    read += ["--skip-lines", "3"]
    with postgres() as address:
        goal = ["--out", address, "--table", "Freigabe"]
        beside = ["--report", "bericht.html", "--by", "Köhler", "--metadata",
                  "f.datapackage.json,f.croissant.json,f.ddi.xml"]  # fmt: skip
        schema = ["--schema", "schema.yaml"]
        assert main(["anonymize", *read, *schema, *goal, *beside, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert main(["verify", address, "--table", "Freigabe", *schema, "--quiet"]) == 0
        table = shoal.Database(uri=address, table="Freigabe").read()
        # A second release of that name is refused, and the first one is as it was.
        assert main(["anonymize", *read, *schema, *goal, "--quiet"]) == 2
        assert shoal.Database(uri=address, table="Freigabe").read().equals(table)
    quasi = [name for name, about in told["roles"].items() if about["role"] == "quasi"]
    assert {"Geburtsdatum", "PLZ", "Geschlecht"} <= set(quasi)
    assert not {"Name", "Patientennummer"} & set(table.columns)
    assert table.height == told["released"]
    # Judged without shoal: each record looks like four others, and no class has one diagnosis.
    classes: dict[tuple[object, ...], Counter[str]] = {}
    for record in table.iter_rows(named=True):
        key = tuple(record[name] for name in quasi)
        classes.setdefault(key, Counter())[record["Diagnose"]] += 1
    assert min(sum(each.values()) for each in classes.values()) >= 5
    assert set(table["Diagnose"]) <= set(ILL)
    report = (tmp_path / "bericht.html").read_text(encoding="utf-8")
    assert "Freigabe" in report
    assert "Köhler" in report
    fields = json.loads((tmp_path / "f.datapackage.json").read_text())["resources"][0]["schema"]
    assert [each["name"] for each in fields["fields"]] == table.columns
    croissant = json.loads((tmp_path / "f.croissant.json").read_text())
    assert len(croissant["recordSet"][0]["field"]) == table.width
    root = ElementTree.parse(tmp_path / "f.ddi.xml").getroot()
    cases = root.findtext(".//d:caseQnty", namespaces={"d": "ddi:codebook:2_5"})
    assert int(cases or 0) == table.height
