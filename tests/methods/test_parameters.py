"""Parameters of methods as texts."""

from __future__ import annotations

import pytest

from shoal.core.errors import MethodError
from shoal.methods.catalogue import Kaca, KMember, KModes, Oka, Refine
from shoal.methods.parameters import from_texts, type_words
from shoal.methods.registry import METHODS


@pytest.mark.parametrize(
    ("kind", "texts", "found"),
    [
        (Refine, ["effort=best"], {"effort": "best"}),
        (Refine, ["seconds=2"], {"seconds": 2.0}),
        (Refine, ["seconds=none"], {"seconds": None}),
        (Oka, ["iterations=3", "size-factor=off"], {"iterations": 3, "size_factor": False}),
        (KMember, ["cm=true", "penalty=0.5"], {"cm": True, "penalty": 0.5}),
        (KModes, ["groups=4"], {"groups": 4}),
        (Kaca, ["beta=2"], {"beta": 2.0}),
    ],
)
def test_a_text_becomes_the_type_that_the_method_wants(kind, texts, found):
    assert from_texts(kind, texts) == found


@pytest.mark.parametrize(
    ("kind", "texts", "words"),
    [
        (Refine, ["effort"], "give a value"),
        (Refine, ["efort=best"], "did you mean 'effort'"),
        (Refine, ["effort=slow"], "refine: effort must be one of fast, normal, best"),
        (Refine, ["seconds=soon"], "refine: seconds must be a number"),
        (Refine, ["effort=best", "effort=fast"], "twice"),
        (Oka, ["iterations=1.5"], "iterations must be a whole number"),
        (Oka, ["size_factor=perhaps"], "size_factor must be true or false"),
    ],
)
def test_what_cannot_be_meant_is_refused(kind, texts, words):
    with pytest.raises(MethodError) as caught:
        from_texts(kind, texts)
    assert words in str(caught.value)


@pytest.mark.parametrize("kind", METHODS.values())
def test_every_parameter_has_words_and_its_default_is_read_back(kind):
    for each in kind.parameters():
        assert type_words(kind, each.name)
        assert from_texts(kind, [f"{each.name}={each.default}"]) == {each.name: each.default}
