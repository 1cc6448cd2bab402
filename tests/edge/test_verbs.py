"""All verbs of devices on models of every kind: encode, encode safely, verify, measure, settle."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.golden.generate import table

from shoal import edge
from shoal.edge.settle import settle
from shoal.model.model import RecodingModel

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
NAMES = sorted(place.name.partition(".")[0] for place in GOLDEN.glob("*.model.json"))
PEOPLE = table().to_dicts()


def model(name):
    """Return a golden model."""
    return RecodingModel.load(GOLDEN / f"{name}.model.json")


def sizes(released, found):
    """Return how many records each released tuple has."""
    return Counter(tuple(row[name] for name in found.schema.quasi) for row in released)


def least(found):
    """Return the k that a model promises."""
    return max(promise.k for promise in found.privacy)


@pytest.mark.parametrize("name", NAMES)
def test_a_safe_batch_of_new_records_keeps_the_promise(name):
    found = model(name)
    released, report = edge.encode_safe(PEOPLE[:150], found)
    assert min(sizes(released, found).values(), default=99) >= least(found)
    assert report.records == 150
    assert report.released == len(released)
    assert report.released + report.suppressed == 150


@pytest.mark.parametrize("name", NAMES)
def test_a_settled_batch_of_encoded_records_keeps_the_promise(name):
    found = model(name)
    encoder = edge.load(found)
    sent = [encoder.encode(person) for person in PEOPLE[:150]]
    settled = settle(sent, found)
    assert min(sizes(settled.released, found).values(), default=99) >= least(found)
    assert len(settled.released) + settled.suppressed == 150
    assert settled.verification is None or settled.verification.holds
    starred = sizes(sent, found)[tuple(encoder.roots)]
    assert settled.suppressed <= max(starred, least(found))


@pytest.mark.parametrize("name", NAMES)
def test_a_released_batch_is_verified_and_a_raw_one_is_not(name):
    found = model(name)
    released, _ = edge.encode_safe(PEOPLE, found)
    verified = edge.verify(released, found)
    assert verified.holds
    assert verified.records == len(released)
    assert not edge.verify(PEOPLE[:3], found).holds


@pytest.mark.parametrize("name", NAMES)
def test_measures_lie_between_nothing_and_everything(name):
    found = model(name)
    measured = edge.metrics(PEOPLE, found)
    assert measured["records"] == 400
    assert measured["released"] + measured["suppressed"] == 400
    assert 0.0 <= measured["ncp"] <= 1.0
    assert measured["classes"] <= len(found.regions)


@pytest.mark.parametrize("name", ["cuts", "near"])
def test_a_model_of_cuts_loses_what_its_labels_lose(name):
    found = model(name)
    coarse = edge.metrics([{**person, "age": "17"} for person in PEOPLE], found)
    nothing = edge.metrics([dict.fromkeys(person, "nowhere") for person in PEOPLE], found)
    assert 0.0 < coarse["ncp"] < 1.0
    assert nothing["ncp"] == pytest.approx(1.0)
    assert nothing["unseen"] == 400


def test_coarser_models_lose_more():
    lost = [edge.metrics(PEOPLE, model(name))["ncp"] for name in ("cuts", "near")]
    assert lost[0] < lost[1]


@pytest.mark.parametrize("name", NAMES)
def test_every_class_is_found_by_its_number(name):
    found = model(name)
    encoder = edge.load(found)
    assert encoder.classes == len(found.regions)
    for number, region in enumerate(found.regions):
        assert list(encoder.region(number)) == list(region)
        assert tuple(encoder.labels_of(number)) == found.tuples()[number]


@pytest.mark.parametrize("name", NAMES)
def test_memory_does_not_grow_with_the_stream(name):
    encoder = edge.load(model(name))
    for i in range(5000):
        encoder.encode({**PEOPLE[i % 400], "age": str(i), "job": f"job {i}", "zip": str(i)})
    for column in encoder.index.columns:
        assert len(column.memo) <= 4096
        assert len(getattr(column, "found", ())) <= 4096
    assert len(encoder.templates) <= 1024
