"""Methods by name, and what `auto` and `--release` make of them."""

import pytest

from shoal.core.errors import MethodError
from shoal.methods.catalogue import (
    Auto,
    Flash,
    KModes,
    Mdav,
    Mondrian,
    Refine,
    RefineCentroids,
)
from shoal.methods.registry import METHODS, OTHERS, method_named, resolve


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_found_by_its_name_and_read_back_from_its_document(name):
    found = method_named(name)
    assert type(found) is METHODS[name]
    document = found.to_document()
    assert method_named(document.pop("name"), document) == found


def test_parameters_go_to_the_method_and_none_stands_for_a_default():
    assert method_named("refine", {"effort": "best", "seconds": None}) == Refine(effort="best")


@pytest.mark.parametrize("name", ["", "Refine", "refin", "lattice", "method"])
def test_an_unknown_name_is_refused_with_those_that_there_are(name):
    with pytest.raises(MethodError, match="there are auto, mondrian, ") as caught:
        method_named(name)
    assert all(known in str(caught.value) for known in METHODS)


@pytest.mark.parametrize("name", [name for name, *_ in OTHERS])
def test_a_method_without_a_recoding_says_what_to_do_instead(name):
    with pytest.raises(MethodError, match="release_xk"):
        method_named(name)


def test_a_misspelt_parameter_is_a_fault_also_of_auto():
    with pytest.raises(MethodError, match=r"did you mean 'seconds'\? it takes aggregate, seconds"):
        method_named("flash", {"second": 1})
    with pytest.raises(MethodError, match="auto: no parameter 'effort'; it takes none"):
        method_named("auto", {"effort": "best"})


@pytest.mark.parametrize(
    ("method", "release", "learns", "wanted", "released"),
    [
        (Auto(), None, True, Mondrian(), "generalize"),
        (Auto(), None, False, Refine(), "generalize"),
        (Auto(), "generalize", False, Refine(), "generalize"),
        (Auto(), "aggregate", False, RefineCentroids(), "aggregate"),
        (Auto(), "aggregate", True, Mondrian(), "aggregate"),
        (Flash(), None, False, Flash(), "generalize"),
        (Flash(seconds=3), "aggregate", False, Flash(seconds=3), "aggregate"),
        (Mdav(), None, True, Mdav(), "aggregate"),
        (KModes(), "generalize", True, KModes(), "generalize"),
        (Refine(effort="best"), None, False, Refine(effort="best"), "generalize"),
        (Refine(effort="best"), "aggregate", False, RefineCentroids(effort="best"), "aggregate"),
    ],
)
def test_what_is_asked_for_is_resolved(method, release, learns, wanted, released):
    assert resolve(method, release=release, learns=learns) == (wanted, released)


def test_refine_keeps_its_name_where_centroids_are_released():
    method, _ = resolve(Refine(), release="aggregate")
    assert (method.name, method.family) == ("refine", "microaggregation")


def test_an_unknown_form_of_release_is_refused():
    with pytest.raises(MethodError, match="--release must be one of generalize, aggregate, draw"):
        resolve(Auto(), release="melt")
