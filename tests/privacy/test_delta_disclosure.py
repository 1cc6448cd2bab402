"""δ-disclosure privacy: by its definition, and monotone."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import privacy as naive
from tests.privacy.test_beta_likeness import TWO, seen

from shoal.core.errors import PrivacyError
from shoal.privacy import DeltaDisclosure, judge_classes

DELTA = st.integers(1, 40).map(lambda tenths: tenths / 8)


@given(TWO, DELTA)
def test_it_follows_its_definition(counts, delta):
    one, _, rest = counts
    whole = [a + b for a, b in zip(one, rest, strict=True)]
    model = DeltaDisclosure(delta)
    assert model.holds(seen(one, whole)) == naive.discloses_below(one, whole, delta)


@given(TWO, DELTA)
def test_merging_two_classes_that_hold_gives_one_that_holds(counts, delta):
    one, two, rest = counts
    both = [a + b for a, b in zip(one, two, strict=True)]
    whole = [a + b for a, b in zip(both, rest, strict=True)]
    model = DeltaDisclosure(delta)
    if model.holds(seen(one, whole)) and model.holds(seen(two, whole)):
        assert model.holds(seen(both, whole))


def test_a_class_that_lacks_a_value_is_infinitely_far_off():
    verdict = judge_classes(DeltaDisclosure(5), [seen([3, 0], [4, 4])])
    assert verdict.value == math.inf
    assert not verdict.holds
    assert json.loads(json.dumps(verdict.to_document(), allow_nan=False))["value"] == "infinite"


@pytest.mark.parametrize("delta", [0, -1, math.inf, "2"])
def test_parameters_with_faults_are_refused(delta):
    with pytest.raises(PrivacyError):
        DeltaDisclosure(delta)
