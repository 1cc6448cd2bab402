"""A model comes from a path, a document or an object, and is checked whichever it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.model.made import broken, model

from shoal.core.errors import ModelFormatError
from shoal.edge.fast import FastEncoder
from shoal.edge.loading import document_of, load
from shoal.model.document import VERSION, fingerprint_of
from shoal.model.trust import Trust

RECORD = {"age": 2, "sex": None}


def test_every_way_gives_the_same_document(tmp_path):
    place = tmp_path / "m.json"
    place.write_text(model().to_json())
    wanted = json.loads(model().to_json())
    for source in (place, str(place), wanted, model()):
        assert document_of(source) == wanted
        encoder = load(source)
        assert isinstance(encoder, FastEncoder)
        assert encoder.encode(RECORD) == {"age": "[1, 3]", "sex": None}


def test_choices_go_to_the_encoder():
    unseen = {"age": 9, "sex": "m"}
    assert load(model()).encode(unseen) == {"age": "*", "sex": "*"}
    assert load(model(), suppressed="remove").encode(unseen) is None
    assert load(model(on_unseen="nearest")).on_unseen == "nearest"
    assert load(model(), on_unseen="nearest").encode({"age": 5, "sex": "m"}) == {
        "age": "5", "sex": "*",
    }  # fmt: skip
    with pytest.raises(ValueError, match="on_unseen must be"):
        load(model(), on_unseen="guess")


def test_a_changed_file_is_refused_and_a_document_is_the_callers_business(tmp_path):
    changed = broken(method="Alice")
    (tmp_path / "m.json").write_text(json.dumps(changed))
    with pytest.raises(ModelFormatError, match="it was changed") as caught:
        document_of(tmp_path / "m.json")
    assert "Alice" not in str(caught.value)
    assert document_of(changed)["method"] == "Alice"
    del changed["fingerprint"]
    (tmp_path / "m.json").write_text(json.dumps(changed))
    with pytest.raises(ModelFormatError, match="no fingerprint") as caught:
        document_of(tmp_path / "m.json")
    assert "Alice" not in str(caught.value)
    assert document_of(tmp_path / "m.json", Trust(unsigned=True)) == changed


def test_an_older_file_is_upgraded_if_its_own_fingerprint_fits(tmp_path):
    old = {
        "format": "shoal-model", "version": 1, "method": "mondrian", "records": 4, "suppressed": 0,
        "utility": {}, "schema": {"columns": {"x": {"role": "quasi"}}}, "fingerprint": "of then",
        "columns": [{"name": "x", "cells": [["1", "3", "[1, 3]"]]}], "regions": [[0]],
    }  # fmt: skip
    (tmp_path / "m.json").write_text(json.dumps(old))
    with pytest.raises(ModelFormatError, match="it was changed"):
        load(tmp_path / "m.json")
    old["fingerprint"] = fingerprint_of(old)  # of the document as it stands in the file
    (tmp_path / "m.json").write_text(json.dumps(old))
    assert document_of(tmp_path / "m.json")["version"] == VERSION
    assert load(tmp_path / "m.json").encode({"x": 2}) == {"x": "[1, 3]"}


@pytest.mark.parametrize("junk", [{}, "no such file", 5, None, [], Path("/")])
def test_what_is_no_model_is_refused(junk):
    with pytest.raises(ModelFormatError):
        document_of(junk)
