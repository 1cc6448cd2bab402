"""A learned model that can be put to work."""

from __future__ import annotations

import pickle

import pytest
from tests.jobs.people import JOBS, PEOPLE, plain_schema

from shoal.jobs.learn import learn
from shoal.jobs.model import RecodingModel
from shoal.jobs.requests import LearnRequest
from shoal.model.model import RecodingModel as Document


@pytest.fixture(scope="module")
def model():
    return learn(LearnRequest(table=PEOPLE, schema=plain_schema())).model


def test_it_is_the_document_with_verbs(model):
    assert isinstance(model, Document)
    assert RecodingModel.of(Document.from_document(model.to_document())) == model
    assert pickle.loads(pickle.dumps(model)) == model


def test_it_encodes_and_encodes_safely(model):
    plain = model.encode(PEOPLE)
    assert plain.verification is None
    assert plain.table.height == PEOPLE.height
    safe = model.encode_safe(PEOPLE)
    assert safe.verification.holds


def test_it_is_saved_and_read_again(model, tmp_path):
    model.save(tmp_path / "m.json")
    again = RecodingModel.load(tmp_path / "m.json")
    assert type(again) is RecodingModel
    assert again == model
    out = tmp_path / "o.csv"
    assert again.encode(PEOPLE, out=out).table is None
    assert out.exists()


def test_it_shows_no_released_value(model):
    text = repr(model) + model._repr_html_()
    assert "k-anonymity k=4" in text
    assert not [job for job in JOBS if job in text]
