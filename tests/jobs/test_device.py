"""What a model takes of a device's room, and what `learn` says of it."""

from __future__ import annotations

import json

import polars as pl
import pytest

from shoal import api
from shoal.core.errors import MethodError, NoSolutionError, SchemaError
from shoal.edge.export import export
from shoal.jobs.device import device_line
from shoal.model.device import Room, ram_of
from shoal.model.model import RecodingModel


@pytest.fixture(scope="module")
def people():
    return pl.DataFrame({
        "age": [str(20 + (7 * i) % 60) for i in range(400)],
        "zip": [str(70000 + (131 * i) % 900) for i in range(400)],
        "sex": ["fm"[i % 2] for i in range(400)],
    })  # fmt: skip


def learned(people, **words):
    return api.learn_with_report(people, qi=["age", "zip", "sex"], k=4, **words)


def test_a_model_fits_its_file_is_as_large_as_said_and_can_be_read(people, tmp_path):
    _, whole = learned(people)
    assert "device" not in whole.facts
    model, report = learned(people, model_bytes=1600)
    place = tmp_path / "model.json"
    model.save(place)
    facts = report.facts["device"]
    assert place.stat().st_size == facts["bytes"] <= 1600
    assert RecodingModel.load(place).tuples() == model.tuples()
    assert min(model.counts) >= 4
    assert report.classes == len(model.regions) < facts["classes_before"]
    assert facts["loss"] == pytest.approx(report.utility["ncp"], abs=1e-6)


def test_memory_is_a_limit_of_its_own(people):
    model, report = learned(people, device_ram=48_000)
    size = len(model.to_json().encode())
    assert report.facts["device"]["ram"] == ram_of(size, 3) <= 48_000
    export(model, "micropython", Room(ram=48_000))
    with pytest.raises(MethodError, match="does not fit"):
        export(model, "micropython", Room(ram=40_000))
    with pytest.raises(MethodError, match="there is room for 1,000"):
        export(model, "javascript", Room(1000))
    with pytest.raises(MethodError, match="is for --to micropython"):
        export(model, "python", Room(ram=10**6))


def test_an_export_for_little_memory_encodes_as_any_other(people):
    model, _ = learned(people, device_ram=60_000)
    spaces: list[dict[str, object]] = [{}, {}]
    for space, room in zip(spaces, (None, Room(ram=60_000)), strict=True):
        exec(export(model, "micropython", room), space)
    assert spaces[1]["MEMO"] < spaces[0]["MEMO"]
    for row in people.to_dicts():
        one, other = (space["Encoder"](space["MODEL"]).encode(row) for space in spaces)
        assert one == other


@pytest.mark.parametrize("words", [{"model_bytes": 300}, {"device_ram": 37_000}])
def test_where_nothing_fits_it_is_said(people, words):
    with pytest.raises(NoSolutionError, match="no model has at most"):
        learned(people, **words)


def test_methods_without_cuts_cannot_be_made_smaller(people):
    with pytest.raises(NoSolutionError, match="models of Mondrian and bestcut"):
        learned(people, method="kmember", model_bytes=1600)


@pytest.mark.parametrize("words", [{"model_bytes": 0}, {"device_ram": -1}, {"device_ram": 30_000}])
def test_no_room_at_all_is_refused_before_any_work(people, words):
    with pytest.raises(SchemaError, match=r"at least 1 byte|the encoder alone takes"):
        learned(people, **words)


def test_a_release_goes_to_no_device(people):
    with pytest.raises(SchemaError, match="a release goes to no device"):
        api.anonymize(people, qi=["age"], k=4, model_bytes=1000)


def test_the_line_says_what_it_cost(people):
    _, report = learned(people, model_bytes=1600)
    line = device_line(report.facts["device"], report.classes)
    assert "classes became" in line
    assert "instead of" in line
    json.dumps(report.facts["device"])
