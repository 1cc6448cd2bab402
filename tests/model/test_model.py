from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from shoal.core.errors import ModelFormatError
from shoal.model.document import fingerprint_of
from shoal.model.model import ModelColumn, RecodingModel
from shoal.model.runtime import Encoder
from shoal.schema.schema import Schema

SHIPPED = Path(__file__).resolve().parents[2] / "src/shoal/model/model.schema.json"


def model(**changes: Any) -> RecodingModel:
    schema = Schema.from_document(
        {
            "columns": {
                "age": {"role": "quasi", "kind": "numeric"},
                "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["f", "m"]}}},
                "name": "identifying",
            },
            "privacy": [{"model": "k-anonymity", "k": 2}],
        }
    )
    facts: dict[str, Any] = {
        "method": "mondrian",
        "schema": schema,
        "records": 5,
        "suppressed": 0,
        "columns": (
            ModelColumn(
                name="age",
                scale="number",
                root="*",
                cells=({"low": "1", "high": "3"}, {"low": "5", "high": "5"}),
            ),
            ModelColumn(name="sex", scale="text", root="*", cells=({"missing": True}, {"node": 0})),
        ),
        "regions": ((1, 1), (0, 0)),
        "counts": (3, 2),
        "utility": {"ncp": 0.5, "cm": None},
    }
    return RecodingModel(**{**facts, **changes})


def test_a_model_comes_back_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(model().to_json())
    assert RecodingModel.load(tmp_path / "model.json") == model()
    assert model().tuples() == [("5", "f"), ("[1, 3]", None)]


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    place = tmp_path / "model.json"
    place.write_text(model().to_json().replace('"low":"1"', '"low":"0"'))
    with pytest.raises(ModelFormatError, match="fingerprint"):
        RecodingModel.load(place)


def broken(**changes: Any) -> dict[str, Any]:
    document = json.loads(model().to_json())
    document.update(changes)
    return document


def with_cell(cell: object) -> dict[str, Any]:
    document = broken()
    document["columns"][0]["cells"][0] = cell
    return document


def with_tree(labels: object, parents: object) -> dict[str, Any]:
    document = broken()
    document["schema"]["columns"]["sex"]["hierarchy"] = {"labels": labels, "parents": parents}
    return document


HOSTILE = [
    None,
    [],
    {},
    broken(format="other"),
    broken(version=3),
    broken(version=True),
    broken(version="2"),
    broken(version=0),
    broken(version=-(10**30)),
    broken(schema=None),
    broken(schema={"columns": {"age": "quasi"}}),
    broken(schema={"columns": {"age": {"role": "king"}}}),
    broken(columns="x"),
    broken(columns=[{"name": "age", "cells": [[1, 2]]}]),
    broken(regions=[[0, 9]]),
    broken(regions=[[0]]),
    broken(regions=[[True, 0]]),
    broken(regions=[[-1, 0]]),
    broken(regions={"a": 1}),
    broken(counts=[3]),
    broken(counts=[4, 1]),  # a class below its own promise
    broken(counts=[3, 3]),  # more than there were
    broken(counts=[3, "2"]),
    broken(records=-1),
    broken(records=10**30),
    broken(utility={"ncp": "high"}),
    broken(utility={"ncp": float("nan")}),
    broken(utility={"ncp": 10**400}),
    broken(method=5),
    broken(levels={"age": 1}),
    broken(on_unseen="guess"),
    broken(released=["age"]),
    broken(removed=[]),
    broken(secret="x"),
    broken(fingerprint=5),
    with_cell({"low": "a", "high": "b"}),
    with_cell({"low": "1", "high": None}),
    with_cell({"low": "1", "high": "2", "open": "wide"}),
    with_cell({"node": 10**9}),
    with_cell({"mask": "7*", "lost": 1}),
    with_cell({"any": "*", "value": "x"}),
    with_cell({"values": [], "label": "x"}),
    with_cell({"eval": "x"}),
    with_cell([]),
    with_tree(["a", "b"], [1, 0]),  # a cycle
    with_tree(["a", "b"], [0, -1]),
    with_tree(["a"], [-1, -1]),
    with_tree("ab", [1, -1]),
]


@pytest.mark.parametrize("document", HOSTILE, ids=range(len(HOSTILE)))
def test_a_damaged_newer_or_hostile_model_is_refused(document: object) -> None:
    with pytest.raises(ModelFormatError):
        RecodingModel.from_document(document)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 100_000,
        "[" * 100_000,
        "9" * 5000,
        '{"format":"shoal-model","version":2,"version":2}',
        '{"format":"shoal-model","records":NaN}',
        "",
        "\ufeff",
    ],
    ids=range(7),
)
def test_a_file_of_junk_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.json").write_text(text, encoding="utf-8")
    with pytest.raises(ModelFormatError):
        RecodingModel.load(tmp_path / "m.json")


def test_a_hundred_megabytes_of_junk_are_not_even_read(tmp_path: Path) -> None:
    with (tmp_path / "m.json").open("wb") as file:
        file.truncate(100 * 2**20)
    with pytest.raises(ModelFormatError, match="larger than"):
        RecodingModel.load(tmp_path / "m.json")
    with pytest.raises(ModelFormatError, match="no such file"):
        RecodingModel.load(tmp_path / "nothing.json")


def test_any_single_change_is_refused_or_harmless() -> None:
    """Swap every part of a model for junk: it is refused, or it can still encode."""
    chance = random.Random(3)
    junk: list[Any] = [None, True, -1, 1.5, 2**80, "x", [], {}, [[-1]], {"x": None}, "\x00"]

    def places(value: Any) -> list[tuple[Any, Any]]:
        found: list[tuple[Any, Any]] = []
        keys = value.keys() if isinstance(value, dict) else range(len(value))
        for key in keys:
            found.append((value, key))
            if isinstance(value[key], (dict, list)):
                found += places(value[key])
        return found

    for _ in range(1500):
        document = broken()
        holder, key = chance.choice(places(document))
        holder[key] = chance.choice(junk)
        try:
            found = RecodingModel.from_document(document)
        except ModelFormatError:
            continue
        Encoder(found.to_document()).encode({"age": "2", "sex": "f"})


def test_version_1_is_upgraded() -> None:
    old = {
        "format": "shoal-model",
        "version": 1,
        "method": "mondrian",
        "records": 4,
        "suppressed": 0,
        "utility": {"ncp": 0.5},
        "schema": {
            "version": 1,
            "columns": {"age": {"role": "quasi"}, "sex": {"role": "quasi"}},
            "others": "fault",
            "privacy": [{"model": "k-anonymity", "k": 2}],
            "suppression_limit": 0.0,
        },
        "columns": [
            {"name": "age", "cells": [["1", "3", "[1, 3]"], ["5", "5", "5"]]},
            {"name": "sex", "cells": [[None, None, None], ["f", "f", "f"], ["*", "*", "*"]]},
        ],
        "regions": [[0, 0], [1, 1], [1, 2]],
    }
    found = RecodingModel.from_document(old)
    assert found.to_document()["version"] == 2
    encoder = Encoder(found.to_document())
    assert encoder.encode({"age": 2, "sex": None}) == {"age": "[1, 3]", "sex": None}
    assert encoder.encode({"age": 5, "sex": "m"}) == {"age": "5", "sex": "*"}
    assert RecodingModel.from_document(found.to_document()) == found


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
        "number": (int, float),
    }  # fmt: skip
    wanted = rule.get("type", list(kinds))
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if isinstance(value, bool) or not any(isinstance(value, kinds[kind]) for kind in wanted):
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
    assert not fits(broken(version=3), rules, rules)
    assert not fits(with_cell({"eval": "x"}), rules, rules)
    assert not fits(with_cell({"low": 1, "high": 2}), rules, rules)
    assert not fits(broken(regions=[["a"]]), rules, rules)
