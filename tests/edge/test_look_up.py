"""One look-up in every language: random regions in quickjs are what a scan of them says."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from tests.golden.generate import table
from tests.methods.test_cut_tree import made, strangers
from tests.model.made import models_and_tuples
from tests.naive import encode as naive

from shoal.edge.export import export
from shoal.edge.fast import FastEncoder
from shoal.model.document import checked
from shoal.model.runtime import Encoder

quickjs = pytest.importorskip("quickjs", reason="the package quickjs is not installed")
pytestmark = pytest.mark.local("exported files")

FIND = "(texts) => shoal.encoderOf.find(JSON.parse(texts))"
NEAREST = "(texts) => JSON.stringify(shoal.encoderOf.nearest(JSON.parse(texts)))"


def context_of(document):
    """Return an exported encoder in quickjs: what finds a class, and what finds the nearest."""
    context = quickjs.Context()
    context.eval(export(document, "javascript"))
    context.eval("shoal.encoderOf = new shoal.Encoder(shoal.MODEL)")
    return context.eval(FIND), context.eval(NEAREST)


@pytest.mark.parametrize("k", [3, 30])
def test_a_tree_is_walked_alike(k):
    _, model = made(k)
    document = checked(model.to_document())
    find, nearest = context_of(document)
    encoder, quick = Encoder(document), FastEncoder(document)
    explicit = {**document, "regions": [list(region) for region in model.regions]}
    for at, values in enumerate(strangers(120)):
        wanted = naive.find(explicit, values)
        assert find(json.dumps(values)) == encoder.find(values) == wanted
        record = dict(zip(encoder.names, values, strict=True))
        assert quick.encode(record) == encoder.encode(record)
        if at % 10 == 0:
            assert json.loads(nearest(json.dumps(values))) == list(encoder.nearest(values))


@settings(max_examples=25, deadline=None)
@given(models_and_tuples())
def test_cells_that_overlap_are_found_alike(case):
    document, tuples = case
    complete = {
        "format": "shoal-model",
        "version": 3,
        "method": "made",
        "records": 0,
        "suppressed": 0,
        "utility": {},
        "counts": None,
        "on_unseen": "suppress",
        **document,
    }
    context = quickjs.Context()
    from importlib.resources import files

    runtime = files("shoal").joinpath("edge", "export", "runtime.js").read_text(encoding="utf-8")
    context.eval(runtime)
    context.eval(f"var encoder = new Encoder({json.dumps(complete)})")
    find = context.eval("(texts) => encoder.find(JSON.parse(texts))")
    for values in tuples:
        assert find(json.dumps(values)) == naive.find(document, values)


@pytest.mark.nightly
def test_a_hundred_thousand_hostile_tuples_are_found_alike_and_break_nothing():
    _, model = made(4)
    document = checked(model.to_document())
    find, _ = context_of(document)
    encoder = Encoder(document)
    chance = random.Random(17)
    letters = "0123456789-+.eE:TZ/*?  \t\n'\"\\äß東🙂\u2028"
    people = table().to_dicts()
    for _ in range(100_000):
        values = []
        for name in encoder.names:
            text = chance.choice(people)[name]
            if text is None or chance.random() < 0.3:
                text = "".join(chance.choice(letters) for _ in range(chance.randrange(8)))
            elif chance.random() < 0.3:
                at = chance.randrange(len(text) + 1)
                text = text[:at] + chance.choice(letters) + text[at:]
            values.append(text)
        assert find(json.dumps(values)) == encoder.find(values)


def test_a_thousand_hostile_tuples_are_found_alike():
    _, model = made(4)
    document = checked(model.to_document())
    find, _ = context_of(document)
    encoder = Encoder(document)
    chance = random.Random(18)
    letters = "0123456789-+.eE:TZ/*? \t'\"\\äß東🙂"
    people = table().to_dicts()
    for _ in range(1000):
        values = []
        for name in encoder.names:
            text = chance.choice(people)[name] or ""
            at = chance.randrange(len(text) + 1)
            values.append(text[:at] + chance.choice(letters) + text[at:])
        assert find(json.dumps(values)) == encoder.find(values)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "b"),
        ("a", "aa"),
        ("", "a"),
        ("z", "ä"),
        ("\ud7ff", "\ue000"),
        ("\uffff", "🙂"),
        ("\ue000", "🙂"),
        ("🙂", "🙃"),
        ("x🙂", "x🙂y"),
        ("東", "大"),
    ],
)
def test_texts_are_ordered_by_their_characters_everywhere(one, other):
    context = quickjs.Context()
    from importlib.resources import files

    runtime = files("shoal").joinpath("edge", "export", "runtime.js").read_text(encoding="utf-8")
    context.eval(runtime)
    compare = context.eval("(pair) => compare(...JSON.parse(pair))")
    found = compare(json.dumps([one, other]))
    assert (found < 0) == (one < other)
    assert (found > 0) == (one > other)
    assert compare(json.dumps([one, one])) == 0
