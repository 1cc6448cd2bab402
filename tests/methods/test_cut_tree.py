"""Regions bounded by cuts: they divide the domain, keep the promise, and devices find them."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.golden.generate import JOBS, count, schema, table
from tests.methods.calls import mondrian
from tests.naive import encode as naive

from shoal.methods.cut_model import model_of_cuts
from shoal.methods.cut_tree import Tree, cut_regions
from shoal.model.document import checked
from shoal.model.model import RecodingModel
from shoal.model.runtime import Encoder
from shoal.model.sets import SetEncoder
from shoal.privacy import KAnonymity


def made(k=4, **words):
    wanted = schema(levels=False, k=k, **words)
    found = mondrian(count(table(), wanted), [KAnonymity(k)])
    cutting = cut_regions(found, wanted, wanted.privacy)
    return cutting, model_of_cuts(cutting, wanted, method="mondrian", utility={})


@pytest.mark.parametrize("k", [2, 4, 20, 150])
def test_every_training_record_is_in_a_region_of_k(k):
    cutting, model = made(k)
    assert min(model.counts) >= k
    assert sum(model.counts) == 400
    assert model.suppressed == 0
    assert len(model.regions) == cutting.recoding.classes


def test_devices_put_the_training_records_where_they_were_counted():
    _, model = made()
    encoder = Encoder(checked(model.to_document()))
    found = [encoder.find([row[name] for name in encoder.names]) for row in table().to_dicts()]
    assert np.bincount(found, minlength=len(model.counts)).tolist() == list(model.counts)


def strangers(records):
    """Return values of the domain in any combination, and some from outside."""
    chance = random.Random(3)
    people = table().to_dicts()
    names = ["age", "born", "grade", "place", "job", "zip"]
    odd = ["", "?", " 34", "16.5", "1e3", "x", "2000-01-15", "Norden", "7", "75275 ", "1100-01-01"]
    for _ in range(records):
        yield [
            chance.choice(odd) if chance.random() < 0.15 else chance.choice(people)[name]
            for name in names
        ]


def test_the_walk_finds_what_a_scan_of_all_regions_finds():
    _, model = made()
    document = checked(model.to_document())
    walk, sets = Encoder(document), SetEncoder(document)
    explicit = {**document, "regions": [list(region) for region in model.regions]}
    for values in strangers(400):
        wanted = naive.find(explicit, values)
        assert walk.find(values) == sets.find(values) == wanted
        assert walk.nearest(values) == sets.nearest(values)
        if wanted >= 0:
            assert walk.labels_of(wanted) == naive.labels(explicit, wanted)
            assert walk.region(wanted) == list(model.regions[wanted])


def test_no_two_regions_cover_one_record():
    _, model = made()
    explicit = {**model.to_document(), "regions": [list(region) for region in model.regions]}
    for values in strangers(150):
        around = [r for r in range(len(model.regions)) if not naive.uncovered(explicit, r, values)]
        assert len(around) <= 1


def test_the_domain_has_no_gaps():
    _, model = made()
    encoder = Encoder(checked(model.to_document()))
    chance = random.Random(1)
    people = table().to_dicts()
    fresh = [[chance.choice(people)[name] for name in encoder.names] for _ in range(2000)]
    outside = sum(encoder.find(values) < 0 for values in fresh)
    assert outside <= 0.01 * len(fresh)


def test_a_file_of_it_is_read_back(tmp_path):
    _, model = made()
    (tmp_path / "m.json").write_text(model.to_json(), encoding="utf-8")
    back = RecodingModel.load(tmp_path / "m.json")
    assert back == model
    assert back.to_json() == model.to_json()


def test_no_cut_of_a_text_says_what_fewer_than_k_have():
    cutting, model = made(4, quasi=("job", "zip"))
    for column, name in zip(model.columns, ("job", "zip"), strict=True):
        values = [row[name] for row in table().to_dicts()]
        for cut in column.cuts.at:
            assert sum(value.startswith(cut) for value in values) >= 4
    assert len(JOBS) == 5
    assert cutting.places[0].first is None


def test_levels_and_centroids_are_no_boxes():
    wanted = schema(levels=False, k=4)
    found = mondrian(count(table(), wanted), [KAnonymity(4)])
    from dataclasses import replace

    assert cut_regions(replace(found, released=((),) * 6), wanted, wanted.privacy) is None


def test_taking_out_a_cut_gives_its_side_to_the_other():
    # a cut at 5 of column 0; to its right one at 3 of column 1
    tree = Tree.of(np.array([0, -1, 1, -1, -1], np.int32), np.array([5, 0, 3, 0, 0], np.int32))
    assert tree.children.tolist() == [[1, 2], [0, 0], [3, 4], [0, 0], [0, 0]]
    tree.remove(1)
    assert (tree.column[0], tree.code[0]) == (1, 3)
    assert tree.children[0].tolist() == [3, 4]
    order, left = tree.in_order()
    assert (order.tolist(), left.tolist()) == ([0, 3, 4], [1, 0, 0])
    tree.remove(4)
    assert tree.in_order()[0].tolist() == [0]
    assert tree.column[0] == -1
