"""Models that draw: what they carry, what a batch and a stream of theirs are."""

from __future__ import annotations

import io
import json

import polars as pl
import pytest
from tests.jobs.test_drawn import WORDS, people

import shoal
from shoal import edge
from shoal.core.errors import MethodError, ModelFormatError
from shoal.engines.drawing import model as drawing
from shoal.engines.drawing.check import lies_in
from shoal.engines.drawing.drawing import DRAWN
from shoal.jobs.encode import StreamRequest, encode_stream
from shoal.model.model import RecodingModel


def learned(table, **words):
    asked = {name: value for name, value in {**WORDS, **words}.items() if name != "attacks"}
    return shoal.learn(table, **asked)


@pytest.fixture(scope="module")
def model():
    return learned(people())


def test_a_model_that_draws_survives_its_file(model, tmp_path):
    model.save(tmp_path / "m.json")
    again = RecodingModel.load(tmp_path / "m.json")
    assert again.to_document() == model.to_document()
    assert [column["name"] for column in again.drawn] == WORDS["qi"]


def test_no_weight_tells_of_a_value_that_few_people_have():
    # 17.53 is one person's fare: a pool of a line is drawn from its steps.
    table = people().with_columns(
        fare=pl.Series([17.53] + [10.0] * 300 + [90.0] * 299), age=pl.lit(30, dtype=pl.Int64)
    )
    made = learned(table, labels="round")
    values = next(c["values"] for c in made.drawn if c["name"] == "fare")
    assert "10" in values
    assert "17.53" not in values


@pytest.mark.parametrize("method", ["bestcut", "mondrian", "flash"])
def test_every_drawn_cell_lies_in_the_label_that_the_model_releases(method):
    words = {"qi": ["zip", "sex"]} if method == "flash" else {}
    words["categorical"] = ["zip"]
    words["date"] = [] if method == "flash" else ["born"]
    made = learned(people(), method=method, **words)
    fresh = people(200, seed=9)
    labels = made.encode(fresh, release="generalize").table
    drawn = made.encode(fresh, seed=3)
    assert drawn.warnings[0] == DRAWN
    assert drawn.table.schema == fresh.select(drawn.table.columns).schema
    domains = drawing.ModelDrawer(made, 3).draw(labels)[1]
    for domain in domains:
        texts = drawn.table[domain.name].cast(pl.String).to_list()
        for cell, label in zip(texts, labels[domain.name].cast(pl.String), strict=True):
            assert lies_in(cell, label, domain=domain, form=None)


def test_a_safe_batch_is_judged_by_its_labels_and_has_its_own_values(model, tmp_path):
    out = tmp_path / "new.csv"
    fresh = people(300, seed=11)
    done = model.encode_safe(fresh, out=str(out), k=5, seed=1)
    assert done.verification.holds
    assert json.loads((tmp_path / "new.csv-metadata.json").read_text())["dc:description"] == DRAWN
    again = tmp_path / "again.csv"
    model.encode_safe(fresh, out=str(again), k=5, seed=1)
    assert out.read_bytes() == again.read_bytes()
    ages = pl.read_csv(out)["age"]
    assert ages.dtype == pl.Int64


def test_a_stream_is_drawn_record_by_record_and_numbers_stay_numbers(model):
    fresh = people(60, seed=4).with_columns(pl.col("born").cast(pl.String))
    lines = "".join(json.dumps(row) + "\n" for row in fresh.to_dicts()).encode()
    found = []
    for release in (None, None, "generalize"):
        out = io.BytesIO()
        request = StreamRequest(model=model, release=release, seed=5)
        encode_stream(request, io.BytesIO(lines), out)
        found.append(out.getvalue())
    assert found[0] == found[1] != found[2]
    drawn, labels = ([json.loads(x) for x in each.splitlines()] for each in found[1:])
    assert {type(row["age"]) for row in drawn} == {int}
    domains = {d.name: d for d in drawing.ModelDrawer(model, 0).draw(pl.DataFrame(
        labels, schema_overrides=dict.fromkeys(WORDS["qi"], pl.String)))[1]}  # fmt: skip
    for row, label in zip(drawn, labels, strict=True):
        for name, domain in domains.items():
            cell = None if row[name] is None else str(row[name])
            assert lies_in(cell, label[name], domain=domain, form=None)


def test_one_record_at_a_time(model):
    encoder = edge.load(model, draw=2)
    record = people(1, seed=8).with_columns(pl.col("born").cast(pl.String)).to_dicts()[0]
    ages = {encoder.encode(record)["age"] for _ in range(200)}
    assert len(ages) > 3
    assert all(isinstance(age, int) for age in ages)


def test_records_that_no_class_covers_are_drawn_from_marginals_alone_or_left_out(model):
    strange = people(3).with_columns(zip=pl.lit("elsewhere"))
    found = model.encode(strange, suppressed="star").table
    assert set(found["sex"]) <= {None, "f", "m", "x"}
    assert found.height == 3
    assert model.encode(strange, suppressed="remove").table.height == 0


def test_a_model_of_labels_has_nothing_to_draw_from():
    made = learned(people(), release="generalize")
    assert made.drawn is None
    with pytest.raises(MethodError, match="nothing to draw from"):
        made.encode(people(), release="draw")
    with pytest.raises(ModelFormatError, match="nothing to draw from"):
        edge.load(made, draw=0)
