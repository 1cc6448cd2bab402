"""Descriptions for archives: each format by its own rules, and no value of the data."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from shoal.reports.archive import (
    CROISSANT,
    DDI,
    TYPES,
    WRITERS,
    Description,
    Variable,
    to_croissant,
    to_ddi,
    to_frictionless,
)

ABOUT = Description(
    name="Station 7 & co.csv",
    kind="csv",
    place="Station 7 & co.csv",
    variables=(
        Variable(name='age "years" <x>', type="string", role="quasi"),
        Variable(name="ill", type="string", role="sensitive"),
        Variable(name="seen", type="date", role="neutral", form="%d.%m.%Y"),
        Variable(name="cost", type="number", role="neutral"),
    ),
    records=1234,
    promise=("k-anonymity (k = 5)",),
    suppressed=7,
    program="shoal 1",
    sha256="ab" * 32,
    size=99,
    missing=("?",),
    separator=";",
)
NS = {"d": DDI}


def test_a_data_package_names_columns_types_and_the_file():
    package = json.loads(to_frictionless(ABOUT))
    (resource,) = package["resources"]
    assert package["profile"] == "tabular-data-package"
    assert resource["path"] == "Station 7 & co.csv"
    assert resource["dialect"]["delimiter"] == ";"
    assert resource["hash"] == "sha256:" + "ab" * 32
    assert resource["schema"]["missingValues"] == ["", "?"]
    fields = resource["schema"]["fields"]
    assert [each["type"] for each in fields] == ["string", "string", "date", "number"]
    assert fields[2]["format"] == "%d.%m.%Y"
    assert package["name"] == "station-7-co.csv"
    assert "1,234 records" in package["description"]


def test_a_packed_file_says_how_it_is_packed():
    (resource,) = json.loads(to_frictionless(replace(ABOUT, kind="csv.gz")))["resources"]
    assert (resource["format"], resource["compression"]) == ("csv", "gz")


def test_croissant_names_its_version_and_where_each_column_is_from():
    found = json.loads(to_croissant(ABOUT))
    assert found["conformsTo"] == CROISSANT
    (source,), (records,) = found["distribution"], found["recordSet"]
    assert source["sha256"] == ABOUT.sha256
    first = records["field"][0]
    assert first["source"]["fileObject"]["@id"] == source["@id"]
    assert first["source"]["extract"]["column"] == 'age "years" <x>'
    assert [each["dataType"] for each in records["field"]][2:] == ["sc:Date", "sc:Float"]


def test_ddi_counts_cases_and_variables():
    root = ElementTree.fromstring(to_ddi(ABOUT))
    assert root.findtext(".//d:caseQnty", namespaces=NS) == "1234"
    assert root.findtext(".//d:varQnty", namespaces=NS) == "4"
    variables = root.findall(".//d:var", NS)
    assert [each.get("name") for each in variables] == [v.name for v in ABOUT.variables]
    forms = [each.find("d:varFormat", NS) for each in variables]
    assert [each.get("type") for each in forms] == ["character"] * 3 + ["numeric"]
    assert forms[2].get("category") == "date"
    assert root.findtext(".//d:notes", namespaces=NS) == "k-anonymity (k = 5)"


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_has_a_name_in_every_format(kind):
    about = replace(ABOUT, variables=(Variable(name="x", type=kind, role="neutral"),))
    for write in WRITERS.values():
        assert "x" in write(about)


def test_a_release_in_a_database_has_no_hash():
    about = replace(ABOUT, kind="database", place="postgresql://db/x", sha256=None, size=None)
    assert "hash" not in to_frictionless(about)
    assert "sha256" not in to_croissant(about)
    assert "postgresql://db/x" in to_ddi(about)


def test_a_name_without_any_letter_is_called_release():
    assert replace(ABOUT, name="ß…").slug == "release"
