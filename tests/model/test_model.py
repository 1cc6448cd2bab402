"""A learned recoding as data: it comes back from its file, and its JSON Schema describes it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.model.made import broken, model, with_cell

from shoal.core.errors import ModelFormatError
from shoal.model.document import fingerprint_of
from shoal.model.model import ModelColumn, RecodingModel
from shoal.model.runtime import Encoder

SHIPPED = Path(__file__).resolve().parents[2] / "src/shoal/model/model.schema.json"


def test_a_model_comes_back_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(model().to_json())
    assert RecodingModel.load(tmp_path / "model.json") == model()
    assert model().tuples() == [("5", "f"), ("[1, 3]", None)]


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    place = tmp_path / "model.json"
    place.write_text(model().to_json().replace('"low":"1"', '"low":"0"'))
    with pytest.raises(ModelFormatError, match="fingerprint"):
        RecodingModel.load(place)


def test_the_fingerprint_is_of_the_content_alone() -> None:
    document = model().to_document()
    assert document["fingerprint"] == fingerprint_of(dict(reversed(document.items())))
    assert document["fingerprint"] != model(method="other").fingerprint


def fits(value: Any, rule: Any, whole: Any) -> bool:
    """Check a value against the part of JSON Schema that ours uses."""
    if "$ref" in rule:
        return fits(value, whole["$defs"][rule["$ref"].rpartition("/")[2]], whole)
    if "const" in rule:
        return value == rule["const"] and type(value) is type(rule["const"])
    if "enum" in rule:
        return value in rule["enum"]
    if "oneOf" in rule:
        return sum(fits(value, one, whole) for one in rule["oneOf"]) == 1
    kinds = {
        "object": dict, "array": list, "string": str, "integer": int, "null": type(None),
        "number": (int, float), "boolean": bool,
    }  # fmt: skip
    wanted = rule.get("type", list(kinds))
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if isinstance(value, bool):
        return "boolean" in wanted
    if not any(isinstance(value, kinds[kind]) for kind in wanted if kind in kinds):
        return False
    if isinstance(value, dict):
        known = rule.get("properties", {})
        extra = rule.get("additionalProperties", True)
        if not set(rule.get("required", ())) <= set(value):
            return False
        return all(
            fits(v, known[k], whole) if k in known else extra is True or (
                extra is not False and fits(v, extra, whole)
            )
            for k, v in value.items()
        )  # fmt: skip
    if isinstance(value, list):
        return len(value) >= rule.get("minItems", 0) and all(
            fits(item, rule.get("items", {}), whole) for item in value
        )
    if isinstance(value, str):
        return rule.get("minLength", 0) <= len(value) <= rule.get("maxLength", 10**9)
    if isinstance(value, int):
        return rule.get("minimum", value) <= value <= rule.get("maximum", value)
    return True


def test_models_fit_the_shipped_json_schema() -> None:
    rules = json.loads(SHIPPED.read_text(encoding="utf-8"))
    assert fits(json.loads(model().to_json()), rules, rules)
    golden = Path(__file__).resolve().parents[1] / "golden"
    found = sorted(golden.glob("*.model.json"))
    assert found
    for place in found:
        assert fits(json.loads(place.read_text(encoding="utf-8")), rules, rules), place.name


def test_the_shipped_json_schema_refuses_what_is_damaged() -> None:
    rules = json.loads(SHIPPED.read_text(encoding="utf-8"))
    assert not fits(broken(secret=1), rules, rules)
    assert not fits(broken(version=4), rules, rules)
    assert not fits(with_cell({"eval": "x"}), rules, rules)
    assert not fits(with_cell({"low": 1, "high": 2}), rules, rules)
    assert not fits(broken(regions=[["a"]]), rules, rules)
    cuts = json.loads((Path(__file__).parents[1] / "golden" / "cuts.model.json").read_text("utf-8"))
    for change in ({"missing": 1}, {"cuts": [None]}, {"first": 5}, {"variant": 0}):
        column = {**cuts["columns"][0], **change}
        assert not fits({**cuts, "columns": [column]}, rules, rules), change
    assert not fits({**cuts, "tree": {"cut": [-1], "left": [1]}}, rules, rules)


def test_a_model_without_classes_or_levels_comes_back() -> None:
    bare = model(regions=(), counts=(), records=0, levels={"age": 1, "sex": 0})
    found = RecodingModel.from_document(json.loads(bare.to_json()))
    assert found == bare
    assert found.tuples() == []
    assert found.levels == {"age": 1, "sex": 0}
    assert "levels" not in model().to_document()


def test_a_mask_travels_with_its_column() -> None:
    mask = {"char": "*", "length": 5, "direction": "right", "pad": "right", "fill": "*"}
    cells = ({"mask": "75***", "lost": 3},)
    column = ModelColumn(name="zip", scale="text", root="*", cells=cells, mask=mask)
    document = column.to_document()
    assert document == {
        "name": "zip", "scale": "text", "root": "*", "cells": list(cells), "mask": mask,
    }  # fmt: skip
    document["cells"][0]["lost"] = 1
    document["mask"]["length"] = 1
    assert column.cells == cells  # a document is a copy
    assert column.mask["length"] == 5


def test_only_what_was_learned_here_or_has_its_fingerprint_is_sealed() -> None:
    document = model().to_document()
    assert RecodingModel.from_document(document).sealed
    assert not RecodingModel.from_document(broken(method="other")).sealed
    del document["fingerprint"]
    assert not RecodingModel.from_document(document).sealed
    assert replace(model(), sealed=False) == model()  # says nothing of the content


def test_a_schema_that_cannot_be_read_is_the_models_fault() -> None:
    privacy = [{"model": "k-anonymity", "k": 0}]
    document = broken(counts=None)
    document["schema"]["privacy"] = privacy
    with pytest.raises(ModelFormatError, match="its schema is damaged"):
        RecodingModel.from_document(document)
    turned = broken(released=["sex", "age"])
    turned["columns"].reverse()
    turned["regions"] = [region[::-1] for region in turned["regions"]]
    with pytest.raises(ModelFormatError, match="its released columns are not the schema's"):
        RecodingModel.from_document(turned)


def test_a_model_is_json_of_a_line_a_part() -> None:
    text = model().to_json()
    assert len(text.splitlines()) == len(json.loads(text))
    assert Encoder(json.loads(text)).encode({"age": 2, "sex": ""}) == {"age": "[1, 3]", "sex": None}
