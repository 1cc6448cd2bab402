"""Projects of ARX: what is carried over, what is refused, and the same optimum."""

from __future__ import annotations

import csv
import gzip
import os
import zipfile
from pathlib import Path

import pytest
from tests.formats.arx_project import (
    HEADER,
    QUASI,
    ROWS,
    TREES,
    TYPES,
    config,
    definition,
    field,
    lattice,
    write_project,
    xml,
)

from shoal.core.errors import InputError
from shoal.formats.importers import arx
from shoal.formats.importers.arx import read_arx
from shoal.jobs.imports import compared
from shoal.privacy import KAnonymity, LDiversity, TCloseness
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.schema.schema import Kind, Role

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[2] / "../shared/data"))
CRITERIA = {
    "5-anonymity": KAnonymity(5),
    "distinct-2-diversity for attribute 'ill'": LDiversity(l=2, column="ill"),
    "distinct-2.0-diversity for attribute 'ill'": LDiversity(l=2, column="ill"),
    "entropy-2.5-diversity for attribute 'ill'": LDiversity(l=2.5, kind="entropy", column="ill"),
    "shannon-entropy-3.0-diversity for attribute 'ill'": LDiversity(
        l=3, kind="entropy", column="ill"
    ),
    "recursive-(4.0,2)-diversity for attribute 'ill'": LDiversity(
        l=2, kind="recursive", c=4.0, column="ill"
    ),
    "0.2-closeness with equal distance for attribute 'ill'": TCloseness(t=0.2, column="ill"),
    "0.2-closeness with equal ground-distance for attribute 'ill'": TCloseness(t=0.2, column="ill"),
    "0.15-closeness with ordered distance for attribute 'ill'": TCloseness(
        t=0.15, distance="ordered", column="ill"
    ),
    "basic-1.5-likeness for attribute 'ill'": BetaLikeness(beta=1.5, column="ill"),
}
UNKNOWN = [
    "3-map", "(0.1,0.2)-presence", "1.0-disclosure privacy for attribute 'ill'",
    "grassberger-entropy-2.0-diversity for attribute 'ill'", "(1.0E-6,0.1)-differential privacy",
    "0.2-closeness with hierarchical distance for attribute 'ill'",  # it has no hierarchy
]  # fmt: skip


def project(tmp_path: Path, *criteria: str, **more) -> Path:
    given = {"limit": 0.1, **more.pop("config", {})}
    text = config(criteria or ["3-anonymity"], **given)
    return write_project(
        tmp_path / "study.deid", HEADER, ROWS, types=TYPES, trees=TREES, config_xml=text, **more
    )


def test_roles_hierarchies_promise_and_limit_are_carried_over(tmp_path):
    found = read_arx(project(tmp_path, *CRITERIA))
    assert [(a.name, a.role) for a in found.schema.attributes] == [
        ("name", Role.IDENTIFYING), ("age", Role.QUASI), ("sex", Role.QUASI),
        ("ill", Role.SENSITIVE), ("note", Role.NEUTRAL),
    ]  # fmt: skip
    assert list(found.schema.privacy) == list(CRITERIA.values())
    assert found.schema.suppression_limit == 0.1
    assert found.schema.utility == "loss"
    assert [list(row) for row in found.hierarchies["age"].to_rows()] == TREES["age"]
    assert found.notices == ()
    assert found.table.decode().splitlines()[0] == ";".join(HEADER)


@pytest.mark.parametrize("text", UNKNOWN)
def test_a_promise_is_never_left_out_in_silence(tmp_path, text):
    place = project(tmp_path, "3-anonymity", text)
    with pytest.raises(InputError, match=r"no counterpart here .*--partly"):
        read_arx(place)
    found = read_arx(place, partly=True)
    assert list(found.schema.privacy) == [KAnonymity(3)]
    assert found.notices == (f"NOT promised here, but in the project: {text}",)


@pytest.mark.parametrize(("metric", "utility"), [
    ("Loss (0.5/0.5/1.0)", "loss"), ("Height", "level-sum"), ("Discernability", "dm"),
    ("Average equivalence class size (0.5/1.0)", "aecs"), ("Precision (0.5)", "precision-loss"),
    ("Non-monotonic non-uniform entropy (0.5)", "non-uniform-entropy"),
])  # fmt: skip
def test_what_is_minimized_is_carried_over(tmp_path, metric, utility):
    found = read_arx(project(tmp_path, config={"metric": metric}))
    assert found.schema.utility == utility
    assert not found.notices


def test_what_has_no_counterpart_is_said(tmp_path):
    more = {"age": {"max": "1"}, "note": {"datatype": "Date/Time", "format": "dd.MM.yyyy"},
            "ill": {"microAggregationFunction": "Mode"}}  # fmt: skip
    place = project(
        tmp_path,
        config={"metric": "Publisher payout", "weights": {"age": 2.0, "sex": 0.0}},
        definition_xml=definition(TYPES, TREES, **more),
    )
    found = read_arx(place)
    text = "\n".join(found.notices)
    assert "its max level 1 is not kept" in text
    assert "'ill' was microaggregated" in text
    assert "'Publisher payout', which is not known here" in text
    note = {a.name: a for a in found.schema.attributes}["note"]
    assert (note.kind, note.date_format) == (Kind.DATE, "%d.%m.%Y")
    assert {a.name: a.weight for a in found.schema.attributes}["age"] == 2.0


@pytest.mark.parametrize(("java", "ours"), [
    ("yyyy-MM-dd", "%Y-%m-%d"), ("dd/MM/yyyy HH:mm", "%d/%m/%Y %H:%M"), ("MMM d", None), ("", None),
])  # fmt: skip
def test_forms_of_dates(java, ours):
    assert arx._date_form(java) == ours


def test_a_hierarchy_without_one_root_gets_one(tmp_path):
    trees = {**TREES, "sex": [["f", "F"], ["m", "M"]]}
    text = config(["3-anonymity"], limit=0.0)
    place = write_project(
        tmp_path / "p.deid", HEADER, ROWS, types=TYPES, trees=trees, config_xml=text
    )
    found = read_arx(place)
    assert found.hierarchies["sex"].labels[-1] == "*"
    assert found.notices == ("column 'sex': its hierarchy got a root *, which it had not",)


def test_the_optimum_of_a_small_project_is_found_here_too(tmp_path):
    nodes = lattice(HEADER, ROWS, TREES, k=3, limit=0.1)
    found = read_arx(project(tmp_path, lattice_xml=nodes))
    assert found.chosen.nodes == 6
    optimum = compared(found, where="study.deid")
    assert optimum.same
    assert optimum.optimal
    assert optimum.loss == pytest.approx(found.chosen.loss)


def test_the_first_vocabulary_is_read_too(tmp_path):
    old = xml("lattice", '<level depth="1"><node id="0">', field("transformation", [1, 1]),
              field("anonymity", "ANONYMOUS"),
              xml("infoloss", field("max", "0.5"), field("min", "0.5")), "</node>",
              "</level>")  # fmt: skip
    chosen = read_arx(project(tmp_path, lattice_xml=old)).chosen
    assert (dict(chosen.levels), chosen.loss) == ({"age": 1, "sex": 1}, 0.5)


@pytest.mark.parametrize("loss", ["0.25", "ILMultiDimensional 0.25", "0.25 [GeometricMean]"])
def test_a_loss_is_read_however_it_is_written(loss):
    assert arx._number(loss) == 0.25


def test_a_lattice_without_a_safe_node_has_no_choice(tmp_path):
    nodes = lattice(HEADER, ROWS, TREES, k=1000, limit=0.0)
    found = read_arx(project(tmp_path, lattice_xml=nodes))
    assert found.chosen is None
    with pytest.raises(InputError, match="no lattice and table to compare with"):
        compared(found, where="study.deid")


def test_a_lattice_of_other_columns_is_left_out(tmp_path):
    other = xml("lattice", "<n>", field("t", [1]), field("a", "ANONYMOUS"), "</n>")
    found = read_arx(project(tmp_path, lattice_xml=other))
    assert found.chosen is None
    assert "other columns" in found.notices[0]


def test_what_is_no_project_is_refused(tmp_path):
    place = tmp_path / "x.deid"
    place.write_bytes(b"Alice")
    with pytest.raises(InputError, match="is no ARX project"):
        read_arx(place)
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("input/config.xml", "<config/>")
    with pytest.raises(InputError, match=r"definition\.xml is missing"):
        read_arx(place)
    with pytest.raises(InputError, match="no such file"):
        read_arx(tmp_path / "none.deid")


@pytest.mark.parametrize(("text", "problem"), [
    ('<!DOCTYPE x [<!ENTITY a "aaaa">]><config>&a;</config>', "declares a document type"),
    ("<config>", "is not XML"),
])  # fmt: skip
def test_hostile_xml_is_refused(tmp_path, text, problem):
    place = tmp_path / "x.deid"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("input/config.xml", text)
        archive.writestr("input/definition.xml", "<definition/>")
    with pytest.raises(InputError, match=problem):
        read_arx(place)


def test_a_part_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(arx, "MOST_BYTES", 100)
    with pytest.raises(InputError, match="larger than a project can be"):
        read_arx(project(tmp_path))


def test_a_missing_hierarchy_and_an_unknown_type_are_refused(tmp_path):
    gone = definition(TYPES, TREES).replace("hierarchies/age.csv", "hierarchies/gone.csv")
    with pytest.raises(InputError, match="column 'age': its hierarchy is missing"):
        read_arx(project(tmp_path, definition_xml=gone))
    odd = definition({**TYPES, "ill": "ODD"}, TREES)
    with pytest.raises(InputError, match="column 'ill': its type is none of"):
        read_arx(project(tmp_path, definition_xml=odd))


def test_adult_has_the_optimum_that_its_project_says(tmp_path):
    folder = DATA / "adult_arx"
    if not folder.is_dir():
        pytest.skip("needs ../shared/data/adult_arx")
    with gzip.open(folder / "adult.csv.gz", "rt", encoding="utf-8") as file:
        header, *rows = csv.reader(file, delimiter=";")
    names = ["sex", "age", "race", "marital-status"]
    trees = {}
    for name in names:
        with (folder / f"adult_hierarchy_{name}.csv").open(encoding="utf-8") as file:
            trees[name] = list(csv.reader(file, delimiter=";"))
    types = {name: QUASI if name in names else "INSENSITIVE_ATTRIBUTE" for name in header}
    place = write_project(
        tmp_path / "adult.deid", header, rows, types=types, trees=trees,
        config_xml=config(["5-anonymity"], limit=0.02),
        lattice_xml=lattice(header, rows, trees, k=5, limit=0.02),
    )  # fmt: skip
    found = read_arx(place)
    optimum = compared(found, where="adult.deid")
    assert optimum.same, optimum
    assert optimum.optimal
    assert optimum.loss == pytest.approx(found.chosen.loss)
