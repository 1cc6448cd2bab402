"""Models as learning makes them: what is in them, and what must not be."""

from __future__ import annotations

import json
import random
import re

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.golden.generate import at_levels, count, models, schema, table
from tests.methods.calls import mondrian

import shoal
from shoal.core.errors import NoSolutionError
from shoal.core.keys import date_key
from shoal.engines.local.frequencies import frequencies
from shoal.engines.local.source import open_source
from shoal.methods.to_model import model_of
from shoal.model.model import RecodingModel
from shoal.model.sets import SetEncoder
from shoal.privacy import KAnonymity, LDiversity
from shoal.schema.schema import Schema


def learn(frame, wanted, models, **options):
    source = open_source(frame)
    coded = [*wanted.quasi, *wanted.sensitive]
    sensitive = [m.column for m in models if m.column]
    counted = frequencies(source, source.scan(coded, coded=coded), wanted, sensitive=sensitive)
    promised = wanted.with_promise(models)
    recoding = mondrian(counted.table, models)
    return model_of(recoding, promised, method="mondrian", utility={}, **options), recoding


def flat(records, seed):
    """Return a table without any hierarchy; the rare values are secrets."""
    chance = random.Random(seed)
    return pl.DataFrame(
        {
            "age": [str(chance.randint(0, 40) ** 2 / 4) for _ in range(records)],
            "job": [
                chance.choice("abc") if chance.random() < 0.95 else f"secret {i}"
                for i in range(records)
            ],
            "day": [
                f"2024-0{chance.randint(1, 9)}-1{chance.randint(0, 9)}" for _ in range(records)
            ],
            "ill": [chance.choice("xyz") for _ in range(records)],
        }
    )


def flat_schema():
    return Schema.from_document(
        {
            "columns": {
                "age": {"role": "quasi", "kind": "numeric"},
                "job": {"role": "quasi", "kind": "categorical"},
                "day": {"role": "quasi", "kind": "date"},
                "ill": {"role": "sensitive"},
            }
        }
    )


def texts_in(value):
    """Return every text in a document, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts_in(item)


@pytest.mark.parametrize("k", [2, 5, 20])
def test_every_tuple_in_a_model_is_shared_by_k_training_records(k):
    frame = flat(600, seed=1)
    model, _ = learn(frame, flat_schema(), [KAnonymity(k)])
    encoder = SetEncoder(model.to_document())
    covered = [0] * len(model.regions)
    taken = [0] * len(model.regions)
    for row in frame.select(model.schema.quasi).rows():
        for number in range(len(model.regions)):
            cells = zip(encoder.first, row, strict=True)
            covered[number] += all(column.cover(value) >> number & 1 for column, value in cells)
        found = encoder.find(row)
        if found >= 0:
            taken[found] += 1
    assert min(covered) >= k
    assert taken == list(model.counts)
    assert min(taken) >= k
    assert sum(taken) + model.suppressed == model.records == 600


def test_a_value_that_is_never_released_is_not_in_the_file():
    frame = flat(600, seed=2)
    model, recoding = learn(frame, flat_schema(), [KAnonymity(5)])
    document = model.to_document()
    assert "secret" not in model.to_json()
    released = set()
    for j in range(3):
        for label in recoding.labels(j):
            released.update([label] if label is None else [label, *re.split(r", |[\[\]]", label)])
    found = {text for column in document["columns"] for text in texts_in(column["cells"])}
    assert found <= released


def test_a_model_has_no_text_but_the_schema_and_the_released_cells():
    document = learn(flat(300, seed=3), flat_schema(), [KAnonymity(5)])[0].to_document()
    assert set(document) == {
        "format", "version", "method", "records", "suppressed", "on_unseen", "utility", "schema",
        "released", "removed", "columns", "regions", "counts", "fingerprint",
    }  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 12), spread=st.booleans())
def test_encoding_the_training_records_keeps_the_promise(seed, k, spread):
    frame = flat(200, seed=seed)
    promise = [KAnonymity(k), LDiversity(2, column="ill")] if spread else [KAnonymity(k)]
    model, _ = learn(frame, flat_schema(), promise)
    encoder = SetEncoder(model.to_document(), None, "remove")
    classes = {}
    for row in frame.to_dicts():
        released = encoder.encode(row)
        if released is not None:
            key = tuple(released[name] for name in model.schema.quasi)
            classes.setdefault(key, []).append(released["ill"])
    assert all(len(found) >= k for found in classes.values())
    assert not spread or all(len(set(found)) >= 2 for found in classes.values())


def test_the_order_of_the_records_does_not_change_the_model():
    frame = flat(300, seed=4)
    one, _ = learn(frame, flat_schema(), [KAnonymity(3)])
    two, _ = learn(frame.sample(fraction=1, shuffle=True, seed=1), flat_schema(), [KAnonymity(3)])
    assert one.to_json() == two.to_json()


@pytest.mark.parametrize("name", ["levels", "mondrian", "clusters", "rules", "masks"])
def test_a_released_tuple_always_covers_the_true_value(name):
    """Look at the labels with the eyes of a reader, not with the encoder's."""
    model = models()[name]
    for choice in ("suppress", "nearest"):
        encoder = SetEncoder(model.to_document(), choice)
        for row in table().to_dicts():
            released = encoder.encode(row)
            for column in model.schema.quasi:
                assert _covers(released[column], row[column], column), (column, choice)


def _covers(label, value, column):
    value = None if value == "?" else value
    if label == "*":
        return True
    if label is None or value is None:
        return label is None and value is None
    if column == "place":
        below = {"Norden": ["Århus", "Malmö"], "Süden": ["Málaga", "Αθήνα"], "東": ["東京", "大阪"]}
        return label == value or value in below.get(label, [])
    if column == "grade":
        order = ["low", "middle", "high", "top"]
        ends = re.fullmatch(r"\[(.*), (.*)\]|(.*) … (.*)", label)
        if ends is None:
            return label == value
        low, high = (x for x in ends.groups() if x is not None)
        return order.index(low) <= order.index(value) <= order.index(high)
    if column == "zip":
        return label == value or all(
            a in ("*", b) for a, b in zip(label, value.ljust(5, "*"), strict=True)
        )
    if column == "job":
        return label == value
    key = date_key if column == "born" else float
    if column == "born" and len(label) < 10:
        return value.startswith(label)
    ends = re.fullmatch(r"([\[(])(.*), (.*)([\])])|(<|>=)(.*)", label)
    if ends is None:
        return key(label) == key(value)
    if ends[5]:
        return key(value) < key(ends[6]) if ends[5] == "<" else key(value) >= key(ends[6])
    low, high = key(ends[2]), key(ends[3])
    inside = low <= key(value) <= high
    return inside and not (ends[4] == ")" and key(value) == high)


def test_values_never_seen_are_covered_by_rules():
    wanted = schema(levels=True, k=2, quasi=("age", "zip"))
    recoding = at_levels(count(table(), wanted), {"age": 1, "zip": 3})
    encoder = SetEncoder(model_of(recoding, wanted, method="levels", utility={}).to_document())
    assert encoder.encode({"age": "64.75", "zip": "75999"}) == {"age": "[18, 65)", "zip": "75***"}
    assert encoder.encode({"age": "64.75", "zip": "759999"}) == {"age": "*", "zip": "*"}


def test_models_survive_their_files(tmp_path):
    for name, model in models().items():
        place = tmp_path / f"{name}.json"
        place.write_text(model.to_json(), encoding="utf-8")
        assert RecodingModel.load(place) == model
        assert json.loads(model.to_json())["fingerprint"] == model.fingerprint


def test_an_order_that_only_a_rule_knows():
    grades = ["low", "middle", "high", "top"]
    wanted = Schema.from_document(
        {
            "columns": {
                "grade": {
                    "role": "quasi",
                    "kind": "ordinal",
                    "hierarchy": {"order": {"groups": [2], "order": grades}},
                },
            },
        }
    )
    frame = pl.DataFrame({"grade": ["low"] * 3 + ["middle"] + ["top"] * 9})
    model, _ = learn(frame, wanted, [KAnonymity(4)])
    encoder = SetEncoder(RecodingModel.from_document(model.to_document()).to_document())
    assert encoder.encode({"grade": "low"}) == {"grade": "[low, middle]"}
    assert encoder.encode({"grade": "top"}) == {"grade": "top"}
    assert encoder.encode({"grade": "high"}) == {"grade": "*"}


def test_a_table_whose_records_are_all_suppressed_gives_no_model():
    wanted = Schema.from_document(
        {"columns": {"born": {"role": "quasi", "kind": "date"}, "sex": "quasi"},
         "suppression_limit": 1.0}
    )  # fmt: skip
    frame = pl.DataFrame({"born": ["1990-01-01", "1950-05-05"], "sex": ["f", "m"]})
    with pytest.raises(NoSolutionError, match="every record"):
        shoal.learn(frame, wanted, privacy=[KAnonymity(2)], method="threshold")
