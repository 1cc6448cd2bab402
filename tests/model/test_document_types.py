"""The types of a document name what its JSON Schema names, and what models really hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_type_hints

import pytest

from shoal.model import document_types as types

ROOT = Path(__file__).resolve().parents[2]
RULES = json.loads((ROOT / "src/shoal/model/model.schema.json").read_text(encoding="utf-8"))
COLUMN = RULES["$defs"]["column"]
GOLDEN = sorted((ROOT / "tests/golden").glob("*.model.json"))


def required(kind):
    """Return the keys that must be there: not those of `NotRequired`, nor of a loose type."""
    hints = get_type_hints(kind, include_extras=True)
    return (
        {k for k, hint in hints.items() if "NotRequired" not in str(hint)}
        if kind.__total__
        else set()
    )


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        (types.ModelDocument, RULES),
        (types.ColumnDocument, COLUMN),
        (types.MaskRule, COLUMN["properties"]["mask"]),
    ],
)
def test_keys_are_those_of_the_json_schema(kind, rule):
    assert set(kind.__annotations__) == set(rule["properties"])
    assert required(kind) == set(rule["required"])


def test_a_cell_may_have_the_keys_of_any_kind_of_cell():
    kinds = RULES["$defs"]["cell"]["oneOf"]
    assert set(types.Cell.__annotations__) == {key for kind in kinds for key in kind["properties"]}
    assert required(types.Cell) == set()


def test_an_encoder_reads_no_key_of_a_schema_that_the_types_do_not_name():
    source = "".join(
        (ROOT / f"src/shoal/model/{name}.py").read_text(encoding="utf-8")
        for name in ("runtime", "column")
    )
    for key in ("hierarchy", "order", "date_format"):
        assert f'about.get("{key}")' in source
        assert key in types.AttributeDocument.__annotations__
    assert set(types.SchemaDocument.__annotations__) == {"columns", "others", "missing"}


@pytest.mark.parametrize("place", GOLDEN, ids=lambda place: place.name)
def test_models_hold_what_the_types_say(place):
    document = json.loads(place.read_text(encoding="utf-8"))
    assert (
        required(types.ModelDocument) <= set(document) <= set(types.ModelDocument.__annotations__)
    )
    assert required(types.SchemaDocument) <= set(document["schema"])
    for column in document["columns"]:
        assert required(types.ColumnDocument) <= set(column)
        assert required(types.AttributeDocument) <= set(
            document["schema"]["columns"][column["name"]]
        )
