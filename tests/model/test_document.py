"""The gate of models: what is damaged, newer or hostile does not pass, and no value is shown."""

from __future__ import annotations

import json
import random

import pytest
from tests.model.made import broken, model, with_cell, with_tree

from shoal.core.errors import ModelFormatError
from shoal.model.document import (
    checked,
    fingerprint_of,
    is_sealed,
    read_model,
    refuse_untrusted,
)
from shoal.model.model import RecodingModel
from shoal.model.runtime import Encoder
from shoal.model.trust import Trust

HOSTILE = [
    None,
    [],
    {},
    broken(format="other"),
    broken(version=4),
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
def test_a_damaged_newer_or_hostile_model_is_refused(document):
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
def test_a_file_of_junk_is_refused(tmp_path, text):
    (tmp_path / "m.json").write_text(text, encoding="utf-8")
    with pytest.raises(ModelFormatError):
        RecodingModel.load(tmp_path / "m.json")


def test_a_hundred_megabytes_of_junk_are_not_even_read(tmp_path):
    with (tmp_path / "m.json").open("wb") as file:
        file.truncate(100 * 2**20)
    with pytest.raises(ModelFormatError, match="larger than"):
        RecodingModel.load(tmp_path / "m.json")
    with pytest.raises(ModelFormatError, match="no such file"):
        RecodingModel.load(tmp_path / "nothing.json")


def test_any_single_change_is_refused_or_harmless():
    """Swap every part of a model for junk: it is refused, or it can still encode."""
    chance = random.Random(3)
    junk = [None, True, -1, 1.5, 2**80, "x", [], {}, [[-1]], {"x": None}, "\x00"]

    def places(value):
        found = []
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


SAYS = [
    (broken(format="other"), "not a model file: no format 'shoal-model' in it"),
    (broken(version="2"), "its version is not a whole number"),
    (broken(version=4), "its version is above 3; update shoal to read it"),
    (broken(secret="Alice"), "it has keys that no model has"),
    (broken(method=""), "its method is not a name"),
    (broken(records=-1), "its records is not a whole number"),
    (broken(suppressed=6), "it suppresses more records than it has"),
    (broken(on_unseen="Alice"), "its on_unseen is not one of suppress, nearest, error"),
    (broken(utility={"ncp": "Alice"}), "its measures are damaged"),
    (broken(schema={"columns": {}}), "its schema is missing"),
    (broken(schema={"columns": {"age": "quasi"}}), "a column of its schema is damaged"),
    (broken(released=["Alice"]), "its lists of columns contradict its schema"),
    (broken(removed="Alice"), "its lists of released and removed columns are damaged"),
    (broken(columns=[]), "its columns are not the schema's quasi-identifiers"),
    (with_cell({"low": "Alice", "high": "Bob"}), "column 'age': a cell is damaged"),
    (with_tree(["Alice", "*"], [0, -1]), "column 'sex': its hierarchy is not a tree"),
    (with_tree([], []), "column 'sex': its hierarchy is damaged"),
    (broken(regions=[[0]]), "a region in it does not fit its columns"),
    (broken(regions=[[0, 9]]), "a region in it names a cell that is not there"),
    (broken(counts=[5]), "its counts do not fit its regions"),
    (broken(counts=[4, 1]), "a class in it has fewer than the 2 records of its promise"),
    (broken(counts=[2, 2]), "its counts do not add up to its records"),
    (broken(levels={"Alice": 1}), "its levels do not fit its columns"),
    (broken(fingerprint=5), "its fingerprint is not a text"),
]


@pytest.mark.parametrize(("document", "problem"), SAYS, ids=[says for _, says in SAYS])
def test_a_refusal_says_what_is_wrong_and_never_shows_a_value(document, problem):
    with pytest.raises(ModelFormatError) as caught:
        checked(document)
    assert problem in str(caught.value)
    assert "Alice" not in str(caught.value)


def in_schema(**changes):
    document = broken()
    document["schema"].update(changes)
    return document


def about_age(**changes):
    document = broken()
    document["schema"]["columns"]["age"].update(changes)
    return document


def with_column(**changes):
    document = broken()
    document["columns"][0].update(changes)
    return document


MASK = {"char": "*", "length": 3, "direction": "right", "pad": "left", "fill": "0"}


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (in_schema(others="guess"), "what happens to other columns"),
        (in_schema(missing=[1]), "marks of missing values"),
        (about_age(role="king"), "has no role"),
        (about_age(order=[1]), "its order is damaged"),
        (about_age(date_format="%q"), "its date_format is damaged"),
        (with_column(scale="length"), "no scale or no root"),
        (with_column(root=None), "no scale or no root"),
        (with_column(cells={}), "has no cells"),
        (with_column(extra=1), "keys that no column has"),
        (with_column(mask={**MASK, "char": "**"}), "its mask is damaged"),
        (with_column(mask={**MASK, "length": 10**6}), "its mask is damaged"),
        (with_column(mask={**MASK, "pad": "up"}), "its mask is damaged"),
        (with_column(mask={"char": "*"}), "its mask is damaged"),
        (in_schema(privacy=[{"model": "k-anonymity", "k": 10**400}]), "fewer than"),
    ],
)
def test_what_an_encoder_reads_is_checked(document, problem):
    with pytest.raises(ModelFormatError, match=problem):
        checked(document)


@pytest.mark.parametrize(
    ("cell", "scale", "fits"),
    [
        ({"low": "1", "high": "2"}, "number", True),
        ({"low": "1", "high": None, "label": ">=1"}, "number", True),
        ({"low": "2024-01-01", "high": "2024-02-30"}, "date", False),
        ({"low": "2024-01-01", "high": "2024-02-29"}, "date", True),
        ({"low": "a", "high": "b"}, "text", True),
        ({"low": "f", "high": "m"}, "rank", False),  # this column has no order
        ({"mask": "7**", "lost": 2}, "text", True),
        ({"mask": "7**", "lost": 3}, "text", False),
        ({"mask": "7**", "lost": 0}, "text", False),
        ({"values": ["a"], "label": "x"}, "text", True),
        ({"values": ["a"]}, "text", False),
        ({"any": "*", "label": 5}, "text", False),
        ({"missing": False}, "text", False),
        ({"value": None}, "text", False),
        ({"node": True}, "text", False),
    ],
)
def test_cells_are_what_they_must_be(cell, scale, fits):
    document = with_cell(cell)
    document["columns"][0].update(scale=scale, mask=MASK)
    document["columns"][0]["cells"][1] = {"any": "*"}
    if fits:
        assert checked(document)["columns"][0]["cells"][0] == cell
    else:
        with pytest.raises(ModelFormatError, match="a cell is damaged"):
            checked(document)


def test_what_passes_is_left_as_it_is():
    document = broken()
    assert checked(document) == document
    assert checked(document) is not document


def test_a_fingerprint_seals_the_content():
    document = broken()
    assert is_sealed(document)
    refuse_untrusted(document)
    changed = {**document, "method": "other"}
    assert not is_sealed(changed)
    with pytest.raises(ModelFormatError, match="its fingerprint does not fit it; it was changed"):
        refuse_untrusted(changed)
    del changed["fingerprint"]
    with pytest.raises(ModelFormatError, match="it has no fingerprint"):
        refuse_untrusted(changed)
    refuse_untrusted(changed, Trust(unsigned=True))
    for junk in (None, [], "text", {"fingerprint": "x"}):
        assert not is_sealed(junk)
    with pytest.raises(ModelFormatError, match="what JSON does not know"):
        fingerprint_of({"x": object()})


def test_a_file_that_is_not_utf_8_is_refused(tmp_path):
    (tmp_path / "m.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(ModelFormatError, match="is not UTF-8 text"):
        read_model(str(tmp_path / "m.json"))
    (tmp_path / "m.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(broken()).encode())
    assert read_model(str(tmp_path / "m.json")) == broken()
    assert checked(read_model(str(tmp_path / "m.json")))["records"] == model().records
