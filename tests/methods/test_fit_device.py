"""Models for little room: they fit, keep the promise, and lose less where there is more room."""

from __future__ import annotations

import numpy as np
import pytest
from tests.golden.generate import count, schema, table
from tests.methods.calls import mondrian

from shoal.core.errors import NoSolutionError
from shoal.methods.cut_model import model_of_cuts
from shoal.methods.fit_device import fit, slim, without_hierarchy
from shoal.methods.judging import failing_classes
from shoal.model.document import checked
from shoal.model.runtime import Encoder
from shoal.privacy import KAnonymity

WANTED = schema(levels=False, k=4)
PROMISE = [KAnonymity(4)]
FOUND = mondrian(count(table(), WANTED), PROMISE)


def fitted(most):
    return fit(FOUND, WANTED, PROMISE, method="mondrian", most=most)


def model_of(found):
    utility = {"ncp": 0.1234567890123456}
    return model_of_cuts(found.cutting, found.schema, method="mondrian", utility=utility)


@pytest.mark.parametrize("most", [100_000, 4000, 3000, 2500, 2200, 1900])
def test_a_model_fits_keeps_the_promise_and_counts_as_devices_do(most):
    found = fitted(most)
    model = model_of(found)
    assert len(model.to_json().encode()) == found.size <= most
    assert min(model.counts) >= 4
    assert sum(model.counts) == 400
    assert not failing_classes(found.cutting.recoding, PROMISE).any()
    encoder = Encoder(checked(model.to_document()))
    where = [encoder.find([row[name] for name in encoder.names]) for row in table().to_dicts()]
    assert np.bincount(where, minlength=len(model.counts)).tolist() == list(model.counts)


def test_more_room_loses_less():
    losses = [fitted(most).loss for most in (1900, 2500, 4000)]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > losses[-1] + 0.2


def test_with_room_for_all_nothing_is_worse_than_what_the_search_found():
    found = fitted(100_000)
    assert found.loss <= found.whole_loss


def test_a_column_without_its_hierarchy_is_released_as_the_root():
    found = next(each for each in map(fitted, (3000, 2500, 2200)) if each.roots)
    model = model_of(found)
    for name in found.roots:
        at = [column.name for column in model.columns].index(name)
        assert {row[at] for row in model.tuples()} == {model.columns[at].root}
        assert found.schema.attribute(name).hierarchy is None


def test_where_not_even_one_region_fits_it_is_said():
    with pytest.raises(NoSolutionError, match="no model has at most 1,000 bytes"):
        fitted(1000)


def test_what_the_promise_does_not_need_is_left_out():
    assert slim(WANTED, PROMISE).quasi == WANTED.quasi
    flat = without_hierarchy(WANTED, ["place"])
    assert flat.attribute("place").hierarchy is None
