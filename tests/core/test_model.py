from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shoal.core.errors import InputError, ModelFormatError
from shoal.core.model import RecodingModel
from shoal.core.schema import Schema


def model() -> RecodingModel:
    schema = Schema.from_document(
        {
            "columns": {"age": {"role": "quasi", "kind": "numeric"}, "sex": "quasi"},
            "privacy": [{"model": "k-anonymity", "k": 2}],
        }
    )
    return RecodingModel(
        method="mondrian",
        schema=schema,
        records=4,
        suppressed=0,
        cells={"age": (("1", "3", "[1, 3]"), ("5", "5", "5")), "sex": ((None, None, None),)},
        regions=((0, 0), (1, 0)),
        utility={"ncp": 0.5, "cm": None},
    )


def test_a_model_comes_back_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(model().to_json())
    assert RecodingModel.load(tmp_path / "model.json") == model()


def broken(**changes: Any) -> dict[str, Any]:
    document = json.loads(model().to_json())
    document.update(changes)
    return document


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        broken(format="other"),
        broken(version=2),
        broken(version=True),
        broken(version="1"),
        broken(schema=None),
        broken(schema={"columns": {"age": "quasi"}}),
        broken(columns="x"),
        broken(columns=[{"name": "age", "cells": [[1, 2]]}]),
        broken(regions=[[0, 9]]),
        broken(regions=[[0]]),
        broken(regions=[[True, 0]]),
        broken(regions={"a": 1}),
        broken(records=-1),
        broken(records=10**30),
        broken(utility={"ncp": "high"}),
        broken(method=5),
        broken(levels={"age": 1}),
    ],
)
def test_a_damaged_newer_or_foreign_model_is_refused(document: object) -> None:
    with pytest.raises(ModelFormatError):
        RecodingModel.from_document(document)


def test_a_deeply_nested_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text('{"a":' * 100_000)
    with pytest.raises(InputError, match="nested too deeply"):
        RecodingModel.load(tmp_path / "m.json")
