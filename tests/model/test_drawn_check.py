"""What a model draws from is checked before anything is believed."""

from __future__ import annotations

import json

import pytest
from tests.jobs.test_drawn_models import learned, people

from shoal.core.errors import ModelFormatError
from shoal.model.model import RecodingModel


@pytest.fixture(scope="module")
def model():
    return learned(people(60))


@pytest.mark.parametrize("change", [
    {"weights": [0.0]}, {"values": []}, {"runs": [[0, 0]]}, {"runs": [[0, 10**6]]}, {"kind": "x"},
    {"values": ["a", None]}, {"more": 1}, {"name": "y"},
])  # fmt: skip
def test_what_is_drawn_from_is_checked(model, change):
    document = json.loads(model.to_json())
    document["drawn"][0] = {**document["drawn"][0], **change}
    with pytest.raises(ModelFormatError, match="draw"):
        RecodingModel.from_document(document)
